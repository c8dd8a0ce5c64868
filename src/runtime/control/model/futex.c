/*
 * Futexes by syscall(SYS_futex). The wait set of a futex is kept in the threads, by its address:
 * two mappings of the same memory are two futexes here. A wait has two steps: it compares the
 * word, and it is woken.
 *
 * Both comparing and waking are SCHED_OP_UPDATE events of the word, since they depend on stores to
 * the word and on each other.
 *
 * The kernel compares the word, because it can report an invalid address.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/sys.h"

#include <limits.h>
#include <linux/futex.h>

struct futex {
	const void *word, *other;
	uint32_t value, value3;
	uint32_t count2;	/* for a second word; same argument as `limit` */
	const struct timespec *limit;
	int op;
	const void *pc;
};

static void futex_point(const struct futex *f)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_UPDATE, f->word, NULL, f->pc);

	w.event.size = sizeof(uint32_t);
	ctl_wait(&w);
}

/* Requeues no waiters, which compares the word. Returns 0, EAGAIN, EINVAL or EFAULT. */
static int compare_word(const void *word, uint32_t expected)
{
	return -(int)sys_call6(SYS_futex, (long)word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, (long)word,
			       expected);
}

/* Checks the address alone. Returns 0, EINVAL or EFAULT. */
static int check_word(const void *word)
{
	int error = compare_word(word, 0);

	return error == EAGAIN ? 0 : error;
}

static uint64_t deadline_of(const struct futex *f)
{
	const struct timespec *limit = f->limit;

	if (!limit)
		return CTL_NEVER;
	if ((f->op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		return ctl_deadline(f->op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC,
				    limit);
	if (limit->tv_sec >= INT64_MAX / 1000000000)
		return CTL_NEVER;
	return ctl_after((uint64_t)limit->tv_sec * 1000000000u + (uint64_t)limit->tv_nsec);
}

static bool matches_bits(const struct ctl_thread *t, uint64_t bits)
{
	return t->wait && (uint64_t)(uintptr_t)t->wait->arg & bits;
}

/* Waits to be woken. The thread may be in another wait already: signal handlers may use futexes. */
static int sleep_on(const struct futex *f, uint32_t bits)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_WAIT, f->word, model_wait_set_left, f->pc);
	struct ctl_thread *self = ctl_self();
	const void *outer = self->wait_set;
	uint64_t outer_order = self->wait_set_order;
	bool woken;

	w.arg = (void *)(uintptr_t)bits;
	model_set_deadline(&w, deadline_of(f));
	model_wait_set_join(f->word);
	w.interruptible = true;
	snarlrt_wait_begin(TRACE_FUTEX_WAIT, f->word, f->pc);
	do {
		w.interrupted = ctl_signal_due(self);
		ctl_wait(&w);
	} while (w.interrupted && !w.expired && self->wait_set && !ctl_signal_ends_call(!f->limit));
	snarlrt_wait_end();
	woken = !self->wait_set;
	self->wait_set = outer;
	self->wait_set_order = outer_order;
	if (woken)
		return 0;
	return model_timed_out(&w) ? ETIMEDOUT : w.interrupted ? EINTR : 0;
}

static int wait_on(const struct futex *f, uint32_t bits)
{
	int error;

	if (f->limit && (f->limit->tv_sec < 0 || !model_limit_valid(f->limit)))
		return EINVAL;
	if (!bits)
		return EINVAL;
	error = compare_word(f->word, f->value);
	return error ? error : sleep_on(f, bits);
}

static long answer(int error, uint32_t count)
{
	if (!error)
		return count;
	errno = error;
	return -1;
}

static long futex_wait(const struct futex *f, uint32_t bits)
{
	int error;

	futex_point(f);
	error = wait_on(f, bits);
	snarlrt_note(TRACE_FUTEX_WAIT, f->limit ? TRACE_TIMED : 0, f->word, f->value, error, f->pc);
	return answer(error, 0);
}

/* The kernel treats counts below one as one. */
static uint32_t at_least_one(uint32_t count)
{
	return (int32_t)count < 1 ? 1 : count;
}

static long futex_wake(const struct futex *f, uint32_t bits)
{
	int error;

	futex_point(f);
	snarlrt_note(TRACE_FUTEX_WAKE, 0, f->word, f->value, 0, f->pc);
	error = (uintptr_t)f->word % sizeof(uint32_t) || !bits ? EINVAL : 0;
	if (error) {
		snarlrt_note(TRACE_FUTEX_WAKE, 0, f->word, f->value, error, f->pc);
		return answer(error, 0);
	}
	return answer(0, model_wait_set_wake(f->word, at_least_one(f->value), matches_bits, bits));
}

static int requeue_error(const struct futex *f, bool compares)
{
	int error;

	if ((int32_t)f->value < 0 || (int32_t)f->count2 < 0)
		return EINVAL;
	error = check_word(f->other);
	if (error)
		return error;
	return compares ? compare_word(f->word, f->value3) : check_word(f->word);
}

