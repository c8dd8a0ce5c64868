/*
 * The recorder: each thread's ring of raw records, and what becomes of it.
 *
 * A thread is attached before its first event and gets an id, a slot of the live memory and the
 * ring in it. It appends records between enter and leave; a full ring becomes a chunk of the
 * trace. Controlled runs are recorded through the same rings (control/recorder.c).
 */
#ifndef RUNTIME_RECORD_RING_H
#define RUNTIME_RECORD_RING_H

#include "runtime/core/deferred_signals.h"
#include "runtime/core/mode.h"

/* Addresses of a stack. */
struct snarlrt_stack {
	uint64_t low, high;
};

/*
 * Gives the current thread an id, a slot and a ring; NULL if there is no room. `routine` is
 * what it runs. `stack` NULL: the C library is asked, which may allocate.
 */
SNARLRT_HIDDEN struct snarlrt_thread *snarlrt_thread_attach(uint32_t id, uint32_t parent, uint32_t ordinal,
							    const void *routine,
							    const struct snarlrt_stack *stack);
SNARLRT_HIDDEN void snarlrt_thread_exit(void);	/* writes out and gives the slot back */

/* At exit: flushes this thread and the undecided chunks, writes the END chunk. */
SNARLRT_HIDDEN void snarlrt_finish(int status);

/*
 * Everything that touches a thread's ring or shadow runs between enter and
 * leave. NULL: not recording, hidden, or entered already. While busy, signals
 * are put off (core/deferred_signals.h), so nothing here is re-entered.
 */
SNARLRT_HIDDEN struct snarlrt_thread *snarlrt_enter_slow(void);

static inline struct snarlrt_thread *snarlrt_enter(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (unlikely(!tls->self || tls->busy || tls->hidden))
		return snarlrt_enter_slow();
	tls->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!tls->cur)
		tls->cur = tls->saved;
	return tls->self;
}

static inline void snarlrt_leave(struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (tls->frame != tls->told) {
		tls->saved = tls->cur;
		tls->cur = NULL;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tls->busy = 0;
	if (unlikely(self->deferred_count))
		snarlrt_deliver_deferred(self);
}

/* What follows is to be seen as later, though accesses have no time of their own. */
SNARLRT_HIDDEN void snarlrt_stamp(void);

/* The ring, between enter and leave. */
SNARLRT_HIDDEN void snarlrt_append(struct snarlrt_thread *self, const struct trace_record *records,
				   unsigned count);
/*
 * For what has a time and two records: before the time is taken. A stamp in between would be later
 * than what comes behind it, which would then be read as late as that.
 */
SNARLRT_HIDDEN void snarlrt_make_room(struct snarlrt_thread *self);
SNARLRT_HIDDEN void snarlrt_flush(struct snarlrt_thread *self);
SNARLRT_HIDDEN bool snarlrt_chunk_write(struct trace_chunk *chunk);	/* payload behind it */
SNARLRT_HIDDEN void snarlrt_outbox_flush(void);	/* what was written goes to the file now */
SNARLRT_HIDDEN void snarlrt_tell_frames(struct snarlrt_thread *self);

/*
 * One record where the ring needs no attention: false if it does. The site makes it
 * valid, so it goes in last.
 */
static inline bool snarlrt_append_quick(uint64_t addr, uint64_t site)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *cur = tls->cur;

	if (unlikely((uintptr_t)cur % STAMP_BYTES == 0))
		return false;
	cur->addr = addr;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cur->site = site;
	tls->cur = cur + 1;
	return true;
}

/* The ring needs attention: at the end of a page two records do, too. */
static inline bool snarlrt_near_end(void)
{
	return ((uintptr_t)__snarl_tls.cur + sizeof(struct trace_record)) % STAMP_BYTES <
	       2 * sizeof(struct trace_record);
}

/* Not near the end. */
static inline void snarlrt_put_two(uint64_t addr, uint64_t site, uint64_t time, uint64_t arg)
{
	volatile struct trace_record *cur = __snarl_tls.cur;

	cur[1].addr = time;
	cur[1].site = arg;
	cur[0].addr = addr;
	cur[0].site = site;
	__snarl_tls.cur += 2;
}

/* Made in memory only where that is needed. */
static inline void snarlrt_append_two(struct snarlrt_thread *self, uint64_t addr, uint64_t site, uint64_t time, uint64_t arg)
{
	if (likely(!snarlrt_near_end()))
		snarlrt_put_two(addr, site, time, arg);
	else
		snarlrt_append(self, (const struct trace_record[]){ { addr, site }, { time, arg } }, 2);
}

/*
 * The thread has taken a mutex, or let one go. Writing out a ring takes longer than most critical sections,
 * and others would have to sleep meanwhile: one that is nearly full goes when the thread holds no mutex.
 */
SNARLRT_HIDDEN void snarlrt_flush_early(void);

static inline void snarlrt_taken(void)
{
	if (__snarl_tls.self)
		__snarl_tls.self->held++;
}

static inline bool snarlrt_is_nearly_full(const struct snarlrt_thread *self)
{
	return __snarl_tls.cur > self->ring_end - LIVE_RING_RECORDS / 8;
}

static inline void snarlrt_let_go(void)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (!self)
		return;
	if (self->held > 0)
		self->held--;
	if (unlikely(snarlrt_is_nearly_full(self)) && self->held == 0)
		snarlrt_flush_early();
}

/* undecided_chunks.c. `events`: what the chunk counts for in the window. */
SNARLRT_HIDDEN void snarlrt_stash_push(struct trace_chunk *chunk, uint64_t events);
SNARLRT_HIDDEN void snarlrt_stash_drain(void);	/* decide all that is in it; at exit and exec */

/* What wait_begin stores: between begin and end the thread holds nothing of ours, so plain stores do. */
static inline void snarlrt_waits(const struct snarlrt_thread *self, enum trace_kind kind, const void *object,
				 const void *pc)
{
	struct live_slot *live = self->live;

	live->waiting_for = (uint64_t)object & TRACE_ADDR_MASK;
	live->waiting_pc = (uint64_t)pc;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	live->waiting_in = kind;
}

/* Ends snarlrt_waits: snarlrt_wait_end() where the mode is known. A handler may have stopped the recording meanwhile. */
static inline void snarlrt_waited(void)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (likely(self))
		self->live->waiting_in = 0;
}

SNARLRT_HIDDEN void snarlrt_stash_forked(void);
SNARLRT_HIDDEN void snarlrt_ring_forked(void);

#endif
