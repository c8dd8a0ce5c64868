/*
 * The text form of a trace, for people and tests; docs/trace-format.md says
 * what may be written. One event a line, the thread first:
 *
 *   snarl-text 1
 *   0 create 0.1
 *   0.1 lock m @worker:12
 *   0.1 write x:4 @worker:13		; remark
 *
 * reader_open() reads both forms. Here are the parts beneath it, and the way
 * from events to text.
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

/* Where symbolic objects and pcs are put, in order of their first mention. */
#define TEXT_OBJECT_BASE 0x510000000000ull
#define TEXT_OBJECT_STEP 0x1000ull
#define TEXT_LABEL_BASE 0x4c0000000000ull
#define TEXT_LABEL_STEP 0x10ull

/* First lines: version, header, threads, modules, keys. */
void text_format_head(struct buf *out, const struct reader *r);

/* One line, without the newline, so that a remark ("\t; …") can follow. */
void text_format(struct buf *out, const struct reader *r, const struct event *ev);

/* The line and a newline; -1 if stdio failed. */
int text_write(FILE *out, const struct reader *r, const struct event *ev);

/* All of a trace, from its start; -1 if it is damaged or cannot be written. */
int text_write_all(FILE *out, struct reader *r, struct err *err);

struct text;

/*
 * Reads all of `data` once: errors, which name the line, come from here.
 * Threads, modules and keys go to *c; symbolic names too, as keys
 * "object:0x…" and "label:0x…". `data` must stay.
 */
struct text *text_open(const char *data, size_t size, struct catalog *c,
		       struct trace_header *header, struct err *err);
void text_close(struct text *t);
void text_rewind(struct text *t);

/* 1 and the next event as written, 0 at the end. */
int text_next(struct text *t, struct event *ev);

#endif
