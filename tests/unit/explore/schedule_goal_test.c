/*
 * Goals in schedule files: syntax errors, and the events they become in a plan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explore/schedule/schedule.h"

#define HEAD "snarl-schedule 1\n"

static void parse_good(struct schedule *s, const char *text)
{
	struct err err = { "" };

	if (schedule_parse(s, text, strlen(text), "file", &err) < 0)
		fail_msg("%s", err.text);
}

static void check_bad(const char *text, const char *message)
{
	struct schedule s;
	struct err err = { "" };

	assert_int_equal(schedule_parse(&s, text, strlen(text), "f", &err), -1);
	assert_string_equal(err.text, message);
	assert_null(s.turns);
	assert_null(strchr(err.text, '\n'));
}

static void test_bad_goals(void **state)
{
	(void)state;
	check_bad(HEAD "goal\n0 a.c:1\nend\n", "f:3: a goal is EVENT [held at EVENT] after EVENT");
	check_bad(HEAD "goal\n0 a.c after 0 a.c:1\nend\n",
		  "f:3: after the file comes ':' and the line");
	check_bad(HEAD "goal\n0 a.c:0 after 0 a.c:1\nend\n",
		  "f:3: the line has to be from 1 to 4294967295");
	check_bad(HEAD "goal\n0 a.c:1#0 after 0 a.c:1\nend\n",
		  "f:3: the count after # has to be from 1 to 18446744073709551615");
	check_bad(HEAD "goal\n0 a.c:1 (xy+0x1) after 0 a.c:1\nend\n",
		  "f:3: 'xy' is not a build-id");
	check_bad(HEAD "goal\n0 a.c:1 (ab+1) after 0 a.c:1\nend\n",
		  "f:3: the offset has to begin with 0x");
	check_bad(HEAD "goal\n0 a.c:1 (ab+0x1 after 0 a.c:1\nend\n", "f:3: ')' is missing");
	check_bad(HEAD "goal\n0 a.c:1 (f, read) after 0 a.c:1\nend\n",
		  "f:3: the object of the event is missing");
	check_bad(HEAD "goal\n0 a.c:1 (f, read x, y) after 0 a.c:1\nend\n", "f:3: ')' is missing");
	check_bad(HEAD "goal\n0 a.c:1 held at 0 a.c after 0 a.c:1\nend\n",
		  "f:3: after the file comes ':' and the line");
	check_bad(HEAD "cause race\nend\n", "f:2: its pattern is missing");
	check_bad(HEAD "cause a b c\ncause a b c\nend\n", "f:3: 'cause' is given twice");
}

static void test_goal_places(void **state)
{
	struct places_module module = { .build_id = "ab", .base = 0x1000, .start = 0x1000,
					.end = 0x2000 };
	struct places places = { .modules = &module, .count = 1 };
	struct buf plan = { 0 };
	struct sched_order order;
	struct schedule s;
	struct err err;

	(void)state;
	parse_good(&s, HEAD "goal\n0.1 a.c:3#2 (ab+0x10) after * *#4\nend\n");
	assert_int_equal(schedule_plan(&s, &places, &plan, &err), 0);
	memcpy(&order, plan.data + sizeof(struct sched_plan), sizeof(order));
	assert_true(order.second.thread == sched_child_name(SCHED_MAIN, 1));
	assert_true(order.second.site == 0x1010 && order.second.nth == 2);
	assert_true(order.first.thread == 0 && order.first.site == 0 && order.first.nth == 4);
	schedule_free(&s);
	buf_clear(&plan);
	/* The order's second event is the `held at` event. */
	parse_good(&s, HEAD
		   "goal\n0.1 a.c:3#2 (ab+0x10) held at 0.1 a.c:2 (ab+0xc) after * *#4\nend\n");
	assert_int_equal(schedule_plan(&s, &places, &plan, &err), 0);
	memcpy(&order, plan.data + sizeof(struct sched_plan), sizeof(order));
	assert_true(order.second.site == 0x100c && order.second.nth == 1);
	schedule_free(&s);
	buf_clear(&plan);
	parse_good(&s, HEAD "goal\n0.1 a.c:3 (cd+0x10) after * *#4\nend\n");
	assert_int_equal(schedule_plan(&s, &places, &plan, &err), -1);
	assert_string_equal(err.text, "the program has no place a.c:3 (cd+0x10)");
	schedule_free(&s);
	buf_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_goals), cmocka_unit_test(test_goal_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
