/*
 * The outside world under control: system calls that may block, time, signals.
 *
 * A system call is one point (SCHED_OP_CALL), just before the real call, with
 * `outside` set: whether it is ready is the kernel's to say. The real call is made
 * only when it cannot block, so nobody ever blocks holding the token, and with
 * user-level threads nobody blocks the others. A call takes as many points
 * whether it had to wait or not, and whether its descriptor is a pipe or a
 * terminal: how fast the world was cannot be seen in the steps.
 *
 * The rule: the outside world counts as progress only
 *  - right after system calls of our own (a pipe between two of our threads is
 *    filled by one of them), and
 *  - when nobody inside can run.
 * Under an exact schedule the plan says who is next; if that one is still outside,
 * we wait for the world. A deadlock is declared only if nobody is runnable, no
 * deadline is pending and nobody is outside.
 *
 * Real time passes outside. When everybody waits, some of them for a deadline,
 * the world gets at most as much real time as is left on the virtual clock.
 *
 * First part: what the core calls. Second: what the interposers call.
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

#define CTL_STEP_NS 100u	/* virtual time a step takes; the core adds it to ctl.now */

/*
 * What an outside wait (`ctl_wait.outside`, this is its `arg` and its `also`) is
 * for. Lives on the waiter's stack.
 */
struct ctl_external_wait {
	const struct pollfd *fds;	/* ready when poll() finds something */
	uint32_t count;
	bool (*probe)(void *arg);	/* or when this says so; it must not change anything */
	void *arg;
	bool ready;		/* at the last look */
};

/*
 * Does any thread wait for somebody outside? Not if it waits for a pipe or socket pair
 * that this process made and nobody else can have: no child was ever made. Such a wait can deadlock like any other.
 */
SNARLRT_HIDDEN bool ctl_external_any_waiter(void);

/*
 * Looks again who is ready, if there was a system call of ours since the last
 * look; cheap if not. Says ctl_changed() of those for whom it changed. To be
 * called before each choice.
 */
SNARLRT_HIDDEN void ctl_external_probe(void);

/*
 * Nobody inside can run: blocks in the kernel until an outside waiter is ready
 * (ctl_changed() is said), a signal came (ctl_signal_arrived()), or `ns`
 * nanoseconds of real time have passed; CTL_NEVER: no limit. False: time's up.
 */
SNARLRT_HIDDEN bool ctl_external_block(uint64_t ns);

/*
 * Signals (control_signal.c). Those that the program sends itself are as much
 * part of the schedule as a mutex: they are due at once and delivered at the
 * target's next point. Those from outside are kept aside: arrived() names one
 * and whom it should reach (0: none); the core writes SCHED_TURN_SIGNAL and
 * calls accept(), which makes it due there. Following an exact schedule the core
 * calls accept() where the plan says, without asking arrived(): it is waited for
 * if it is a child's, made up if it does not come by itself.
 */
SNARLRT_HIDDEN int ctl_signal_arrived(struct ctl_thread **target);
SNARLRT_HIDDEN void ctl_signal_accept(struct ctl_thread *t, int number);

/* Is there any signal, for whomever? */
SNARLRT_HIDDEN bool ctl_signal_any(void);

/* Is a handler to run in this thread? */
SNARLRT_HIDDEN bool ctl_signal_due(const struct ctl_thread *t);

/*
 * Runs the handlers that are due in the current thread; called when it is
 * resumed at a point, its wait taken back (ctl_thread.wait NULL). They have points
 * of their own, and may leave by longjmp.
 */
SNARLRT_HIDDEN void ctl_signal_deliver(void);

/* A thread is born (inherits its parent's mask) or has gone: who can take signals changed. */
SNARLRT_HIDDEN void ctl_signal_thread_created(struct ctl_thread *t, const struct ctl_thread *parent);
SNARLRT_HIDDEN void ctl_signal_thread_ended(struct ctl_thread *t);
SNARLRT_HIDDEN void ctl_signal_forked(void);	/* the program's child: nothing is pending in it */

/* alarm and setitimer on virtual time: the next moment (or CTL_NEVER), and firing what is due. */
SNARLRT_HIDDEN uint64_t ctl_timers_next(void);
SNARLRT_HIDDEN void ctl_timers_due(void);

/*
 * For interposers; only if c->control. None of these need return: the thread may
 * be cancelled. See also call.h.
 */
enum ctl_wait_result { CTL_WAIT_READY, CTL_WAIT_EXPIRED, CTL_WAIT_INTERRUPTED };

/* This process made these two, the ends of a pipe; a child was made: they may be its, too. */
SNARLRT_HIDDEN void ctl_outside_own(const int fds[2]);
SNARLRT_HIDDEN void ctl_outside_child(void);

/*
 * Any outside wait. `restart`: go on waiting after handlers with SA_RESTART. If the
 * real call then changes anything, ctl_outside_stale() is to be said.
 */
