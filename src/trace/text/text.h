/*
 * The text form of a trace, for people and tests; docs/trace-format.md defines it. A line is one
 * event and begins with the thread:
 *
 *   snarl-text 1
 *   0 create 0.1
 *   0.1 lock m @worker:12
 *   0.1 write x:4 @worker:13		; a comment
 *
 * reader_open() reads both forms. This header has the parser that it uses, and the functions that
 * write events as text.
 */
#ifndef TRACE_TEXT_TEXT_H
#define TRACE_TEXT_TEXT_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "trace/read/catalog.h"
#include "trace/read/index.h"
#include "trace/read/reader.h"

#define TEXT_VERSION 1u

/* Addresses of objects and pcs that are names, in the order of their first mention. */
#define TEXT_OBJECT_BASE 0x510000000000ull
#define TEXT_OBJECT_STEP 0x1000ull
#define TEXT_LABEL_BASE 0x4c0000000000ull
#define TEXT_LABEL_STEP 0x10ull

/* Appends the lines before the events: version, header, threads, modules, keys. */
void text_format_head(struct buf *out, const struct reader *r);

/* Appends an event as a line without newline, so that a caller can add a comment. */
void text_format(struct buf *out, const struct reader *r, const struct event *ev);

/* Writes an event as a line; -1 if stdio failed. */
int text_write(FILE *out, const struct reader *r, const struct event *ev);

/* Rewinds `r` and writes all of it; -1 if it is damaged or cannot be written. */
int text_write_all(FILE *out, struct reader *r, struct err *err);

struct text;

/*
 * Parses all of `data` once. Only this function reports errors, which name the line. It adds
 * threads, modules and keys to *c, and names of objects and pcs as keys "object:ADDRESS" and
 * "label:ADDRESS". `data` must remain valid until text_close().
 */
struct text *text_open(const char *data, size_t size, struct catalog *c,
		       struct trace_header *header, struct err *err);
void text_close(struct text *t);
void text_rewind(struct text *t);

/* Returns 1 and the next event as written, 0 at the end. */
int text_next(struct text *t, struct event *ev);

#endif
