/*
 * Between the files that read text traces.
 */
#ifndef TRACE_TEXT_TEXT_INTERNAL_H
#define TRACE_TEXT_TEXT_INTERNAL_H

#include "base/map.h"
#include "trace/text/text.h"

struct token {
	const char *text;
	size_t size;
};

struct text {
	const char *data, *at, *end;
	unsigned long line;
	uint64_t time;
	struct catalog *catalog;
	struct trace_header *header;
	struct strmap threads, objects, labels;
	uint32_t next_id;
	bool first_pass;
	struct err *err;	/* of the first pass */
};

/* "line N: what 'token'"; returns -1. */
int text_bad(struct text *t, const char *what, struct token tok);

/* The next word before `end`, a remark or a comment; moves *at behind it. */
bool text_token(const char **at, const char *end, struct token *tok);

bool text_is(struct token tok, const char *word);

/* True if tok is `key=…`; *value is the rest. */
bool text_is_key(struct token tok, const char *key, struct token *value);

/* Decimal, or hexadecimal with 0x; a sign wraps around. */
bool text_number(struct token tok, uint64_t *out);
bool text_range(struct token tok, uint64_t *low, uint64_t *high);	/* low-high */
bool text_word_start(char c);

/* The id of the thread named so: the one it has, or a new one. */
int text_thread(struct text *t, struct token name, uint64_t *id);
int text_thread_add(struct text *t, struct token name, uint64_t id);

/* A line that is no event: `first` and what follows. */
int text_directive(struct text *t, struct token first, const char *at, const char *end);

#endif
