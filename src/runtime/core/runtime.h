/*
 * The runtime's private side. Everything here lives in somebody else's process:
 * no malloc, no stdio, no libc call that may lock, allocate or set errno; the
 * kernel is reached through sys.h only.
 *
 * Threads: struct snarlrt_tls is what the hot path touches (its offsets are
 * known to entry_x86_64.S and to wrap/hooks/inline_asm.c); struct snarlrt_thread is the
 * rest, reached through tls.self.
 *
 * Shadow: two bytes for each 8 bytes of memory at SHADOW_BASE + addr / 8 * 2:
 *   0             nobody yet
 *   id * 2        private to thread `id`, each access is kept for now
 *   id * 2 + 1    private to thread `id`, its history was cut: nothing is kept
 *   SHADOW_SHARED touched by two threads: everything is kept
 *   SHADOW_TIMED  likewise, and has a time of its own
 * tls.own holds id * 2 + 1, so that one compare lets the common case go.
 */
#ifndef RUNTIME_CORE_RUNTIME_H
#define RUNTIME_CORE_RUNTIME_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#define SHADOW_BASE 0x7fff8000ull
#define SHADOW_SHARED 0xffffu
#define SHADOW_TIMED 0xfffeu	/* in its place with times=all, so that no fast path knows it */
#define SHADOW_MAX_ID 0x7ffeu	/* later threads own nothing: all they touch is shared */
#define STAMP_BYTES 4096u	/* a time stamp at least this often in a ring */

struct ctl_thread;

struct snarlrt_frame {
	uint64_t caller;	/* pc the function will return to */
	uint64_t pc;		/* in the function, just after its entry hook */
};

/* Offsets are fixed: entry_x86_64.S and wrap/hooks/inline_asm.c use them as numbers. */
struct snarlrt_tls {
	struct trace_record *cur;	/* 0: next record of the ring; NULL: not now, ask C */
	uint16_t own;			/* 8: own shadow value once cut; 0 when not recording */
	uint16_t own_uncut;		/* 10: own & ~1 */
	uint32_t own2;			/* 12: own twice, for 16-byte accesses */
	struct snarlrt_frame *frame;	/* 16: first free frame of the call stack */
	struct snarlrt_frame *told;	/* 24: frames below are in the trace; -1: no call stack */
	struct snarlrt_frame *frame_end;	/* 32: NULL: no call stack yet */
	struct snarlrt_thread *self;	/* 40: NULL: not attached */
	uint32_t busy;			/* 48: inside the runtime */
	uint32_t hidden;		/* 52: >0: do not note events (libc's own doings) */
	uint32_t ended;			/* 56: do not attach again */
	uint32_t undecided;		/* 60: records of private accesses in the ring */
	struct trace_record *saved;	/* 64: cur, while calls wait to be told */
	struct ctl_thread *control;	/* 72: the thread under control (control.h), or NULL */
	uint64_t own4;			/* 80: own four times, for four shadow words at once */
	struct snarlrt_frame *frame_first;	/* 88: the call stack's start, or NULL */
	struct snarlrt_frame *tell_end;	/* 96: before frame_end: calls of frames below are told at once; or NULL */
	uint8_t *quiet;			/* 104: self->quiet */
};

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

#define SNARLRT_QUIET 65536u	/* bytes of snarlrt_thread.quiet */

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

/* What assembly and predicates compare; mode.h has what the modes do. */
enum snarlrt_mode { SNARLRT_OFF, SNARLRT_RECORD, SNARLRT_CONTROL, SNARLRT_WATCH };

/* The one global. */
struct snarlrt {
	enum snarlrt_mode mode;
	bool filter;
	bool profiling;			/* recording into a coverage profile, not a trace (parallel_coverage.c) */
	bool fork_off;
	bool threaded;			/* a second thread was seen */
	bool sync_unseen;		/* mode check: calls that synchronise need not be noted */
	uint64_t without;		/* optimisations switched off: RUN_WITHOUT_* */
	uint64_t window;
	uint64_t room;			/* bytes of the trace at most; 0: any number */
	uint32_t next_thread;		/* ids given out so far */
	uint32_t next_foreign;
	struct live_header *live;
	uint64_t main_stack_low, main_stack_high;	/* known before the first thread is attached */
	char trace_path[4096];
	int trace_fd;
};

extern SNARLRT_HIDDEN struct snarlrt snarlrt;
extern SNARLRT_HIDDEN bool snarlrt_timed;	/* times=all: each access to shared memory gets a time */

/* Its own shadow value, once cut. */
static inline void snarlrt_set_own(struct snarlrt_tls *tls, uint16_t own)
{
	tls->own = own;
	tls->own2 = own * 0x00010001u;
	tls->own4 = own * 0x0001000100010001ull;
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

#endif
