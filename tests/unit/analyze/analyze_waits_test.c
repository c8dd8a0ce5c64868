/*
 * Waits that can miss their wake-up, or that block the thread that would wake them.
 */
#include "analyze_util.h"

static void deadlock(const char *text, const char *expected)
{
	assert_findings(text, &analysis_deadlock, expected);
}

#define TWO "0 create 0.1\n0 create 0.2\n"
#define WAITER "0.1 lock m\n0.1 read ready @check\n0.1 cond-wait c m @wait\n"
#define WOKEN "0.1 cond-wake c m\n0.1 read ready @again\n0.1 unlock m\n"

static void test_lost_wake(void **state)
{
	(void)state;
	/* Correct: the change under the lock, and the signal within or after. */
	deadlock(TWO WAITER
		 "0.2 lock m\n0.2 write ready @set\n0.2 cond-signal c @sig\n0.2 unlock m\n" WOKEN,
		 "");
	deadlock(TWO WAITER
		 "0.2 lock m\n0.2 write ready @set\n0.2 unlock m\n0.2 cond-signal c @sig\n" WOKEN,
		 "");
	/* The change is made without the lock. */
	deadlock(TWO WAITER "0.2 write ready @set\n0.2 cond-signal c @sig\n" WOKEN,
		 "lost-wake 0.1 read @check#1, 0.2 write @set#1, 0.2 cond-signal @sig#1, "
		 "0.1 cond-wait @wait#1\n");
	/* The change comes before the lock is taken: the waiter waits, or has not checked yet. */
	deadlock(TWO WAITER
		 "0.2 write ready @set\n0.2 lock m\n0.2 cond-signal c @sig\n0.2 unlock m\n" WOKEN,
		 "");
	deadlock(TWO WAITER
		 "0.2 write ready @set\n0.2 lock m\n0.2 unlock m\n0.2 cond-signal c @sig\n" WOKEN,
		 "");
	/* Another lock does not help. */
	deadlock(TWO WAITER
		 "0.2 lock n\n0.2 write ready @set\n0.2 cond-signal c @sig\n0.2 unlock n\n" WOKEN,
		 "lost-wake 0.1 read @check#1, 0.2 write @set#1, 0.2 cond-signal @sig#1, "
		 "0.1 cond-wait @wait#1\n");
	/* No state is checked. The waiter is held before it takes the mutex the other needs. */
	deadlock(TWO "0.1 lock m @in\n0.1 cond-wait c m @wait\n0.2 lock m\n"
		     "0.2 cond-signal c @sig\n0.2 unlock m\n"
		     "0.1 cond-wake c m\n0.1 unlock m\n",
		 "lost-wake 0.2 cond-signal @sig#1, 0.1 cond-wait @wait#1, 0.1 lock @in#1\n");
	deadlock(TWO "0.1 lock m @in\n0.1 cond-wait c m @wait\n0.2 cond-signal c @sig\n"
		     "0.1 cond-wake c m\n"
		     "0.1 unlock m\n",
		 "lost-wake 0.2 cond-signal @sig#1, 0.1 cond-wait @wait#1\n");
	/* The signalling thread has read that the other one waits. */
	deadlock(TWO "0.1 lock m\n0.1 write waiting @note\n0.1 cond-wait c m @wait\n"
		     "0.2 lock m\n0.2 read waiting @see\n0.2 cond-signal c @sig\n0.2 unlock m\n"
		     "0.1 cond-wake c m\n0.1 unlock m\n", "");
	/* A condition with several reasons: the queue was not empty. */
	deadlock(TWO WAITER
		 "0.2 lock m\n0.2 write ready @set\n0.2 cond-signal c @sig\n0.2 unlock m\n" WOKEN
		 "0.2 lock m\n0.2 write other @set\n0.2 cond-signal c @sig\n"
		 "0.2 unlock m\n"
		 "0 lock m\n0 write other\n0 cond-signal c @sig\n0 unlock m\n",
		 "");
	/* The signal is strongly after the waiter took the mutex, and needs it. */
	deadlock(TWO "0.1 lock m\n0.1 sem-post s\n0.1 cond-wait c m @wait\n"
		     "0.2 sem-wait s\n0.2 lock m\n0.2 cond-signal c @sig\n0.2 unlock m\n"
		     "0.1 cond-wake c m\n0.1 unlock m\n", "");
	deadlock(TWO "0.1 lock m\n0.1 sem-post s\n0.1 cond-wait c m @wait\n0.2 sem-wait s\n"
		     "0.2 cond-signal c @sig\n0.1 cond-wake c m\n0.1 unlock m\n",
		 "lost-wake 0.2 cond-signal @sig#1, 0.1 cond-wait @wait#1\n");
	/* A wait with a time limit ends by itself. */
	deadlock(TWO "0.1 lock m\n0.1 cond-wait c m @wait timed\n0.2 cond-signal c @sig\n"
		     "0.1 cond-wake c m timed\n0.1 unlock m\n", "");
}

