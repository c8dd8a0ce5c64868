/*
 * Control mode: one thread of the program runs at a time, and a strategy (sched/strategy.h)
 * chooses which one at scheduling points. The models of locks, conditions and system calls
 * (model/) are written against this header.
 *
 * A thread stops at a scheduling point before each visible event. It goes on when the strategy has
 * chosen it *and* the event is possible. The callback `ready` decides the latter from the object's
 * state, which the model keeps. No other thread runs between a thread's point and its next one.
 * Models therefore need no locks and no atomics:
 *
 * 	static bool mutex_free(const struct ctl_wait *w) { ... }
 *
 * 	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, mutex, mutex_free, pc);
 * 	ctl_wait(&w);			returns when chosen and the mutex is free
 * 	mutex->holder = self;		changes the state
 * 	ctl_changed(mutex);		asks `ready` of the mutex's waiters again
 * 	snarlrt_note(TRACE_MUTEX_LOCK, ...);	adds the event to trace and hash
 *
 * A model makes no other point between the return of ctl_wait() and the end of its operation.
 * snarlrt_note() is not a point; an access to memory is one (ctl_access()).
 *
 * Example: main (thread 0) has created thread 0.1, which is step 1. Then main runs `lock(m);
 * balance = 1; unlock(m)`, and 0.1 runs `lock(m)`. The strategy is asked three times:
 *
 * 	point	pick() sees					it answers	turn log
 * 	1	step 1, running 0, runnable { 0, 1 },		thread 0, 1 step
 * 		0 before ACQUIRE m, 1 before START
 * 	2	step 2, running 0, runnable { 0, 1 },		thread 1, 1 step	0 x 2
 * 		0 before WRITE balance, 1 before START
 * 	3	step 3, running 1, runs = false,		thread 0, no limit	0.1 x 1
 * 		runnable { 0 }: 0.1 is blocked on m
 *
 * Main then writes (step 4) and unlocks (step 5) without a question. The unlock makes 0.1 runnable
 * again, so main's next point asks the strategy despite the grant without limit. If 0.1 is chosen
 * there, `0 x 2` is logged: its first turn was create and lock, this one is write and unlock. A
 * turn of few steps is one word of the log (abi/turn_log.h): 0x8000, 0x4001, 0x8000, that is steps
 * << 14 | thread.
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
#define CTL_HELD 32u		/* locks recorded per thread, for reports */
/* host threads created before the run, at most: most programs have fewer threads */
#define CTL_PREPARED_MAX 16u

struct ctl_wait;
typedef bool ctl_ready(const struct ctl_wait *w);

