/*
 * The parser of text traces: what text_read.c, text_directive.c and text_token.c share.
 */
#ifndef TRACE_TEXT_TEXT_INTERNAL_H
#define TRACE_TEXT_TEXT_INTERNAL_H

#include "base/map.h"
#include "trace/text/text.h"

/* A word of the input, not terminated. */
struct token {
	const char *text;
	size_t size;
};

/* A text trace being parsed. */
struct text {
	const char *data, *at, *end;	/* the input; the next line; its end */
	unsigned long line;		/* number of the current line, from 1 */
	uint64_t time;			/* of the last event */
	struct catalog *catalog;
	struct trace_header *header;
	struct strmap threads, objects, labels;	/* name to id, address, pc */
	uint32_t next_id;		/* all smaller thread ids are taken */
	bool first_pass;
	struct err *err;		/* set in the first pass only */
};

/* Sets the error "line N: what 'token'" and returns -1. */
int text_bad(struct text *t, const char *what, struct token tok);

/* Takes the next word at *at; false at `end` or at a comment (; or #). */
bool text_token(const char **at, const char *end, struct token *tok);

bool text_is(struct token tok, const char *word);

/* Whether tok is `key=VALUE`; sets *value to VALUE. */
bool text_is_key(struct token tok, const char *key, struct token *value);

/* Parses a decimal or 0x hexadecimal number; a minus sign negates it modulo 2^64. */
bool text_number(struct token tok, uint64_t *out);

/* Parses two numbers with a dash between them. */
bool text_range(struct token tok, uint64_t *low, uint64_t *high);

/* Whether a symbolic name may begin with c. */
bool text_word_start(char c);

/* Finds the id of the thread with that name, or adds one. */
int text_thread(struct text *t, struct token name, uint64_t *id);

/* Adds a thread with an id of its own; -1 if the id is taken. */
int text_thread_add(struct text *t, struct token name, uint64_t id);

/* Parses a line that is no event. `first` is its first word, *at what follows. */
int text_directive(struct text *t, struct token first, const char *at, const char *end);

#endif