#define ONCE "0.1 cond-wake c m\n0.1 unlock m\n"

/* late-wake: change and signal are apart, and the waiter does not check again. */
static void test_late_wake(void **state)
{
	(void)state;
	deadlock(TWO WAITER "0.2 write ready @set\n0.2 lock m @take\n0.2 cond-signal c @sig\n"
			    "0.2 unlock m\n" ONCE,
		 "late-wake 0.2 write @set#1, 0.1 read @check#1, 0.1 cond-wait @wait#1, "
		 "0.2 cond-signal @sig#1, 0.2 lock @take#1\n");
	/* In two critical sections: the signal is to be held before its section. */
	deadlock(TWO
		 "0.1 lock m @in\n0.1 read ready @check\n0.1 cond-wait c m @wait\n"
		 "0.2 lock m\n0.2 write ready @set\n0.2 unlock m\n0.2 cond-signal c @sig\n" ONCE,
		 "late-wake 0.2 write @set#1, 0.1 read @check#1, 0.1 cond-wait @wait#1, "
		 "0.2 cond-signal @sig#1, 0.1 lock @in#1\n");
	/* Safe: one critical section; a waiter that checks again; one that was never woken. */
	deadlock(TWO WAITER
		 "0.2 lock m\n0.2 write ready @set\n0.2 cond-signal c @sig\n0.2 unlock m\n" ONCE,
		 "");
	deadlock(TWO WAITER
		 "0.2 write ready @set\n0.2 lock m\n0.2 cond-signal c @sig\n0.2 unlock m\n" WOKEN,
		 "");
	deadlock(TWO WAITER
		 "0.2 write ready @set\n0.2 lock m\n0.2 cond-signal c @sig\n0.2 unlock m\n",
		 "");
	/* Reading other state is no new check. */
	deadlock(TWO WAITER
		 "0.2 write ready @set\n0.2 lock m @take\n0.2 cond-signal c @sig\n0.2 unlock m\n"
		 "0.1 cond-wake c m\n0.1 read other\n0.1 unlock m\n0.1 read ready\n",
		 "late-wake 0.2 write @set#1, 0.1 read @check#1, 0.1 cond-wait @wait#1, "
		 "0.2 cond-signal @sig#1, 0.2 lock @take#1\n");
}

#define WAITS_AT(thread, site) \
	thread " lock m @in" site "\n" thread " read n\n" thread " cond-wait c m @wait" site "\n" \
	"0 lock m @in\n0 write n\n0 cond-" WAKE " c @wake\n0 unlock m\n" \
	thread " cond-wake c m\n" thread " read n\n" thread " unlock m\n"

