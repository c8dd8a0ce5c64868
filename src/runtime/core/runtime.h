/*
 * The runtime's private side. Everything here lives in somebody else's process:
 * no malloc, no stdio, no libc call that may lock, allocate or set errno; the
 * kernel is reached through sys.h only.
 *
 * Threads: struct snarlrt_tls (abi/layout.h) is what hooks access; struct snarlrt_thread is the rest
 * of a thread's state, reached through tls.self. abi/layout.h explains the shadow, too.
 */
#ifndef RUNTIME_CORE_RUNTIME_H
#define RUNTIME_CORE_RUNTIME_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/layout.h"
#include "abi/live_memory.h"
#include "abi/trace_format.h"
#include "trace/codec/codec.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define SNARLRT_HIDDEN __attribute__((visibility("hidden")))
#define SNARLRT_EXPORT __attribute__((visibility("default")))
/* Interposers are weak: a program that brings its own definition keeps it. */
#define SNARLRT_INTERPOSE __attribute__((visibility("default"), weak))

/*
 * Big and seldom used: kept apart, so that what every controlled run writes to lies
 * in few pages. After a fork each page that is written costs a fault and a copy.
 */
#define SNARLRT_BIG __attribute__((section(".bss.snarlrt_big")))

#define SNARLRT_PC() __builtin_return_address(0)

/* Exported for instrumented shared libraries; the runtime is part of the executable, so its place is a constant here. */
extern SNARLRT_EXPORT __thread struct snarlrt_tls __snarl_tls
	__attribute__((tls_model("local-exec")));

#define SNARLRT_CLAIMS 8u	/* of each thread, the last ones */

/* A big block that is its thread's from its birth on (birth.h). */
struct snarlrt_claim {
	uint64_t start, size;
	uint64_t birth;
};

#define SNARLRT_AHEADS 16u

/* Up to this time a stripe is the thread's, while it has that value (clock.h). */
struct snarlrt_ahead {
	const uint64_t *stripe;
	uint64_t until;
};

struct snarlrt_thread {
	uint32_t id;			/* from 1, never used again */
	uint32_t slot;
	struct live_slot *live;
	struct trace_record *ring, *ring_end;
	uint64_t last_time;		/* the thread's clock; only grows */
	uint32_t unlooked;		/* times given out since it met the counter */
	uint32_t parent, ordinal;	/* its name, told again by a forked child */
	uint32_t children;		/* threads it created */
	uint32_t too_deep;		/* calls beyond the call stack's end */
	uint32_t births;		/* blocks that might have been born shared */
	struct snarlrt_frame *frames;
	uint8_t *out;			/* where a chunk is encoded: header, payload */
	struct trace_coder *coder;
	uint64_t stack_low, stack_high;
	uint64_t *held_stripe;		/* clock.h: locked around an atomic under way */
	struct snarlrt_deferred *deferred;	/* signals that came while busy (deferred.h) */
	uint32_t deferred_count;
	struct snarlrt_thread *next_free;
	struct snarlrt_claim claim[SNARLRT_CLAIMS];
	uint32_t claims;		/* made so far */
	struct snarlrt_ahead ahead[SNARLRT_AHEADS];
	uint32_t held;			/* mutexes, as far as it is known */
	uint32_t tid;			/* the kernel's */
	uint32_t in_loops;		/* events of loops in the ring, less the records that tell them; may wrap */
	uint32_t undecided_more;	/* … of private memory, less tls.undecided's part of them */
	uint8_t *quiet;			/* by a function's pc: how often its entry was taken back since it had to be told late */
};

enum snarlrt_mode { SNARLRT_OFF, SNARLRT_RECORD, SNARLRT_CONTROL, SNARLRT_WATCH };

/* The one global. */
struct snarlrt {
	enum snarlrt_mode mode;
	bool filter;
	bool profiling;			/* recording into a profile, not a trace (profile.c) */
	bool fork_off;
	bool threaded;			/* a second thread was seen */
	bool sync_unseen;		/* mode check: calls that synchronise need not be noted */
	uint64_t without;		/* optimisations switched off: RUN_WITHOUT_* */
	uint64_t window;
	uint64_t room;			/* bytes of the trace at most; 0: any number */
	uint32_t next_thread;		/* ids given out so far */
	uint32_t next_foreign;
	struct live_header *live;
	char trace_path[4096];
	int trace_fd;
};

