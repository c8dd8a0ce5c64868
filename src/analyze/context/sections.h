/*
 * Critical sections: which a thread is in, and which it left not long ago.
 *
 * locks.h says what is held; here is where it was taken (a proving run may have to
 * stop a thread before it enters), where it was given back, and roughly what was
 * read and written within: a set of granules by hash, which may say yes wrongly
 * and never no. Of the sections left, SECTIONS_KEPT of each thread are known.
 */
#ifndef ANALYZE_CONTEXT_SECTIONS_H
#define ANALYZE_CONTEXT_SECTIONS_H

#include "analyze/candidate.h"
#include "analyze/context/locksets.h"
#include "analyze/context/view.h"
#include "base/hash.h"
#include "trace/read/reader.h"

#define SECTIONS_KEPT 1024u	/* a power of two */

struct section {
	uint64_t lock;
	uint64_t first, last;	/* indices of the thread's events; last is UINT64_MAX while held */
	uint64_t time, pc;	/* of the acquisition */
	uint64_t end_time, end_pc;	/* of the release, once left */
	uint64_t reads, writes;	/* granules, by section_granule() */
	uint64_t strong_epoch;	/* at the acquisition */
	uint32_t thread, stack, lockset, depth;
	uint16_t kind, end_kind;
	bool shared;
	bool patient;		/* it would have waited for ever: no try, no time limit */
};

enum section_change {
	SECTION_NONE,
	SECTION_BEGUN,
	SECTION_AGAIN,		/* a lock held already: recursive, or one more reader's hold */
	SECTION_ENDED,
	SECTION_LESS,		/* given back, but still held as before SECTION_AGAIN */
	SECTION_UNHELD,		/* given back, and never taken as far as the trace knows */
};

struct sections;

struct sections *sections_new(void);
void sections_free(struct sections *s);

/* Follows acquisitions and releases; waiting on a condition is a release, waking an acquisition. */
enum section_change sections_event(struct sections *s, const struct event *ev,
				   const struct view *view);

/* Outermost first; good until the next event of the thread. */
const struct section *sections_held(const struct sections *s, uint32_t thread, size_t *count);

/* The section of `lock` that the thread's event `index` lies in; NULL if none or forgotten. */
const struct section *sections_around(const struct sections *s, uint32_t thread, uint64_t lock,
				      uint64_t index);

/*
 * The newest section of `lock` (0: of any) that the thread left, `back` before it for
 * older ones; NULL if there is none.
 */
const struct section *sections_left(const struct sections *s, uint32_t thread, uint64_t lock,
				    size_t back);

/*
 * Where to stop a thread that is to come to `stopped` after another did `other`: the
 * outermost section around it whose lock the other one has or had; NULL: right before it.
 */
const struct section *sections_entry(const struct sections *s, const struct locks *locks,
				     const struct candidate_event *stopped,
				     const struct candidate_event *other);

/* Notes an access within all sections that its thread is in. */
void sections_access(struct sections *s, const struct event *ev);

static inline uint64_t section_granule(uint64_t addr)
{
	return 1ull << (hash_spread(addr >> 3) >> 58);
}

/* The acquisition with which a section begins, and the release, as candidates name events. */
struct candidate_event section_begin(const struct section *s);
struct candidate_event section_end(const struct section *s);

#endif
