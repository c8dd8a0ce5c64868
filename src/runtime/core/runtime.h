/*
 * The runtime's private state, and what all rooms of src/runtime use.
 *
 * The runtime lives in the program's process. It never calls malloc, stdio, or a function of libc
 * that may lock, allocate or set errno, unless bracketed by snarlrt_hide() and snarlrt_unhide().
 * System calls go through core/sys.h, memory comes from core/arena.h.
 *
 * A thread's state is in two parts. struct snarlrt_tls (abi/layout.h) holds what hooks access and
 * is thread-local; struct snarlrt_thread holds the rest, and snarlrt_tls.self points to it.
 * abi/layout.h describes the shadow, too.
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
/* Interposers are weak symbols: a function that the program defines itself wins. */
#define SNARLRT_INTERPOSE __attribute__((visibility("default"), weak))

/*
 * A section for large variables that controlled runs seldom write. All other variables then lie on
 * few pages: after a fork, the first write to each page costs a fault and a copy.
 */
#define SNARLRT_BIG __attribute__((section(".bss.snarlrt_big")))

#define SNARLRT_PC() __builtin_return_address(0)

/*
 * Exported for instrumented shared libraries. The runtime is part of the executable, so it uses the
 * local-exec model: the variable's offset is a constant in its code.
 */
extern SNARLRT_EXPORT __thread struct snarlrt_tls __snarl_tls
	__attribute__((tls_model("local-exec")));

#define SNARLRT_CLAIMS 8u	/* claims that a thread remembers: the most recent ones */

/*
 * A large block each of whose pages becomes this thread's, and cut, when the thread first accesses
 * it (record/allocation_sites.c).
 */
struct snarlrt_claim {
	uint64_t start, size;		/* address, bytes; a size of 0: the claim was dropped */
	/* Value of the block's word (record/clock.h), which is cleared when the block is freed. */
	uint64_t birth;
};

#define SNARLRT_AHEADS 16u	/* entries of a thread's direct-mapped cache of reserved times */

/*
 * Times that a thread reserved on a stripe of the clock: while the stripe's value is `until`, the
 * thread may use times up to it without writing to the stripe (record/clock.h).
 */
struct snarlrt_ahead {
	const uint64_t *stripe;
	uint64_t until;
};

struct snarlrt_thread {
	uint32_t id;			/* from 1; never reused */
	uint32_t slot;			/* index of `live` and of the ring in live memory */
	struct live_slot *live;
	struct trace_record *ring, *ring_end;
	uint64_t last_time;		/* the thread's clock; only grows */
	uint32_t since_tsc;		/* times given out since the time stamp counter was read */
	uint32_t parent, ordinal;	/* thread name: ordinal-th child of thread `parent` */
	uint32_t children;		/* number of threads that it created */
	uint32_t too_deep;		/* calls under way beyond the end of `frames` */
	uint32_t births;		/* number of blocks from sites whose blocks became shared */
	struct snarlrt_frame *frames;	/* call stack */
	uint8_t *out;			/* buffer for an encoded chunk: header, then payload */
	struct trace_coder *coder;
	uint64_t stack_low, stack_high;	/* addresses of the thread's stack; 0: unknown */
	uint64_t *held_stripe;		/* locked for an atomic operation under way, or NULL */
	struct snarlrt_deferred *deferred;	/* deferred signals */
	uint32_t deferred_count;	/* number of these */
	struct snarlrt_thread *next_free;	/* in the list of unused structs */
	struct snarlrt_claim claim[SNARLRT_CLAIMS];
	uint32_t claims;		/* number of claims made so far */
	struct snarlrt_ahead ahead[SNARLRT_AHEADS];
	uint32_t held;			/* estimated number of mutexes held (snarlrt_flush_early) */
	uint32_t tid;			/* the kernel's thread id */
	/* Loop excess: events that loop groups in the ring stand for, less their records; wraps. */
	uint32_t loop_excess;
	/* Undecided events of these groups, less the records that tls.undecided counts. */
	uint32_t undecided_more;
	uint8_t *empty_calls;		/* tls.empty_calls points to it (abi/layout.h) */
};

/* Modes that code distinguishes by a number; core/mode.h describes modes. */
enum snarlrt_mode { SNARLRT_OFF, SNARLRT_RECORD, SNARLRT_CONTROL, SNARLRT_MONITOR };

/* The global state that all rooms share; each room's own variables are static. */
struct snarlrt {
	enum snarlrt_mode mode;		/* copy of snarlrt_ops->id */
	bool filter;			/* accesses to unshared memory may be dropped */
	bool profiling;			/* events go into a coverage profile, not a trace */
	bool fork_off;			/* forked children are not recorded */
	bool threaded;			/* the program has had a second thread */
	bool sync_ignored;		/* mode check: no rule needs synchronisation calls */
	uint64_t without;		/* optimisations switched off: RUN_WITHOUT_* */
	uint64_t window;		/* most events in undecided chunks */
	uint64_t room;			/* size limit of the trace in bytes; 0: none */
	uint32_t next_thread;		/* thread ids given out so far */
	uint32_t next_foreign;		/* threads met so far that pthread_create did not make */
	struct live_header *live;	/* live memory; NULL: nothing is recorded */
	uint64_t main_stack_low, main_stack_high;	/* addresses of main's stack; 0: unknown */
	char trace_path[4096];
	int trace_fd;
};

extern SNARLRT_HIDDEN struct snarlrt snarlrt;
/* Option times=all: each access to shared memory gets its own time. */
extern SNARLRT_HIDDEN bool snarlrt_timed;

/* Sets the shadow word that the thread's cut memory has. */
static inline void snarlrt_set_own(struct snarlrt_tls *tls, uint16_t own)
{
	tls->own = own;
	tls->own2 = own * SHADOW_TWO;
	tls->own4 = own * SHADOW_FOUR;
}

/*
 * Called before and after calls of libc, whose own allocations and locks are not events of the
 * program. Such sections nest.
 */
static inline void snarlrt_hide(void)
{
	__snarl_tls.hidden++;
}

static inline void snarlrt_unhide(void)
{
	__snarl_tls.hidden--;
}

/* Finds the functions behind the interposers (core/real.h). */
SNARLRT_HIDDEN void snarlrt_real_resolve(void);
extern SNARLRT_HIDDEN bool snarlrt_real_done;

/* Makes REAL() usable; every interposer calls it first. */
static inline void snarlrt_real_ready(void)
{
	if (unlikely(!snarlrt_real_done))
		snarlrt_real_resolve();
}

#endif
