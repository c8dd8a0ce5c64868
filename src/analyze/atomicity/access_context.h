/*
 * Access contexts: what the atomicity analyses keep of an access besides its site. A context has
 * the position in the trace, the bytes, the call stack and block of code, and a synchronisation
 * state.
 *
 * A synchronisation state has what changes only when the thread synchronises: its strong vector
 * clock (the epoch), its lockset, and the events that acquired these locks. All accesses that a
 * thread makes between two synchronisation events share one state, by number.
 *
 * Example: main creates two threads, and both run this code. The numbers are pcs.
 *
 *	0x401	lock(&m);
 *	0x402	seen = balance;
 *		unlock(&m);
 *	0x403	lock(&m);
 *	0x404	balance = seen + 1;
 *		unlock(&m);
 *
 * Thread 0.1, number 2 in the trace, runs first. Its event 4, at time 7, writes `balance`, 4 bytes
 * at 0x1000. The context of this write:
 *
 *	index 4, time 7, addr 0x1000, size 4, sync_state 2, epoch 1, stack 0, block 0, tag 2
 *	sync_state 2: epoch 1, lockset 2 = { m, acquired at 0x403 }, acquired by event 3 at time 6
 *	epoch 1: strong clock { thread 1: 1, thread 2: 1 }
 *
 * The read before it has sync_state 1: epoch 1, lockset 1 = { m, acquired at 0x401 }. The epoch is
 * the same, because mutexes make no strong happens-before. contexts_cuts_since() of the read finds
 * one lockset on the way to the write, the empty one: there, another thread can come in.
 *
 * Memory is bounded. When there are many states, contexts_set_marker()'s callback marks those in
 * use, and the numbers of all others are reused.
 */
#ifndef ANALYZE_ATOMICITY_ACCESS_CONTEXT_H
#define ANALYZE_ATOMICITY_ACCESS_CONTEXT_H

#include "analyze/analysis.h"

#define CONTEXTS_CUTS 3u /* locksets between two accesses of a thread that are kept */
/* a thread's events at most this far apart are one block, except across user blocks */
#define CONTEXTS_BLOCK_EVENTS 1000u

/* One access. All zero: none. */
struct access_context {
	uint64_t index, time, addr;
	uint32_t size;		/* bytes; larger accesses count as UINT32_MAX */
	uint32_t sync_state;	/* number in contexts.sync_states; 0: none */
	/* number in contexts.epochs; equal epochs are equal strong clocks of one thread */
	uint32_t epoch;
	uint32_t stack;
	/* view.block, or view.user_block with CONTEXTS_USER_BLOCK set; 0: outside all */
	uint32_t block;
	uint32_t tag; /* free for the analysis; atomicity.c: number of a history_signature */
};

#define CONTEXTS_CHANGES 64u	/* last changes of a thread's lockset that are kept; a power of 2 */
#define CONTEXTS_USER_BLOCK 0x80000000u

/* The synchronisation state of one thread now. It is read at every access. */
struct contexts_thread {
	bool stale;		/* the thread synchronised since `sync_state` was made */
	/* valid if not stale and the three members below are still the thread's */
	uint32_t sync_state, epoch;
	uint32_t lockset;
	const struct vclock *clock;
	uint64_t clock_changes;
	uint64_t released; /* index of the first event after the thread's last release of a lock */
	/* changes of the lockset so far; the last CONTEXTS_CHANGES are in `change` */
	uint32_t changes;
	struct contexts_change {
		uint64_t index;	/* the thread has `lockset` from its event with this index on */
		uint32_t lockset;
	} change[CONTEXTS_CHANGES];
};

