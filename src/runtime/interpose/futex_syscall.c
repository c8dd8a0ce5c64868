/*
 * syscall(): futexes, as std::atomic::wait and many hand-written locks use them, and system calls
 * that create a process or that mode control refuses. All other numbers are passed on.
 *
 * A wait is noted after the call, a wake before it. Priority-inheriting operations are noted as a
 * wait and a wake too, not as lock and unlock: without contention such a lock is taken in user
 * space, without a call.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"
#include "runtime/interpose/call.h"
#include "runtime/interpose/refused.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* struct futex_waitv of <linux/futex.h>, which headers before Linux 5.16 lack */
struct waitv {
	uint64_t val, uaddr;
	uint32_t flags, reserved;
};

struct args {
	long v[6];
};

static inline long call_real(long number, const struct args *a)
{
	return REAL(syscall)(number, a->v[0], a->v[1], a->v[2], a->v[3], a->v[4], a->v[5]);
}

static long futex_wait(const struct args *a, uint64_t expected, unsigned detail, const void *pc)
{
	const void *word = (const void *)a->v[0];
	long got;

	snarlrt_wait_begin(TRACE_FUTEX_WAIT, word, pc);
	got = call_real(SYS_futex, a);
	snarlrt_wait_end();
	snarlrt_note(TRACE_FUTEX_WAIT, detail, word, expected, got < 0 ? errno : 0, pc);
	return got;
}

static long futex_wake(const struct args *a, uint64_t count, const void *pc)
{
	const void *word = (const void *)a->v[0];
	long got;

	snarlrt_note(TRACE_FUTEX_WAKE, 0, word, count, 0, pc);
	got = call_real(SYS_futex, a);
	if (unlikely(got < 0))
		snarlrt_note(TRACE_FUTEX_WAKE, 0, word, count, errno, pc);
	return got;
}

/* Wakes some waiters of a word and moves the rest to another word. */
static long futex_requeue(const struct args *a, uint64_t count, const void *pc)
{
	const void *word = (const void *)a->v[0];
	uint64_t other = (uint64_t)a->v[4];
	long got;

	snarlrt_note(TRACE_FUTEX_REQUEUE, 0, word, other, 0, pc);
	snarlrt_note(TRACE_FUTEX_WAKE, 0, word, count, 0, pc);
	got = call_real(SYS_futex, a);
	if (unlikely(got < 0)) {
		int error = errno;

		snarlrt_note(TRACE_FUTEX_REQUEUE, 0, word, other, error, pc);
		snarlrt_note(TRACE_FUTEX_WAKE, 0, word, count, error, pc);
	}
	return got;
}

/* Wakes waiters of a word and, depending on its old value, of a second one (v[4]). */
static long futex_wake_op(const struct args *a, const void *pc)
{
	snarlrt_note(TRACE_FUTEX_WAKE, 0, (const void *)a->v[4], (uint32_t)a->v[3], 0, pc);
	return futex_wake(a, (uint32_t)a->v[2], pc);
}

static long futex(const struct args *a, const void *pc)
{
	unsigned timed = a->v[3] ? TRACE_TIMED : 0;
	uint32_t value = (uint32_t)a->v[2];
	long answer;

	if (ctl_on() && model_futex(a->v, &answer, pc))
		return answer;
	switch ((int)a->v[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		return futex_wait(a, value, timed, pc);
	case FUTEX_LOCK_PI:
	case 13:	/* FUTEX_LOCK_PI2, Linux 5.14 */
		return futex_wait(a, 0, timed, pc);
	case FUTEX_TRYLOCK_PI:
		return futex_wait(a, 0, 0, pc);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return futex_wake(a, value, pc);
	case FUTEX_UNLOCK_PI:
		return futex_wake(a, 1, pc);
	case FUTEX_WAKE_OP:
		return futex_wake_op(a, pc);
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		return futex_requeue(a, value, pc);
	default: return call_real(SYS_futex, a);
	}
}

/* Waits on several words; returns the index of the one that was woken. */
static long futex_waitv(const struct args *a, const void *pc)
{
	const struct waitv *words = (const struct waitv *)a->v[0];
	unsigned timed = a->v[3] ? TRACE_TIMED : 0;
	const void *word = NULL;
	uint64_t expected = 0;
	long got;

	if (ctl_on()) {
		errno = ENOSYS;		/* as kernels before 5.16 do: callers have a fallback */
		return -1;
	}
	snarlrt_wait_begin(TRACE_FUTEX_WAIT, words, pc);
	got = call_real(SYS_futex_waitv, a);
	snarlrt_wait_end();
	if (got >= 0) {
		word = (const void *)words[got].uaddr;
		expected = words[got].val;
	}
	snarlrt_note(TRACE_FUTEX_WAIT, timed, word, expected, got < 0 ? errno : 0, pc);
	return got;
}

/*
 * True for calls that create a process with a copy of the memory and, for clone, the caller's
 * stack.
 */
static bool is_fork(long number, const struct args *a)
{
	const uint64_t *clone3 = (const uint64_t *)a->v[0];	/* flags first, stack sixth */

	switch (number) {
	case SYS_fork: return true;
	case SYS_clone: return !(a->v[0] & CLONE_VM) && a->v[1] == 0;
	case SYS_clone3: return a->v[1] >= 64 && !(clone3[0] & CLONE_VM) && clone3[5] == 0;
	}
	return false;
}

/* Reads six arguments. If the caller passed fewer, the rest is garbage that the kernel ignores. */
SNARLRT_INTERPOSE long syscall(long number, ...)
{
	struct args a;
	va_list ap;

	snarlrt_real_ready();
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a.v[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_futex)
		return futex(&a, SNARLRT_PC());
	if (number == SYS_futex_waitv)
		return futex_waitv(&a, SNARLRT_PC());
	if (unlikely(is_fork(number, &a)))
		return snarlrt_fork_syscall(number, a.v, SNARLRT_PC());
	snarlrt_refuse_syscall(number, a.v);
	return call_real(number, &a);
}