SNARLRT_HIDDEN enum ctl_wait_result ctl_external_await(struct snarlrt_call *c, struct ctl_external_wait *o,
						uint64_t deadline, bool restart);

/*
 * For calls that can only be tried: after one that failed, stands until it is worth
 * trying again (by then something of ours changed, or some time has passed).
 * False with errno set: give up. Say ctl_outside_stale() after success only: two
 * that try in turn must not keep each other awake.
 */
SNARLRT_HIDDEN bool ctl_call_retry(struct snarlrt_call *c);

/* A system call of ours is under way: others may be ready, or not any more. */
SNARLRT_HIDDEN void ctl_outside_stale(void);

/* The whole vector, as a blocking write or send does it, in pieces that do not block. */
SNARLRT_HIDDEN ssize_t ctl_call_write(struct snarlrt_call *c, int fd, const struct iovec *v,
				      size_t count);
SNARLRT_HIDDEN ssize_t ctl_call_send(struct snarlrt_call *c, int fd, const struct msghdr *m,
				     int flags);
SNARLRT_HIDDEN ssize_t ctl_call_recv_all(struct snarlrt_call *c, int fd, void *buf, size_t n,
					 int flags);
SNARLRT_HIDDEN size_t ctl_call_room(int fd, size_t n);	/* as much of n as fits where POLLOUT was said */
/* ctl_call_may() with a time-out of CLOCK_REALTIME: then ETIMEDOUT. */
SNARLRT_HIDDEN bool ctl_call_may_until(struct snarlrt_call *c, int fd, short events,
				       const struct timespec *limit);
SNARLRT_HIDDEN int ctl_call_connect(struct snarlrt_call *c, int fd, const void *to, socklen_t size);
SNARLRT_HIDDEN int ctl_call_open(struct snarlrt_call *c, int dir, const char *path, int flags,
				 mode_t mode);

/* A point for small calls that are not noted; what others wait for may change by it. */
SNARLRT_HIDDEN void ctl_source_point(int fd, const void *pc);

/* control_time.c */
SNARLRT_HIDDEN uint64_t ctl_time_ns(const struct timespec *t);	/* saturating; NULL, negative: 0 */
SNARLRT_HIDDEN struct timespec ctl_timespec(uint64_t ns);
SNARLRT_HIDDEN uint64_t ctl_deadline_ms(int ms);			/* poll's: negative is never */
SNARLRT_HIDDEN uint64_t ctl_deadline_in(const struct timespec *t);	/* ppoll's: NULL is never */
/* Stands until `deadline`; the time that was left, 0 unless a signal came. */
SNARLRT_HIDDEN uint64_t ctl_sleep(uint64_t deadline, const void *pc);
SNARLRT_HIDDEN void ctl_yield(const void *pc);
/* ITIMER_REAL; both return what was left of the old one, 0 if it was off. ns 0: off. */
SNARLRT_HIDDEN uint64_t ctl_timer_set(uint64_t ns, uint64_t every, uint64_t *every_before);
SNARLRT_HIDDEN uint64_t ctl_timer_get(uint64_t *every);

/* control_signal.c: masks are virtual, in kernel form. */
SNARLRT_HIDDEN uint64_t ctl_sigmask_set(uint64_t mask);	/* of the current thread; returns the old one */
/*
 * After a wait that was interrupted: does the call end with EINTR? Not if no handler
 * ran (another thread took the signal), nor if all had SA_RESTART and the call heeds it.
 */
SNARLRT_HIDDEN bool ctl_signal_ends_call(bool restartable);
SNARLRT_HIDDEN uint64_t ctl_signal_delivery_time(void);	/* when the last delivery began */
SNARLRT_HIDDEN uint64_t ctl_signal_pending(const struct ctl_thread *t, uint64_t set);
/* Takes one of `set` that is pending for the current thread; 0: none. */
SNARLRT_HIDDEN int ctl_signal_take(uint64_t set, siginfo_t *info);
/* Sends to `t`, or to the process if NULL; 0 or an errno. */
SNARLRT_HIDDEN int ctl_signal_send(struct ctl_thread *t, int number, const siginfo_t *info);
/* The trampoline's: true if kept for later. */
SNARLRT_HIDDEN bool ctl_signal_catch(int number, const siginfo_t *info);

/* The program's handlers, as their interposer keeps them. */
struct ctl_signal_action {
	void (*handler)(int);	/* SIG_DFL, SIG_IGN or the program's */
	int flags;
	uint64_t mask;
};

struct ctl_signal_calls {
	struct ctl_signal_action (*action)(int number);
	/*
	 * Calls the program's handler in the current thread as the trampoline does, its
	 * virtual mask set meanwhile and put back; a one-shot one is taken down.
	 */
	void (*run)(int number, siginfo_t *info);
};

/* Set before the run begins. */
extern SNARLRT_HIDDEN const struct ctl_signal_calls *ctl_signal_calls;

#endif