struct contexts {
	struct locks *locks;
	struct contexts_thread **threads;	/* by trace id; NULL: not seen yet */
	size_t thread_count;
	struct contexts_epoch *epochs;	/* strong clocks; number 0 is unused */
	size_t epoch_count, epoch_capacity;
	uint32_t free_epoch;
	struct contexts_sync_state *sync_states;	/* number 0 is unused */
	struct view_acquired *outer; /* by sync_state: the event that acquired the first lock */
	size_t sync_state_count, sync_state_capacity;
	uint32_t free_sync_state;
	/* by sync_state.inner: the events that acquired the other locks; number 0 is unused */
	struct view_acquired (*inner)[LOCKS_OUTER - 1];
	size_t inner_count, inner_capacity;
	/* first free element of `inner`; a free one links the next by its first `index` */
	uint32_t free_inner;
	uint64_t *marked; /* bit set of sync_states in use; only during a collection */
	size_t collect_at; /* collect unused sync_states when there are this many */
	void (*mark)(void *ctx);
	void *mark_ctx;
};

struct contexts *contexts_new(struct locks *locks);
void contexts_free(struct contexts *cs);

/*
 * Follows the thread's synchronisation. To be called for every event that is no access, in trace
 * order.
 */
void contexts_sync(struct contexts *cs, const struct event *ev, const struct view *view);

/* contexts_current() for a thread that is new or stale: makes its new synchronisation state. */
const struct contexts_thread *contexts_refresh(struct contexts *cs, const struct view *view);

/*
 * True if t->sync_state is out of date. Compares the lockset and clock, too, because events of
 * other threads can change them.
 */
static inline bool contexts_stale(const struct contexts_thread *t, const struct view *view)
{
	return t->stale || t->lockset != view->lockset || t->clock_changes != view->strong->changes;
}

/* The synchronisation state of the view's thread now, for contexts_fill(). */
static inline const struct contexts_thread *contexts_current(struct contexts *cs,
							     const struct view *view)
{
	const struct contexts_thread *t =
		view->thread < cs->thread_count ? cs->threads[view->thread] : NULL;

	return __builtin_expect(!t || contexts_stale(t, view), 0) ? contexts_refresh(cs, view) : t;
}

/*
 * Fills *out for the access `ev`. Its sync_state is valid until the marker is called next; a
 * caller that keeps it longer has to mark it.
 */
static inline void contexts_fill(const struct contexts_thread *t, const struct event *ev,
				 const struct view *view, uint32_t tag, struct access_context *out)
{
	out->index = view->index;
	out->time = ev->time;
	out->addr = ev->addr;
	out->size = ev->size < UINT32_MAX ? (uint32_t)ev->size : UINT32_MAX;
	out->sync_state = t->sync_state;
	out->epoch = t->epoch;
	out->stack = view->stack;
	out->block = view->user_block ? view->user_block | CONTEXTS_USER_BLOCK : view->block;
	out->tag = tag;
}

/* contexts_fill() with the thread's present state and tag 0. */
static inline void contexts_capture(struct contexts *cs, const struct event *ev,
				    const struct view *view, struct access_context *out)
{
	contexts_fill(contexts_current(cs, view), ev, view, 0, out);
}

/*
 * Sets the callback that finds the sync_states in use: it has to call contexts_mark() or
 * contexts_mark_sync_state() for each context that the analysis keeps. Without a callback, no
 * number is reused.
 */
void contexts_set_marker(struct contexts *cs, void (*mark)(void *ctx), void *ctx);
static inline void contexts_mark_sync_state(struct contexts *cs, uint32_t sync_state)
{
	cs->marked[sync_state / 64] |= 1ull << sync_state % 64;
}

static inline void contexts_mark(struct contexts *cs, const struct access_context *kept)
{
	contexts_mark_sync_state(cs, kept->sync_state);
}

uint32_t contexts_thread(const struct contexts *cs, const struct access_context *a);
uint32_t contexts_epoch(const struct contexts *cs, uint32_t sync_state);
uint32_t contexts_lockset(const struct contexts *cs, const struct access_context *a);

/*
 * True if the thread released no lock since `p`. `p` is an access of the thread that it made with
 * locks held.
 */
static inline bool contexts_same_section(const struct contexts_thread *t,
					 const struct access_context *p)
{
	return p->index >= t->released;
}

