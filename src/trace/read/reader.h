/*
 * The trace reader: from a trace file, binary or text, to one ordered stream of events.
 *
 * A thread's events come in the order in which it executed them; events of several threads are
 * merged by time, equal times by thread id. Only kinds with extra records have a recorded time,
 * and these times never contradict the order in which threads synchronised. The other events get
 * times spread evenly between the recorded ones. docs/trace-format.md has the exact rules.
 *
 * Example: two chunks, and the events that reader_next() returns:
 *
 *   thread 1, chunk time 100     thread 2, chunk time 104     events
 *   write a                      write d                      t102 thread 1 write a
 *   write b                      lock m, time 106             t105 thread 1 write b
 *   write c                                                   t105 thread 2 write d
 *   lock n, time 110                                          t106 thread 2 lock m
 *                                                             t107 thread 1 write c
 *                                                             t110 thread 1 lock n
 *
 * Thread 1's three writes lie between 100 and 110: they get 100 + 10 * i / 4, rounded down.
 * Thread 2's write gets 104 + 2 * 1 / 2. The two events at 105 go by thread id.
 *
 * A truncated trace (the process was killed, the disk was full) is read as far as it goes, and
 * reader_info().incomplete is set. A damaged trace is an error that names the byte; reading stops
 * there.
 */
#ifndef TRACE_READ_READER_H
#define TRACE_READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"
#include "base/deadline.h"
#include "base/err.h"
#include "base/hash.h"

/* One event as consumers see it; loops and access groups are expanded. */
struct event {
	uint64_t time;		/* trace clock; with TRACE_TOTAL_ORDER a position */
	uint64_t addr;		/* location or object */
	uint64_t size;		/* bytes of an access or range, else 0 */
	uint64_t pc;		/* 0 if unknown */
	uint64_t arg;		/* its meaning depends on the kind: kinds.def */
	uint64_t extra[2];	/* the second extra record, else 0 */
	uint32_t thread;	/* id, from 1; reader_thread() has the name */
	uint16_t kind;		/* enum trace_kind */
	uint8_t detail;
	uint16_t result;	/* errno of the operation, or a CAS's failure order */
	uint32_t depth;		/* number of recorded function activations around it */
};

/* A thread of the trace. */
struct reader_thread {
	uint32_t id, parent;	/* parent 0: main, or created by code that snarl does not see */
	uint32_t ordinal;	/* number among its parent's children, from 1 */
	const char *name;	/* thread path "0", "0.2.1"; "~1" if created unseen */
	uint64_t stack_low, stack_high;
	uint64_t events;	/* number of events, valid at the end of the trace */
};

/* An executable or library: struct trace_module with path and build-id. */
struct reader_module {
	uint64_t time, base, start, end;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
};

/* What is known of a trace after opening it. */
struct reader_info {
	const char *path;	/* as given to reader_open() */
	const struct trace_header *header;
	bool incomplete;	/* no END chunk: killed, crashed or still running */
	uint64_t torn_bytes;	/* bytes of chunks half written when the process ended */
	uint64_t missing;	/* chunks not in the file; each gap is a LOST event, arg 0 */
	uint64_t file_size;
	uint64_t records, chunks;
	const struct reader_thread *threads;
	size_t thread_count;
	const struct reader_module *modules;
	size_t module_count;
};

struct reader;

/* Opens a trace or a text trace (text.h). Returns NULL and sets *err if it is neither. */
struct reader *reader_open(const char *path, struct err *err);
void reader_close(struct reader *r);

/* Returns 1 and the next event, 0 at the end, or -1 and sets *err if the trace is damaged. */
int reader_next(struct reader *r, struct event *ev, struct err *err);

#define READER_PAGE 512u	/* granules of 8 bytes in a page: 4 KB of the program's memory */
#define READER_SITES 1024u	/* words of a set of sites: 65,536 bits */

/* The plain accesses that a caller wants: to some granules or, with `sites`, at some sites. */
struct reader_wanted {
	uint64_t page;		/* number of the page that `bits` describes; UINT64_MAX: none */
	const uint64_t *bits;	/* a bit for each granule of the page; NULL: all are wanted */
	const uint64_t *(*select)(void *ctx, uint64_t page);	/* finds another page's bits */
	void *ctx;
	const uint64_t *sites;	/* NULL, or a bit for each site: reader_site() is its number */
};

