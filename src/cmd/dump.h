/*
 * What the forms of `snarl dump` share.
 */
#ifndef CMD_DUMP_H
#define CMD_DUMP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "symbol/object.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

struct dump {
	const char *path;
	struct reader *reader;
	struct symbols *symbols;	/* NULL: names are not wanted */
	size_t modules_passed;		/* of the trace, by time */
	struct objects *objects;	/* NULL: plain text only */
	struct buf out;			/* written when full */
	int failure;			/* errno of a write; EPIPE: nobody reads any more */
	double ticks_per_us;		/* 0: times are positions, or their unit is unknown */
	struct map places;		/* pc to where its text lies in `pool`, plus 1 */
	struct buf pool, scratch;
	struct map labels;		/* names of a text trace: address to place in `pool`, plus 1 */
};

/* A form of output: `event` is called for each that was asked for. */
struct dump_form {
	void (*begin)(struct dump *d);	/* NULL: nothing to do */
	/* `object` is NULL if the event has none. */
	void (*event)(struct dump *d, const struct event *ev, const struct object *object);
};

extern const struct dump_form dump_text;	/* text.h, names as a remark */
extern const struct dump_form dump_raw;		/* text.h only */
extern const struct dump_form dump_json;

struct dump_filter;

/* Reads all of it itself; -1 with the reason. */
int dump_stats(struct dump *d, struct dump_filter *filter, bool json, struct err *err);

/* Chunks of the file, without decoding them. -1 with the reason. */
int dump_chunks(struct dump *d, bool json, struct err *err);

/* 1 and the next event that was asked for, 0 at the end, -1 as reader_next(). */
int dump_next(struct dump *d, struct dump_filter *filter, struct event *ev,
	      struct object *object, bool *has_object, struct err *err);

/* Writes what has gathered if it is much, or all if `now`. */
void dump_flush(struct dump *d, bool now);

/* Microseconds since recording began. */
double dump_time(const struct dump *d, const struct event *ev);

/* The text kept for a pc in this form of output; `make` writes it once. Use it at once. */
const char *dump_place(struct dump *d, uint64_t pc,
		       void (*make)(struct dump *d, uint64_t pc, struct buf *out));

/* The name a text trace gave to an address, NULL if none. */
const char *dump_label(struct dump *d, uint64_t addr);

#endif