/* Returns how many waiters were woken or moved. */
static long futex_requeue(const struct futex *f, bool compares)
{
	uint32_t count = 0;
	int error;

	futex_point(f);
	snarlrt_note(TRACE_FUTEX_REQUEUE, 0, f->word, (uintptr_t)f->other, 0, f->pc);
	snarlrt_note(TRACE_FUTEX_WAKE, 0, f->word, f->value, 0, f->pc);
	error = requeue_error(f, compares);
	if (error) {
		snarlrt_note(TRACE_FUTEX_REQUEUE, 0, f->word, (uintptr_t)f->other, error, f->pc);
		snarlrt_note(TRACE_FUTEX_WAKE, 0, f->word, f->value, error, f->pc);
	} else {
		count = model_wait_set_wake(f->word, f->value, NULL, 0);
		count += model_wait_set_move(f->word, f->other, f->count2);
	}
	return answer(error, count);
}

static int32_t sign_extended(uint32_t twelve_bits)
{
	return (int32_t)(twelve_bits << 20) >> 20;
}

static uint32_t op_result(uint32_t code, uint32_t old, uint32_t arg)
{
	switch (code) {
	case FUTEX_OP_SET: return arg;
	case FUTEX_OP_ADD: return old + arg;
	case FUTEX_OP_OR: return old | arg;
	case FUTEX_OP_ANDN: return old & ~arg;
	default: return old ^ arg;
	}
}

static bool op_compare(uint32_t code, int32_t old, int32_t arg)
{
	switch (code) {
	case FUTEX_OP_CMP_EQ: return old == arg;
	case FUTEX_OP_CMP_NE: return old != arg;
	case FUTEX_OP_CMP_LT: return old < arg;
	case FUTEX_OP_CMP_LE: return old <= arg;
	case FUTEX_OP_CMP_GT: return old > arg;
	default: return old >= arg;
	}
}

/* Changes the second word as `value3` encodes. Sets *wakes if its waiters are to be woken, too. */
static int wake_op(const struct futex *f, bool *wakes)
{
	uint32_t code = f->value3 >> 28 & 7, compare_code = f->value3 >> 24 & 15;
	int32_t arg = sign_extended(f->value3 >> 12 & 0xfff);
	uint32_t *other = (uint32_t *)f->other;
	uint32_t old;
	int error = check_word(f->word);

	if (!error)
		error = check_word(f->other);
	if (error)
		return error;
	if (code > FUTEX_OP_XOR || compare_code > FUTEX_OP_CMP_GE)
		return ENOSYS;
	if (f->value3 >> 28 & FUTEX_OP_OPARG_SHIFT)
		arg = (int32_t)(1u << (arg & 31));
	old = *other;
	*other = op_result(code, old, (uint32_t)arg);
	*wakes = op_compare(compare_code, (int32_t)old, sign_extended(f->value3 & 0xfff));
	return 0;
}

static long futex_wake_op(const struct futex *f)
{
	bool wakes = false;
	uint32_t count = 0;
	int error;

	futex_point(f);
	snarlrt_note(TRACE_FUTEX_WAKE, 0, f->other, f->count2, 0, f->pc);
	snarlrt_note(TRACE_FUTEX_WAKE, 0, f->word, f->value, 0, f->pc);
	error = wake_op(f, &wakes);
	if (error) {
		snarlrt_note(TRACE_FUTEX_WAKE, 0, f->word, f->value, error, f->pc);
		return answer(error, 0);
	}
	count = model_wait_set_wake(f->word, at_least_one(f->value), NULL, 0);
	if (wakes)
		count += model_wait_set_wake(f->other, at_least_one(f->count2), NULL, 0);
	return answer(0, count);
}

bool model_futex(const long v[6], long *answer, const void *pc)
{
	struct futex f = {
		.word = (const void *)v[0], .op = (int)v[1], .value = (uint32_t)v[2],
		.limit = (const struct timespec *)v[3], .count2 = (uint32_t)v[3],
		.other = (const void *)v[4], .value3 = (uint32_t)v[5], .pc = pc,
	};

	switch (f.op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT: *answer = futex_wait(&f, FUTEX_BITSET_MATCH_ANY); return true;
	case FUTEX_WAIT_BITSET: *answer = futex_wait(&f, f.value3); return true;
	case FUTEX_WAKE: *answer = futex_wake(&f, FUTEX_BITSET_MATCH_ANY); return true;
	case FUTEX_WAKE_BITSET: *answer = futex_wake(&f, f.value3); return true;
	case FUTEX_WAKE_OP: *answer = futex_wake_op(&f); return true;
	case FUTEX_REQUEUE: *answer = futex_requeue(&f, false); return true;
	case FUTEX_CMP_REQUEUE: *answer = futex_requeue(&f, true); return true;
	default: return false;
	}
}