/* What a thread waits for at a scheduling point. Lives on that thread's stack. */
struct ctl_wait {
	struct sched_event event;
	ctl_ready *ready;	/* is the event possible? NULL: always */
	/* ctl_changed() of this object also asks `ready` again; or NULL */
	const void *second_object;
	uint64_t deadline;	/* virtual time, ns since the run began; or CTL_NEVER */
	void *arg;		/* private to the model */
	uint32_t thread;	/* number of the thread that waits; set by ctl_wait() */
	bool cancel_point;	/* a pending cancellation ends the wait */
	bool expired;		/* set when the deadline came; `ready` is not asked any more */
	/* set when cancellation ended the wait: the model cleans up, then calls ctl_cancel_act() */
	bool cancelled;
	bool interruptible;	/* a due signal (model/external.h) ends the wait */
	bool interrupted;	/* set when a signal handler is to run or has run (EINTR) */
	/* strategies see site 0: a wake-up in the middle of a wait is no event of a trace */
	bool hide_site;
	/* waits for the kernel: `arg` is a struct ctl_external_wait (model/external.h) */
	bool external;
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
	uint32_t id;		/* id in traces: number + 1 */
	uint32_t parent, ordinal, children;
	/* hash of the thread's path (sched_child_name()), equal in all runs */
	uint64_t name;
	enum ctl_state state;
	bool runnable;		/* the thread can be chosen: its wait is ready */
	struct ctl_wait *wait;	/* what it stands before; NULL while it runs */
	/* the wait for its start; later the wait of every point on the fast path */
	struct ctl_wait default_wait;
	struct snarlrt_tls *tls;
	/* Steps: step.h, step.c. */
	uint64_t steps_beyond_page;		/* granted steps that do not fit into ctl_page */
	/* records of ctl_page before this one are counted and processed */
	struct trace_record *processed;
	uint64_t steps;		/* executed, as of the last ctl_account() */
	uint64_t turn_began;	/* value of `steps` when its turn began */
	/* value of `steps` when it last had to yield for fairness (FAIRNESS_STEPS) */
	uint64_t fairness_from;
	/*
	 * Finding threads that spin: events since the last one that changed anything, and how
	 * often that was SPIN_EVENTS in a row.
	 */
	uint32_t unchanged_events, spin_rounds;
	uint64_t spin_progress;	/* value of ctl.progress when it was last found spinning */
	uint64_t recent_events[8];
	uint32_t recent_event_count;
	/*
	 * Registers while it does not run (context_switch.c). `sp` separates the control words on
	 * purpose: compilers join adjacent loads into one that waits for two stores.
	 */
	uint32_t mxcsr;		/* SSE control word */
	void *sp;		/* stack pointer */
	uint16_t x87;
	uint64_t fs;
	/* futex words, 0 or 1: may run, host thread is set up, host thread may end */
	uint32_t token, host_ready, may_exit;
	int host_pid;		/* process in which its host thread exists; 0: none */
	bool prepared;		/* its host thread was created before the run */
	/* allocated by context_switch.c; NULL: the program's own or main's */
	char *stack;
	struct snarlrt_frame *frames;	/* call stack as the hooks keep it */
	size_t stack_size;
	/* Creation, end and join: controlled_thread.c. */
	pthread_t handle;
	void *(*routine)(void *);
	void *arg, *result;
	bool detached, joined, started;
	/* Cancellation. libc's cancellation is not used. */
	bool cancel_disabled, cancel_async, cancel_pending;
	/* Signals, as bit sets: virtual mask, pending for this thread (model/signal.c). */
	uint64_t sigmask, sigpending;
	/* Locks held, for reports; held_count also counts those beyond CTL_HELD. */
	struct ctl_held held[CTL_HELD];
	uint32_t held_count;
	/* Wait sets of conditions and futexes (model/cond.c). */
	/* object whose wait set the thread is in; NULL: in none, or woken */
	const void *wait_set;
	uint64_t wait_set_order;	/* position in the wait set by time of arrival */
	/* Recording (recorder.c). NULL: no trace is recorded. */
	struct snarlrt_thread *ring;
	struct trace_record *ring_cur;
};

/* All state of control mode. `snarlrt` is the only other global. */
struct ctl {
	bool begun;		/* main has started: threads are controlled */
	bool ended;		/* exit() has run its last handler: nothing is scheduled any more */
	bool kernel_threads;	/* back end: kernel threads; false: user-level threads */
	/* this process is a child that the program forked: not part of the run */
	bool private_child;
	struct ctl_block *block;	/* shared with the tool (abi/control_block.h) */
	const struct strategy *strategy;
	void *state;		/* state of `strategy`, in the block */
	struct ctl_thread *current;
	/* [count], by number; controlled_thread.c allocates it and the three arrays below */
	struct ctl_thread **threads;
	uint32_t count;		/* thread numbers given out */
	uint64_t steps;		/* steps executed by all threads */
	uint64_t now;		/* virtual time since the run began, ns */
	uint64_t turn_words;		/* words written to the block's turn log */
	uint64_t hash;
	uint64_t turn_hash;	/* hash of the events of the current turn */
	uint64_t events_hashed;	/* events hashed: index of the next check byte */
	uint32_t timed_waits;		/* threads that stand before an event with a deadline */
	uint64_t progress;	/* number of events that changed something */
	/* entries of the block's shared list marked in the shadow so far */
	uint64_t shared_applied;
	uint32_t flags;		/* copy of request.flags */
	/* the fast path (point_fast.c) may be taken below this step; 0: not at all */
	uint64_t fast_until;
	int server;		/* socket of the fork server, or -1 */
	bool tracing;		/* a trace of the run is recorded */
	bool values;		/* the trace includes the values that accesses read and write */
	struct iroot_profile *profile;	/* the run is folded into this coverage profile; or NULL */
	/* libc is creating a host thread: its allocations belong to no thread of the program */
	bool creating_host;
	struct sched_event *pending;	/* [count]: the event that each thread stands before */
	uint64_t *name;			/* [count]: ctl_thread.name */
	uint32_t *runnable;		/* [count]: buffer of point.c */
};

