/*
 * runs: 2
 * fails: hang, with each name it lists. Threads wait for what never comes, in all common forms of
 * waiting without a primitive.
 */
#include "want.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static atomic_int never;
static volatile int unset;	/* no other thread touches it: no access is a scheduling point */
static volatile int seen_by_all;
static int result;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t write_held = PTHREAD_RWLOCK_INITIALIZER;
static sem_t empty;
static double rate = 1.5;

static void loads(void)
{
	while (!atomic_load(&never))
		;
}

static __attribute__((noinline)) int is_set(const atomic_int *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static void calls(void)
{
	while (!is_set(&never))
		;
}

static void yields(void)
{
	while (!atomic_load(&never))
		sched_yield();
}

static void reads_volatile(void)
{
	while (!seen_by_all)
		;
}

static void reads_owned(void)
{
	while (!unset)
		;
}

static int load(const volatile int *p)
{
	int v;

	__asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*p));
	return v;
}

static void reads_in_assembly(void)
{
	while (!load(&unset))
		__asm__ volatile("pause");
}

static void computes_and_loads(void)
{
	double sum = 0;

	while (!atomic_load(&never)) {
		sum = 0;
		for (int i = 0; i < 5; i++)
			sum += i * rate;
	}
	result += (int)sum;
}

static void swaps(void)
{
	int zero = 1;

	while (!atomic_compare_exchange_strong(&never, &zero, 2))
		zero = 1;
}

static void tests_and_sets(void)
{
	while (atomic_flag_test_and_set(&taken))
		;
}

static void tries_lock(void)
{
	while (pthread_mutex_trylock(&held) != 0)
		;
}

static void tries_read_lock(void)
{
	while (pthread_rwlock_tryrdlock(&write_held) != 0)
		sched_yield();
}

static void tries_semaphore(void)
{
	while (sem_trywait(&empty) != 0)
		;
}

static void looks_under_lock(void)
{
	int seen = 0;

	while (!seen) {
		pthread_mutex_lock(&guard);
		seen = atomic_load_explicit(&never, memory_order_relaxed);
		pthread_mutex_unlock(&guard);
	}
}

static const struct kind {
	const char *name;
	void (*wait)(void);
	bool alone;		/* main waits for the thread */
} kinds[] = {
	{ "load", loads },
	{ "call", calls },
	{ "yield", yields },
	{ "volatile", reads_volatile },
	{ "owned", reads_owned, true },
	{ "assembly", reads_in_assembly },
	{ "compute", computes_and_loads },
	{ "swap", swaps },
	{ "test-and-set", tests_and_sets },
	{ "trylock", tries_lock },
	{ "tryrdlock", tries_read_lock },
	{ "trywait", tries_semaphore },
	{ "lock", looks_under_lock, true },
};

static void *waits(void *arg)
{
	((const struct kind *)arg)->wait();
	return NULL;
}

int main(int argc, char **argv)
{
	size_t i = 0;
	pthread_t t;

	if (argc < 2) {
		for (; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			puts(kinds[i].name);
		return 0;
	}
	while (strcmp(kinds[i].name, argv[1]) != 0)
		i++;
	sem_init(&empty, 0, 0);
	atomic_flag_test_and_set(&taken);
	pthread_rwlock_wrlock(&write_held);
	pthread_mutex_lock(&held);
	t = start(waits, (void *)&kinds[i]);
	if (!kinds[i].alone)
		kinds[i].wait();
	finish(t);
	return 0;
}
