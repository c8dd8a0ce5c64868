/*
 * For reader.c and reader_text.c: what a reader is.
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
	struct stream *streams;		/* by thread id */
	size_t stream_count;
	struct heap_entry *heap;
	size_t heap_count;
	struct heap_entry second;	/* comes next but for the top: mostly that one goes on */
	struct stream *top;		/* NULL at the end */
	bool failed, no_values;
	struct err why;

	struct text *text;		/* or this, and the rest of these */
	const uint8_t *text_data;
	uint64_t text_size;
	struct map frames_of;		/* thread to index in frames, plus 1 */
	struct frames *frames;
	size_t frame_count, frame_capacity;
	struct event held;		/* waits until the calls around it are told */
	bool holding;
};

/* Reads the head of a text trace. reader_text_free() unmaps `data`. */
int reader_text_open(struct reader *r, const uint8_t *data, uint64_t size, struct err *err);

/* The same as of reader.h without the name, if `text` is set. *got is 0 or -1 if there are fewer than `room`. */
unsigned reader_text_some(struct reader *r, struct event *ev, unsigned room, int *got);
int reader_text_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err);
void reader_text_rewind(struct reader *r);
void reader_text_free(struct reader *r);

#endif
