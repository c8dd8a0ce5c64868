/*
 * Misuse that a trace shows, each case with a correct one beside it.
 */
#include "analyze_util.h"

static void misuse(const char *text, const char *expected)
{
	assert_findings(text, &analysis_misuse, expected);
}

#define TWO "0 create 0.1\n0 create 0.2\n"

static void test_unlock(void **state)
{
	struct analyzed x;

	(void)state;
	misuse("0 lock m\n0 unlock m\n", "");
	misuse("0 lock m\n0 unlock m\n0 unlock m @again\n", "not-held 0 unlock @again#1\n");
	misuse(TWO "0.1 lock m @taken\n0.2 unlock m @given\n0.1 unlock m @late\n",
	       "not-held 0.1 lock @taken#1, 0.2 unlock @given#1\n");
	misuse("0 wrlock m\n0 rwunlock m\n0 rwunlock m @again\n", "not-held 0 rwunlock @again#1\n");
	misuse("0 spinlock m\n0 spin-unlock m\n0 spin-unlock m @again\n",
	       "not-held 0 spin-unlock @again#1\n");
	/* The call returned an error: one finding. */
	misuse("0 lock m\n0 unlock m\n0 unlock m @bad\n0 unlock m @bad =EPERM\n",
	       "not-held 0 unlock @bad#1\n");
	/* The parent of a forked process may hold the lock, unless the call returns an error. */
	misuse("0 unlock m @first\n", "");
	misuse("0 unlock m @first\n0 unlock m @first =EPERM\n", "not-held 0 unlock @first#2\n");
	misuse("0 create 0.1\n0.1 unlock m @bad\n", "not-held 0.1 unlock @bad#1\n");
	/* Correct: recursive locks, and readers. */
	misuse("0 lock m\n0 lock m\n0 unlock m\n0 unlock m\n", "");
	misuse(TWO "0.1 rdlock m\n0.2 rdlock m\n0.1 rwunlock m\n0.2 rwunlock m\n", "");
	/* Correct: an acquisition that failed; a robust mutex whose owner died. */
	misuse("0 trylock m =EBUSY\n0 unlock m @bad\n", "not-held 0 unlock @bad#1\n");
	misuse("0 lock m =EOWNERDEAD\n0 mutex-consistent m\n0 unlock m\n", "");
	/* The lost records may hold the acquisition. */
	misuse("0 create 0.1\n0.1 lost arg=3\n0.1 unlock m @bad\n", "");
	analyze(&x, "0 lock m\n0 unlock m\n0 unlock m @bad\n", &analysis_misuse);
	assert_true(findings_at(x.out, 0)->seen);
	assert_int_equal(findings_at(x.out, 0)->class, CANDIDATE_MISUSE);
	analyzed_free(&x);
}

static void test_relock(void **state)
{
	(void)state;
	misuse("0 lock m @first\n0 lock m @second =EDEADLK\n0 unlock m\n",
	       "relock 0 lock @first#1, 0 lock @second#1\n");
	misuse("0 lock m @first\n0 blocked m lock @second\n",
	       "relock 0 lock @first#1, 0 blocked @second#1\n");
	misuse(TWO "0.1 lock m @first\n0.2 blocked m lock @second\n", "");
}

static void test_wait(void **state)
{
	(void)state;
	misuse("0 lock m\n0 cond-wait c m\n0 cond-wake c m\n0 unlock m\n", "");
	misuse("0 lock m\n0 unlock m\n0 cond-wait c m @wait\n0 cond-wake c m\n0 unlock m\n",
	       "wait-nolock 0 cond-wait @wait#1\n");
	misuse("0 cond-wait c m @wait\n0 cond-wake c m @wait =EPERM\n0 exit-process arg=0\n",
	       "wait-nolock 0 cond-wake @wait#2\n");
	misuse(TWO "0.1 lock m\n0.1 cond-wait c m @one\n0.2 lock n\n0.2 cond-wait c n @two\n"
		   "0.1 cond-wake c m\n0.1 unlock m\n0.2 cond-wake c n\n0.2 unlock n\n",
	       "two-mutexes 0.1 cond-wait @one#1, 0.2 cond-wait @two#1\n");
	/* Correct: waits with different mutexes one after the other. */
	misuse(TWO "0.1 lock m\n0.1 cond-wait c m\n0.1 cond-wake c m\n0.1 unlock m\n"
		   "0.2 lock n\n0.2 cond-wait c n\n0.2 cond-wake c n\n0.2 unlock n\n", "");
}

