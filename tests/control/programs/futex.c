/* Futexes by hand: a lock made of one; every operation and result that is modelled. */
#include "want.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word, other, lock_word;
static int counter, asleep, bits_woken;

static long futex(uint32_t *at, int op, uint32_t value, const void *limit, uint32_t *second,
		  uint32_t value3)
{
	return syscall(SYS_futex, at, op, value, limit, second, value3);
}

static uint32_t load(uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

/* 0: free, 1: held, 2: held and a thread may sleep */
static void lock(void)
{
	uint32_t free_ = 0;

	if (__atomic_compare_exchange_n(&lock_word, &free_, 1, 0, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		return;
	while (__atomic_exchange_n(&lock_word, 2, __ATOMIC_SEQ_CST) != 0)
		if (futex(&lock_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0) != 0)
			want(errno, EAGAIN);
}

static void unlock(void)
{
	if (__atomic_exchange_n(&lock_word, 0, __ATOMIC_SEQ_CST) == 2)
		futex(&lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *counts(void *arg)
{
	for (int i = 0; i < 3; i++) {
		lock();
		counter++;
		unlock();
	}
	return arg;
}

static void excludes(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		t[i] = start(counts, NULL);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(counter, 9);
}

static void answers(void)
{
	struct timespec little = { 0, 1000000 }, limit;

	word = 1;
	want_error(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0), EAGAIN);
	want_error(futex(&word, FUTEX_WAIT, 1, &little, NULL, 0), ETIMEDOUT);
	want_error(futex(&word, FUTEX_WAIT, 1, &invalid, NULL, 0), EINVAL);
	limit = soon(CLOCK_MONOTONIC);
	want_error(futex(&word, FUTEX_WAIT_BITSET, 1, &limit, NULL, 1), ETIMEDOUT);
	want_error(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &past, NULL, 1),
		   ETIMEDOUT);
	want_error(futex(&word, FUTEX_WAIT_BITSET, 1, NULL, NULL, 0), EINVAL);
	want_error(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
	want_error(futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 1, NULL, NULL, 0), EINVAL);
	want_error(futex((uint32_t *)8, FUTEX_WAIT, 1, NULL, NULL, 0), EFAULT);
	want_error(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 0), EAGAIN);
	want(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	want(futex(&word, FUTEX_REQUEUE, 1, (void *)1, &other, 0), 0);
}

static void *sleeps(void *at)
{
	__atomic_fetch_add(&asleep, 1, __ATOMIC_SEQ_CST);
	while (load(at) == 0)
		if (futex(at, FUTEX_WAIT, 0, NULL, NULL, 0) != 0)
			want(errno, EAGAIN);
	return NULL;
}

/* Wakes until `count` threads were woken; some may not sleep yet. */
static void wake(uint32_t *at, long count)
{
	for (long woken = 0; woken < count;) {
		long got = futex(at, FUTEX_WAKE, (uint32_t)(count - woken), NULL, NULL, 0);

		want(got >= 0 && got <= count - woken, 1);
		woken += got;
		sched_yield();
	}
}

static void *sleeps_once(void *at)
{
	want(futex(at, FUTEX_WAIT, 0, NULL, NULL, 0), 0);
	return NULL;
}

static void counted(void)
{
	pthread_t t[3];

	word = 0;
	for (int i = 0; i < 3; i++)
		t[i] = start(sleeps_once, &word);
	wake(&word, 2);
	wake(&word, 1);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0), 0);
}

/* The value is stored before the wake, so no thread sleeps on. */
static void all(void)
{
	pthread_t t[3];

	word = 0;
	for (int i = 0; i < 3; i++)
		t[i] = start(sleeps, &word);
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	want(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) <= 3, 1);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(asleep, 3);
}

static void *sleeps_for_bits(void *bits)
{
	want(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, (uint32_t)(uintptr_t)bits), 0);
	__atomic_fetch_or(&bits_woken, (int)(uintptr_t)bits, __ATOMIC_SEQ_CST);
	return NULL;
}

static void by_bits(void)
{
	pthread_t t[2];

	word = 0;
	for (int i = 0; i < 2; i++)
		t[i] = start(sleeps_for_bits, (void *)(uintptr_t)(i + 1));
	while (futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 6) != 1)
		sched_yield();
	finish(t[1]);
	want(bits_woken, 2);
	want(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 6), 0);
	while (futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 1) != 1)
		sched_yield();
	finish(t[0]);
	want(bits_woken, 3);
}

/* One thread is woken, two are requeued to the other word and woken there. */
static void moved(void)
{
	pthread_t t[3];
	long moved = 0;

	word = other = 0;
	for (int i = 0; i < 3; i++)
		t[i] = start(sleeps_once, &word);
	while (moved < 2) {
		moved += futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)(2 - moved), &other, 0);
		sched_yield();
	}
	want(moved, 2);
	want_error(futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)1, &other, 1), EAGAIN);
	wake(&word, 1);
	want(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	want(futex(&other, FUTEX_WAKE, 9, NULL, NULL, 0), 2);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
}

static uint32_t code(uint32_t op, uint32_t arg, uint32_t cmp, uint32_t cmp_arg)
{
	return op << 28 | cmp << 24 | (arg & 0xfff) << 12 | (cmp_arg & 0xfff);
}

static long wake_op(uint32_t how)
{
	return futex(&word, FUTEX_WAKE_OP, 1, (void *)1, &other, how);
}

static void with_op(void)
{
	pthread_t t;
	long woken = 0;

	word = 0;
	other = 5;
	want(wake_op(code(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 5)), 0);
	want(other, 7);
	want(wake_op(code(FUTEX_OP_ADD, (uint32_t)-3, FUTEX_OP_CMP_LT, 0)), 0);
	want(other, 4);
	want(wake_op(code(FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_NE, 4)), 0);
	want(other, 20);
	want(wake_op(code(FUTEX_OP_ANDN, 4, FUTEX_OP_CMP_GE, 20)), 0);
	want(other, 16);
	want(wake_op(code(FUTEX_OP_XOR, 17, FUTEX_OP_CMP_LE, 1)), 0);
	want(other, 1);
	other = 0;
	t = start(sleeps_once, &other);
	while (woken == 0) {
		want(wake_op(code(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_GT, 0)), 0);
		woken = wake_op(code(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
		sched_yield();
	}
	want(woken, 1);
	finish(t);
}

int main(void)
{
	excludes();
	answers();
	counted();
	all();
	by_bits();
	moved();
	with_op();
	return 0;
}
