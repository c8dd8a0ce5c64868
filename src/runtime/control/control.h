/*
 * Control mode: one thread of the program runs at a time, and who is next is
 * chosen at points (sched/strategy.h). This is what the models of locks,
 * conditions, system calls, … (model_*.c) use.
 *
 * A thread reaches a point with what it is about to do. It goes on when it is
 * chosen *and* what it wants is possible: `ready` says so from the state of the
 * object, which is kept by its model. From there to the thread's next point
 * nothing else runs, so models need no locks and no atomics:
 *
 *	static bool mutex_free(const struct ctl_wait *w) …
 *
 *	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, mutex, mutex_free, pc);
 *	ctl_wait(&w);			stands here until chosen and free
 *	… take it: change its state …
 *	ctl_changed(mutex);		who waits for it may not be ready any more
 *	snarlrt_note(TRACE_MUTEX_LOCK, …);	goes into trace and hash
 *
 * Between ctl_wait's return and the end of the operation there is no other
 * point; snarlrt_note and snarlrt_range do not make one (a range access has its
 * point inside snarlrt_range, see ctl_access).
 *
 * Files: control.c points and choices; control_quick.c the short way through most of them; control_thread.c births, deaths, joins,
 * cancellation; gate.c the two ways to hand on (user-level switch, kernel
 * threads); control_run.c begin and end of a run, failures; forkserver.c.
 */
#ifndef RUNTIME_CONTROL_CONTROL_H
#define RUNTIME_CONTROL_CONTROL_H

#include <pthread.h>
#include <time.h>

#include "abi/control_block.h"
#include "abi/plan.h"
#include "runtime/core/mode.h"
#include "sched/strategy.h"

#define CTL_NEVER UINT64_MAX	/* no deadline */
#define CTL_HELD 32u		/* locks remembered per thread, for reports */
#define CTL_PREPARED_MAX 16u		/* threads made before the run, at most */

struct ctl_wait;
typedef bool ctl_ready(const struct ctl_wait *w);

/* What a thread stands before. Lives on that thread's stack. */
struct ctl_wait {
	struct sched_event event;
	ctl_ready *ready;	/* NULL: always possible */
	const void *second_object;	/* a second object whose ctl_changed() matters, e.g. the mutex of a wait */
	uint64_t deadline;	/* in virtual ns, or CTL_NEVER */
	void *arg;		/* the model's */
	uint32_t thread;	/* number of the thread that waits; set by ctl_wait */
	bool cancel_point;	/* a pending cancellation makes it ready, too */
	bool expired;		/* set when the deadline came (ready is then not asked again) */
	bool cancelled;		/* set when cancellation woke it: the model cleans up and calls ctl_cancel_act() */
	bool interruptible;	/* a due signal (control_outside.h) makes it ready, too */
	bool interrupted;	/* set when a signal handler is to run or ran (EINTR) */
	bool hide_site;		/* amid an event: strategies are told of no place */
	bool external;		/* waits for the world: `probe` of control_outside.h, not for us */
};

#define CTL_WAIT(op_, object_, ready_, pc_)                                               \
	{                                                                                 \
		.event = { .object = (uint64_t)(uintptr_t)(object_),                      \
			   .site = (uint64_t)(uintptr_t)(pc_), .size = 1, .op = (op_) },  \
		.ready = (ready_), .deadline = CTL_NEVER,                                 \
	}

struct ctl_held {
	uint64_t object, pc;
};

enum ctl_state { CTL_FREE, CTL_LIVE, CTL_DONE };

