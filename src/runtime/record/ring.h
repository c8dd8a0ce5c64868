/*
 * The recorder's interface: each thread's ring of raw records and the chunks made of it.
 *
 * A thread is attached before its first event. It gets an id, a slot of the live memory and the
 * ring in it. It appends records between snarlrt_enter() and snarlrt_leave(). A full ring becomes
 * one chunk of the trace. Controlled runs are recorded through the same rings (control/recorder.c).
 */
#ifndef RUNTIME_RECORD_RING_H
#define RUNTIME_RECORD_RING_H

#include "runtime/core/deferred_signals.h"
#include "runtime/core/mode.h"

/* The addresses of a stack. */
struct snarlrt_stack {
	uint64_t low, high;
};

/*
 * Attaches the current thread: gives it a slot and a ring, and records its start. NULL: there is no
 * room. `routine` is the thread's start routine. If `stack` is NULL, the C library is asked for the
 * stack, which may allocate.
 */
SNARLRT_HIDDEN struct snarlrt_thread *snarlrt_thread_attach(uint32_t id, uint32_t parent,
							    uint32_t ordinal, const void *routine,
							    const struct snarlrt_stack *stack);
/* Ends recording of the current thread: flushes its ring and frees its slot. */
SNARLRT_HIDDEN void snarlrt_thread_exit(void);

/* At exit: flushes this thread's ring, decides all undecided chunks, writes the END chunk. */
SNARLRT_HIDDEN void snarlrt_finish(int status);

/*
 * Code that changes a thread's ring or the shadow runs between snarlrt_enter() and snarlrt_leave().
 * NULL: the thread does not record, is in a hidden section, or has entered already. In between,
 * signals are deferred (core/deferred_signals.h), so no handler enters a second time.
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

	if (tls->frame != tls->emitted) {
		tls->saved = tls->cur;
		tls->cur = NULL;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tls->busy = 0;
	if (unlikely(self->deferred_count))
		snarlrt_deliver_deferred(self);
}

/* Records a time stamp, so that the accesses that follow get later times than those before. */
SNARLRT_HIDDEN void snarlrt_stamp(void);

/* Appends `count` records of one event. Called between enter and leave. */
SNARLRT_HIDDEN void snarlrt_append(struct snarlrt_thread *self, const struct trace_record *records,
				   unsigned count);
/*
 * Makes room for an event of two records with a time of its own. Called before that time is taken.
 * Otherwise the append could first add a stamp with a later time, and the reader would give the
 * event that one.
 */
SNARLRT_HIDDEN void snarlrt_make_room(struct snarlrt_thread *self);
/* Makes a chunk of the ring's records, and clears the ring. Called between enter and leave. */
SNARLRT_HIDDEN void snarlrt_flush(struct snarlrt_thread *self);
/*
 * Sets magic, size and checks in the chunk's header, and writes the chunk to the outbox or the
 * file. The payload follows the header. False: the chunk was not written, and its records are
 * counted as lost.
 */
SNARLRT_HIDDEN bool snarlrt_chunk_write(struct trace_chunk *chunk);
SNARLRT_HIDDEN void snarlrt_outbox_flush(void);	/* writes the outbox to the file */
/* Records the entries of all pending calls. Called between enter and leave. */
SNARLRT_HIDDEN void snarlrt_emit_calls(struct snarlrt_thread *self);

/*
 * Appends one record. False: it was not appended, and the caller calls snarlrt_append(), because a
 * stamp is due, the ring is full or calls are pending. The site is written last, since it makes the
 * record valid.
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

/* Whether an append of two records needs snarlrt_append(), because a page of the ring ends. */
static inline bool snarlrt_near_end(void)
{
	return ((uintptr_t)__snarl_tls.cur + sizeof(struct trace_record)) % STAMP_BYTES <
	       2 * sizeof(struct trace_record);
}

/* Appends two records; only if not snarlrt_near_end(). */
static inline void snarlrt_put_two(uint64_t addr, uint64_t site, uint64_t time, uint64_t arg)
{
	volatile struct trace_record *cur = __snarl_tls.cur;

	cur[1].addr = time;
	cur[1].site = arg;
	cur[0].addr = addr;
	cur[0].site = site;
	__snarl_tls.cur += 2;
}

/* Appends an event of two records. Builds an array for snarlrt_append() only if it must. */
static inline void snarlrt_append_two(struct snarlrt_thread *self, uint64_t addr, uint64_t site,
				      uint64_t time, uint64_t arg)
{
	if (likely(!snarlrt_near_end()))
		snarlrt_put_two(addr, site, time, arg);
	else
		snarlrt_append(self, (const struct trace_record[]){ { addr, site }, { time, arg } },
			       2);
}

/*
 * Flushing a ring takes longer than most critical sections, and other threads would wait for the
 * mutex. So the runtime counts held mutexes, and flushes a nearly full ring when the thread
 * releases its last one.
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

/* undecided_chunks.c: adds a chunk to the stash. It counts as `events` records in the window. */
SNARLRT_HIDDEN void snarlrt_stash_push(struct trace_chunk *chunk, uint64_t events);
/* Decides all chunks of the stash; at exit and exec. */
SNARLRT_HIDDEN void snarlrt_stash_drain(void);

/*
 * Stores what the thread waits for, as the mode's wait_begin() does. Plain stores suffice, because
 * the thread holds no lock of the runtime meanwhile.
 */
static inline void snarlrt_waits(const struct snarlrt_thread *self, enum trace_kind kind,
				 const void *object, const void *pc)
{
	struct live_slot *live = self->live;

	live->waiting_for = (uint64_t)object & TRACE_ADDR_MASK;
	live->waiting_pc = (uint64_t)pc;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	live->waiting_in = kind;
}

/*
 * Ends snarlrt_waits(): snarlrt_wait_end() for modes that have no wait_end(). `self` may be NULL: a
 * signal handler may have stopped the recording meanwhile.
 */
static inline void snarlrt_waited(void)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (likely(self))
		self->live->waiting_in = 0;
}

/* In a forked child: release locks that other threads of the parent held, and forget the file. */
SNARLRT_HIDDEN void snarlrt_stash_forked(void);
SNARLRT_HIDDEN void snarlrt_ring_forked(void);

#endif
