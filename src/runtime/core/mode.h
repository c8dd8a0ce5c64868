/*
 * The mode of the process: what happens to the program's events.
 *
 * Each mode is a struct of functions, defined in the room that implements it: off in core/mode.c,
 * record and coverage in record/record_mode.c, control in control/control_mode.c, check and guard
 * in monitor/monitor_mode.c. process/init.c chooses one at the start; when recording stops, mode
 * off takes over. Hooks and interposers call the mode's functions through snarlrt_ops. Inlined
 * checks and the fast paths in assembly do not: they compare the shadow with tls.own.
 */
#ifndef RUNTIME_CORE_MODE_H
#define RUNTIME_CORE_MODE_H

#include "runtime/core/runtime.h"

/* One atomic operation of the program. */
struct mode_atomic {
	const volatile void *addr;
	const void *pc;
	enum trace_kind kind;	/* at atomic_end TRACE_ATOMIC_CAS_FAIL if the exchange failed */
	unsigned log2;		/* log2 of the size in bytes */
	/* The caller sets these before atomic_end. */
	int order, fail_order;	/* memory_order; of an exchange that fails */
	uint64_t value;		/* the value read; of a plain store, the value written */
	/* The recorder keeps these from atomic_begin to atomic_end. */
	struct snarlrt_thread *self;	/* NULL: the operation is not recorded */
	uint64_t seen;		/* time of the last event on the stripe of `addr` */
};

/* A thread that the program created. */
struct mode_thread {
	uint32_t id, parent, ordinal;	/* ordinal-th child of thread `parent` */
	const void *routine;		/* the thread's start function */
};

struct mode {
	const char *name;	/* value of the key mode= in SNARL_OPTIONS */
	enum snarlrt_mode id;	/* record and profile share one; so do check and guard */
	/* Events are folded into a coverage profile, not written to a trace. */
	bool folds;

	/*
	 * Hooks. All but atomic_end are called before the program's operation. A `site` is that of
	 * a raw record: pc, kind and detail (TRACE_SITE).
	 */
	void (*access)(uint64_t addr, uint64_t site);
	void (*range)(uint64_t addr, uint64_t size, uint64_t site);
	void (*atomic_begin)(struct mode_atomic *op);
	void (*atomic_end)(struct mode_atomic *op);
	void (*entry)(uint64_t caller, uint64_t pc);
	void (*exit)(uint64_t pc);

	/* Interposers call these through snarlrt_note(), snarlrt_wait_begin() and the like. */
	void (*note)(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
		     int result, const void *pc);
	void (*wait_begin)(enum trace_kind kind, const void *object, const void *pc);
	void (*wait_end)(void);		/* NULL: nothing to do */
	void (*fresh)(const void *addr, size_t size);

	uint64_t (*depth)(void);	/* number of calls on the call stack */
	void (*cut)(uint64_t depth);	/* a longjmp leaves all calls above this number */

	/* Called by a thread at its start and end. */
	void (*thread_begin)(const struct mode_thread *t);
	void (*thread_end)(void);
	/* Called in a forked child, while signals are blocked. */
	void (*forked)(void);
};

extern SNARLRT_HIDDEN const struct mode mode_off;

/* Functions that do nothing, for modes. */
SNARLRT_HIDDEN void mode_no_atomic(struct mode_atomic *op);
SNARLRT_HIDDEN void mode_no_entry(uint64_t caller, uint64_t pc);
SNARLRT_HIDDEN void mode_no_wait(enum trace_kind kind, const void *object, const void *pc);
SNARLRT_HIDDEN void mode_no_thread(const struct mode_thread *t);
SNARLRT_HIDDEN void mode_nothing(void);

/* The mode of the process; never NULL. */
extern SNARLRT_HIDDEN const struct mode *snarlrt_ops;

/* Also sets the copies that assembly and compiled code read: snarlrt.mode, __snarl_loops. */
SNARLRT_HIDDEN void mode_set(const struct mode *m);

/*
 * Compiled code reads it before each loop that exists with and without hooks. 0: the loop runs with
 * hooks. LOOPS_PLAIN, LOOPS_ASK: see abi/layout.h. With a list of sites, all accesses of a loop are
 * recorded if the list names one of them; else none is (record/site_filter.c).
 */
extern SNARLRT_EXPORT uint8_t __snarl_loops;

static inline bool mode_is_off(void)
{
	return snarlrt.mode == SNARLRT_OFF;
}

/* Threads fill rings in parallel, for a trace or a coverage profile. */
static inline bool mode_records(void)
{
	return snarlrt.mode == SNARLRT_RECORD;
}

/* Threads fill rings in parallel, for a trace. */
static inline bool mode_traces(void)
{
	return likely(mode_records() && !snarlrt.profiling);
}

static inline bool mode_controls(void)
{
	return snarlrt.mode == SNARLRT_CONTROL;
}

/* Mode check or guard, or mode off with the option noise. */
static inline bool mode_monitors(void)
{
	return snarlrt.mode == SNARLRT_MONITOR;
}

/* No call becomes an event, so frequent interposers call the real function at once. */
static inline bool snarlrt_off(void)
{
	return likely(snarlrt_real_done) && (mode_is_off() || snarlrt.sync_ignored);
}

/*
 * Records an event whose time is later than those of all earlier events on `object`. For a lock,
 * call it while the lock is held: after acquiring and before releasing. Does nothing in mode off,
 * while hidden and inside the runtime; keeps errno.
 */
static inline void snarlrt_note(enum trace_kind kind, unsigned detail, const void *object,
				uint64_t arg, int result, const void *pc)
{
	snarlrt_ops->note(kind, detail, object, arg, result, pc);
}

/* The memory was just allocated, or is about to be freed: its shadow is reset. */
static inline void snarlrt_fresh(const void *addr, size_t size)
{
	snarlrt_ops->fresh(addr, size);
}

/*
 * Called before and after a call that may block. If the program is killed in between, the trace
 * says which object the thread waited for.
 */
static inline void snarlrt_wait_begin(enum trace_kind kind, const void *object, const void *pc)
{
	snarlrt_ops->wait_begin(kind, object, pc);
}

static inline void snarlrt_wait_end(void)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (self)
		self->live->waiting_in = 0;
	if (unlikely(snarlrt_ops->wait_end))
		snarlrt_ops->wait_end();
}

#endif