struct ctl_thread {
	uint32_t number;	/* index in ctl.threads; main is 0 */
	uint32_t id;		/* trace id; number + 1 */
	uint32_t parent, ordinal, children;
	uint64_t name;		/* sched_child_name() of the path */
	enum ctl_state state;
	bool runnable;		/* its wait is ready */
	struct ctl_wait *wait;	/* what it stands before; NULL: it runs */
	struct ctl_wait default_wait;	/* its start, later the wait of the short way (control_quick.c) */
	struct snarlrt_tls *tls;
	/* steps */
	uint64_t steps_beyond_page;		/* steps still granted beyond what the ring page has room for */
	struct trace_record *processed;	/* where cur stood when the page was handed out */
	uint64_t steps;		/* executed, counted up to the last accounting */
	uint64_t turn_began;	/* its steps when it was let go */
	uint64_t fairness_from;	/* its steps when it last let others go first for having gone on long */
	/* going in circles: events since the last that changed anything */
	uint32_t unchanged_events, spin_rounds;
	uint64_t spin_progress;	/* ctl.progress when last found spinning */
	uint64_t recent_events[8];
	uint32_t recent_event_count;
	/* gate.c */
	uint32_t mxcsr;		/* floating-point control words, while it does not run; apart, */
	void *sp;		/* since compilers join two loads to one that waits for two stores */
	uint16_t x87;
	uint64_t fs;
	uint32_t token, host_ready, may_exit;	/* futex words */
	int host_pid;		/* process in which the kernel thread behind it exists */
	bool prepared;		/* … which was made before the run */
	char *stack;		/* of our making, or NULL */
	struct snarlrt_frame *frames;	/* its call stack, as the hooks keep it */
	size_t stack_size;
	/* life */
	pthread_t handle;
	void *(*routine)(void *);
	void *arg, *result;
	bool detached, joined, started;
	/* cancellation: ours, libc is never asked */
	bool cancel_disabled, cancel_async, cancel_pending;
	/* signals */
	uint64_t sigmask, sigpending;
	/* reports */
	struct ctl_held held[CTL_HELD];
	uint32_t held_count;
	/* models that need a word per thread */
	const void *wait_set;	/* waiting for a signal of this condition; NULL: got it */
	uint64_t wait_set_order;	/* order of arrival */
	/* control_trace.c; NULL: not recording */
	struct snarlrt_thread *ring;
	struct trace_record *ring_cur;
};

/* All of control mode's state; beside `snarlrt`, the only other global. */
struct ctl {
	bool begun;		/* main has started, threads are controlled */
	bool ended;		/* exit is past the last handler: nothing is chosen any more */
	bool kernel_threads;	/* back end */
	bool private_child;	/* a forked child of the program: not the run that is watched */
	struct ctl_block *block;	/* shared with the tool (abi/control_block.h) */
	const struct strategy *strategy;
	void *state;		/* of the strategy; in the block */
	struct ctl_thread *current;
	struct ctl_thread **threads;	/* [count]; this and the next three: control_thread.c */
	uint32_t count;		/* numbers given out */
	uint64_t steps;		/* executed by all threads */
	uint64_t now;		/* virtual ns since the epoch */
	uint64_t turn_words;		/* words written to the block's log */
	uint64_t hash;
	uint64_t turn_hash;	/* of the turn under way */
	uint64_t events_hashed;	/* hashed so far */
	uint32_t timed_waits;		/* threads that stand before something with a deadline */
	uint64_t progress;	/* events that changed something */
	uint64_t shared_applied;	/* granules of the block marked shared */
	uint32_t flags;		/* request.flags */
	uint64_t fast_until;	/* steps below which the short way may be taken; 0: not */
	int server;		/* the fork server's socket, or -1 */
	bool tracing;		/* a trace is recorded, too */
	bool values;		/* … with what accesses read and write */
	struct iroot_profile *profile;	/* the run is folded into it; or NULL */
	bool creating_host;		/* libc makes a thread for us: what it allocates is nobody's */
	struct sched_event *pending;	/* [count] */
	uint64_t *name;			/* [count] */
	uint32_t *runnable;		/* for control.c: room for `count` */
};

extern SNARLRT_HIDDEN struct ctl ctl;

/*
 * Is this thread under control now? False in every other mode, before main,
 * inside the runtime, while hidden (libc's own doings) and at the very end.
 */
static inline bool ctl_on(void)
{
	return unlikely(mode_controls()) && __snarl_tls.control && ctl.begun &&
	       !ctl.ended && !(__snarl_tls.busy | __snarl_tls.hidden);
}

/* Something happened that concerns others: the next point goes the long way (control_quick.c). */
static inline void ctl_fast_path_end(void)
{
	ctl.fast_until = 0;
}

static inline struct ctl_thread *ctl_self(void)
{
	return ctl.current;
}

/* A point; see above. Keeps errno. */
SNARLRT_HIDDEN void ctl_wait(struct ctl_wait *w);

/* A point before something that is always possible. */
SNARLRT_HIDDEN void ctl_point(enum sched_op op, const void *object, const void *pc);

/* The same before an access to memory. */
SNARLRT_HIDDEN void ctl_step(enum sched_op op, uint64_t object, uint64_t size, uint64_t site);

/* The state of `object` changed: waits for it (event.object or also) are asked again. */
SNARLRT_HIDDEN void ctl_changed(const void *object);

/*
 * Which of `count` (the strategy's choice, written down in the schedule); used
 * by cond signal to choose a waiter: candidates[i] are thread numbers.
 */
SNARLRT_HIDDEN uint32_t ctl_choose_thread(const uint32_t *candidates, uint32_t count);

/* For reports: the current thread took or gave back a lock. */
SNARLRT_HIDDEN void ctl_held_add(const void *object, const void *pc);
SNARLRT_HIDDEN void ctl_held_drop(const void *object);

