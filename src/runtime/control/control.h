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
 *	static bool mutex_free(const struct ctl_wait *w) { ... }
 *
 *	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, mutex, mutex_free, pc);
 *	ctl_wait(&w);				returns when chosen and the mutex is free
 *	mutex->holder = self;			changes the state
 *	ctl_changed(mutex);			asks `ready` of the mutex's waiters again
 *	snarlrt_note(TRACE_MUTEX_LOCK, ...);	adds the event to trace and hash
 *
 * A model makes no other point between the return of ctl_wait() and the end of its operation.
 * snarlrt_note() is not a point; an access to shared memory is one (ctl_access()).
 *
 * Example: `balance` is known to be shared. Main (thread 0) has created thread 0.1, which is step
 * 1. Then main runs `lock(m); balance = 1; unlock(m)`, and 0.1 runs `lock(m)`. The strategy is
 * asked at three points:
 *
 *	at step	running	runnable	events that threads stand before   it answers
 *	1	0	0, 0.1		0: ACQUIRE m, 0.1: START	   0, 1 step
 *	2	0	0, 0.1		0: WRITE balance, 0.1: START	   0.1, 1 step
 *	3	0.1	0		0: WRITE balance, 0.1: ACQUIRE m   0, no limit
 *
 * At the third point `ready` says that 0.1 cannot lock m, so only main is runnable. Main writes
 * (step 4) and unlocks (step 5) without another question. The unlock makes 0.1 runnable, so the
 * strategy is asked at main's next point, although it set no limit. It chooses 0.1. The turn log
 * (abi/turn_log.h) then holds three turns of one word each, steps << 14 | thread number:
 *
 *	0 x 2	0x8000	create and lock
 *	0.1 x 1	0x4001	start
 *	0 x 2	0x8000	write and unlock
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
#define CTL_PREPARED_MAX 16u	/* host threads created before a run: most programs need fewer */

struct ctl_wait;
typedef bool ctl_ready(const struct ctl_wait *w);

/* What a thread waits for at a scheduling point. Lives on that thread's stack. */
struct ctl_wait {
	struct sched_event event;	/* executed once the wait is over */
	ctl_ready *ready;		/* is the event possible? NULL: always */
	const void *second_object;	/* whose ctl_changed() also asks `ready`; or NULL */
	uint64_t deadline;		/* virtual ns since the run began, or CTL_NEVER */
	void *arg;			/* private to the model */
	uint32_t thread;		/* number of the thread that waits; set by ctl_wait() */
	bool cancel_point;		/* a pending cancellation ends the wait */
	bool expired;			/* the deadline came; `ready` is not asked any more */
	bool cancelled;			/* cancellation came: clean up, call ctl_cancel_act() */
	bool interruptible;		/* a due signal (model/external.h) ends the wait */
	bool interrupted;		/* a signal handler is to run or has run (EINTR) */
	bool hide_site;			/* strategies see site 0: the event is in no trace */
	bool external;			/* waits for the kernel: `arg` is a ctl_external_wait */
};

#define CTL_WAIT(op_, object_, ready_, pc_)                                               \
	{                                                                                 \
		.event = { .object = (uint64_t)(uintptr_t)(object_),                      \
			   .site = (uint64_t)(uintptr_t)(pc_), .size = 1, .op = (op_) },  \
		.ready = (ready_), .deadline = CTL_NEVER,                                 \
	}

/* A lock that a thread holds, and where it locked it. */
struct ctl_held {
	uint64_t object, pc;
};

enum ctl_state { CTL_FREE, CTL_LIVE, CTL_DONE };

/* A thread that has run for long without a scheduling point. */
enum ctl_silence {
	CTL_NOT_SILENT,
	CTL_SILENT,		/* it let others go first; it may compute */
	CTL_SPINS_SILENTLY,	/* it was proven to spin */
};

#define CTL_TICK_SIGNAL 61	/* the watchdog's: real-time, and hardly ever used by programs */

struct ctl_thread {
	uint32_t number;		/* index in ctl.threads; main is 0 */
	uint32_t id;			/* id in traces: number + 1 */
	uint32_t parent, ordinal;	/* number of its creator; it is that thread's n-th child */
	uint32_t children;		/* number of threads that it created */
	uint64_t name;			/* hash of its path (sched_child_name()) */
	enum ctl_state state;
	bool runnable;			/* its wait is ready: the strategy can choose it */
	struct ctl_wait *wait;		/* what it stands before; NULL while it runs */
	struct ctl_wait default_wait;	/* its start; later every wait on the fast path */
	struct snarlrt_tls *tls;

