/*
 * The surroundings of an access, kept for as long as some history names them: the
 * locks held and where each was taken, the strong clock, the block of code; and
 * through which locksets a thread went between two of its accesses.
 *
 * Situations are what changes only when a thread synchronises. They are shared by all
 * accesses made within one. When there are many, the keeper marks those that it has
 * moments of, and the others are used again: memory follows what is remembered, not the
 * length of the trace, and keeping a moment is copying it.
 */
#ifndef ANALYZE_MOMENTS_H
#define ANALYZE_MOMENTS_H

#include "analyze/analysis.h"

#define MOMENTS_CUTS 3u		/* locksets kept of those between two accesses */
#define MOMENTS_WINDOW 1000u	/* events of a thread that may belong together, whatever the block */

/* An access; all zero is none. */
struct moment {
	uint64_t index, time, addr;
	uint32_t size;		/* bytes, at most 4 GiB - 1 */
	uint32_t situation;	/* 0: none */
	uint32_t epoch;		/* equal numbers: equal strong clocks of one thread */
	uint32_t stack;
	uint32_t block;		/* highest bit: a user block */
	uint32_t tag;		/* the keeper's */
};

struct moments;

struct moments *moments_new(struct locks *locks);
void moments_free(struct moments *m);

/* Every event that is no access, in the order of the trace. */
void moments_sync(struct moments *m, const struct event *ev, const struct view *view);

/* The access as a moment, tag 0. It may be kept until the next call of the marker. */
void moments_now(struct moments *m, const struct event *ev, const struct view *view,
		 struct moment *out);

/*
 * `mark` calls moments_mark() for every moment that is kept; without it, all of them are. The
 * situation alone matters.
 */
void moments_marker(struct moments *m, void (*mark)(void *ctx), void *ctx);
void moments_mark(struct moments *m, const struct moment *kept);

uint32_t moments_thread(const struct moments *m, const struct moment *a);
uint32_t moments_epoch(const struct moments *m, uint32_t situation);
uint32_t moments_lockset(const struct moments *m, const struct moment *a);

/* No lock was released between `p`, made with locks held, and the thread's present event. */
bool moments_same_section(const struct moments *m, const struct moment *p, uint32_t thread);

/* By strong happens-before; different threads. It is all in their epochs. */
bool moments_ordered(const struct moments *m, uint32_t a, uint32_t b);

/*
 * Whether the order "a1 before b1 and b2 before a2", the a of one thread and the b of
 * another, is no question of the schedule: strong happens-before forbids it, or has
 * it in every run (what a thread does before it creates and after it joins another).
 */
bool moments_fixed(const struct moments *m, uint32_t a1, uint32_t b1, uint32_t b2, uint32_t a2);

/* For moments_together(), where the innermost blocks differ. */
bool moments_near(const struct moment *p, const struct moment *i, const struct view *view);

/* `p` and the thread's present access `i` are of one block, or near enough. */
static inline bool moments_together(const struct moment *p, const struct moment *i,
				    const struct view *view)
{
	return (p->block && p->block == i->block) || moments_near(p, i, view);
}

/*
 * The locksets of the thread between `p` and its present access, from right after
 * `p` on: those that no other makes needless, fewest locks first, at most MOMENTS_CUTS.
 * The empty set comes alone.
 */
unsigned moments_cuts(const struct moments *m, const struct moment *p, uint32_t cuts[MOMENTS_CUTS]);

/* The same of the thread's access number `index`, made with this lockset. */
unsigned moments_cuts_since(const struct moments *m, uint32_t thread, uint64_t index,
			    uint32_t lockset, uint32_t cuts[MOMENTS_CUTS]);

/* PRUNE_REASONS if a thread in one of the sets lets another be in `set`, else why not. */
enum prune_reason moments_meet(const struct moments *m, const uint32_t *cuts, unsigned count,
			       uint32_t set);

/* locks_core() of a lockset. */
uint32_t moments_core(const struct moments *m, uint32_t set);

/* The access as candidates name it. */
struct candidate_event moments_event(const struct moments *m, const struct moment *a, uint64_t pc,
				     uint16_t kind);

/*
 * If `a` cannot be held back right before it without keeping `other` from running
 * (it is in a critical section that `other` needs), true and in *out the event that
 * enters the outermost such section. Only sections entered after the thread's event
 * number `after` count; MOMENTS_ANY: all.
 */
#define MOMENTS_ANY UINT64_MAX
bool moments_hold(const struct moments *m, const struct moment *a, uint64_t after,
		  const struct moment *other, struct candidate_event *out);

#endif