/* Virtual time, ns. `clock` is CLOCK_REALTIME or CLOCK_MONOTONIC (and their relatives). */
SNARLRT_HIDDEN uint64_t ctl_clock(clockid_t clock);
SNARLRT_HIDDEN uint64_t ctl_deadline(clockid_t clock, const struct timespec *limit);	/* absolute; invalid: 0 = past */
SNARLRT_HIDDEN uint64_t ctl_after(uint64_t ns);	/* from now, saturating */

/* The program did something that is an error whatever the schedule (class "misuse", "uaf", …). */
SNARLRT_HIDDEN void ctl_fail(enum ctl_failure what, const void *object, const void *pc,
			     const void *pc2, const void *pc3, const char *text);

/* A misuse of a primitive that POSIX leaves undefined: fails the run unless misuse=ignore. */
SNARLRT_HIDDEN void ctl_misuse(const void *object, const void *pc, const char *text);

/* What the run cannot go on with: outcome CTL_UNSUPPORTED. */
SNARLRT_HIDDEN void ctl_unsupported(const char *text) __attribute__((noreturn));

/* Cancellation is acted upon here if one is pending and enabled; may not return. */
SNARLRT_HIDDEN void ctl_cancel_act(void);

/* control_thread.c, for interpose_thread.c */
SNARLRT_HIDDEN int ctl_thread_create(pthread_t *out, const pthread_attr_t *attr,
				     void *(*routine)(void *), void *arg, const void *pc);
SNARLRT_HIDDEN int ctl_thread_join(pthread_t handle, void **value, bool wait, uint64_t deadline,
				   const void *pc);
SNARLRT_HIDDEN int ctl_thread_detach(pthread_t handle, const void *pc);
SNARLRT_HIDDEN int ctl_thread_cancel(pthread_t handle, const void *pc);
SNARLRT_HIDDEN void ctl_thread_exit(void *result) __attribute__((noreturn));
SNARLRT_HIDDEN struct ctl_thread *ctl_thread_find(pthread_t handle);	/* NULL: not ours */

/* The body of every thread, on its own stack; called by the gate. */
SNARLRT_HIDDEN void ctl_thread_main(struct ctl_thread *t);	/* user: no return */

