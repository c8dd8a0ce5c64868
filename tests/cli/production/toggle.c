/*
 * Threads call functions while these are switched on and off a thousand times. Each call must do
 * its work once, in whichever version.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void __snarl_dual_all(int on) __attribute__((weak));
unsigned __snarl_dual_switch(const void *function, int on) __attribute__((weak));
unsigned __snarl_dual_count(unsigned *of) __attribute__((weak));

#define THREADS 3

static atomic_int stop;
static long done[THREADS], counted[THREADS];

__attribute__((noinline)) long one(long x) { return x + 1; }
__attribute__((noinline)) long two(long x) { return one(one(x)); }

__attribute__((noinline)) long many(long x, long *count)
{
	long sum = 0;

	for (int i = 0; i < 10; i++) {
		sum = two(sum) + x - x;
		++*count;
	}
	return sum;
}

static void *work(void *arg)
{
	long id = (long)arg;

	do {
		if (many(id, &counted[id]) != 20)
			abort();
		done[id] += 10;
	} while (!atomic_load(&stop));
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	unsigned of = 0, on = 0;
	long all = 0;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 1000 && __snarl_dual_all; i++) {
		if (i % 3 == 0)
			__snarl_dual_all(i / 3 % 2);
		else
			__snarl_dual_switch(i % 3 == 1 ? (void *)one : (void *)many, i % 2);
	}
	if (__snarl_dual_all) {
		__snarl_dual_all(1);
		on = __snarl_dual_count(&of);
		if (of < 4 || on != of)
			printf("%u of %u are on\n", on, of);
		__snarl_dual_all(0);
		if (__snarl_dual_count(NULL) != 0 || __snarl_dual_switch(two, 1) != 1 ||
		    __snarl_dual_count(NULL) != 1)
			printf("one of them cannot be switched alone\n");
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		all += done[i] != counted[i];
	}
	printf("%ld wrong\n", all);
	return 0;
}
