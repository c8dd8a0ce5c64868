/*
 * Which iRoots count as a library's. They are tried after the program's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explore/cover/expose_active.h"

#define PROGRAM 0x555555554000ull	/* where Linux maps a program without randomisation */
#define LIBRARY 0x7ffff7000000ull

static void test_library(void **state)
{
	struct iroot r = { .idiom = 1,
			   .event = { { .site = PROGRAM + 1 }, { .site = PROGRAM + 2 } } };
	struct expose_target t;
	struct places p;

	(void)state;
	places_init(&p);
	places_add_program(&p, "/proc/self/exe");
	/* The same file plays the library. */
	places_add_module(&p, "/proc/self/exe", LIBRARY);
	t = expose_target_of(&r, &p);
	assert_false(t.library);
	assert_int_equal(t.outcome, EXPOSE_UNTRIED);
	assert_memory_equal(&t.iroot, &r, sizeof(r));
	/* One event there is enough; so is one in no module that is known. */
	r.event[1].site = LIBRARY + 2;
	assert_true(expose_target_of(&r, &p).library);
	r.event[1].site = LIBRARY - 2;
	assert_true(expose_target_of(&r, &p).library);
	places_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_library) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
