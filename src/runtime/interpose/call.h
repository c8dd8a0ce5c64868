/*
 * What the interposers of system calls, the heap and strings share.
 *
 * A call that may block is a scope:
 *
 *	SNARLRT_CALL(c, TRACE_CALL_READ, fd);
 *	…
 *	return snarlrt_call_leave(&c, REAL(read)(fd, buf, size));
 *
 * CALL_ENTER is noted at its start, CALL_LEAVE with the value and errno at its
 * end. Cancellation or an exception that unwinds the frame instead notes a
 * CALL_LEAVE marked TRACE_CALL_UNWOUND. errno is what the real call left.
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
 * Are this thread's events wanted? The mode comes first: in a static program
 * memcpy runs before there is thread-local storage, in an unrelocated one too.
 */
static inline bool snarlrt_wants_events(void)
{
	return !mode_is_off() && !(__snarl_tls.hidden | __snarl_tls.busy);
}

/* False only while the look-up of real functions is under way, or if there is none. */
static inline bool snarlrt_real_found(const void *real)
{
	return likely(real != NULL);
}

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

/* For functions that return their error instead of setting errno. */
static inline int snarlrt_call_leave_error(struct snarlrt_call *c, int error)
{
	if (c->open)
		snarlrt_call_close(c, error ? -1 : 0, error, 0);
	return error;
}

static inline void snarlrt_call_unwind(struct snarlrt_call *c)
{
	if (unlikely(c->open))
		snarlrt_call_close(c, -1, ECANCELED, TRACE_CALL_UNWOUND);
}

#define SNARLRT_CALL(c, what, fd)                                                          \
	struct snarlrt_call c __attribute__((cleanup(snarlrt_call_unwind))) =              \
		snarlrt_call_enter(what, snarlrt_fd(fd), SNARLRT_PC())

/*
 * Under control each call has its point just before the real one
 * (control/model/call.h). now is for what never blocks.
 *
 *	return snarlrt_call_leave(&c, snarlrt_may(&c, fd, POLLIN) ? REAL(…)(…) : -1);
 */
static inline bool snarlrt_call_await_ready(struct snarlrt_call *c, int fd, short events)
{
	return likely(!c->control) || ctl_call_may(c, fd, events);
}

static inline bool snarlrt_call_point(struct snarlrt_call *c)
{
	return likely(!c->control) || ctl_call_point(c);
}

/* Calls on no descriptor in particular have this one. */
#define SNARLRT_NO_FD 0

/* The first `size` bytes of what the vector points to. */
SNARLRT_HIDDEN void snarlrt_range_vector(bool write, const struct iovec *v, size_t count,
					 size_t size, const void *pc);

/* So many bytes went to `fd`; nothing is noted for none. */
static inline void snarlrt_note_output(int fd, long bytes, const void *pc)
{
	if (bytes > 0)
		snarlrt_note(TRACE_OUTPUT, 0, snarlrt_fd(fd), (uint64_t)bytes, 0, pc);
}

/*
 * interpose_heap.c. While heap_pc is set, malloc and free are noted as called
 * from there: operator new and strdup stand for their callers.
 */
extern SNARLRT_HIDDEN __thread const void *snarlrt_heap_pc;

/* interpose_jump.c: the depth of the call stack, and cutting it back to one. */
SNARLRT_HIDDEN uint64_t snarlrt_stack_depth(void);
SNARLRT_HIDDEN void snarlrt_unwind(uint64_t depth, const void *pc);

/* interpose_signal.c: the handlers a thread is in, innermost first. */
struct snarlrt_handler;
extern SNARLRT_HIDDEN const struct ctl_signal_calls snarlrt_signal_calls;
extern SNARLRT_HIDDEN __thread struct snarlrt_handler *snarlrt_handlers;
SNARLRT_HIDDEN void snarlrt_handlers_unwind(struct snarlrt_handler *down_to);

/* fork_exit.c: between vfork and the child's exec or _exit. */
extern SNARLRT_HIDDEN __thread bool snarlrt_vforked;

/* Recording, and not a child that borrows the memory of the recorded process. */
SNARLRT_HIDDEN bool snarlrt_own_process(void);

/* Under control, before another program is started: it is not to be controlled. */
SNARLRT_HIDDEN void snarlrt_environ_mode_off(void);

/* Registers what has to come before the program's own; called once, at start. */
SNARLRT_HIDDEN void snarlrt_process_init(void);

/* A system call that makes a child with memory of its own. */
SNARLRT_HIDDEN long snarlrt_fork_syscall(long number, const long *v, const void *pc);

#endif
