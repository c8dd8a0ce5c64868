/*
 * Parses SNARL_OPTIONS without libc: key=value pairs, separated by colons, with %xx for special
 * bytes. abi/run_options.def is the table of keys.
 */
#include "runtime/core/options.h"
#include "runtime/core/sys.h"

#define VALUE_MAX 3072u
#define KEY_MAX 32u
/* No digit may follow a value greater than this. */
#define NUMBER_MAX (16ull << 30)

enum type { CHOICE, SET, NUMBER, LOG2, SIZE, PATH };

static const struct option {
	const char *key;
	enum type type;
	uint64_t initial, low, high;
	const char *values;
	size_t offset;	/* in struct run_options */
} table[] = {
#define OPTION(key, type, initial, low, high, values, modes, meaning) \
	{ #key, type, initial, low, high, values, offsetof(struct run_options, key) },
#include "abi/run_options.def"
#undef OPTION
};

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Copies text up to ':' or `stop` to `out`, decoding %xx. Returns where it stopped, or NULL if
 * `out` is too small.
 */
static const char *decode(const char *in, char stop, char *out, size_t size)
{
	size_t n = 0;

	for (; *in && *in != ':' && *in != stop; in++) {
		char c = *in;

		if (c == '%' && hex_digit(in[1]) >= 0 && hex_digit(in[2]) >= 0) {
			c = (char)(hex_digit(in[1]) << 4 | hex_digit(in[2]));
			in += 2;
		}
		if (n + 1 >= size)
			return NULL;
		out[n++] = c;
	}
	out[n] = 0;
	return in;
}

static bool parse_number(const char *text, uint64_t *out)
{
	uint64_t v = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (v > NUMBER_MAX)
			return false;
		v = v * 10 + (uint64_t)(*text - '0');
	}
	switch (*text | 0x20) {
	case 'g': v <<= 30; text++; break;
	case 'm': v <<= 20; text++; break;
	case 'k': v <<= 10; text++; break;
	}
	*out = v;
	return *text == 0;
}

/* The index of the word of `size` bytes in a list such as "on|off", or -1. */
static int index_in(const char *list, const char *word, size_t size)
{
	for (int index = 0; *list; index++) {
		size_t i = 0;

		while (i < size && list[i] == word[i])
			i++;
		if (i == size && (list[i] == '|' || !list[i]))
			return index;
		while (*list && *list != '|')
			list++;
		list += *list == '|';
	}
	return -1;
}

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static bool parse_set(const struct option *o, const char *text, uint64_t *out)
{
	uint64_t bits = 0;

	while (*text) {
		size_t size = 0;
		int index;

		while (text[size] && text[size] != ',')
			size++;
		index = index_in(o->values, text, size);
		if (index < 0)
			return false;
		bits |= 1ull << index;
		text += size + (text[size] == ',');
	}
	*out = bits;
	return true;
}

/* The program may change its directory before the path is used. */
static void make_absolute(char *path, size_t size)
{
	char cwd[1024];
	size_t n, used = length(path);

	if (!path[0] || path[0] == '/' || sys_call(SYS_getcwd, cwd, sizeof(cwd), 0) < 0)
		return;
	n = length(cwd);
	if (n + 1 + used + 1 > size)
		return;
	for (size_t i = used + 1; i-- > 0;)
		path[n + 1 + i] = path[i];
	for (size_t i = 0; i < n; i++)
		path[i] = cwd[i];
	path[n] = '/';
}

static bool set_path(const struct option *o, const char *value, char *out)
{
	size_t size = length(value);

	if (size >= o->high)
		return false;
	for (size_t i = 0; i <= size; i++)
		out[i] = value[i];
	if (index_in(o->values, value, size) < 0)
		make_absolute(out, o->high);
	return true;
}

static bool set_number(const struct option *o, const char *value, uint64_t *out)
{
	uint64_t v;

	if (!parse_number(value, &v))
		return false;
	if (o->type == SIZE)
		v = v < o->low ? o->low : v > o->high ? o->high : v;
	if (v < o->low || v > o->high || (o->type == LOG2 && (v & (v - 1))))
		return false;
	*out = o->type == LOG2 ? (uint64_t)__builtin_ctzll(v) : v;
	return true;
}

static bool set(struct run_options *options, const char *key, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct option *o = &table[i];
		void *member = (char *)options + o->offset;
		int index;

		if (!is_same(o->key, key))
			continue;
		if (o->type == PATH)
			return set_path(o, value, member);
		if (o->type == SET)
			return parse_set(o, value, member);
		if (o->type != CHOICE)
			return set_number(o, value, member);
		index = index_in(o->values, value, length(value));
		if (index >= 0)
			*(uint64_t *)member = (uint64_t)index;
		return index >= 0;
	}
	return false;
}

static void warn_option(const char *key)
{
	sys_warn_about("SNARL_OPTIONS: ignored", "", key);
}

static void parse_all(struct run_options *o, const char *text)
{
	static char key[KEY_MAX], value[VALUE_MAX];

	while (text && *text) {
		const char *start = text;

		value[0] = 0;
		text = decode(text, '=', key, sizeof(key));
		if (text && *text == '=')
			text = decode(text + 1, ':', value, sizeof(value));
		if (!text) {
			warn_option("a value that is too long");
			for (text = start; *text && *text != ':'; text++)
				;
		} else if (key[0] && !set(o, key, value)) {
			warn_option(key);
		}
		if (*text == ':')
			text++;
	}
}

static void set_defaults(struct run_options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char *member = (char *)options + table[i].offset;

		if (table[i].type == PATH)
			member[0] = 0;
		else
			*(uint64_t *)member = table[i].initial;
	}
}

/* Two passes: quiet=1 also silences warnings about options that precede it. */
void snarlrt_options_parse(struct run_options *o, const char *text)
{
	set_defaults(o);
	sys_quiet = true;
	parse_all(o, text);
	sys_quiet = o->quiet;
	parse_all(o, text);
}
