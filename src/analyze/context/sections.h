/*
 * Critical sections: those that each thread is in, and those that it left recently.
 *
 * locksets.h says which locks are held. This module says where each was acquired (a proving run may
 * have to stop a thread before it enters), where it was released, and roughly which memory was read
 * and written within: a bit for each granule by hash, so that a set bit may be a collision, but a
 * clear bit is certain. The last SECTIONS_KEPT sections that each thread left are kept.
 */
#ifndef ANALYZE_CONTEXT_SECTIONS_H
#define ANALYZE_CONTEXT_SECTIONS_H

#include "analyze/candidate.h"
#include "analyze/context/locksets.h"
#include "analyze/context/view.h"
#include "base/hash.h"
#include "trace/read/reader.h"

#define SECTIONS_KEPT 1024u	/* per thread; a power of two */

struct section {
	uint64_t lock;
	uint64_t first, last;	/* the thread's events, by index; last is UINT64_MAX while held */
	uint64_t time, pc;	/* of the acquisition */
	uint64_t end_time, end_pc;	/* of the release, once left */
	uint64_t reads, writes;	/* section_granule() bits of accesses within */
	uint64_t strong_epoch;	/* of the thread at the acquisition */
	uint32_t thread, stack, lockset;	/* at the acquisition */
	uint32_t depth;		/* acquisitions not yet released */
	uint16_t kind, end_kind;	/* enum trace_kind of acquisition and release */
	bool shared;
	bool patient;		/* the acquisition has no time limit and is no try */
};

/* What an event does to the thread's sections. */
enum section_change {
	SECTION_NONE,
	SECTION_BEGUN,
	SECTION_REENTERED,	/* acquired while held: a recursive lock, or one more read lock */
	SECTION_ENDED,
	SECTION_REENTRY_LEFT,	/* released, but still held as before SECTION_REENTERED */
	SECTION_UNHELD,		/* released, although the trace has no acquisition */
};

struct sections;

struct sections *sections_new(void);
void sections_free(struct sections *s);

/* Follows an acquisition or release. A wait on a condition releases its mutex, waking takes it. */
enum section_change sections_event(struct sections *s, const struct event *ev,
				   const struct view *view);

/* The sections that the thread is in, outermost first; valid until its next event. */
const struct section *sections_held(const struct sections *s, uint32_t thread, size_t *count);

/* The section of `lock` around the thread's event `index`; NULL: none, or not kept any more. */
const struct section *sections_around(const struct sections *s, uint32_t thread, uint64_t lock,
				      uint64_t index);

/*
 * A section of `lock` (0: of any lock) that the thread left: the latest one if `back` is 0, the one
 * before it if 1, and so on. NULL: none.
 */
const struct section *sections_left(const struct sections *s, uint32_t thread, uint64_t lock,
				    size_t back);

/*
 * The section before which to stop a thread that is to reach event `stopped` only after another
 * thread performed `other`: the outermost section around `stopped` whose lock the other thread
 * holds at `other`, or held before. NULL: stop it right before `stopped`.
 */
const struct section *sections_to_stop_before(const struct sections *s, const struct locks *locks,
					      const struct candidate_event *stopped,
					      const struct candidate_event *other);

/* Notes an access in all sections that its thread is in. */
void sections_access(struct sections *s, const struct event *ev);

/* The bit of a granule in section.reads and section.writes. */
static inline uint64_t section_granule(uint64_t addr)
{
	return 1ull << (hash_spread(addr >> 3) >> 58);
}

/* The acquisition and the release of a section, as candidates name events. */
struct candidate_event section_begin(const struct section *s);
struct candidate_event section_end(const struct section *s);

#endif
