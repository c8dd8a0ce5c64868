/*
 * One thread's events, chunk by chunk, with times given to those that have none.
 *
 * Holds one open chunk at a time and looks ahead only to the next time stamp
 * (at most STREAM_LOOKAHEAD events).
 */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "trace/codec.h"
#include "trace/frames.h"
#include "trace/index.h"
#include "trace/reader.h"

#define STREAM_LOOKAHEAD 4096u

enum stream_state {
	STREAM_CLOSED,	/* `key` is where the next chunk begins; open it to know more */
	STREAM_READY,	/* `key` is the next event's time */
	STREAM_END,
};

struct stream {
	enum stream_state state;
	uint64_t key;
	uint32_t thread;
	bool total_order;
	size_t first, end;	/* its chunks in the index */
	size_t next;		/* the one to open next */
	uint64_t offset;	/* the open one's place in the file, for messages */
	struct payload payload;	/* data is NULL when none is open, or it was put aside */
	size_t at;		/* where the next event starts in it */
	uint32_t left;		/* records not decoded yet */
	struct trace_coder *coder;

	/* Events up to the next time stamp, and the one that has it. */
	struct trace_record *batch;
	unsigned count, taken;
	size_t capacity;
	struct trace_record timed[3];
	unsigned timed_records;	/* 0: a STAMP or nothing ended the batch */
	uint64_t limit;		/* the time that ended it */

	uint64_t time;		/* of the last event looked at; never sinks */
	uint64_t clock;		/* as the trace has it: total order may step back to a time */
	uint64_t step, rest, over, parts;	/* how the batch is spread */

	const struct trace_record *head;	/* the event to deliver next */
	struct frames frames;
	uint64_t delivered;
};

/* Chunks [first, end) of the index are one thread's. */
void stream_init(struct stream *s, const struct index *idx, size_t first, size_t end);
void stream_free(struct stream *s);
void stream_rewind(struct stream *s, const struct index *idx);

/* CLOSED to READY, CLOSED again (an empty chunk) or END; -1 if damaged. */
int stream_open(struct stream *s, struct index *idx, struct err *err);

/* READY only: the event at `key`, and moves on. */
int stream_take(struct stream *s, struct index *idx, struct event *ev, struct err *err);

/* Gives back the decompressed chunk; it is made again when needed. */
void stream_put_aside(struct stream *s);

/* Fills ev from raw records; time and depth are the caller's. */
void stream_event(struct event *ev, uint32_t thread, const struct trace_record *r,
		  unsigned records);

#endif
