/*
 * runs: 8
 * Threads that compute for long and change nothing meanwhile that another thread sees, though they
 * look at shared memory or use locks of their own. Their progress is in general and in vector
 * registers, on their stacks, in the heap, in libc. None of this is a hang.
 */
#include "want.h"

#include <stdlib.h>

#define ROUNDS 60000ul
#define LOCKED_ROUNDS 10000

struct limits {
	unsigned long rounds;
	double most;
};

static volatile struct limits limits = { ROUNDS, 500.0 };
static struct limits plain = { ROUNDS, 500.0 };
static pthread_mutex_t own[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static unsigned long results[2];

static unsigned long next(unsigned long x)
{
	return x * 6364136223846793005ul + 1442695040888963407ul;
}

static void *in_registers(void *arg)
{
	unsigned long *result = arg, x = 1;

	for (unsigned long i = 0; i < limits.rounds; i++)
		x = next(x);
	*result = x;
	return arg;
}

static void *by_plain_bound(void *arg)
{
	const struct limits *l = &plain;
	unsigned long x = 1;

	for (unsigned long i = 0; i < l->rounds; i++) {
		x = next(x);
		__asm__ volatile("" ::: "memory");
	}
	*(unsigned long *)arg = x;
	return arg;
}

static void *in_vectors(void *arg)
{
	double sum = 0;

	while (sum < limits.most)
		sum += 0.01;
	*(unsigned long *)arg = (unsigned long)(sum + 0.5);
	return arg;
}

static void *in_heap(void *arg)
{
	unsigned long *n = calloc(1, sizeof(*n));

	while (*n < limits.rounds)
		++*n;
	*(unsigned long *)arg = *n;
	free(n);
	return arg;
}

/* The generator's state is libc's: no hook sees it. */
static void *in_libc(void *arg)
{
	unsigned short state[3] = { 1, 2, 3 };
	unsigned long found = 0;

	for (unsigned long i = 0; i < limits.rounds; i++)
		found += nrand48(state) % 1000 == 7;
	*(unsigned long *)arg = found;
	return arg;
}

static void *with_lock(void *arg)
{
	unsigned long *result = arg;
	pthread_mutex_t *lock = &own[result - results];

	for (int i = 0; i < LOCKED_ROUNDS; i++) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	*result = 1;
	return arg;
}

static void both(void *(*routine)(void *))
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		t[i] = start(routine, &results[i]);
	for (int i = 0; i < 2; i++)
		finish(t[i]);
	want(results[0], results[1]);
	want(results[0] != 0, 1);
}

int main(void)
{
	both(in_registers);
	both(by_plain_bound);
	both(in_vectors);
	both(in_heap);
	both(in_libc);
	both(with_lock);
	return 0;
}