/* True if strong happens-before orders epoch `a` before epoch `b`. The threads must differ. */
bool contexts_ordered(const struct contexts *cs, uint32_t a, uint32_t b);

/*
 * True if no schedule can decide whether a1 is before b1 and b2 before a2: strong happens-before
 * forbids that, or enforces it in every run, as with what a thread does before it creates and after
 * it joins another. a1 and a2 are epochs of one thread, b1 and b2 of another.
 */
bool contexts_order_fixed(const struct contexts *cs, uint32_t a1, uint32_t b1, uint32_t b2,
			  uint32_t a2);

/* True if the function activation that made `p` has not returned. For contexts_same_block(). */
static inline bool contexts_function_active(const struct access_context *p, const struct view *view)
{
	for (uint32_t k = p->block ? view->activation_count : 0; k > 0; k--)
		if (view->activations[k - 1] == p->block)
			return true;
	return false;
}

/*
 * True if `p` and the thread's present access `i` belong together: same block of code, a function
 * that is still active, or at most CONTEXTS_BLOCK_EVENTS apart. A user block excludes what is
 * outside.
 */
static inline bool contexts_same_block(const struct access_context *p,
				       const struct access_context *i, const struct view *view)
{
	if (p->block && p->block == i->block)
		return true;
	if ((p->block | i->block) & CONTEXTS_USER_BLOCK)
		return false;
	return i->index - p->index <= CONTEXTS_BLOCK_EVENTS || contexts_function_active(p, view);
}

/* contexts_cuts_since() for a thread whose lockset changed after the access. */
unsigned contexts_cuts_search(const struct contexts *cs, const struct contexts_thread *t,
			      uint64_t index, uint32_t lockset, uint32_t cuts[CONTEXTS_CUTS]);

/*
 * Fills `cuts` with the locksets that the thread had from right after its access number `index`,
 * made with `lockset`, to its present access, and returns their number. These are the cut-points at
 * which another thread can come in. A lockset that is more restrictive than another one is left
 * out; of the rest, the CONTEXTS_CUTS with the fewest locks are kept. If the thread held no lock at
 * some point in between, the empty set is the only one.
 */
static inline unsigned contexts_cuts_since(const struct contexts *cs,
					   const struct contexts_thread *t, uint64_t index,
					   uint32_t lockset, uint32_t cuts[CONTEXTS_CUTS])
{
	uint32_t n = t->changes;

	cuts[0] = lockset;
	if (!lockset || !n || t->change[(n - 1) % CONTEXTS_CHANGES].index <= index)
		return 1;
	return contexts_cuts_search(cs, t, index, lockset, cuts);
}

/*
 * PRUNE_REASONS if one of the locksets `cuts` of a thread lets another thread have lockset `set`.
 * Else why not: PRUNE_LOCK if all exclude `set`, PRUNE_HISTORY if acquisition histories conflict.
 */
enum prune_reason contexts_check_locks(const struct contexts *cs, const uint32_t *cuts,
				       unsigned count, uint32_t set);

/* locks_core(): the lockset without acquisition histories. */
uint32_t contexts_core(const struct contexts *cs, uint32_t set);

/* Converts a context to the form in which candidates name events. */
struct candidate_event contexts_candidate_event(const struct contexts *cs,
						const struct access_context *a, uint64_t pc,
						uint16_t kind);

/*
 * Finds where to stop a thread so that `other` runs before its access `a`. Right before `a` is too
 * late if the thread then holds a lock that `other` needs. In this case returns true, and *out is
 * the event that acquires the outermost such lock. Only locks acquired after the thread's event
 * number `after` count; CONTEXTS_ANY_SECTION: all.
 */
#define CONTEXTS_ANY_SECTION UINT64_MAX
bool contexts_find_section(const struct contexts *cs, const struct access_context *a,
			   uint64_t after, const struct access_context *other,
			   struct candidate_event *out);

#endif
