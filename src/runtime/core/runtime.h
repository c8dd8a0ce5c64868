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
	tls->own2 = own * SHADOW_TWO;
	tls->own4 = own * SHADOW_FOUR;
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
