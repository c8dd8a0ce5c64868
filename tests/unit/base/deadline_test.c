/*
 * base/deadline.c: which end counts, and what is left until then. Ends are an hour away or past, so
 * that the tests do not depend on their own speed.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/deadline.h"

#define HOUR 3600.0

static void test_without_limit(void **state)
{
	struct deadline d = { 0 };

	(void)state;
	assert_false(deadline_over(NULL));
	assert_false(deadline_over(&d));
	assert_true(deadline_left(&d) == HUGE_VAL);
	assert_int_equal(deadline_poll(&d, -1), -1);
	assert_int_equal(deadline_poll(&d, 50), 50);
	d = deadline_share(&d, 0.5);
	assert_true(d.until == 0);
	d = deadline_within(&d, 0);
	assert_true(d.until == 0);
}

static void test_parts(void **state)
{
	struct deadline all = deadline_within(&(struct deadline){ 0 }, HOUR), part;

	(void)state;
	assert_true(deadline_left(&all) > HOUR / 2 && deadline_left(&all) <= HOUR);
	part = deadline_within(&all, 2 * HOUR);
	assert_true(part.until == all.until);
	part = deadline_within(&all, HOUR / 4);
	assert_true(part.until < all.until - HOUR / 2);
	part = deadline_share(&all, 0.25);
	assert_true(deadline_left(&part) <= HOUR / 4);
	part = deadline_extend(&all, HOUR / 60);
	assert_true(deadline_left(&part) > HOUR);
	/* A part of an extended deadline has its own end, too. */
	part = deadline_within(&part, HOUR / 4);
	assert_true(deadline_left(&part) <= HOUR / 4);
	assert_int_equal(deadline_poll(&all, 50), 50);
	assert_int_equal(deadline_poll(&part, -1) > 0, 1);
}

static void test_past(void **state)
{
	struct deadline d = { .until = clock_seconds() - 1 }, late = deadline_extend(&d, HOUR);

	(void)state;
	assert_true(deadline_over(&d));
	assert_true(deadline_left(&d) == 0);
	assert_true(deadline_poll(&d, 50) <= 1);
	assert_string_equal(deadline_why(&d), "the time was up");
	assert_false(deadline_over(&late));
	d = deadline_share(&d, 0.5);
	assert_true(deadline_over(&d));
}

static void test_signal(void **state)
{
	struct deadline_stop stop = { 0 };
	struct deadline d = { .stop = &stop }, late = deadline_extend(&d, HOUR);
	double at;

	(void)state;
	assert_false(deadline_over(&d));
	assert_false(deadline_stopped(&d));
	deadline_signal(&stop, SIGTERM);
	at = stop.at;
	deadline_signal(&stop, SIGINT);
	assert_int_equal(stop.signal, SIGTERM);
	assert_true(stop.at == at);
	assert_true(deadline_over(&d));
	assert_true(deadline_stopped(&late));
	assert_false(deadline_over(&late));
	assert_true(deadline_left(&late) <= HOUR);
	assert_string_equal(deadline_why(&d), "interrupted");
}

static void count(void *ctx)
{
	++*(unsigned *)ctx;
}

static void test_tick(void **state)
{
	unsigned ticks = 0;
	struct deadline d = { .tick = count, .ctx = &ticks };

	(void)state;
	deadline_over(&d);
	deadline_over(&d);
	assert_int_equal(ticks, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_limit), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_past),	      cmocka_unit_test(test_signal),
		cmocka_unit_test(test_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
