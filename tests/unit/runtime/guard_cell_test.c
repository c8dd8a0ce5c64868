/* The lock of a guard's cell: which thread waits for it, and for how long. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/monitor/cell.c"

#define FOREVER (UINT64_MAX / 2)

struct monitor monitor;
static struct monitor_log monitor_log;
static uint64_t now;
static bool dear;

/* Each call advances the clock by a millisecond. */
uint64_t sys_clock_ns(int clock)
{
	(void)clock;
	return __atomic_add_fetch(&now, 1000000, __ATOMIC_RELAXED);
}

bool guard_over_budget(uint64_t at)
{
	(void)at;
	return dear;
}

void *arena_pages(size_t size)
{
	void *p = aligned_alloc(4096, size);

	return p ? memset(p, 0, size) : NULL;
}

static int setup(void **state)
{
	(void)state;
	monitor_log = (struct monitor_log){ 0 };
	monitor = (struct monitor){ .log = &monitor_log, .wait_ns = FOREVER };
	now = 0;
	dear = false;
	return guard_cells_init() ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(cells);
	return 0;
}

static void *lock_it(void *tag)
{
	return guard_cell_lock((uintptr_t)tag);
}

/* A thread that waits for a cell gets it when it is unlocked, however late. */
static void waits(void **state)
{
	struct guard_cell *c = guard_cell_lock(7);
	pthread_t other;
	void *got;

	(void)state;
	assert_non_null(c);
	assert_int_equal(pthread_create(&other, NULL, lock_it, (void *)7), 0);
	while (__atomic_load_n(&now, __ATOMIC_RELAXED) < 3000000)
		sched_yield();	/* it has slept, and found the cell locked */
	guard_cell_unlock(c);
	assert_int_equal(pthread_join(other, &got), 0);
	assert_ptr_equal(got, c);
	assert_int_equal(c->tag, 7);
	assert_int_equal(monitor_log.lost_busy, 0);
	assert_true(monitor.waited_ns >= 1000000);
}

/*
 * A thread waits for a cell only as long as a delay may take. Then no thread waits for it until
 * it was unlocked.
 */
static void gives_up(void **state)
{
	struct guard_cell *c = guard_cell_lock(7);

	(void)state;
	monitor.wait_ns = 5000000;
	assert_null(guard_cell_lock(7));
	assert_int_equal(monitor_log.lost_busy, 1);
	assert_int_equal(monitor.waited_ns, 5000000);
	monitor.wait_ns = FOREVER;
	assert_null(guard_cell_lock(7));
	assert_int_equal(monitor_log.lost_busy, 2);
	assert_int_equal(monitor.waited_ns, 5000000);
	guard_cell_unlock(c);
	assert_ptr_equal(guard_cell_lock(7), c);
	assert_int_equal(monitor_log.lost_busy, 2);
}

static void may_not_wait(void **state)
{
	struct guard_cell *c = guard_cell_lock(7);

	(void)state;
	dear = true;
	assert_null(guard_cell_lock(7));
	dear = false;
	monitor_log.off = 1;
	assert_null(guard_cell_lock(7));
	assert_int_equal(monitor_log.lost_busy, 2);
	assert_int_equal(monitor.waited_ns, 0);
	monitor_log.off = 0;
	guard_cell_unlock(c);
	assert_ptr_equal(guard_cell_lock(7), c);
}

/* Two tags in one cell: the newer one clears the older one's state, which is counted. */
static void shares(void **state)
{
	uint64_t other = 8;
	struct guard_cell *c = guard_cell_lock(7);

	(void)state;
	while (cell_of(other) != c)
		other++;
	c->count = 3;
	c->tx[0].epoch = 1;
	guard_cell_unlock(c);
	assert_ptr_equal(guard_cell_lock(other), c);
	assert_int_equal(c->count, 0);
	assert_int_equal(c->tx[0].epoch, 0);
	assert_int_equal(monitor_log.lost_cells, 1);
	guard_cell_unlock(c);
	guard_cell_forget(7);		/* not in the table */
	assert_int_equal(c->tag, other);
	guard_cell_forget(other);
	assert_int_equal(c->tag, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waits, setup, teardown),
		cmocka_unit_test_setup_teardown(gives_up, setup, teardown),
		cmocka_unit_test_setup_teardown(may_not_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(shares, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