extern SNARLRT_HIDDEN struct snarlrt snarlrt;
extern SNARLRT_HIDDEN bool snarlrt_timed;	/* times=all: each access to shared memory gets a time */

/* Its own shadow value, once cut. */
static inline void snarlrt_set_own(struct snarlrt_tls *tls, uint16_t own)
{
	tls->own = own;
	tls->own2 = own * SHADOW_TWO;
	tls->own4 = own * SHADOW_FOUR;
}

/*
 * For interposers.
 *
 * note: append a timed event, ordered against all other events on `object`.
 * Call it while the thing is held: after acquiring, before releasing. Does
 * nothing when off, hidden or inside the runtime; keeps errno.
 */
SNARLRT_HIDDEN void snarlrt_note(enum trace_kind kind, unsigned detail, const void *object,
				 uint64_t arg, int result, const void *pc);

/* An access to [addr, addr + size), as the program's memcpy and read(2) make. */
SNARLRT_HIDDEN void snarlrt_range(bool write, const void *addr, size_t size, const void *pc);

/* Forget who owned this memory: it is new, or gone. */
SNARLRT_HIDDEN void snarlrt_fresh(const void *addr, size_t size);

/* Around a call that may block for ever: a killed run then shows who waited for what. */
SNARLRT_HIDDEN void snarlrt_wait_begin(enum trace_kind kind, const void *object, const void *pc);
SNARLRT_HIDDEN void watch_wait_end(void);	/* watch.h */

static inline void snarlrt_wait_end(void)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (self)
		self->live->waiting_in = 0;
	if (unlikely(snarlrt.mode == SNARLRT_WATCH))
		watch_wait_end();
}

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

/* Around libc calls whose own mallocs and locks are nobody's business. They nest. */
static inline void snarlrt_hide(void)
{
	__snarl_tls.hidden++;
}

static inline void snarlrt_unhide(void)
{
	__snarl_tls.hidden--;
}

/* Finds all real functions; cheap once done. Interposers call it first of all. */
SNARLRT_HIDDEN void snarlrt_real_resolve(void);
extern SNARLRT_HIDDEN bool snarlrt_real_done;

static inline void snarlrt_real_ready(void)
{
	if (unlikely(!snarlrt_real_done))
		snarlrt_real_resolve();
}

/* Nothing is watched: the first thing hot interposers ask, to pass the call on at once. */
static inline bool snarlrt_off(void)
{
	return likely(snarlrt_real_done) && (snarlrt.mode == SNARLRT_OFF || snarlrt.sync_unseen);
}

/* init.c: idempotent; called from preinit_array, __tsan_init and early interposers. */
SNARLRT_HIDDEN void snarlrt_init(void);

/* thread.c */
SNARLRT_HIDDEN struct snarlrt_thread *snarlrt_thread_attach(uint32_t id, uint32_t parent,
							    uint32_t ordinal, const void *routine);
SNARLRT_HIDDEN void snarlrt_thread_exit(void);	/* writes out and gives the slot back */

/*
 * Everything that touches a thread's ring or shadow runs between enter and
 * leave. NULL: not recording, hidden, or entered already. While busy, signals
 * are put off (interpose_signal.c), so nothing here is re-entered.
 */
SNARLRT_HIDDEN struct snarlrt_thread *snarlrt_enter_slow(void);
SNARLRT_HIDDEN void snarlrt_deliver_deferred(struct snarlrt_thread *self);

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

/* buffer.c: what follows is to be seen as later, though accesses have no time of their own. */
SNARLRT_HIDDEN void snarlrt_stamp(void);

/* buffer.c: the ring, between enter and leave. */
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

/* stash.c. `events`: what the chunk counts for in the window. */
SNARLRT_HIDDEN void snarlrt_stash_push(struct trace_chunk *chunk, uint64_t events);
SNARLRT_HIDDEN void snarlrt_stash_drain(void);	/* decide all that is in it; at exit and exec */

/* process.c */
SNARLRT_HIDDEN void snarlrt_finish(int status);	/* at exit: flush this thread, drain, END chunk */
SNARLRT_HIDDEN void snarlrt_forked_child(void);
SNARLRT_HIDDEN void snarlrt_before_exec(void);
SNARLRT_HIDDEN void snarlrt_modules_scan(void);	/* write MODULE chunks for new ones */

#endif