/* control_keys.c: at the end of a thread, on it. */
SNARLRT_HIDDEN void ctl_keys_run_destructors(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_thread_atexit_run(struct ctl_thread *t);

/* model_mutex.c */
SNARLRT_HIDDEN void model_mutex_owner_ended(struct ctl_thread *t);

/* control_run.c */
SNARLRT_HIDDEN bool ctl_open(const char *path, int server, bool kernel_threads);	/* false: the block is unusable */
SNARLRT_HIDDEN void ctl_begin(void);		/* in main's place, after the server's fork */
SNARLRT_HIDDEN void ctl_finish(int status);	/* the process ends: tell the tool; idempotent */
SNARLRT_HIDDEN void ctl_forked_child(void);	/* the program forked: only this thread is left */
SNARLRT_HIDDEN void ctl_end_run(enum ctl_outcome outcome) __attribute__((noreturn));
SNARLRT_HIDDEN void ctl_shared_apply(void);	/* marks what the block lists as shared */
SNARLRT_HIDDEN void ctl_describe_threads(void);	/* fills report.at */

/* control_thread.c, control.c: the main thread; a thread's first step. */
SNARLRT_HIDDEN void ctl_thread_first(void);
SNARLRT_HIDDEN void ctl_threads_prepare(uint32_t threads);	/* before a fork: runs will have so many */
SNARLRT_HIDDEN int ctl_main_thread(int (*main)(int, char **, char **), int argc, char **argv,
				   char **envp);
SNARLRT_HIDDEN void ctl_exit_begins(void);	/* exit() was called: the thread's destructors run */
SNARLRT_HIDDEN void ctl_continue(void);	/* from a snapshot, as the block's request says now */
SNARLRT_HIDDEN void ctl_started(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_last_turn(void);	/* into the log, at the end of the run */

/* control_trace.c: only if ctl.tracing; `t` runs. */
SNARLRT_HIDDEN void ctl_trace_attach(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_trace_page(struct ctl_thread *t, const struct trace_record *records,
				   uint64_t count);
SNARLRT_HIDDEN uint64_t ctl_call_stack_hash(uint32_t thread);	/* sched_point.context; never 0 */
SNARLRT_HIDDEN void ctl_trace_frames(struct ctl_thread *t);	/* calls not told yet */
SNARLRT_HIDDEN void ctl_trace_event(struct ctl_thread *t, const struct trace_record *r, uint64_t arg);
/* With ctl.values, of the access just told: what is in memory; and a write that is yet to be made. */
SNARLRT_HIDDEN void ctl_trace_read(struct ctl_thread *t, uint64_t addr, unsigned log2);
SNARLRT_HIDDEN void ctl_trace_written(struct ctl_thread *t, uint64_t addr, unsigned log2);
SNARLRT_HIDDEN void ctl_trace_crash(uint64_t addr);	/* the thread dies of an access to `addr`, or 0 */
SNARLRT_HIDDEN void ctl_trace_exit(struct ctl_thread *t, uint64_t pc);
SNARLRT_HIDDEN void ctl_trace_finish(int status);

/* control_profile.c: but for the first only if ctl.profile. */
SNARLRT_HIDDEN void ctl_profile_begin(void);
SNARLRT_HIDDEN void ctl_profile_attach(const struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_profile_page(struct ctl_thread *t, const struct trace_record *records,
				     uint64_t count);
SNARLRT_HIDDEN void ctl_profile_event(struct ctl_thread *t, const struct trace_record *r, uint64_t arg);

/* A trace or a profile wants to know of all that happens, in order. */
static inline bool ctl_records(void)
{
	return ctl.tracing || ctl.profile;
}

/* control_crash.c */
SNARLRT_HIDDEN void ctl_crash_install(void);
SNARLRT_HIDDEN bool ctl_is_crash_handler(const void *handler);

/* forkserver.c: returns in each child that is to run; the caller's process never returns. */
SNARLRT_HIDDEN void ctl_serve(void);

/* control.c, for the others of the core. */
SNARLRT_HIDDEN void ctl_account(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_reschedule_next_step(void);
SNARLRT_HIDDEN void ctl_reschedule_ended(struct ctl_thread *t);	/* t ended: others go on */
SNARLRT_HIDDEN void ctl_note(enum trace_kind kind, unsigned detail, const void *object,
			     uint64_t arg, int result, const void *pc);
SNARLRT_HIDDEN void ctl_atomic(enum trace_kind kind, unsigned log2, const volatile void *addr,
			       const void *pc);
SNARLRT_HIDDEN void ctl_atomic_done(enum trace_kind kind, unsigned log2, int order, int fail_order,
				    const volatile void *addr, uint64_t value, const void *pc);

/* gate.c */
SNARLRT_HIDDEN int context_create(struct ctl_thread *t, const pthread_attr_t *attr);
SNARLRT_HIDDEN void context_create_prepared(uint32_t count);	/* in the fork server */
SNARLRT_HIDDEN void context_attach_main(struct ctl_thread *t);
SNARLRT_HIDDEN void context_switch(struct ctl_thread *from, struct ctl_thread *to);
SNARLRT_HIDDEN void context_switch_from_ended(struct ctl_thread *from, struct ctl_thread *to);	/* user: no return */
SNARLRT_HIDDEN void context_reap(struct ctl_thread *t);	/* it ended and nobody needs it */
SNARLRT_HIDDEN bool context_user_supported(void);
SNARLRT_HIDDEN int gate_call_on(char *stack_top, int (*fn)(void *), void *arg);

/* An access to memory, from entry.c: decides visibility; a point if visible. */
SNARLRT_HIDDEN void ctl_access(uint64_t addr, uint64_t size, uint64_t site);

/* Memory is new or gone: private owners are forgotten, shared stays shared. */
SNARLRT_HIDDEN void ctl_fresh(uint64_t addr, uint64_t size);

/*
 * control_shadow.c: who touches what. True if the access is visible: memory that
 * two threads have touched, in this run or, as the tool knows, in an earlier one.
 */
SNARLRT_HIDDEN bool ctl_touch(uint64_t addr, uint64_t size, bool write, const void *pc);

/*
 * The calling thread ends a block: what only others have touched is shared by that. In later
 * runs their accesses are points, and may come after the end. Only of threads that live: one that
 * has ended was most likely waited for, and steps that cannot move would be in the way.
 */
SNARLRT_HIDDEN void ctl_touch_freed(uint64_t addr, uint64_t size);

/* Poison: the next access to it is a use after free. */
SNARLRT_HIDDEN void ctl_poison(uint64_t addr, uint64_t size);
SNARLRT_HIDDEN void ctl_unpoison(uint64_t addr, uint64_t size);
/* control_heap.c: [addr] is poisoned and was just accessed. Reports it; returns if it is not a heap block. */
SNARLRT_HIDDEN void ctl_heap_bad_access(uint64_t addr, uint64_t size, bool write, const void *pc);

#endif
