/*
 * longjmp over frames of instrumented functions, in threads that are switched in between: each
 * returns to its own setjmp, with its own values and locks released.
 */
#include "want.h"

#include <setjmp.h>

#define THREADS 3
#define ROUNDS 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static __attribute__((noinline)) void deep(jmp_buf *to, int level)
{
	volatile int here = level;

	pthread_mutex_lock(&lock);
	shared++;
	pthread_mutex_unlock(&lock);
	if (level == 0)
		longjmp(*to, 1 + shared % 2);
	if (shared > 0)
		deep(to, level - 1);
	want(here, -1);		/* must not return */
}

static void *jumps(void *arg)
{
	volatile int back = 0;
	jmp_buf place;

	for (volatile int i = 0; i < ROUNDS; i++) {
		int got = setjmp(place);

		if (got == 0)
			deep(&place, (int)(long)arg);
		want(got == 1 || got == 2, 1);
		back++;
	}
	want(back, ROUNDS);
	return arg;
}

int main(void)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		t[i] = start(jumps, (void *)(3 + i));
	for (long i = 0; i < THREADS; i++)
		want(finish(t[i]), 3 + i);
	want(shared, ROUNDS * (4 + 5 + 6));
	return 0;
}
