/*
 * Splits a line of assembly into words, and compares words.
 */
#include <string.h>

#include "wrap/asm/asm_text.h"

bool asmtext_is(struct asmtext_word word, const char *text)
{
	return strlen(text) == word.size && memcmp(word.at, text, word.size) == 0;
}

bool asmtext_starts(struct asmtext_word word, const char *text)
{
	size_t size = strlen(text);

	return word.size >= size && memcmp(word.at, text, size) == 0;
}

bool asmtext_same(struct asmtext_word a, struct asmtext_word b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

bool asmtext_local(struct asmtext_word name)
{
	return name.size >= 2 && name.at[0] == '.' && name.at[1] == 'L';
}

/* Whether a symbol, mnemonic or directive can begin with `c`. */
static bool is_first(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
	       c == '$' || (unsigned char)c >= 0x80;
}

static bool is_part(char c)
{
	return is_first(c) || (c >= '0' && c <= '9');
}

static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at < end ? at + 1 : end;
}

static const char *skip_part(const char *at, const char *end)
{
	while (at < end && is_part(*at))
		at++;
	return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Whether the word is a prefix of an instruction, which its mnemonic follows. */
static bool is_prefix(struct asmtext_word w)
{
	static const char *const list[] = {
		"lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "data16",
		"xacquire", "xrelease",
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (asmtext_is(w, list[i]))
			return true;
	return false;
}

/*
 * Skips the mnemonic or directive at the start of a statement. If a label is there instead, returns
 * its colon and sets *word to it.
 */
static const char *skip_verb(const char *at, const char *end, struct asmtext_word *word)
{
	for (;;) {
		const char *start = at = skip_blanks(at, end);

		if (at >= end || !is_first(*at))
			return at;
		at = skip_part(at, end);
		*word = (struct asmtext_word){ start, (uint32_t)(at - start) };
		if (at < end && *at == ':')
			return at;
		if (!is_prefix(*word)) {
			word->size = 0;
			return at;
		}
		word->size = 0;
	}
}

bool asmtext_next(struct asmtext_word line, const char **at, struct asmtext_word *word,
		  bool *label)
{
	const char *end = line.at + line.size, *p = *at;

	*label = false;
	if (p == line.at) {
		*word = (struct asmtext_word){ p, 0 };
		p = skip_verb(p, end, word);
		if (word->size) {
			*at = p + 1;	/* behind the colon, where a new statement begins */
			*label = true;
			return true;
		}
	} else if (p[-1] == ':') {
		*word = (struct asmtext_word){ p, 0 };
		p = skip_verb(p, end, word);
	}
	while (p < end) {
		if (*p == '#') {
			break;
		} else if (*p == '"') {
			p = skip_string(p, end);
		} else if (*p == ';') {
			*word = (struct asmtext_word){ p, 0 };
			p = skip_verb(p + 1, end, word);
			if (word->size) {
				*at = p + 1;
				*label = true;
				return true;
			}
		} else if (*p == '%' || *p == '@' || (*p >= '0' && *p <= '9')) {
			p = skip_part(p + 1, end);
		} else if (*p == '$' && !(p + 1 < end && p[1] >= '0' && p[1] <= '9')) {
			p++;	/* the $ of an immediate $symbol */
		} else if (is_first(*p)) {
			*word = (struct asmtext_word){ p, 0 };
			p = skip_part(p, end);
			word->size = (uint32_t)(p - word->at);
			if (word->size == 1 && word->at[0] == '.')
				continue;	/* "." is the current address */
			*at = p;
			return true;
		} else {
			p++;
		}
	}
	*at = end;
	return false;
}

struct asmtext_word asmtext_verb(struct asmtext_word line)
{
	const char *end = line.at + line.size, *start = skip_blanks(line.at, end), *at;

	if (start >= end || !is_first(*start))
		return (struct asmtext_word){ start, 0 };
	at = skip_part(start, end);
	return (struct asmtext_word){ start, (uint32_t)(at - start) };
}