extern SNARLRT_HIDDEN struct ctl ctl;

/*
 * Is the calling thread under control now? False in every other mode, before main, inside the
 * runtime, in sections hidden from recording (calls inside libc), and after the last exit handler.
 */
static inline bool ctl_on(void)
{
	return unlikely(mode_controls()) && __snarl_tls.control && ctl.begun &&
	       !ctl.ended && !(__snarl_tls.busy | __snarl_tls.hidden);
}

/*
 * Called when something changes that scheduling depends on besides the running thread's steps. The
 * next point takes the full path (point.c).
 */
static inline void ctl_fast_path_end(void)
{
	ctl.fast_until = 0;
}

static inline struct ctl_thread *ctl_self(void)
{
	return ctl.current;
}

/* A scheduling point, as described at the top. Keeps errno. */
SNARLRT_HIDDEN void ctl_wait(struct ctl_wait *w);

/* A scheduling point before an event that is always possible. */
SNARLRT_HIDDEN void ctl_point(enum sched_op op, const void *object, const void *pc);

/* A scheduling point before an access of `size` bytes at `object`. */
SNARLRT_HIDDEN void ctl_step(enum sched_op op, uint64_t object, uint64_t size, uint64_t site);

/*
 * The state of `object` changed: asks `ready` of all waits whose event.object or second_object it
 * is.
 */
SNARLRT_HIDDEN void ctl_changed(const void *object);

/*
 * Lets the strategy choose one of `count` threads, by number, and logs the choice in the schedule.
 * Called when a signal or post wakes one of several waiters.
 */
SNARLRT_HIDDEN uint32_t ctl_choose_thread(const uint32_t *candidates, uint32_t count);

/* Record for reports that the current thread acquired or released a lock. */
SNARLRT_HIDDEN void ctl_held_add(const void *object, const void *pc);
SNARLRT_HIDDEN void ctl_held_drop(const void *object);

/*
 * Virtual time, ns. `clock` is CLOCK_REALTIME, CLOCK_MONOTONIC or a relative of these.
 * ctl_deadline() takes an absolute limit; an invalid or past one gives 0. ctl_after() is relative
 * to now and saturates.
 */
SNARLRT_HIDDEN uint64_t ctl_clock(clockid_t clock);
SNARLRT_HIDDEN uint64_t ctl_deadline(clockid_t clock, const struct timespec *limit);
SNARLRT_HIDDEN uint64_t ctl_after(uint64_t ns);

/* Ends the run as failed: the program did something that is an error under any schedule. */
SNARLRT_HIDDEN void ctl_fail(enum ctl_failure what, const void *object, const void *pc,
			     const void *pc2, const void *pc3, const char *text);

/*
 * The program misused a primitive in a way that POSIX leaves undefined. Fails the run unless
 * misuse=ignore.
 */
SNARLRT_HIDDEN void ctl_misuse(const void *object, const void *pc, const char *text);

/* Ends the run with outcome CTL_UNSUPPORTED: control mode cannot do what the program does. */
SNARLRT_HIDDEN void ctl_unsupported(const char *text) __attribute__((noreturn));

/* Acts on a cancellation if one is pending and enabled; then it does not return. */
SNARLRT_HIDDEN void ctl_cancel_act(void);

/* Threads (controlled_thread.c), for interpose/pthread_create.c and interpose/c11_threads.c. */
SNARLRT_HIDDEN int ctl_thread_create(pthread_t *out, const pthread_attr_t *attr,
				     void *(*routine)(void *), void *arg, const void *pc);
SNARLRT_HIDDEN int ctl_thread_join(pthread_t handle, void **value, bool wait, uint64_t deadline,
				   const void *pc);