static void test_wrong_wake(void **state)
{
	(void)state;
#define WAKE "signal"
	deadlock(TWO WAITS_AT("0.1", "1") WAITS_AT("0.2", "2"),
		 "wrong-wake 0.1 cond-wait @wait1#1, 0.2 cond-wait @wait2#1, 0 cond-signal "
		 "@wake#2, 0.2 lock @in2#1, 0 lock @in#2\n"
		 "wrong-wake 0.2 cond-wait @wait2#1, 0.1 cond-wait @wait1#1, 0 cond-signal "
		 "@wake#2, 0.1 lock @in1#1, 0 lock @in#2\n");
	/* No wrong-wake: both wait at one site, or one wait ends before the other begins. */
	deadlock(TWO WAITS_AT("0.1", "1") WAITS_AT("0.2", "1"), "");
	deadlock(TWO WAITS_AT("0.1", "1") "0.1 sem-post s\n0.2 sem-wait s\n" WAITS_AT("0.2", "2"),
		 "");
#undef WAKE
#define WAKE "broadcast"
	deadlock(TWO WAITS_AT("0.1", "1") WAITS_AT("0.2", "2"), "");
#undef WAKE
}

static void test_wait_hold(void **state)
{
	(void)state;
	deadlock("0 create 0.1\n0.1 lock k @theirs\n0.1 unlock k\n0 lock k @mine\n0.1 end\n"
		 "0 join 0.1 @join\n"
		 "0 unlock k\n",
		 "wait-hold 0 lock @mine#1, 0.1 lock @theirs#1, 0 join @join#1\n");
	/* Safe: released before the join; or taken before the thread was created. */
	deadlock("0 create 0.1\n0.1 lock k @theirs\n0.1 unlock k\n0 lock k @mine\n0 unlock k\n"
		 "0.1 end\n"
		 "0 join 0.1 @join\n",
		 "");
	deadlock("0 create 0.1\n0.1 lock k @theirs\n0.1 unlock k\n0.1 sem-post s\n0 sem-wait s\n"
		 "0 lock k @mine\n"
		 "0.1 end\n0 join 0.1 @join\n0 unlock k\n",
		 "");
	deadlock("0 sem-init s 0\n0 create 0.1\n0.1 lock k @theirs\n0.1 unlock k\n"
		 "0.1 sem-post s\n0 lock k @mine\n"
		 "0 sem-wait s @wait\n0 unlock k\n",
		 "wait-hold 0 lock @mine#1, 0.1 lock @theirs#1, 0 sem-wait @wait#1\n");
	/* A semaphore with an initial value other than 0 needs no waker. */
	deadlock("0 sem-init s 2\n0 create 0.1\n0.1 lock k @theirs\n0.1 unlock k\n"
		 "0.1 sem-post s\n0 lock k @mine\n"
		 "0 sem-wait s @wait\n0 unlock k\n",
		 "");
	/* The lock is taken after the post. */
	deadlock("0 sem-init s 0\n0 create 0.1\n0.1 sem-post s\n0.1 lock k @theirs\n"
		 "0.1 unlock k\n0 lock k @mine\n"
		 "0 sem-wait s @wait\n0 unlock k\n",
		 "");
}

#define TWO_AT_BARRIER "0 barrier-init b 2\n" TWO

