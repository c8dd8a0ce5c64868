/*
 * The mode of the process: what becomes of the program's events.
 *
 * Each mode is one row of functions, defined in the room that implements it: off here,
 * record and coverage in record/record_mode.c, control in control/control_mode.c, check and
 * guard in monitor/monitor_mode.c. process/init.c chooses the row once, at the start; recording
 * sets the row of mode off when it stops. The compiler's entry points and the interposers call
 * the row through one pointer. The inlined checks and the assembly's fast paths do not use it:
 * they compare shadow memory with tls.own.
 */
#ifndef RUNTIME_CORE_MODE_H
#define RUNTIME_CORE_MODE_H

#include "runtime/core/runtime.h"

/* One atomic operation of the program. */
struct mode_atomic {
	const volatile void *addr;
	const void *pc;
	enum trace_kind kind;	/* known again at the end: a compare-and-swap may have failed */
	unsigned log2;		/* of its size */
	/* Set before the end: */
	int order, fail_order;	/* memory_order */
	uint64_t value;		/* read, or the value before a change */
	/* The recorder's, between begin and end: */
	struct snarlrt_thread *self;	/* NULL: the operation is not recorded */
	uint64_t seen;		/* time of the last event on the clock's stripe */
};

/* A thread that pthread_create made. */
struct mode_thread {
	uint32_t id, parent, ordinal;
	const void *routine;
};

struct mode {
	const char *name;	/* value of the option mode=, as snarl(1) sends it */
	enum snarlrt_mode id;	/* modes that differ in the tool's options only have the same */
	bool folds;		/* events go into a coverage profile and not into a trace */

	/*
	 * Hooks. All are called before the program's operation, but for atomic_end. A `site` is
	 * that of a raw record: pc, kind and detail (TRACE_SITE).
	 */
	void (*access)(uint64_t addr, uint64_t site);
	void (*range)(uint64_t addr, uint64_t size, uint64_t site);
	void (*atomic_begin)(struct mode_atomic *op);
	void (*atomic_end)(struct mode_atomic *op);
	void (*entry)(uint64_t caller, uint64_t pc);
	void (*exit)(uint64_t pc);

	/* Calls: see the functions of the same name below. */
	void (*note)(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg, int result,
		     const void *pc);
	void (*wait_begin)(enum trace_kind kind, const void *object, const void *pc);
	void (*wait_end)(void);		/* NULL: nothing to do */
	void (*fresh)(const void *addr, size_t size);

	/* setjmp and longjmp: the number of calls on the call stack, and a jump back to so many. */
	uint64_t (*depth)(void);
	void (*cut)(uint64_t depth);

	/* A thread's first and last moment, on it; the child of a fork, while all signals are blocked. */
	void (*thread_begin)(const struct mode_thread *t);
	void (*thread_end)(void);
	void (*forked)(void);
};

extern SNARLRT_HIDDEN const struct mode mode_off;

/* For rows: nothing is done. */
SNARLRT_HIDDEN void mode_no_atomic(struct mode_atomic *op);
SNARLRT_HIDDEN void mode_no_entry(uint64_t caller, uint64_t pc);
SNARLRT_HIDDEN void mode_no_wait(enum trace_kind kind, const void *object, const void *pc);
SNARLRT_HIDDEN void mode_no_thread(const struct mode_thread *t);
SNARLRT_HIDDEN void mode_nothing(void);

/* Never NULL. */
extern SNARLRT_HIDDEN const struct mode *snarlrt_ops;

/* Also sets what copies the mode for assembly and compiled code: snarlrt.mode, __snarl_loops. */
SNARLRT_HIDDEN void mode_set(const struct mode *m);

/*
 * What compiled code asks before a loop: not 0 if it may run without hooks; and behind it: LOOPS_PLAIN if it may be told without
 * __snarl_loop. With a list of sites a loop is told whole if one of its sites is on; if
 * none is, nothing is left of its end (site_filter.c).
 */
extern SNARLRT_EXPORT uint8_t __snarl_loops;

static inline bool mode_is_off(void)
{
	return snarlrt.mode == SNARLRT_OFF;
}

/* The program's threads fill rings, for a trace or a coverage profile. */
static inline bool mode_records(void)
{
	return snarlrt.mode == SNARLRT_RECORD;
}

/* The program's threads fill rings that become chunks of a trace. */
static inline bool mode_traces(void)
{
	return likely(mode_records() && !snarlrt.profiling);
}

static inline bool mode_controls(void)
{
	return snarlrt.mode == SNARLRT_CONTROL;
}

/* Mode check or guard, or noise alone. */
static inline bool mode_monitors(void)
{
	return snarlrt.mode == SNARLRT_WATCH;
}

/* No event is of interest: hot interposers ask this first, to pass the call on at once. */
static inline bool snarlrt_off(void)
{
	return likely(snarlrt_real_done) && (mode_is_off() || snarlrt.sync_unseen);
}

/*
 * For interposers.
 *
 * note: append a timed event, ordered against all other events on `object`.
 * Call it while the thing is held: after acquiring, before releasing. Does
 * nothing when off, hidden or inside the runtime; keeps errno.
 */
static inline void snarlrt_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg, int result,
				const void *pc)
{
	snarlrt_ops->note(kind, detail, object, arg, result, pc);
}

/* Forget who owned this memory: it is new, or gone. */
static inline void snarlrt_fresh(const void *addr, size_t size)
{
	snarlrt_ops->fresh(addr, size);
}

/* Around a call that may block for ever: a killed run then shows who waited for what. */
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
