/*
 * The outside world under control: system calls that may block, time, signals.
 *
 * A system call is one scheduling point (SCHED_OP_CALL) just before the real call. If the call may
 * block, the wait is `external`: the kernel decides whether it is ready. The real call is made
 * only when it cannot block. So no thread blocks while it holds the token, and user-level threads
 * do not block each other. A call takes the same number of points whether it had to wait or not,
 * and whether its descriptor is a pipe or a terminal. So the speed of the outside world does not
 * change the steps.
 *
 * The rule: changes of the outside world are looked at only
 *
 * - right after system calls of the program, since one thread may fill a pipe for another, and
 * - when no thread is runnable.
 *
 * Under an exact schedule the plan names the next thread; if it waits externally, the runtime
 * waits for the kernel. A deadlock is reported only if no thread is runnable, no deadline is
 * pending and no thread waits for another process.
 *
 * Real time passes outside. If all threads wait, some of them for a deadline, the outside world
 * gets at most as much real time as is left on the virtual clock: all of it if a child process
 * lives or the deadline is a timer's (often a watchdog's), else half a second at most.
 *
 * The first part of this header is for the scheduler (point.c), the second for interposers.
 */
#ifndef RUNTIME_CONTROL_MODEL_EXTERNAL_H
#define RUNTIME_CONTROL_MODEL_EXTERNAL_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "runtime/control/control.h"
#include "runtime/control/model/call.h"
#include "runtime/core/real.h"

#define CTL_STEP_NS 100u	/* virtual time of a step; count_steps() adds it to ctl.now */

/* What an external wait waits for: ctl_wait.arg and second_object. Lives on the waiter's stack. */
struct ctl_external_wait {
	const struct pollfd *fds;	/* ready when poll() finds one of these ready */
	uint32_t count;
	bool (*probe)(void *arg);	/* or when this returns true; must not change anything */
	void *arg;
	bool signals;		/* `probe` asks for signals only */
	bool epoll;		/* fds[0] is an epoll instance */
	bool ready;		/* result of the last probe */
};

/*
 * What threads wait for outside. A wait for a pipe or socket pair of this process counts as
 * nothing as long as no child was created: it can deadlock like any other wait. A wait with a time
 * limit and without any descriptor is a sleep, which counts as nothing, too.
 */
enum ctl_outside {
	CTL_OUTSIDE_NOTHING,
	CTL_OUTSIDE_SIGNAL,	/* a signal only */
	CTL_OUTSIDE_WORLD,	/* another process, a device */
};

SNARLRT_HIDDEN enum ctl_outside ctl_external_waiters(void);
SNARLRT_HIDDEN bool ctl_external_any_waiter(void);

/*
 * Does a child process live? False if one has ended and was not waited for, even if others live:
 * the program has something to do then.
 */
SNARLRT_HIDDEN bool ctl_external_child_lives(void);

/*
 * To be called before each choice. If the program made a system call since the last probe, polls
 * the external waiters and calls ctl_changed() for those whose readiness changed.
 */
SNARLRT_HIDDEN void ctl_external_probe(void);

/*
 * No thread is runnable: blocks in the kernel until an external waiter is ready, a signal came
 * (ctl_signal_arrived()), the last child process has ended, or `ns` nanoseconds of real time have
 * passed (CTL_NEVER: no limit). Returns false if the time has passed.
 */
SNARLRT_HIDDEN bool ctl_external_block(uint64_t ns);

/*
 * Signals (signal.c).
 *
 * A signal that the program sends to itself is part of the schedule, as operations on a mutex are.
 * It is due at once and delivered at the next point of its target.
 *
 * A signal from outside is kept. ctl_signal_arrived() returns its number (0: none) and the thread
 * that should get it. The scheduler logs SCHED_TURN_SIGNAL and calls ctl_signal_accept(), which
 * makes it due. Under an exact schedule the scheduler calls ctl_signal_accept() where the plan
 * says. A SIGCHLD is waited for then; any other signal that has not come is made up.
 */
