/*
 * base/gate.c: who works rests while the gate is shut, and goes on afterwards.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/gate.h"

#define WORKERS 3
#define ROUNDS 50

static struct gate gate = GATE_INIT;
static unsigned long done[WORKERS];
static bool over;

static void *work(void *arg)
{
	unsigned long *mine = arg;

	gate_enter(&gate);
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
		gate_pass(&gate);
	}
	gate_leave(&gate);
	return NULL;
}

static unsigned long sum(void)
{
	unsigned long all = 0;

	for (int i = 0; i < WORKERS; i++)
		all += __atomic_load_n(&done[i], __ATOMIC_RELAXED);
	return all;
}

static void test_rest(void **state)
{
	pthread_t workers[WORKERS];

	(void)state;
	gate_pass(NULL);
	/* Who comes while it is shut waits outside. */
	gate_shut(&gate);
	for (int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, work, &done[i]), 0);
	for (int round = 0; round < ROUNDS; round++) {
		unsigned long before = sum();

		for (int i = 0; i < 20; i++)
			sched_yield();
		assert_int_equal(sum(), before);
		gate_open(&gate);
		while (sum() == before)
			sched_yield();
		gate_shut(&gate);
	}
	gate_open(&gate);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	assert_int_equal(gate.inside, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