/* A hash of the pc: the number of its bit, which other pcs may share. */
static inline uint64_t reader_site(uint64_t pc)
{
	return hash_spread(pc) >> 48;
}

/* Whether the pc's bit is set. False positives are possible, false negatives are not. */
static inline bool reader_has_site(const uint64_t *sites, uint64_t pc)
{
	return sites[reader_site(pc) / 64] >> reader_site(pc) % 64 & 1;
}

/* Makes `page` the page that w->bits describes. */
static inline void reader_turn(struct reader_wanted *w, uint64_t page)
{
	w->page = page;
	w->bits = w->select(w->ctx, page);
}

/* Whether the access lies within one granule and that is not wanted. */
static inline bool reader_is_unwanted(struct reader_wanted *w, uint64_t addr, uint64_t size)
{
	uint64_t granule = addr / 8;

	if (__builtin_expect(w->page != granule / READER_PAGE, 0))
		reader_turn(w, granule / READER_PAGE);
	return w->bits && !(w->bits[granule % READER_PAGE / 64] >> granule % 64 & 1) &&
	       size <= 8 - addr % 8;
}

/*
 * Reads up to `room` events; faster than reader_next(). Returns their number, 0 at the end, or -1.
 * With `wanted`, it returns early before most unwanted plain accesses, so that reader_pass() can
 * skip them. An unwanted access that comes first is read as an event.
 */
int reader_some(struct reader *r, struct event *ev, unsigned room, struct reader_wanted *wanted,
		struct err *err);

/*
 * Skips the next events while they are unwanted plain accesses of one thread, at most `most`.
 * Returns their number; if it is not 0, *thread is the thread. It also stops where function entries
 * come first or records must be decoded; reader_some() then reads the access behind as an event.
 */
uint64_t reader_pass(struct reader *r, struct reader_wanted *wanted, uint64_t most,
		     uint32_t *thread);

/*
 * Reads up to `room` events and skips unwanted plain accesses between them. skipped[i] is the
 * number of accesses skipped right before event i, all of that event's thread. Behind the last
 * event, *trailing accesses of *trailing_thread were skipped. Returns the number of events, or -1;
 * if that number and *trailing are 0, the trace is at its end.
 */
int reader_sift(struct reader *r, struct event *ev, uint64_t *skipped, unsigned room,
		struct reader_wanted *wanted, uint64_t *trailing, uint32_t *trailing_thread,
		struct err *err);

/* The thread of the next event, or 0 if a chunk must be opened to know it. */
uint32_t reader_whose(const struct reader *r);

/* From now on VALUE events are left out, for callers that count events and do not use values. */
void reader_leave_out_values(struct reader *r);

/*
 * From now on, the functions that read events fail once `d` is over, with deadline_why() as the
 * error; reader_is_late() tells this from a damaged trace. `d` outlives the reader, or the next
 * call; NULL: no end.
 */
void reader_until(struct reader *r, const struct deadline *d);
bool reader_is_late(const struct reader *r);

/*
 * Receives `count` accesses of a thread, raw as in the trace; VALUE records are among them. Each
 * has the size that its site encodes, unless `size` is not 0: then it is one access of that size.
 * Returns false to stop.
 */
typedef bool reader_access(void *ctx, uint32_t thread, const struct trace_record *list,
			   size_t count, uint64_t size);

/*
 * Calls fn for all accesses of the trace, each thread's in order but the threads not merged: less
 * than half the time of reading all events. The threads' chunks alternate, so that a caller that
 * stops early has seen a sample of all threads. Rewinds the reader. Returns -1 if the trace is
 * damaged, perhaps after some calls.
 */
int reader_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err);

/* Makes the first event the next one. */
int reader_rewind(struct reader *r, struct err *err);

const struct reader_info *reader_info(const struct reader *r);

/* NULL if no such thread. */
const struct reader_thread *reader_thread(const struct reader *r, uint32_t id);

/* The value of a key of META or END chunks, NULL if absent; nth > 0 for repeated keys ("arg"). */
const char *reader_meta(const struct reader *r, const char *key, size_t nth);

/* The n-th key and value in the file; false if there are no more. */
bool reader_meta_at(const struct reader *r, size_t n, const char **key, const char **value);

#endif