	/* Steps (step.c). */
	uint64_t steps_beyond_page;	/* granted steps that do not fit into ctl_page */
	struct trace_record *processed;	/* records of ctl_page before this one are counted */
	uint64_t steps;			/* executed, as of the last ctl_account() */
	uint64_t turn_began;		/* value of `steps` when its turn began */
	uint64_t fairness_from;		/* value of `steps` when it last yielded for fairness */

	/* Spinning (step.c). */
	uint32_t unchanged_events;	/* events in a row that changed nothing */
	uint32_t spin_rounds;		/* times in a row that it was found spinning */
	uint64_t spin_progress;		/* value of ctl.progress when it was last found spinning */
	uint64_t recent_events[8];	/* the different events among unchanged_events, as hashes */
	uint32_t recent_event_count;
	uint64_t steps_when_polled;	/* value of `steps` when the clock began to be polled */
	uint64_t polls_clock;		/* number of the polling period in which it read a clock */
	enum ctl_silence silence;	/* since its last point (watchdog.h) */
	uint64_t silence_epoch;		/* ctl.silent_epoch when it was last seen to spin */

	/*
	 * Registers while it does not run (context_switch.c). `sp` lies between the two control
	 * words because compilers join adjacent loads, and a joined load waits for both stores.
	 */
	uint32_t mxcsr;
	void *sp;
	uint16_t x87;
	uint64_t fs;

	/* Stack and host thread (context_switch.c). */
	uint32_t token;			/* futex word: 1 if it may run (kernel threads) */
	uint32_t host_ready;		/* futex word: 1 once its host thread is set up */
	uint32_t may_exit;		/* futex word: 1 if its host thread may end */
	int host_pid;			/* process in which its host thread exists; 0: none */
	long tid;			/* kernel threads: the kernel's thread id */
	bool prepared;			/* its host thread was created before the run */
	char *stack;			/* NULL: main's, or provided by the program */
	struct snarlrt_frame *frames;	/* call stack as the hooks keep it */
	size_t stack_size;

	/* Creation and end (controlled_thread.c). */
	pthread_t handle;
	void *(*routine)(void *);
	void *arg, *result;
	bool detached, joined, started;

	/* Cancellation. libc's own is not used. */
	bool cancel_disabled, cancel_async, cancel_pending;

	/* Signals as bit sets: the virtual mask, and those pending for this thread. */
	uint64_t sigmask, sigpending;

	/* Locks that it holds, for reports. held_count includes those beyond CTL_HELD. */
	struct ctl_held held[CTL_HELD];
	uint32_t held_count;

	/* Wait sets (model/models.h). */
	const void *wait_set;		/* object whose wait set it is in; NULL: none, or woken */
	uint64_t wait_set_order;	/* increases with the time of arrival */

	/* Recording (recorder.c): its ring, and the next record in it. NULL: no trace. */
	struct snarlrt_thread *ring;
	struct trace_record *ring_cur;
};

