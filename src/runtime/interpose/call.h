/*
 * Common code of the interposers of system calls, the heap and strings.
 *
 * A system call that may block is a scope, which notes two events:
 *
 *	SNARLRT_CALL(c, TRACE_CALL_READ, fd);
 *	got = snarlrt_call_await_ready(&c, fd, POLLIN) ? REAL(read)(fd, buf, size) : -1;
 *	return snarlrt_call_leave(&c, got);
 *
 * CALL_ENTER is noted at the start; CALL_LEAVE at the end, with the returned value and errno. On
 * return, errno is what the real call left.
 *
 * Example: thread 0.1 calls read(3, buf, 100) on an empty pipe; 5 bytes arrive later. By mode:
 *
 * off: `c` stays closed, the real read() blocks and returns 5.
 *
 * record, profile: notes CALL_ENTER of fd 3. snarlrt_wait_begin() stores "waits in read" in live
 * memory, where the trace finds it if the program is killed. The real read() blocks and returns 5.
 * Then a write of buf[0..4] and CALL_LEAVE with the value 5 are noted.
 *
 * control: notes CALL_ENTER. ctl_call_may() is a scheduling point at which 0.1 stays until poll()
 * finds fd 3 readable and the strategy chooses 0.1; meanwhile other threads run. The real read()
 * then returns 5 without blocking. If a signal handler without SA_RESTART runs first, read()
 * returns -1 with EINTR and the real call is not made. The write of buf is a point of its own.
 *
 * check, guard: if rules need transactions, snarlrt_wait_begin() ends that of 0.1, so that guard
 * delays no other thread for it. The real read() blocks and returns 5. The write of buf is compared
 * with the rules.
 *
 * Where poll() cannot tell whether a call would block, as for System V message queues, control
 * tries the real call without waiting, and again after ctl_call_retry() (control/model/external.h);
 * msgrcv() in socket.c is an example. A call that concerns no descriptor passes another id or
 * SNARLRT_NO_FD to SNARLRT_CALL().
 *
 * If 0.1 is cancelled in read(), the end of the scope notes CALL_LEAVE with the value -1, ECANCELED
 * and TRACE_CALL_UNWOUND.
 */
#ifndef RUNTIME_INTERPOSE_CALL_H
#define RUNTIME_INTERPOSE_CALL_H

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "runtime/control/model/call.h"
#include "runtime/core/real.h"
#include "runtime/hooks/entry.h"

/*
 * Does the mode want events of this thread now? The mode is tested first: in a static program
 * memcpy() runs before thread-local storage exists, and even before relocation.
 */
static inline bool snarlrt_wants_events(void)
{
	return !mode_is_off() && !(__snarl_tls.hidden | __snarl_tls.busy);
}

/* False while real functions are being looked up, and if no library has this one. */
static inline bool snarlrt_real_found(const void *real)
{
	return likely(real != NULL);
}

/* Note CALL_ENTER and CALL_LEAVE; `detail` is 0 or TRACE_CALL_UNWOUND. */
SNARLRT_HIDDEN void snarlrt_call_open(struct snarlrt_call *c);
SNARLRT_HIDDEN void snarlrt_call_close(struct snarlrt_call *c, long value, int error,
				       unsigned detail);

static inline struct snarlrt_call snarlrt_call_enter(enum trace_call what, const void *object,
						     const void *pc)
{
	struct snarlrt_call c = { object, pc, (uint8_t)what, false, false };

	snarlrt_real_ready();
	if (snarlrt_wants_events())
		snarlrt_call_open(&c);
	return c;
}

static inline long snarlrt_call_leave(struct snarlrt_call *c, long value)
{
	if (c->open)
		snarlrt_call_close(c, value, value == -1 ? errno : 0, 0);
	return value;
}

/* For functions that return an error number and do not set errno. */
static inline int snarlrt_call_leave_error(struct snarlrt_call *c, int error)
{
	if (c->open)
		snarlrt_call_close(c, error ? -1 : 0, error, 0);
	return error;
}

/* Runs at the end of the scope. If the call is still open, the frame is being unwound. */
static inline void snarlrt_call_unwind(struct snarlrt_call *c)
{
	if (unlikely(c->open))
		snarlrt_call_close(c, -1, ECANCELED, TRACE_CALL_UNWOUND);
}

/* Declares `c`, notes the start of a call of kind `what` (enum trace_call) on `fd`. */
#define SNARLRT_CALL(c, what, fd)                                                          \
	struct snarlrt_call c __attribute__((cleanup(snarlrt_call_unwind))) =              \
		snarlrt_call_enter(what, snarlrt_fd(fd), SNARLRT_PC())

/*
 * In mode control, the scheduling point of a call, just before the real one (control/model/call.h).
 * `events` as for poll(). False with errno set: do not make the real call. In other modes both
 * return true at once. snarlrt_call_point() is for calls that never block.
 */
static inline bool snarlrt_call_await_ready(struct snarlrt_call *c, int fd, short events)
{
	return likely(!c->control) || ctl_call_may(c, fd, events);
}

static inline bool snarlrt_call_point(struct snarlrt_call *c)
{
	return likely(!c->control) || ctl_call_point(c);
}

/* The descriptor that is noted for calls that concern none or several */
#define SNARLRT_NO_FD 0

/* Notes accesses to the first `size` bytes of the memory that the vector describes. */
SNARLRT_HIDDEN void snarlrt_range_vector(bool write, const struct iovec *v, size_t count,
					 size_t size, const void *pc);

/* Notes that `bytes` bytes were written to `fd`; for 0 and errors nothing. */
static inline void snarlrt_note_output(int fd, long bytes, const void *pc)
{
	if (bytes > 0)
		snarlrt_note(TRACE_OUTPUT, 0, snarlrt_fd(fd), (uint64_t)bytes, 0, pc);
}

/*
 * malloc.c. While it is set, malloc and free are noted with this pc: that of the caller of operator
 * new, strdup and the like.
 */
extern SNARLRT_HIDDEN __thread const void *snarlrt_heap_pc;

/* setjmp.c: the number of calls on the call stack, and unwinding it to an earlier number. */
SNARLRT_HIDDEN uint64_t snarlrt_stack_depth(void);
SNARLRT_HIDDEN void snarlrt_unwind(uint64_t depth, const void *pc);

/*
 * signal_handler.c: the signal handlers that a thread is in, innermost first.
 * snarlrt_handlers_unwind() drops those inside `down_to`, which a longjmp leaves.
 */
struct snarlrt_handler;
extern SNARLRT_HIDDEN const struct ctl_signal_calls snarlrt_signal_calls;
extern SNARLRT_HIDDEN __thread struct snarlrt_handler *snarlrt_handlers;
SNARLRT_HIDDEN void snarlrt_handlers_unwind(struct snarlrt_handler *down_to);

/* fork_exit.c: true in a thread between vfork and the child's exec or _exit. */
extern SNARLRT_HIDDEN __thread bool snarlrt_vforked;

/*
 * True if events are recorded and this process is not a child that borrows the recorded process's
 * memory.
 */
SNARLRT_HIDDEN bool snarlrt_own_process(void);

/* Called in mode control before another program is started: it must run in mode off. */
SNARLRT_HIDDEN void snarlrt_environ_mode_off(void);

/*
 * Registers handlers for fork and quick_exit that must come before the program's; called once, at
 * the start.
 */
SNARLRT_HIDDEN void snarlrt_process_init(void);

/* Makes system call `number`, which creates a child process with memory of its own. */
SNARLRT_HIDDEN long snarlrt_fork_syscall(long number, const long *v, const void *pc);

#endif
