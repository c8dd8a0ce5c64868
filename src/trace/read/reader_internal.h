/*
 * struct reader: the state shared by reader.c (binary traces) and text/text_reader.c (text traces).
 */
#ifndef TRACE_READ_READER_INTERNAL_H
#define TRACE_READ_READER_INTERNAL_H

#include "base/map.h"
#include "trace/read/catalog.h"
#include "trace/read/frames.h"
#include "trace/read/index.h"
#include "trace/read/merge_heap.h"
#include "trace/read/reader.h"

struct text;

struct reader {
	char *path;
	struct reader_info info;
	struct catalog catalog;
	struct trace_header header;

	struct index idx;
	struct stream *streams;		/* one per thread, ascending by thread id */
	size_t stream_count;
	struct heap_entry *heap;	/* streams with events left, the next one first */
	size_t heap_count;
	struct heap_entry second;	/* the smaller child of the heap's top */
	struct stream *top;		/* stream of the heap's top; NULL at the end */
	bool failed, no_values;		/* the trace is damaged, see `why`; omit VALUE events */
	struct err why;
	const struct deadline *deadline;	/* of all reading; NULL: none */
	unsigned asked;			/* calls since `deadline` was set */
	bool late;			/* it was over */

	/* Text traces only. */
	struct text *text;		/* the parser; NULL: a binary trace */
	const uint8_t *text_data;
	uint64_t text_size;
	struct map frames_of;		/* thread id to index in frames, plus 1 */
	struct frames *frames;
	size_t frame_count, frame_capacity;
	struct event held;		/* event to deliver after the calls around it */
	bool holding;			/* `held` is set */
};

/* Parses a mapped text trace. reader_text_free() unmaps `data`, even after a failure. */
int reader_text_open(struct reader *r, const uint8_t *data, uint64_t size, struct err *err);

/*
 * What the functions of reader.h do for a text trace. reader_text_some() sets *got to 0 or -1 if
 * it returns fewer than `room` events.
 */
unsigned reader_text_some(struct reader *r, struct event *ev, unsigned room, int *got);
int reader_text_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err);
void reader_text_rewind(struct reader *r);
void reader_text_free(struct reader *r);

#endif