/* All state of control mode. `snarlrt` is the only other global. */
struct ctl {
	bool begun;			/* main has started: threads are controlled */
	bool ended;			/* exit() has run its last handler: nothing is scheduled */
	bool kernel_threads;		/* back end; false: user-level threads */
	bool private_child;		/* this is a child that the program forked: not the run */
	bool borrowed;			/* this is such a child, and the run is in it (borrow.c) */
	struct ctl_block *block;	/* shared with the tool (abi/control_block.h) */
	struct ctl_uncontrolled *uncontrolled;	/* in the shared block, in forked children too */
	uint32_t run_process;		/* pid of the run to which this process belongs */
	const void *fork_pc;		/* the program's last call that made a process */
	const struct strategy *strategy;
	void *state;			/* of the strategy, in the block */
	struct ctl_thread *current;
	struct ctl_thread **threads;	/* [count], allocated by controlled_thread.c */
	uint32_t count;			/* thread numbers given out */
	uint64_t steps;			/* executed by all threads */
	uint64_t now;			/* virtual ns since the run began */
	uint64_t turn_words;		/* words in the block's turn log */
	uint64_t hash;			/* of all turns that have ended */
	uint64_t turn_hash;		/* of the events of the current turn */
	uint64_t events_hashed;		/* index of the next check byte in the block */
	uint32_t timed_waits;		/* threads that stand before an event with a deadline */
	uint64_t progress;		/* number of events that changed something */
	uint64_t outside_calls;		/* number of clock reads, system calls and the like */
	uint64_t shared_applied;	/* entries of the shared list that are in the shadow */
	bool proving;			/* a proof of spinning is under way (spin_proof.h) */
	/* Changes when a thread that is not known to spin may have changed the program's state. */
	uint64_t silent_epoch;
	uint32_t flags;			/* copy of request.flags */
	uint64_t fast_until;		/* the fast path may be taken below this step; 0: not */
	int server;			/* socket of the fork server, or -1 */
	bool tracing;			/* a trace of the run is recorded */
	bool values;			/* the trace has the values that accesses read and write */
	struct iroot_profile *profile;	/* coverage profile that the run is folded into; or NULL */
	bool creating_host;		/* libc creates a host thread and allocates for it */
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
 * Sends the next point to the full path (point.c). To be called when anything changes that the
 * fast path takes for granted (point_fast.c): runnable threads, deadlines, signals.
 */
static inline void ctl_fast_path_end(void)
{
	ctl.fast_until = 0;
}

static inline struct ctl_thread *ctl_self(void)
{
	return ctl.current;
}

/*
 * Scheduling points. All keep errno.
 *
 * ctl_wait() is the general one, described at the top. ctl_point() precedes an event that is
 * always possible, ctl_step() an access of `size` bytes at `object`.
 */
SNARLRT_HIDDEN void ctl_wait(struct ctl_wait *w);
SNARLRT_HIDDEN void ctl_point(enum sched_op op, const void *object, const void *pc);
SNARLRT_HIDDEN void ctl_step(enum sched_op op, uint64_t object, uint64_t size, uint64_t site);

/*
 * The state of `object` changed: asks `ready` again of each wait whose event.object or
 * second_object is this object.
 */
SNARLRT_HIDDEN void ctl_changed(const void *object);

/*
 * A signal wakes one of several waiters: lets the strategy choose one of `count` thread numbers,
 * logs the choice in the schedule and returns it.
 */
SNARLRT_HIDDEN uint32_t ctl_choose_thread(const uint32_t *candidates, uint32_t count);

/* The current thread acquired or released a lock; for reports. */
SNARLRT_HIDDEN void ctl_held_add(const void *object, const void *pc);
SNARLRT_HIDDEN void ctl_held_drop(const void *object);

/*
 * Virtual time, ns (model/virtual_time.c).
 *
 * ctl_clock() reads any clock of clock_gettime(). ctl_deadline() converts a limit on such a clock;
 * a past or invalid limit gives 0. ctl_after() is `ns` from now. Both saturate at CTL_NEVER.
 */
SNARLRT_HIDDEN uint64_t ctl_clock(clockid_t clock);
SNARLRT_HIDDEN uint64_t ctl_deadline(clockid_t clock, const struct timespec *limit);
SNARLRT_HIDDEN uint64_t ctl_after(uint64_t ns);

/*
 * The current thread is about to read a clock at `pc`. If all runnable threads only poll clocks or
 * spin, virtual time jumps ahead, in steps that grow.
 */
SNARLRT_HIDDEN void ctl_clock_polled(const void *pc);

/* Ends the run as failed: the program did something that is an error under any schedule. */
SNARLRT_HIDDEN void ctl_fail(enum ctl_failure what, const void *object, const void *pc,
			     const void *pc2, const void *pc3, const char *text);

/* Fails the run unless misuse=ignore: POSIX leaves undefined what the program did. */
SNARLRT_HIDDEN void ctl_misuse(const void *object, const void *pc, const char *text);

/* Ends the run with outcome CTL_UNSUPPORTED: control mode cannot do what the program does. */
SNARLRT_HIDDEN void ctl_unsupported(const char *text) __attribute__((noreturn));

/* Unwinds the current thread if a cancellation is pending and enabled; else returns. */
SNARLRT_HIDDEN void ctl_cancel_act(void);

/* Threads (controlled_thread.c), for interpose/pthread_create.c and interpose/c11_threads.c. */
SNARLRT_HIDDEN int ctl_thread_create(pthread_t *out, const pthread_attr_t *attr,
				     void *(*routine)(void *), void *arg, const void *pc);
SNARLRT_HIDDEN int ctl_thread_join(pthread_t handle, void **value, bool wait, uint64_t deadline,
				   const void *pc);
SNARLRT_HIDDEN int ctl_thread_detach(pthread_t handle, const void *pc);
SNARLRT_HIDDEN int ctl_thread_cancel(pthread_t handle, const void *pc);
SNARLRT_HIDDEN void ctl_thread_exit(void *result) __attribute__((noreturn));

/* The thread that `handle` names. NULL: it is not controlled, or was joined. */
SNARLRT_HIDDEN struct ctl_thread *ctl_thread_find(pthread_t handle);

/*
 * The body of every thread but main, on the thread's own stack; called by context_switch.c. With
 * user-level threads it does not return.
 */
SNARLRT_HIDDEN void ctl_thread_main(struct ctl_thread *t);

/* Destructors at a thread's end, called on that thread (model/thread_keys.c). */
SNARLRT_HIDDEN void ctl_keys_run_destructors(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_thread_atexit_run(struct ctl_thread *t);

/* Passes the robust mutexes of `t`, which has ended, to whichever thread locks them next. */
SNARLRT_HIDDEN void model_mutex_owner_ended(struct ctl_thread *t);

/*
 * Begin and end of a run (controlled_run.c).
 *
 * ctl_open() returns false if the control block is unusable. ctl_begin() is called in main's place,
 * after the server's fork; ctl_continue() in a run that goes on from a snapshot. ctl_finish() fills
 * the report when the process ends, once. ctl_forked_child() is called in a child that the program
 * forks.
 */
SNARLRT_HIDDEN bool ctl_open(const char *path, int server, bool kernel_threads);
SNARLRT_HIDDEN void ctl_begin(void);
SNARLRT_HIDDEN void ctl_continue(void);
SNARLRT_HIDDEN void ctl_finish(int status);
SNARLRT_HIDDEN void ctl_forked_child(void);
SNARLRT_HIDDEN void ctl_end_run(enum ctl_outcome outcome) __attribute__((noreturn));
SNARLRT_HIDDEN void ctl_describe_threads(void);	/* fills report.at */
SNARLRT_HIDDEN uint64_t ctl_call_stack_hash(uint32_t thread);	/* sched_point.context; never 0 */

/*
 * Threads, for the other files of this room (controlled_thread.c).
 *
 * ctl_threads_prepare() is called before a fork and allocates for runs with that many threads.
 * ctl_thread_first() makes the main thread a controlled one, and ctl_main_thread() runs main.
 * ctl_exit_point() is a point before the process ends, if that ends other threads, too: they may
 * take steps before. ctl_exit_begins() runs the thread's C++ destructors when exit() is called.
 */
SNARLRT_HIDDEN void ctl_threads_prepare(uint32_t threads);
SNARLRT_HIDDEN void ctl_thread_first(void);
SNARLRT_HIDDEN int ctl_main_thread(int (*main)(int, char **, char **), int argc, char **argv,
				   char **envp);
SNARLRT_HIDDEN void ctl_exit_point(const void *pc);
SNARLRT_HIDDEN void ctl_exit_begins(void);

/*
 * Recording (recorder.c). Only if ctl.tracing; `t` is the running thread.
 *
 * ctl_trace_frames() records the calls that are not recorded yet. ctl_trace_crash() gets the
 * address whose access kills the thread, or 0.
 */
SNARLRT_HIDDEN void ctl_trace_attach(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_trace_page(struct ctl_thread *t, const struct trace_record *records,
				   uint64_t count);
SNARLRT_HIDDEN void ctl_trace_frames(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_trace_event(struct ctl_thread *t, const struct trace_record *r,
				    uint64_t arg);
SNARLRT_HIDDEN void ctl_trace_crash(uint64_t addr);
SNARLRT_HIDDEN void ctl_trace_exit(struct ctl_thread *t, uint64_t pc);
SNARLRT_HIDDEN void ctl_trace_finish(int status);

/*
 * With ctl.values, after an access was recorded: its value. ctl_trace_read() records the value in
 * memory. ctl_trace_written() announces a write, and its value is recorded once it has happened.
 */
SNARLRT_HIDDEN void ctl_trace_read(struct ctl_thread *t, uint64_t addr, unsigned log2);
SNARLRT_HIDDEN void ctl_trace_written(struct ctl_thread *t, uint64_t addr, unsigned log2);

/* Coverage (controlled_coverage.c). All but ctl_profile_begin() only if ctl.profile is set. */
SNARLRT_HIDDEN void ctl_profile_begin(void);
SNARLRT_HIDDEN void ctl_profile_attach(const struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_profile_page(struct ctl_thread *t, const struct trace_record *records,
				     uint64_t count);
SNARLRT_HIDDEN void ctl_profile_event(struct ctl_thread *t, const struct trace_record *r,
				      uint64_t arg);

/* Does a trace or a coverage profile need all events, in order? */
static inline bool ctl_records(void)
{
	return ctl.tracing || ctl.profile;
}

/*
 * The run in a forked child (borrow.c).
 *
 * The parent calls ctl_lend_begin() before fork(), and if that returned true ctl_lend_end() after
 * it, which returns when the child has given the run back. The child calls ctl_borrow(), which
 * returns false if it gets no run; ctl_give_back() when it ends; ctl_borrowed_crash() when a signal
 * is about to kill it. ctl_go_alone() gives the run back early: the child is private from then on.
 * ctl_borrowed_patience() is the real time, ns, that such a child may wait for the world before it
 * does so; `child`: it has a child itself. ctl_borrowed_sleep() is told of virtual time that no
 * thread used, and returns false if the child sleeps too long to keep the run.
 */
SNARLRT_HIDDEN bool ctl_lend_begin(void);
SNARLRT_HIDDEN void ctl_lend_end(int pid);
SNARLRT_HIDDEN bool ctl_borrow(void);
SNARLRT_HIDDEN void ctl_give_back(void);
SNARLRT_HIDDEN void ctl_borrowed_crash(void);
SNARLRT_HIDDEN void ctl_go_alone(void);
SNARLRT_HIDDEN bool ctl_borrowed_sleep(uint64_t ns);
SNARLRT_HIDDEN uint64_t ctl_borrowed_patience(bool child);
SNARLRT_HIDDEN void ctl_become_private(void);	/* this process is no longer the run */
SNARLRT_HIDDEN void ctl_thread_of_child(void);	/* registers a thread that a child created */
SNARLRT_HIDDEN bool ctl_has_shared_mapping(void);

/*
 * What runs without being scheduled (uncontrolled.c).
 *
 * ctl_uncontrolled_begin() begins the counts of a run. ctl_uncontrolled_thread() is called when a
 * thread is created that begins with `start`, ctl_uncontrolled_forked() in a forked child,
 * ctl_uncontrolled_access() for an access or operation there. ctl_uncontrolled_event() is called
 * for an event that no controlled thread made. The program made or removed a mapping with
 * MAP_SHARED: ctl_shared_mapping(), ctl_unmapped().
 */
#define CTL_SHARED_MAPPINGS 32u	/* mappings that are watched; later ones are not */
#define CTL_SHARED_BYTES 65536u	/* watched at the beginning of each */
SNARLRT_HIDDEN void ctl_uncontrolled_begin(void);
SNARLRT_HIDDEN void ctl_uncontrolled_thread(const void *start);
SNARLRT_HIDDEN void ctl_uncontrolled_forked(void);
SNARLRT_HIDDEN void ctl_uncontrolled_access(uint64_t addr, const void *pc);
SNARLRT_HIDDEN void ctl_uncontrolled_event(const void *pc);
SNARLRT_HIDDEN void ctl_shared_mapping(const void *at, size_t size);
SNARLRT_HIDDEN void ctl_unmapped(const void *at, size_t size);

/* Handlers of fatal signals (crash.c). */
SNARLRT_HIDDEN void ctl_crash_install(void);
SNARLRT_HIDDEN bool ctl_is_crash_handler(const void *handler);
SNARLRT_HIDDEN void ctl_illegal_install(void);	/* again: the program has reset SIGILL */

/* The fork server: returns in each child that is to run, never in the calling process. */
SNARLRT_HIDDEN void ctl_serve(void);

/*
 * Scheduling (point.c).
 *
 * ctl_reschedule_next_step() makes the current thread's next step ask the strategy.
 * ctl_reschedule_ended() leaves `t`, which has ended. ctl_started() counts a thread's first step.
 * ctl_last_turn() logs the current turn when the run ends.
 */
SNARLRT_HIDDEN void ctl_reschedule_next_step(void);
SNARLRT_HIDDEN void ctl_reschedule_ended(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_started(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_last_turn(void);

/* Steps and events of the current thread (step.c); the hooks of the mode's row (core/mode.h). */
SNARLRT_HIDDEN void ctl_account(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_note(enum trace_kind kind, unsigned detail, const void *object,
			     uint64_t arg, int result, const void *pc);
SNARLRT_HIDDEN void ctl_atomic(enum trace_kind kind, unsigned log2, const volatile void *addr,
			       const void *pc);
SNARLRT_HIDDEN void ctl_atomic_done(enum trace_kind kind, unsigned log2, int order, int fail_order,
				    const volatile void *addr, uint64_t value, const void *pc);

/*
 * Stacks and switches of threads (context_switch.c).
 *
 * context_create() makes stack and host thread of `t`; the fork server makes the first ones of a
 * run with context_create_prepared(). context_switch_from_ended() does not return with user-level
 * threads. context_reap() ends the host thread of a thread that no other will join any more.
 */
SNARLRT_HIDDEN bool context_user_supported(void);
SNARLRT_HIDDEN int context_create(struct ctl_thread *t, const pthread_attr_t *attr);
SNARLRT_HIDDEN void context_create_prepared(uint32_t count);
SNARLRT_HIDDEN void context_attach_main(struct ctl_thread *t);
SNARLRT_HIDDEN void context_switch(struct ctl_thread *from, struct ctl_thread *to);
SNARLRT_HIDDEN void context_switch_from_ended(struct ctl_thread *from, struct ctl_thread *to);
SNARLRT_HIDDEN void context_reap(struct ctl_thread *t);
SNARLRT_HIDDEN int context_call_on(char *stack_top, int (*fn)(void *), void *arg);

/* An access to memory (point_fast.c): a scheduling point if it is visible. */
SNARLRT_HIDDEN void ctl_access(uint64_t addr, uint64_t size, uint64_t site);

/*
 * Visibility (visibility.c): which threads have accessed which granules.
 *
 * ctl_touch() notes an access of the calling thread. It returns true if the access is visible: two
 * threads have accessed the memory, in this run or, as the tool knows, in an earlier one.
 * ctl_fresh() makes new or freed memory unowned; granules that are shared stay shared.
 * ctl_shared_apply() marks the granules that the block lists.
 */
SNARLRT_HIDDEN bool ctl_touch(uint64_t addr, uint64_t size, bool write, const void *pc);
SNARLRT_HIDDEN void ctl_fresh(uint64_t addr, uint64_t size);
SNARLRT_HIDDEN void ctl_shared_apply(void);
SNARLRT_HIDDEN void ctl_mark_shared(uint64_t addr, uint64_t size);	/* accesses are visible */

/*
 * The calling thread frees a block: granules that only another live thread has accessed become
 * shared. In later runs these accesses are points and may come after the free. Threads that have
 * ended do not count: the program most likely waited for them, so their steps could not move.
 */
SNARLRT_HIDDEN void ctl_touch_freed(uint64_t addr, uint64_t size);

/*
 * Poison marks freed memory and red zones (visibility.c). ctl_touch() calls ctl_heap_bad_access()
 * for poisoned memory (heap/heap_report.c). That function fails the run, but returns if the bytes
 * belong to a block in use or to no heap block.
 */
SNARLRT_HIDDEN void ctl_poison(uint64_t addr, uint64_t size);
SNARLRT_HIDDEN void ctl_unpoison(uint64_t addr, uint64_t size);
SNARLRT_HIDDEN void ctl_heap_bad_access(uint64_t addr, uint64_t size, bool write, const void *pc);

/*
 * An operation of `kind` on a lock, condition or the like uses `object`. If that is poisoned, notes
 * the event with `arg` and fails the run: ctl_heap_bad_use().
 */
SNARLRT_HIDDEN void ctl_object_used(enum trace_kind kind, const void *object, uint64_t arg,
				    const void *pc);
SNARLRT_HIDDEN void ctl_heap_bad_use(enum trace_kind kind, const void *object, uint64_t arg,
				     const void *pc);

#endif