SNARLRT_HIDDEN int ctl_signal_arrived(struct ctl_thread **target);
SNARLRT_HIDDEN void ctl_signal_accept(struct ctl_thread *t, int number);

/* Is any signal pending, for any thread or the process? */
SNARLRT_HIDDEN bool ctl_signal_any(void);

/* The thread that gets a signal for the process: the first one that does not block it, or NULL. */
SNARLRT_HIDDEN struct ctl_thread *ctl_signal_receiver(int number);

/* Is a signal pending that thread `t` is to handle? */
SNARLRT_HIDDEN bool ctl_signal_due(const struct ctl_thread *t);

/*
 * Runs the due handlers in the current thread, which was chosen at a point (ctl_thread.wait is
 * NULL). Handlers have points of their own and may leave by longjmp.
 */
SNARLRT_HIDDEN void ctl_signal_deliver(void);

/* Thread `t` is created, with its parent's mask, or has ended: receivers of signals change. */
SNARLRT_HIDDEN void ctl_signal_thread_created(struct ctl_thread *t,
					      const struct ctl_thread *parent);
SNARLRT_HIDDEN void ctl_signal_thread_ended(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_signal_forked(void);	/* in a forked child: clears pending signals */

/* Timers on virtual time: the next expiry, or CTL_NEVER; sends signals of expired timers. */
SNARLRT_HIDDEN uint64_t ctl_timers_next(void);
SNARLRT_HIDDEN void ctl_timers_due(void);

/*
 * For interposers, only if c->control; call.h has more. Any of these functions may unwind instead
 * of returning, since the thread may be cancelled.
 */
enum ctl_wait_result { CTL_WAIT_READY, CTL_WAIT_EXPIRED, CTL_WAIT_INTERRUPTED };

/*
 * For ctl_external_any_waiter(): this process made the pipe or socket pair `fds`; it created a
 * child, which may have inherited them all.
 */
SNARLRT_HIDDEN void ctl_outside_own(const int fds[2]);
SNARLRT_HIDDEN void ctl_outside_child(void);

/*
 * Notes in the report that a call returned what comes from outside: it is the last one before the
 * end of the run, if that diverges. ctl_outside_call() is for calls that may be such.
 */
SNARLRT_HIDDEN void ctl_outside_result(const char *call, const void *pc);
SNARLRT_HIDDEN void ctl_outside_call(const struct snarlrt_call *c);

/*
 * An external wait. `restart`: handlers with SA_RESTART do not end it. The caller then calls
 * ctl_outside_stale() if its real call changes anything.
 */
SNARLRT_HIDDEN enum ctl_wait_result ctl_external_await(struct snarlrt_call *c,
						       struct ctl_external_wait *o,
						       uint64_t deadline, bool restart);

/*
 * For calls that can only be tried: after a failure, waits until another try is worth it (the
 * program changed something, or some time has passed). Returns false with errno set if the caller
 * must give up. Callers call ctl_outside_stale() after success only, or two of them would keep
 * each other awake.
 */
SNARLRT_HIDDEN bool ctl_call_retry(struct snarlrt_call *c);

/* The program makes a system call: external waiters may become ready or stop being ready. */
SNARLRT_HIDDEN void ctl_outside_stale(void);

/* The calls of these names on blocking descriptors; recv_all is recv() with MSG_WAITALL. */
SNARLRT_HIDDEN ssize_t ctl_call_write(struct snarlrt_call *c, int fd, const struct iovec *v,
				      size_t count);
SNARLRT_HIDDEN ssize_t ctl_call_send(struct snarlrt_call *c, int fd, const struct msghdr *m,
				     int flags);
SNARLRT_HIDDEN ssize_t ctl_call_recv_all(struct snarlrt_call *c, int fd, void *buf, size_t n,
					 int flags);
SNARLRT_HIDDEN int ctl_call_connect(struct snarlrt_call *c, int fd, const void *to, socklen_t size);
SNARLRT_HIDDEN int ctl_call_open(struct snarlrt_call *c, int dir, const char *path, int flags,
				 mode_t mode);

/* The number of bytes, n at most, that a write does not block on once poll() said POLLOUT. */
SNARLRT_HIDDEN size_t ctl_call_room(int fd, size_t n);

/* As ctl_call_may(); fails with ETIMEDOUT at `limit` on CLOCK_REALTIME. */
SNARLRT_HIDDEN bool ctl_call_may_until(struct snarlrt_call *c, int fd, short events,
				       const struct timespec *limit);

/* A scheduling point of a call that is not recorded but may make external waiters ready. */
SNARLRT_HIDDEN void ctl_source_point(int fd, const void *pc);

/*
 * Virtual time, ns (virtual_time.c).
 *
 * ctl_time_ns() saturates; NULL and negative times are 0. ctl_deadline_ms() takes poll's time-out,
 * where a negative one is CTL_NEVER; ctl_deadline_in() takes ppoll's, where NULL is CTL_NEVER.
 */
SNARLRT_HIDDEN uint64_t ctl_time_ns(const struct timespec *t);
SNARLRT_HIDDEN struct timespec ctl_timespec(uint64_t ns);
SNARLRT_HIDDEN uint64_t ctl_deadline_ms(int ms);
SNARLRT_HIDDEN uint64_t ctl_deadline_in(const struct timespec *t);

/* Sleeps until `deadline`. Returns the time left if a signal handler ended the sleep, else 0. */
SNARLRT_HIDDEN uint64_t ctl_sleep(uint64_t deadline, const void *pc);
SNARLRT_HIDDEN void ctl_yield(const void *pc);

/* ITIMER_REAL; ns 0 turns it off. Both return the time left on the old timer, 0 if it was off. */
SNARLRT_HIDDEN uint64_t ctl_timer_set(uint64_t ns, uint64_t every, uint64_t *every_before);
SNARLRT_HIDDEN uint64_t ctl_timer_get(uint64_t *every);

/* Sets the current thread's virtual signal mask, in kernel form. Returns the old one. */
SNARLRT_HIDDEN uint64_t ctl_sigmask_set(uint64_t mask);

/*
 * After an interrupted wait: does the call end with EINTR? Not if no handler ran (another thread
 * took the signal), nor if all handlers had SA_RESTART and the call is restartable.
 */
SNARLRT_HIDDEN bool ctl_signal_ends_call(bool restartable);

/* The virtual time at which the last delivery of signals began. */
SNARLRT_HIDDEN uint64_t ctl_signal_delivery_time(void);

/* The signals of `set` that are pending for `t` or the process. */
SNARLRT_HIDDEN uint64_t ctl_signal_pending(const struct ctl_thread *t, uint64_t set);

/* Takes a pending signal of `set` for the current thread. Returns its number; 0: there is none. */
SNARLRT_HIDDEN int ctl_signal_take(uint64_t set, siginfo_t *info);

/* Sends a signal to `t`, or to the process if `t` is NULL. Returns 0 or an errno. */
SNARLRT_HIDDEN int ctl_signal_send(struct ctl_thread *t, int number, const siginfo_t *info);

/* Called by the trampoline of handlers: returns true if the signal is kept for a point. */
SNARLRT_HIDDEN bool ctl_signal_catch(int number, const siginfo_t *info);

/* A handler of the program, as interpose/signal_handler.c keeps it. */
struct ctl_signal_action {
	void (*handler)(int);	/* SIG_DFL, SIG_IGN or the program's function */
	int flags;
	uint64_t mask;
};

struct ctl_signal_calls {
	struct ctl_signal_action (*action)(int number);
	/*
	 * Runs the program's handler in the current thread as the trampoline does: with the
	 * action's virtual mask, and after it removed a one-shot handler.
	 */
	void (*run)(int number, siginfo_t *info);
};

/* Set by the interposer before the run begins. */
extern SNARLRT_HIDDEN const struct ctl_signal_calls *ctl_signal_calls;

#endif
