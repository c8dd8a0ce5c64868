/*
 * Parses SNARL_OPTIONS without libc.
 */
#include "runtime/core/options.h"
#include "runtime/core/sys.h"

#define DEFAULT_WINDOW (4ull << 20)
#define MIN_WINDOW (64ull << 10)
#define MAX_WINDOW (16ull << 30)
#define DEFAULT_WAIT_US 50000u
#define DEFAULT_NAP_US 200u
#define MAX_WAIT_US 1000000u

static bool same(const char *a, const char *b)
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

/* Copies up to ':' and decodes %xx; returns where it stopped, NULL if too long. */
static const char *take(const char *in, char stop, char *out, size_t size)
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

static bool parse_size(const char *text, uint64_t *out)
{
	uint64_t v = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (v > MAX_WINDOW)
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

static void copy(char *to, size_t size, const char *from)
{
	size_t n = 0;

	while (from[n] && n + 1 < size) {
		to[n] = from[n];
		n++;
	}
	to[n] = 0;
}

static bool set_watch(struct snarlrt_options *o, const char *key, const char *value)
{
	uint64_t n;

	if (same(key, "rules"))
		return copy(o->rules, sizeof(o->rules), value), true;
	if (same(key, "log"))
		return copy(o->log, sizeof(o->log), value), true;
	if (same(key, "protect")) {
		o->no_pset = same(value, "tx");
		o->no_tx = same(value, "pset");
		return o->no_pset || o->no_tx || same(value, "both");
	}
	if (same(key, "places")) {
		o->all = same(value, "all");
		return o->all || same(value, "breakable");
	}
	if (!parse_size(value, &n))
		return false;
	if (same(key, "seed"))
		return o->seed = n, true;
	if (same(key, "wait") && n <= MAX_WAIT_US)
		return o->wait_us = n, true;
	if (same(key, "noise") && n <= 1000)
		return o->noise = (uint32_t)n, true;
	if (same(key, "nap") && n >= 1 && n <= MAX_WAIT_US)
		return o->nap_us = (uint32_t)n, true;
	if (same(key, "granularity") && n >= 1 && n <= 64 && (n & (n - 1)) == 0)
		return o->granularity = (uint32_t)__builtin_ctzll(n), true;
	return false;
}

static bool set(struct snarlrt_options *o, const char *key, const char *value)
{
	if (same(key, "mode")) {
		o->record = same(value, "record");
		o->control = same(value, "control");
		o->profile = same(value, "profile");
		o->check = same(value, "check");
		o->guard = same(value, "guard");
		return o->record || o->control || o->profile || o->check || o->guard || same(value, "off");
	}
	if (same(key, "trace"))
		return copy(o->trace, sizeof(o->trace), value), true;
	if (same(key, "control"))
		return copy(o->block, sizeof(o->block), value), true;
	if (same(key, "backend")) {
		o->kernel_threads = same(value, "kernel");
		return o->kernel_threads || same(value, "user");
	}
	if (same(key, "server")) {
		uint64_t fd;

		if (!parse_size(value, &fd) || fd > 1u << 20)
			return false;
		o->server = (int)fd;
		return true;
	}
	if (same(key, "live"))
		return copy(o->live, sizeof(o->live), value), true;
	if (same(key, "sites"))
		return copy(o->sites, sizeof(o->sites), value), true;
	if (same(key, "active"))
		return copy(o->active, sizeof(o->active), value), true;
	if (same(key, "fork")) {
		o->fork_off = same(value, "off");
		return o->fork_off || same(value, "record");
	}
	if (same(key, "filter")) {
		o->no_filter = same(value, "off");
		return o->no_filter || same(value, "on");
	}
	if (same(key, "values")) {
		o->values = same(value, "1");
		return o->values || same(value, "0");
	}
	if (same(key, "quiet")) {
		o->quiet = same(value, "1");
		return o->quiet || same(value, "0");
	}
	if (same(key, "times")) {
		o->timed = same(value, "all");
		return o->timed || same(value, "few");
	}
	if (same(key, "window"))
		return parse_size(value, &o->window);
	if (same(key, "room"))
		return parse_size(value, &o->room);
	return set_watch(o, key, value);
}

static void warn_option(const char *key)
{
	char text[128] = "SNARL_OPTIONS: ignored: ";

	copy(text + 24, sizeof(text) - 24, key);
	sys_warn(text);
}

/* The program may change its directory later. */
static void make_absolute(char *path, size_t size)
{
	char cwd[1024];
	size_t n = 0, len = 0;

	if (!path[0] || path[0] == '/' || sys_call(SYS_getcwd, cwd, sizeof(cwd), 0) < 0)
		return;
	while (cwd[n])
		n++;
	while (path[len])
		len++;
	if (n + 1 + len + 1 > size)
		return;
	for (size_t i = len + 1; i-- > 0;)
		path[n + 1 + i] = path[i];
	for (size_t i = 0; i < n; i++)
		path[i] = cwd[i];
	path[n] = '/';
}

static void parse_all(struct snarlrt_options *o, const char *text)
{
	static char key[32], value[3072];

	while (text && *text) {
		const char *start = text;

		value[0] = 0;
		text = take(text, '=', key, sizeof(key));
		if (text && *text == '=')
			text = take(text + 1, ':', value, sizeof(value));
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

/* Twice, because quiet=1 may stand behind what would be warned about. */
void snarlrt_options_parse(struct snarlrt_options *o, const char *text)
{
	*o = (struct snarlrt_options){ .window = DEFAULT_WINDOW, .server = -1, .wait_us = DEFAULT_WAIT_US, .nap_us = DEFAULT_NAP_US, .granularity = 3 };
	sys_quiet = true;
	parse_all(o, text);
	sys_quiet = o->quiet;
	parse_all(o, text);
	if (o->window < MIN_WINDOW)
		o->window = MIN_WINDOW;
	if (o->window > MAX_WINDOW)
		o->window = MAX_WINDOW;
	make_absolute(o->trace, sizeof(o->trace));
	make_absolute(o->live, sizeof(o->live));
	make_absolute(o->sites, sizeof(o->sites));
	make_absolute(o->rules, sizeof(o->rules));
	make_absolute(o->log, sizeof(o->log));
	if (!same(o->active, "all") && !same(o->active, "none"))
		make_absolute(o->active, sizeof(o->active));
}
