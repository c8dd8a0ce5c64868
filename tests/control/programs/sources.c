/*
 * Prints values that differ from run to run without control: clocks, random numbers, thread ids,
 * addresses. One schedule gives one output (tests/cli/control_determinism.sh).
 */
#include "want.h"

#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *print_sources(void *arg)
{
	struct timespec t;
	struct timeval v;
	unsigned bytes;
	void *block = malloc(100);

	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%ld.%09ld ", (long)t.tv_sec, t.tv_nsec);
	clock_gettime(CLOCK_REALTIME, &t);
	printf("%ld.%09ld %ld ", (long)t.tv_sec, t.tv_nsec, (long)time(NULL));
	gettimeofday(&v, NULL);
	printf("%ld.%06ld %ld\n", (long)v.tv_sec, (long)v.tv_usec, (long)clock());
	want(getrandom(&bytes, sizeof(bytes), 0), sizeof(bytes));
	printf("%u %d %ld %u\n", bytes, rand(), random(), arc4random());
	printf("%d %p %p %p\n", gettid() - getpid(), block, (void *)&t, (void *)pthread_self());
	pthread_mutex_unlock(&lock);
	free(block);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	srand((unsigned)time(NULL));
	a = start(print_sources, NULL);
	b = start(print_sources, NULL);
	print_sources(NULL);
	finish(a);
	finish(b);
	printf("%p %p\n", malloc(1 << 20), (void *)&a);
	return 0;
}
