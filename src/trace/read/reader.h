/*
 * From bytes to one ordered stream of events.
 *
 * Order: per thread as executed; across threads by time. A kind with extra
 * records has a time of its own, which never contradicts the order in which
 * threads synchronised; the events between two times of a thread are spread
 * evenly between them; equal times go by thread id. See docs/trace-format.md.
 *
 * A cut trace (the process was killed, the disk was full) is read as far as it
 * goes and reader_info().incomplete says so. A damaged one is an error that
 * names the place; reading stops there.
 */
#ifndef TRACE_READ_READER_H
#define TRACE_READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"
#include "base/err.h"
#include "base/hash.h"

struct event {
	uint64_t time;		/* trace clock; with TRACE_TOTAL_ORDER a position */
	uint64_t addr;		/* location or object */
	uint64_t size;		/* bytes, for accesses and ranges; else 0 */
	uint64_t pc;		/* 0 if unknown */
	uint64_t arg;		/* kinds.def says what it is */
	uint64_t extra[2];	/* second extra record */
	uint32_t thread;	/* id, from 1; reader_thread() has the name */
	uint16_t kind;		/* enum trace_kind */
	uint8_t detail;
	uint16_t result;	/* errno returned, or a CAS's failure order */
	uint32_t depth;		/* function activations around it that the trace knows */
};

struct reader_thread {
	uint32_t id, parent;	/* parent 0: main or made outside */
	uint32_t ordinal;	/* n-th child of its parent */
	const char *name;	/* "0", "0.2.1"; "~1" if made outside our interposers */
	uint64_t stack_low, stack_high;
	uint64_t events;	/* known after all was read */
};

struct reader_module {
	uint64_t time, base, start, end;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
};

struct reader_info {
	const char *path;	/* as it was opened */
	const struct trace_header *header;
	bool incomplete;	/* no END chunk: killed, crashed or still running */
	uint64_t torn_bytes;	/* bytes of chunks half written when it ended */
	uint64_t missing;	/* chunks that never got into it; each hole is a LOST event, arg 0 */
	uint64_t file_size;
	uint64_t records, chunks;
	const struct reader_thread *threads;
	size_t thread_count;
	const struct reader_module *modules;
	size_t module_count;
};

struct reader;

/* A trace, or a text trace (text.h); -1 and *err if it is neither. */
struct reader *reader_open(const char *path, struct err *err);
void reader_close(struct reader *r);

/* 1 and *ev, 0 at the end, -1 if damaged. */
int reader_next(struct reader *r, struct event *ev, struct err *err);

/* Which plain accesses are wanted: by bits of granules of 8 bytes, of which a page has READER_PAGE, or of pcs. */
#define READER_PAGE 512u
#define READER_SITES 1024u

struct reader_wanted {
	uint64_t page;		/* that was asked for last; UINT64_MAX: none */
	const uint64_t *bits;	/* its; NULL: all of it is wanted */
	const uint64_t *(*turn)(void *ctx, uint64_t page);	/* tells them of another */
	void *ctx;
	const uint64_t *sites;	/* NULL: the above holds, else READER_SITES words, reader_site() tells the bit */
};

/* Several pcs may have the same. */
static inline uint64_t reader_site(uint64_t pc)
{
	return hash_spread(pc) >> 48;
}

static inline bool reader_has_site(const uint64_t *sites, uint64_t pc)
{
	return sites[reader_site(pc) / 64] >> reader_site(pc) % 64 & 1;
}

static inline void reader_turn(struct reader_wanted *w, uint64_t page)
{
	w->page = page;
	w->bits = w->turn(w->ctx, page);
}

/* The access is within a granule that is not wanted. */
static inline bool reader_is_unwanted(struct reader_wanted *w, uint64_t addr, uint64_t size)
{
	uint64_t granule = addr / 8;

	if (__builtin_expect(w->page != granule / READER_PAGE, 0))
		reader_turn(w, granule / READER_PAGE);
	return w->bits && !(w->bits[granule % READER_PAGE / 64] >> granule % 64 & 1) &&
	       size <= 8 - addr % 8;
}

/*
 * reader_next() of several, which is faster: how many were read, at most `room`, of which there is some. With
 * `wanted`, reading ends before most plain accesses that are not, unless one is the first.
 */
int reader_some(struct reader *r, struct event *ev, unsigned room, struct reader_wanted *wanted,
		struct err *err);

/*
 * Passes over the plain accesses that come next, as long as they are of one thread and unwanted, and no more
 * than `most`. Returns how many; if not 0, *thread is whose. Some are left, to be read.
 */
uint64_t reader_pass(struct reader *r, struct reader_wanted *wanted, uint64_t most, uint32_t *thread);

/*
 * reader_some() that passes over what is unwanted: passed[i] plain accesses of its thread right before event i, and
 * behind the last event *more of the thread *whose. 0, with no more of them, is the end.
 */
int reader_sift(struct reader *r, struct event *ev, uint64_t *passed, unsigned room, struct reader_wanted *wanted,
		uint64_t *more, uint32_t *whose, struct err *err);

/* Whose event is next; 0: that is not known yet. */
uint32_t reader_whose(const struct reader *r);

/* From now on without `value` events, for who counts events and has no use for these. */
void reader_leave_out_values(struct reader *r);

/*
 * Tells of every access, and of what `value` events are about, in no order but that of each
 * thread: far sooner than reading all events. Threads take turns, so that a part of it shows
 * what the whole is like; fn says false when it has seen enough. Afterwards the first event is
 * next. -1 if damaged, maybe after some were told of.
 *
 * Several of a thread are told of at once, as the trace has them, each with the size that its site
 * says; if `size` is not 0, then one of that size.
 */
typedef bool reader_access(void *ctx, uint32_t thread, const struct trace_record *list, size_t count,
			   uint64_t size);
int reader_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err);

/* Start again from the first event. */
int reader_rewind(struct reader *r, struct err *err);

const struct reader_info *reader_info(const struct reader *r);

/* NULL if no such thread. */
const struct reader_thread *reader_thread(const struct reader *r, uint32_t id);

/* The value of a META or END key, NULL if absent. `nth` for repeated keys ("arg"). */
const char *reader_meta(const struct reader *r, const char *key, size_t nth);

/* The n-th key and value of all; false if there are no more. */
bool reader_meta_at(const struct reader *r, size_t n, const char **key, const char **value);

#endif
