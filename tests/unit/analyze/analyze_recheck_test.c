/*
 * Waits whose thread does not check the state again when it is woken.
 */
#include "analyze_util.h"

static void recheck(const char *text, const char *expected)
{
	assert_findings(text, &analysis_recheck, expected);
}

#define THREE "0 create 0.1\n0 create 0.2\n0 create 0.3\n"
#define WAITS "0.1 lock m @in\n0.1 read n @check\n0.1 cond-wait c m @wait\n"
#define GIVES "0.2 lock m @give\n0.2 write n @set\n0.2 cond-signal c @sig\n0.2 unlock m\n"
#define GOES_ON "0.1 cond-wake c m @wait\n0.1 read n @use\n0.1 write n @take\n0.1 unlock m\n"
#define THIEF "0.3 lock m @come\n0.3 write n @steal\n0.3 unlock m\n"
#define NO_REASON \
	"no-recheck 0.1 cond-wait @wait#1, 0.1 cond-wake @wait#2, 0.2 write @set#1, " \
	"0.2 lock @give#1\n"
#define STOLEN \
	"no-recheck 0.1 cond-wait @wait#1, 0.2 cond-signal @sig#1, 0.3 write @steal#1, 0.1 " \
	"cond-wake @wait#2, " \
	"0.2 lock @give#1, 0.3 lock @come#1\n"

static void test_found(void **state)
{
	(void)state;
	recheck(THREE WAITS GIVES GOES_ON, NO_REASON);
	recheck(THREE WAITS GIVES GOES_ON THIEF, STOLEN NO_REASON);
	/* The stolen wake-up happened in the trace. */
	recheck(THREE WAITS GIVES THIEF GOES_ON, STOLEN NO_REASON);
	/* The signal comes after the mutex was released. */
	recheck(THREE WAITS "0.2 lock m @give\n0.2 write n @set\n0.2 unlock m\n"
			    "0.2 cond-broadcast c @sig\n" GOES_ON,
		NO_REASON);
	/* A wait that no known change ended is skipped; the next instance is judged. */
	recheck(THREE WAITS "0.1 cond-wake c m @wait\n0.1 unlock m\n" WAITS GIVES GOES_ON,
		"no-recheck 0.1 cond-wait @wait#3, 0.1 cond-wake @wait#4, 0.2 write @set#1, 0.2 "
		"lock @give#1\n");
}

/* The thief waited itself: it is to be held before that wait's section. */
static void test_both_wait(void **state)
{
	(void)state;
	recheck(THREE WAITS "0.3 lock m @come\n0.3 cond-wait c m @wait3\n" GIVES GOES_ON
		"0.2 cond-signal c\n0.3 cond-wake c m @wait3\n0.3 write n @steal\n0.3 unlock m\n",
		STOLEN NO_REASON);
}

static void test_silent(void **state)
{
	(void)state;
	/* It checks again, at the same site. */
	recheck(THREE WAITS GIVES "0.1 cond-wake c m @wait\n0.1 read n @check\n"
				  "0.1 write n @take\n0.1 unlock m\n" THIEF,
		"");
	/* It checked again in another instance. */
	recheck(THREE WAITS GIVES "0.1 cond-wake c m @wait\n0.1 unlock m\n" WAITS GIVES
		"0.1 cond-wake c m @wait\n0.1 read n @check\n0.1 unlock m\n", "");
	/* No check of the changed state; no signal; a timed wait. */
	recheck(THREE "0.1 lock m\n0.1 read other @check\n0.1 cond-wait c m @wait\n" GIVES GOES_ON,
		"");
	recheck(THREE WAITS "0.2 lock m\n0.2 write n\n0.2 unlock m\n" GOES_ON, "");
	recheck(THREE "0.1 lock m\n0.1 read n @check\n0.1 cond-wait c m @wait timed\n" GIVES
		"0.1 cond-wake c m @wait timed\n0.1 write n\n0.1 unlock m\n", "");
	/* A read before the mutex was taken is no check. */
	recheck(THREE
		"0.1 lock k\n0.1 read n\n0.1 unlock k\n0.1 lock m\n0.1 cond-wait c m @wait\n" GIVES
			GOES_ON,
		"");
}

/* No thief: a thread strongly after the woken one; a write without the mutex. */
static void test_thieves(void **state)
{
	(void)state;
	recheck(THREE WAITS GIVES GOES_ON "0.1 sem-post s\n0.3 sem-wait s\n" THIEF, NO_REASON);
	recheck(THREE WAITS GIVES GOES_ON "0.3 write n @steal\n", NO_REASON);
	/* The signalling thread itself is the thief, later. */
	recheck(THREE WAITS GIVES GOES_ON "0.2 lock m @come\n0.2 write n @steal\n0.2 unlock m\n",
		"no-recheck 0.1 cond-wait @wait#1, 0.2 cond-signal @sig#1, 0.2 write @steal#1, 0.1 "
		"cond-wake @wait#2, "
		"0.2 lock @give#1, 0.2 lock @come#1\n" NO_REASON);
}

static void test_spurious(void **state)
{
	struct analyzed x;

	(void)state;
	analyze(&x, THREE WAITS GIVES THIEF GOES_ON, &analysis_recheck);
	assert_int_equal(findings_count(x.out), 2);
	assert_true(findings_at(x.out, 0)->seen);
	assert_false(findings_at(x.out, 0)->spurious);
	assert_false(findings_at(x.out, 1)->seen);
	assert_true(findings_at(x.out, 1)->spurious);
	analyzed_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_both_wait),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_thieves),
		cmocka_unit_test(test_spurious),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