SNARLRT_HIDDEN int ctl_thread_detach(pthread_t handle, const void *pc);
SNARLRT_HIDDEN int ctl_thread_cancel(pthread_t handle, const void *pc);
SNARLRT_HIDDEN void ctl_thread_exit(void *result) __attribute__((noreturn));
/* NULL: not controlled, or joined */
SNARLRT_HIDDEN struct ctl_thread *ctl_thread_find(pthread_t handle);

/*
 * Body of every thread but main, on the thread's own stack; called by context_switch.c. With
 * user-level threads it does not return.
 */
SNARLRT_HIDDEN void ctl_thread_main(struct ctl_thread *t);

/* Run at a thread's end, on that thread (model/thread_keys.c). */
SNARLRT_HIDDEN void ctl_keys_run_destructors(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_thread_atexit_run(struct ctl_thread *t);

/*
 * model/mutex.c: robust mutexes of `t`, which has ended, pass to the next thread that locks them.
 */
SNARLRT_HIDDEN void model_mutex_owner_ended(struct ctl_thread *t);

/* Begin and end of a run (controlled_run.c). */
/* false: unusable control block */
SNARLRT_HIDDEN bool ctl_open(const char *path, int server, bool kernel_threads);
/* called in place of main, after the server's fork */
SNARLRT_HIDDEN void ctl_begin(void);
SNARLRT_HIDDEN void ctl_finish(int status);	/* the process ends: fills the report, once */
SNARLRT_HIDDEN void ctl_forked_child(void);	/* the program forked, this is the child */
SNARLRT_HIDDEN void ctl_end_run(enum ctl_outcome outcome) __attribute__((noreturn));
/* visibility.c: marks the granules that the block lists */
SNARLRT_HIDDEN void ctl_shared_apply(void);
SNARLRT_HIDDEN void ctl_describe_threads(void);	/* fills report.at */

/* Threads (controlled_thread.c): the main thread, and preparations for the others. */
SNARLRT_HIDDEN void ctl_thread_first(void);
/* before a fork: for runs with that many threads */
SNARLRT_HIDDEN void ctl_threads_prepare(uint32_t threads);
SNARLRT_HIDDEN int ctl_main_thread(int (*main)(int, char **, char **), int argc, char **argv,
				   char **envp);
/* exit() was called: runs the thread's C++ destructors */
SNARLRT_HIDDEN void ctl_exit_begins(void);
/* controlled_run.c: goes on from a snapshot as the block's new request says */
SNARLRT_HIDDEN void ctl_continue(void);
SNARLRT_HIDDEN void ctl_started(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_last_turn(void);	/* at the end of the run: logs the current turn */

/* Recording (recorder.c). Only if ctl.tracing; `t` is the running thread. */
SNARLRT_HIDDEN void ctl_trace_attach(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_trace_page(struct ctl_thread *t, const struct trace_record *records,
				   uint64_t count);
/* controlled_run.c: for sched_point.context; never 0 */
SNARLRT_HIDDEN uint64_t ctl_call_stack_hash(uint32_t thread);
SNARLRT_HIDDEN void ctl_trace_frames(struct ctl_thread *t);	/* records calls not recorded yet */
SNARLRT_HIDDEN void ctl_trace_event(struct ctl_thread *t, const struct trace_record *r, uint64_t arg);
/*
 * With ctl.values, after the access itself was recorded. ctl_trace_read() records the value in
 * memory. ctl_trace_written() announces a write, whose value is recorded as soon as it has
 * happened.
 */
SNARLRT_HIDDEN void ctl_trace_read(struct ctl_thread *t, uint64_t addr, unsigned log2);
SNARLRT_HIDDEN void ctl_trace_written(struct ctl_thread *t, uint64_t addr, unsigned log2);
/* the access at `addr` kills the thread; 0: unknown */
SNARLRT_HIDDEN void ctl_trace_crash(uint64_t addr);
SNARLRT_HIDDEN void ctl_trace_exit(struct ctl_thread *t, uint64_t pc);
SNARLRT_HIDDEN void ctl_trace_finish(int status);

/* Coverage (controlled_coverage.c). All but ctl_profile_begin() only if ctl.profile is set. */
SNARLRT_HIDDEN void ctl_profile_begin(void);
SNARLRT_HIDDEN void ctl_profile_attach(const struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_profile_page(struct ctl_thread *t, const struct trace_record *records,
				     uint64_t count);
SNARLRT_HIDDEN void ctl_profile_event(struct ctl_thread *t, const struct trace_record *r, uint64_t arg);

/* A trace or a coverage profile needs all events, in order. */
static inline bool ctl_records(void)
{
	return ctl.tracing || ctl.profile;
}

/* Handlers of fatal signals (crash.c). */
SNARLRT_HIDDEN void ctl_crash_install(void);
SNARLRT_HIDDEN bool ctl_is_crash_handler(const void *handler);

/* fork_server.c: returns in each child that is to run; does not return in the server itself. */
SNARLRT_HIDDEN void ctl_serve(void);

/* Steps and events (step.c); the two ctl_reschedule functions are in point.c. */
SNARLRT_HIDDEN void ctl_account(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_reschedule_next_step(void);
/* t has ended: another thread runs */
SNARLRT_HIDDEN void ctl_reschedule_ended(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_note(enum trace_kind kind, unsigned detail, const void *object,
			     uint64_t arg, int result, const void *pc);
SNARLRT_HIDDEN void ctl_atomic(enum trace_kind kind, unsigned log2, const volatile void *addr,
			       const void *pc);
SNARLRT_HIDDEN void ctl_atomic_done(enum trace_kind kind, unsigned log2, int order, int fail_order,
				    const volatile void *addr, uint64_t value, const void *pc);

/* Stacks and switches of threads (context_switch.c). */
SNARLRT_HIDDEN int context_create(struct ctl_thread *t, const pthread_attr_t *attr);
SNARLRT_HIDDEN void context_create_prepared(uint32_t count);	/* in the fork server */
SNARLRT_HIDDEN void context_attach_main(struct ctl_thread *t);
SNARLRT_HIDDEN void context_switch(struct ctl_thread *from, struct ctl_thread *to);
/* with user-level threads it does not return */
SNARLRT_HIDDEN void context_switch_from_ended(struct ctl_thread *from, struct ctl_thread *to);
/* t has ended and no thread will join it: ends its host thread */
SNARLRT_HIDDEN void context_reap(struct ctl_thread *t);
SNARLRT_HIDDEN bool context_user_supported(void);
SNARLRT_HIDDEN int gate_call_on(char *stack_top, int (*fn)(void *), void *arg);

/*
 * point_fast.c: an access to memory, called by control_mode.c. A scheduling point if it is
 * visible.
 */
SNARLRT_HIDDEN void ctl_access(uint64_t addr, uint64_t size, uint64_t site);

/*
 * visibility.c: memory is new or freed. Granules of one thread become unowned; shared ones stay
 * shared.
 */
SNARLRT_HIDDEN void ctl_fresh(uint64_t addr, uint64_t size);

/*
 * visibility.c: records in the shadow that the calling thread accesses memory. Returns true if the
 * access is visible: two threads have touched the memory, in this run or, as the tool knows, in an
 * earlier one.
 */
SNARLRT_HIDDEN bool ctl_touch(uint64_t addr, uint64_t size, bool write, const void *pc);

/*
 * The calling thread frees a block: granules that only another live thread has touched become
 * shared. In later runs the accesses to them are points and may come after the free. Threads that
 * have ended do not count: the program most likely waited for them, so their steps could not move.
 */
SNARLRT_HIDDEN void ctl_touch_freed(uint64_t addr, uint64_t size);

/* Marks freed memory and red zones: an access to poisoned memory goes to ctl_heap_bad_access(). */
SNARLRT_HIDDEN void ctl_poison(uint64_t addr, uint64_t size);
SNARLRT_HIDDEN void ctl_unpoison(uint64_t addr, uint64_t size);
/*
 * heap/heap_report.c: the program accesses poisoned memory at `addr`. Fails the run; returns if
 * the access is within a block, or there is no heap block.
 */
SNARLRT_HIDDEN void ctl_heap_bad_access(uint64_t addr, uint64_t size, bool write, const void *pc);

#endif
