/*
 * What the output forms of snarl dump share: the state, iteration over the wanted events, and
 * caches.
 */
#ifndef CMD_DUMP_DUMP_H
#define CMD_DUMP_DUMP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "symbol/object.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

struct dump {
	const char *path;
	struct reader *reader;
	struct symbols *symbols;	/* NULL: print no names */
	size_t modules_passed;		/* modules that were loaded before the present event */
	struct objects *objects;	/* NULL for --raw */
	struct buf out;			/* output, written when there is enough of it */
	int failure;			/* errno of a failed write; EPIPE: pipe was closed */
	double ticks_per_us;		/* 0: times are positions, or their unit is unknown */
	struct map site_texts;		/* pc to the offset of its text in `pool`, plus 1 */
	struct buf pool;		/* texts, each ended by a NUL */
	struct buf scratch;
	struct map labels;		/* address to the offset of its label in `pool`, plus 1 */
};

/* A form of output. All functions append to d->out. */
struct dump_form {
	void (*begin)(struct dump *d);	/* called first; may be NULL */
	/* Called for each wanted event. `object` is NULL if the event has none. */
	void (*event)(struct dump *d, const struct event *ev, const struct object *object);
};

extern const struct dump_form dump_text;	/* the text form, names as comments */
extern const struct dump_form dump_raw;		/* the text form without names */
extern const struct dump_form dump_json;

struct dump_filter;

/* Reads the events and prints counts of them. Returns 0, or -1 and *err. */
int dump_stats(struct dump *d, struct dump_filter *filter, bool json, struct err *err);

/* Prints the chunks of the file without decoding them. Returns 0, or -1 and *err. */
int dump_chunks(struct dump *d, bool json, struct err *err);

/* Returns 1 and the next event that passes the filter, 0 at the end, or -1 like reader_next(). */
int dump_next(struct dump *d, struct dump_filter *filter, struct event *ev,
	      struct object *object, bool *has_object, struct err *err);

/* Writes d->out to stdout if it has grown large, or if `now`. */
void dump_flush(struct dump *d, bool now);

/* Microseconds since recording began. */
double dump_time(const struct dump *d, const struct event *ev);

/*
 * Returns the text for a pc, which `make` appends to *out at the first call for this pc. The text
 * is valid until the next call.
 */
const char *dump_site_text(struct dump *d, uint64_t pc,
		       void (*make)(struct dump *d, uint64_t pc, struct buf *out));

/* Returns the label that a text trace gives to an address, or NULL. */
const char *dump_label(struct dump *d, uint64_t addr);

#endif