static void test_barrier_hold(void **state)
{
	(void)state;
	deadlock(TWO_AT_BARRIER
		 "0.2 lock k @theirs\n0.2 unlock k\n0.2 barrier-enter b\n0.1 lock k @mine\n"
		 "0.1 barrier-enter b\n0.1 barrier-leave b @leave\n0.2 barrier-leave b\n"
		 "0.1 unlock k\n",
		 "wait-hold 0.1 lock @mine#1, 0.2 lock @theirs#1, 0.1 barrier-leave @leave#1\n");
	/* Safe: taken after the barrier only; or a round earlier, and released since. */
	deadlock(TWO_AT_BARRIER
		 "0.2 barrier-enter b\n0.1 lock k\n0.1 barrier-enter b\n0.1 barrier-leave b\n"
		 "0.2 barrier-leave b\n0.1 unlock k\n0.2 lock k\n0.2 unlock k\n",
		 "");
	deadlock(TWO_AT_BARRIER
		 "0.2 lock k\n0.2 unlock k\n0.2 barrier-enter b\n0.1 barrier-enter b\n"
		 "0.1 barrier-leave b\n0.2 barrier-leave b\n0.2 barrier-enter b\n0.1 lock k\n"
		 "0.1 barrier-enter b\n0.1 barrier-leave b\n0.2 barrier-leave b\n0.1 unlock k\n",
		 "");
	/* Both only read-lock it. */
	deadlock(TWO_AT_BARRIER
		 "0.2 rdlock k\n0.2 rwunlock k\n0.2 barrier-enter b\n0.1 rdlock k\n"
		 "0.1 barrier-enter b\n0.1 barrier-leave b\n0.2 barrier-leave b\n0.1 rwunlock k\n",
		 "");
}

static void test_once_hold(void **state)
{
	(void)state;
	/* A later use of the lock by 0.2 makes no difference. */
	deadlock(TWO "0.2 once-begin o\n0.2 lock k @theirs\n0.2 unlock k\n0.2 once-end o\n"
		     "0.2 lock k\n0.2 unlock k\n"
		     "0.1 lock k @mine\n0.1 once-pass o @pass\n0.1 unlock k\n",
		 "wait-hold 0.1 lock @mine#1, 0.2 lock @theirs#1, 0.1 once-pass @pass#1\n");
	deadlock(TWO
		 "0.2 guard-acquire o =1\n0.2 lock k @theirs\n0.2 unlock k\n0.2 guard-release o\n"
		 "0.1 lock k @mine\n0.1 guard-acquire o @pass\n0.1 unlock k\n",
		 "wait-hold 0.1 lock @mine#1, 0.2 lock @theirs#1, 0.1 guard-acquire @pass#1\n");
	/* Safe: the lock is taken outside the initialiser; tried within; or strongly before. */
	deadlock(TWO "0.2 lock k\n0.2 unlock k\n0.2 once-begin o\n0.2 once-end o\n0.2 lock k\n"
		     "0.2 unlock k\n"
		     "0.1 lock k\n0.1 once-pass o\n0.1 unlock k\n",
		 "");
	deadlock(TWO "0.2 once-begin o\n0.2 trylock k\n0.2 unlock k\n0.2 once-end o\n"
		 "0.1 lock k\n0.1 once-pass o\n0.1 unlock k\n", "");
	deadlock(TWO "0.2 once-begin o\n0.2 lock k\n0.2 unlock k\n0.2 once-end o\n0.1 once-pass o\n"
		 "0.1 lock k\n0.1 once-pass o\n0.1 unlock k\n", "");
}

static void test_cancel(void **state)
{
	(void)state;
	deadlock(TWO "0.1 lock k @in\n0.1 unlock k @out\n0.2 cancel 0.1 @cancel\n0.2 lock k\n"
		     "0.2 unlock k\n",
		 "cancel-held 0.1 lock @in#1, 0.2 cancel @cancel#1, 0.1 unlock @out#1\n");
	/* Safe: no other thread takes the lock; the section is strongly before the cancellation. */
	deadlock(TWO "0.1 lock k @in\n0.1 unlock k @out\n0.2 cancel 0.1 @cancel\n", "");
	deadlock(TWO "0.1 lock k @in\n0.1 unlock k @out\n0.1 sem-post s\n0.2 sem-wait s\n"
		     "0.2 cancel 0.1 @cancel\n0.2 lock k\n0.2 unlock k\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_wake),
		cmocka_unit_test(test_late_wake),
		cmocka_unit_test(test_wrong_wake),
		cmocka_unit_test(test_wait_hold),
		cmocka_unit_test(test_barrier_hold),
		cmocka_unit_test(test_once_hold),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
