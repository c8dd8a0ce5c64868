/*
 * base/pause.c: workers rest while a pause is active and go on afterwards.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pause.h"

#define WORKERS 3
#define ROUNDS 50

static struct pause workers_pause = PAUSE_INIT;
static unsigned long done[WORKERS];
static bool over;

static void *work(void *arg)
{
	unsigned long *mine = arg;

	pause_enter(&workers_pause);
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
		pause_check(&workers_pause);
	}
	pause_leave(&workers_pause);
	return NULL;
}

static unsigned long sum(void)
{
	unsigned long all = 0;

	for (int i = 0; i < WORKERS; i++)
		all += __atomic_load_n(&done[i], __ATOMIC_RELAXED);
	return all;
}

static void test_workers_rest_during_a_pause(void **state)
{
	pthread_t workers[WORKERS];

	(void)state;
	pause_check(NULL);
	/* A worker that enters during a pause waits until it ends. */
	pause_begin(&workers_pause);
	for (int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, work, &done[i]), 0);
	for (int round = 0; round < ROUNDS; round++) {
		unsigned long before = sum();

		for (int i = 0; i < 20; i++)
			sched_yield();
		assert_int_equal(sum(), before);
		pause_end(&workers_pause);
		while (sum() == before)
			sched_yield();
		pause_begin(&workers_pause);
	}
	pause_end(&workers_pause);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	assert_int_equal(workers_pause.working, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_workers_rest_during_a_pause) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