static void test_lives(void **state)
{
	(void)state;
	misuse("0 mutex-init m 0\n0 lock m\n0 unlock m\n0 mutex-destroy m\n0 mutex-init m 0\n"
	       "0 mutex-destroy m\n",
	       "");
	misuse("0 mutex-init m 0 @first\n0 mutex-init m 0 @second\n",
	       "reinit 0 mutex-init @first#1, 0 mutex-init @second#1\n");
	misuse("0 barrier-init b 0 =EINVAL\n0 barrier-init b 2\n", "");
	misuse("0 cond-destroy c @first\n0 cond-destroy c @second\n",
	       "redestroy 0 cond-destroy @first#1, 0 cond-destroy @second#1\n");
	misuse("0 mutex-destroy m @end\n0 lock m @use\n0 unlock m @more\n",
	       "use-dead 0 mutex-destroy @end#1, 0 lock @use#1\n"
	       "use-dead 0 mutex-destroy @end#1, 0 unlock @more#1\n");
	/* Correct: a new object in memory that was freed and allocated again. */
	misuse("0 malloc h 64\n0 mutex-init h+8 0\n0 mutex-destroy h+8\n0 free h\n0 malloc h 64\n"
	       "0 lock h+8\n0 unlock h+8\n", "");
	misuse("0 malloc h 64\n0 mutex-init h+8 0\n0 free h\n0 malloc h 64\n0 mutex-init h+8 0\n",
	       "");
	/* Correct: objects on a stack end without being destroyed. */
	misuse("thread 0 id=1 stack=0x7000-0x8000\n0 mutex-init 0x7010 0\n0 mutex-init 0x7010 0\n",
	       "");
}

static void test_destroy_in_use(void **state)
{
	(void)state;
	misuse(TWO "0.1 lock m @in\n0.2 mutex-destroy m @end\n",
	       "destroy-use 0.1 lock @in#1, 0.2 mutex-destroy @end#1\n");
	misuse(TWO "0.1 lock m @in\n0.2 mutex-destroy m @end =EBUSY\n0.1 unlock m\n",
	       "destroy-use 0.1 lock @in#1, 0.2 mutex-destroy @end#1\n");
	misuse(TWO "0.1 lock m\n0.1 cond-wait c m @in\n0.2 cond-destroy c @end\n",
	       "destroy-use 0.1 cond-wait @in#1, 0.2 cond-destroy @end#1\n");
	misuse(TWO "0.1 barrier-enter b @in\n0.2 barrier-destroy b @end\n",
	       "destroy-use 0.1 barrier-enter @in#1, 0.2 barrier-destroy @end#1\n");
	/* Correct: a thread that waits on a condition does not hold the mutex. */
	misuse(TWO "0.1 lock m\n0.1 cond-wait c m\n0.2 mutex-destroy m @end\n", "");
	misuse(TWO "0.1 barrier-enter b\n0.2 barrier-enter b\n0.1 barrier-leave b\n"
		   "0.2 barrier-leave b\n"
		   "0.2 barrier-destroy b\n",
	       "");
	/* Correct: a woken thread leaves its wait after the destruction. */
	misuse(TWO "0.1 lock m\n0.1 cond-wait c m\n0.1 cond-wake c m\n0.2 cond-destroy c\n"
		   "0.1 unlock m\n",
	       "");
}

static void test_threads(void **state)
{
	(void)state;
	misuse("0 create 0.1\n0.1 end\n0 join 0.1\n", "");
	misuse("0 create 0.1\n0.1 end\n0 join 0.1 @one\n0 join 0.1 @two =EINVAL\n",
	       "join-twice 0 join @one#1, 0 join @two#1\n");
	misuse("0 create 0.1\n0 detach 0.1 @detach\n0 join 0.1 @join =EINVAL\n",
	       "join-detach 0 detach @detach#1, 0 join @join#1\n");
	misuse("0 create 0.1\n0 detach 0.1 @one\n0 detach 0.1 @two =EINVAL\n",
	       "detach-bad 0 detach @one#1, 0 detach @two#1\n");
	misuse("0 create 0.1\n0.1 join 0.1 @join =EDEADLK\n", "join-self 0.1 join @join#1\n");
	misuse("0 create 0.1\n0.1 lock m @in\n0.1 end @end\n",
	       "end-held 0.1 lock @in#1, 0.1 end @end#1\n");
	/* Correct: another thread recovers a robust mutex, and destroys it later. */
	misuse("0 create 0.1\n0.1 lock m @in\n0.1 end @end\n0 lock m =EOWNERDEAD\n"
	       "0 mutex-consistent m\n"
	       "0 unlock m\n0 mutex-destroy m\n",
	       "");
	misuse("0 malloc h 64\n0 create 0.1\n0.1 lock h @in\n0.1 end @end\n0 free h\n",
	       "end-held 0.1 lock @in#1, 0.1 end @end#1\n");
	misuse("0 lock m @in\n0 exit-process arg=1 @exit\n",
	       "exit-held 0 lock @in#1, 0 exit-process @exit#1\n");
	/* Correct: other threads are in critical sections when the process exits. */
	misuse("0 create 0.1\n0.1 lock m\n0 exit-process arg=0\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unlock),
		cmocka_unit_test(test_relock),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_destroy_in_use),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
