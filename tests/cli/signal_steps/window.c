/* The code that is interrupted: in a file of its own, so that it can be in a library. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "window.h"

int shared[16];
static atomic_int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int inner(int i)
{
	shared[i]++;
	return shared[i + 1];
}

/* Usually has no event to record. */
static __attribute__((noinline)) int eventless(int i)
{
	return i > 100 ? inner(i) + 1 : i;
}

/* Like eventless(), but settle() recorded an event in it. */
static __attribute__((noinline)) int seldom(int i)
{
	return i > 100 ? inner(i - 100) + 2 : i;
}

/* After 8 calls without an event, the entry of a function is recorded only when an event
 * follows. */
void settle(void)
{
	for (int i = 0; i < 16; i++) {
		eventless(i);
		seldom(i);
	}
	seldom(101);
}

static __attribute__((noinline)) int outer(int i)
{
	shared[i] = inner(eventless(i) + 1);
	shared[i] = seldom(i);
	return inner(i + 3) + shared[i];
}

void window(int which)
{
	void *p;

	switch (which) {
	case 0:	/* accesses in sequence */
		shared[0]++;
		shared[1] += shared[2];
		*(char *)&shared[3] = 1;
		break;
	case 1:	/* calls */
		shared[0] = outer(1);
		break;
	case 2:	/* atomics */
		atomic_fetch_add(&counter, shared[0]);
		shared[1] = atomic_load(&counter);
		break;
	case 3:	/* interposed functions */
		pthread_mutex_lock(&m);
		shared[0]++;
		pthread_mutex_unlock(&m);
		p = malloc(10);
		memcpy(&shared[4], &shared[8], 16);
		free(p);
		break;
	}
}
