/*
 * Schedule files: the parser reads back what the writer writes, and names the line of each error.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/turn_log.h"
#include "base/mem.h"
#include "explore/schedule/schedule.h"
#include "sched/strategy.h"
#include "../fuzz/schedule.h"

static const char full[] =
	"snarl-schedule 1\n"
	"program /home/me/bank\n"
	"build-id 0123456789abcdef\n"
	"directory \"/home/me/a b\"\n"
	"argument ./bank\n"
	"argument \"\"\n"
	"argument \"a \\\"b\\\"\\\\\\n\\x01\"\n"
	"argument \"#1\"\n"
	"environment LANG=C\n"
	"environment EMPTY=\n"
	"stdin stdin 12 00000000000000ff\n"
	"strategy pct\n"
	"seed 18446744073709551615\n"
	"run 16\n"
	"depth 3\n"
	"flags spurious timeouts ignore-misuse real-time\n"
	"steps 40\n"
	"failure \"signal 11\"\n"
	"cause atomicity RWW \"a b\"\n"
	"expect-exit any\n"
	"expect-output 5 0123456789abcdef\n"
	"check \"grep -q ok\"\n"
	"\n"
	"shared\n"
	"\t0x404040+16\n"
	"\t0x7ffff7d00000+8\n"
	"\n"
	"exact\n"
	"\t0 x 12 check=89ab12cd\n"
	"\t0.2 timeout\n"
	"\twake 0.3\n"
	"\t0.1 signal 10\n"
	"\t@00000000000000ab x 1\n"
	"\t0.1.4294967295 x *\n"
	"\n"
	"events\n"
	"\t000102030405060708090a0b0c0d0e0ff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\n"
	"\t89ab\n"
	"\n"
	"goal\n"
	"\t0.2 bank.c:41#3 (0123456789abcdef+0x1234, deposit) after 0.1 bank.c:30#1\n"
	"\t* \"a b.c\":7#1 (\"operator()(int, char)\") after 0 *#2 (ab+0x1)\n"
	"\t0.2 bank.c:41#3 (ab+0x4, deposit, write \"balance+8\") held at 0.2 bank.c:40#3 "
	"(deposit, lock m) after 0.1 bank.c:30#1 (ab+0x1, ??, read heap@q.c:3#1)\n"
	"\n"
	"end\n";

static void parse_good(struct schedule *s, const char *text)
{
	struct err err = { "" };

	if (schedule_parse(s, text, strlen(text), "file", &err) < 0)
		fail_msg("%s", err.text);
}

static void test_round_trip(void **state)
{
	struct schedule s;
	struct buf text = { 0 };

	(void)state;
	parse_good(&s, full);
	schedule_text(&s, &text);
	assert_string_equal(buf_string(&text), full);
	assert_int_equal(s.turn_count, 6);
	assert_int_equal(s.threads.count, 6);
	assert_string_equal(s.arguments.items[2], "a \"b\"\\\n\x01");
	assert_true(s.seed == UINT64_MAX && s.depth == 3 && s.run == 16);
	assert_int_equal(s.expect_exit, -1);
	assert_true(s.turns[5].steps == SCHED_NO_LIMIT);
	assert_int_equal(s.events.size, 34);
	assert_memory_equal(s.events.data + 31, "\xff\x89\xab", 3);
	assert_string_equal(s.goals[1].second.function, "operator()(int, char)");
	assert_null(s.goals[1].second.thread);
	assert_string_equal(s.variable, "a b");
	assert_string_equal(s.goals[2].second.object, "balance+8");
	assert_true(s.goals[2].is_held && !s.goals[1].is_held);
	assert_string_equal(s.goals[2].held.op, "lock");
	assert_string_equal(s.goals[2].first.object, "heap@q.c:3#1");
	schedule_free(&s);
	buf_free(&text);
}

/* The parser ignores blanks, comments and empty lines; missing keys have their defaults. */
static void test_free_form(void **state)
{
	struct schedule s;

	(void)state;
	parse_good(&s, "# by hand\nsnarl-schedule 1\r\n\n  seed   7\n exact\n0\tx 3\n   # c\n"
		       "\t0.1 x 2 \nend\n\n#\n");
	assert_true(s.seed == 7);
	assert_int_equal(s.turn_count, 2);
	assert_null(s.program);
	assert_int_equal(s.turns[1].check, 0);
	schedule_free(&s);
	parse_good(&s, "snarl-schedule 1\nend");
	schedule_free(&s);
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

#define HEAD "snarl-schedule 1\n"

static void test_bad_files(void **state)
{
	(void)state;
	check_bad("", "f:1: the file is empty");
	check_bad("hello\n", "f:1: the first line is not 'snarl-schedule 1'");
	check_bad("snarl-schedule 2\n",
		  "f:1: this snarl reads version 1 of schedules, not '2'");
	check_bad(HEAD, "f:2: the line 'end' is missing: the file is cut");
	check_bad(HEAD "exact\n\t0 x 5\n", "f:4: the line 'end' is missing: the file is cut");
	check_bad(HEAD "end\nseed 1\n", "f:3: something comes after 'end'");
	check_bad(HEAD "sede 1\nend\n", "f:2: the header has no key 'sede'");
	check_bad(HEAD "seed 1\nseed 1\nend\n", "f:3: 'seed' is given twice");
	check_bad(HEAD "seed\nend\n", "f:2: seed has to be a number");
	check_bad(HEAD "seed -1\nend\n", "f:2: seed has to be a number");
	check_bad(HEAD "seed 18446744073709551616\nend\n", "f:2: seed is too large");
	check_bad(HEAD "depth 4294967296\nend\n", "f:2: depth has to be from 0 to 4294967295");
	check_bad(HEAD "seed 1 2\nend\n", "f:2: '2' does not belong here");
	check_bad(HEAD "argument \"a\nend\n", "f:2: the argument: the closing \" is missing");
	check_bad(HEAD "argument \"\\t\"\nend\n",
		  "f:2: the argument: after \\ comes n, \", \\ or x and two hex digits");
	check_bad(HEAD "argument \"\\x00\"\nend\n",
		  "f:2: the argument: after \\ comes n, \", \\ or x and two hex digits");
	check_bad(HEAD "program\nend\n", "f:2: program is missing");
	check_bad(HEAD "environment \"\"\nend\n", "f:2: a variable is NAME=value");
	check_bad(HEAD "environment =x\nend\n", "f:2: a variable is NAME=value");
	check_bad(HEAD "flags fast\nend\n",
		  "f:2: no flag is called 'fast'; there are spurious, timeouts, ignore-misuse and "
		  "real-time");
	check_bad(HEAD "stdin in 0 00000000000000ff\nend\n",
		  "f:2: the size of stdin has to be from 1 to 9223372036854775807");
	check_bad(HEAD "stdin in 4 ff\nend\n", "f:2: the hash of stdin has to be 16 hex digits");
	check_bad(HEAD "goal\nexact\nend\n",
		  "f:3: 'exact' comes too late; the order is shared, exact, events, goal, end");
	check_bad(HEAD "expect-exit 256\nend\n", "f:2: the exit status has to be from 0 to 255");
}

static void test_bad_shared(void **state)
{
	(void)state;
	check_bad(HEAD "shared\n1234\nend\n", "f:3: a range is 0xADDRESS+SIZE");
	check_bad(HEAD "shared\n0x12\nend\n", "f:3: a range is 0xADDRESS+SIZE");
	check_bad(HEAD "shared\n0x12+8\nend\n", "f:3: address and size are multiples of 8");
	check_bad(HEAD "shared\n0x10+0\nend\n", "f:3: the size has to be from 8 to 134217728");
	check_bad(HEAD "shared\n0x10+8\n0x18+8\nend\n",
		  "f:4: ranges ascend and do not touch each other");
	check_bad(HEAD "shared\n0xfffffffffffffff8+16\nend\n",
		  "f:3: the range goes beyond the end of memory");
	check_bad(HEAD "shared\n0x10000000000000000+8\nend\n",
		  "f:3: the address has to be a hex number");
	check_bad(HEAD "shared\n0x0+134217728\n0x10000000+8\nend\n",
		  "f:4: more than 134217728 bytes are shared");
}

static void test_bad_turns(void **state)
{
	(void)state;
	check_bad(HEAD "exact\n1 x 3\nend\n",
		  "f:3: '1' is not a thread: 0 is main, 0.2 its second child");
	check_bad(HEAD "exact\n0.0 x 3\nend\n",
		  "f:3: '0.0' is not a thread: 0 is main, 0.2 its second child");
	check_bad(HEAD "exact\n0.4294967296 x 3\nend\n",
		  "f:3: '0.4294967296' is not a thread: 0 is main, 0.2 its second child");
	check_bad(HEAD "exact\n0. x 3\nend\n",
		  "f:3: '0.' is not a thread: 0 is main, 0.2 its second child");
	check_bad(HEAD "exact\n0 y 3\nend\n",
		  "f:3: 'y' is not x, timeout or signal");
	check_bad(HEAD "exact\n0 x 0\nend\n",
		  "f:3: the number of steps has to be from 1 to 18446744073709551615");
	check_bad(HEAD "exact\n0\nend\n", "f:3: what the thread does is missing");
	check_bad(HEAD "exact\n0 x 3 check=12\nend\n", "f:3: the check has to be 8 hex digits");
	check_bad(HEAD "exact\n0 x 3 chuck\nend\n", "f:3: 'chuck' does not belong here");
	check_bad(HEAD "exact\n0 signal 65\nend\n", "f:3: the signal has to be from 1 to 64");
	check_bad(HEAD "exact\nwake\nend\n", "f:3: a thread is missing");
	check_bad(HEAD "exact\nchoose 1\nend\n",
		  "f:3: 'choose' is not a thread: 0 is main, 0.2 its second child");
	check_bad(HEAD "exact\n@12 x 1\nend\n",
		  "f:3: '@12' is not a thread: 0 is main, 0.2 its second child");
}

static void test_bad_events(void **state)
{
	const size_t most = 2u << 20;	/* digits */
	char *text = xmalloc(most + 200);
	struct schedule s;
	struct err err = { "" };
	int size = snprintf(text, 100, HEAD "events\n");

	(void)state;
	check_bad(HEAD "events\nabc\nend\n", "f:3: each event has to be 2 hex digits");
	check_bad(HEAD "events\nab\na g0\nend\n", "f:4: each event has to be 2 hex digits");
	check_bad(HEAD "events\nAB\nend\n", "f:3: each event has to be 2 hex digits");
	check_bad(HEAD "events\nexact\nend\n",
		  "f:3: 'exact' comes too late; the order is shared, exact, events, goal, end");
	check_bad(HEAD "goal\nevents\nend\n",
		  "f:3: 'events' comes too late; the order is shared, exact, events, goal, end");
	memset(text + size, '7', most);
	strcpy(text + size + most, "\nend\n");
	parse_good(&s, text);
	assert_int_equal(s.events.size, most / 2);
	schedule_free(&s);
	strcpy(text + size + most, "\n77\nend\n");
	assert_int_equal(schedule_parse(&s, text, strlen(text), "f", &err), -1);
	assert_string_equal(err.text, "f:4: more than 1048576 events");
	free(text);
}

static void test_nul_byte(void **state)
{
	static const char text[] = HEAD "seed 1\0\nend\n";
	struct schedule s;
	struct err err;

	(void)state;
	assert_int_equal(schedule_parse(&s, text, sizeof(text) - 1, "f", &err), -1);
	assert_string_equal(err.text, "f:2: a NUL byte");
}

static void test_path_hash(void **state)
{
	uint64_t hash;

	(void)state;
	assert_true(schedule_path_hash("0", &hash) && hash == SCHED_MAIN);
	assert_true(schedule_path_hash("0.2.1", &hash));
	assert_true(hash == sched_child_name(sched_child_name(SCHED_MAIN, 2), 1));
	assert_false(schedule_path_hash("", &hash));
	assert_false(schedule_path_hash("0.01", &hash));
}

/* Fills a control block as after a run with threads 0, 0.1 and 0.1.1. */
static struct ctl_block *make_block(const struct turn *turns, size_t count)
{
	size_t words = 0, most = count * TURN_WORDS;
	struct ctl_block *b = xcalloc(1, sizeof(*b) + most * sizeof(uint32_t) + 4);

	b->turns = sizeof(*b);
	b->turns_size = most * sizeof(uint32_t);
	for (size_t i = 0; i < count; i++)
		words += turn_put((uint32_t *)(b + 1) + words, &turns[i]);
	b->checks = b->turns + b->turns_size;
	b->checks_size = 4;
	memcpy((char *)b + b->checks, "abcd", 4);
	b->report.turns = words;
	b->report.threads = 3;
	b->report.ordinal[1] = 1;
	b->report.parent[2] = 1;
	b->report.ordinal[2] = 1;
	b->report.outcome = CTL_EXITED;
	return b;
}

/* A turn log that ends in the middle of a turn, as in a damaged block. */
static void test_cut_off(void **state)
{
	uint32_t words[TURN_WORDS];
	struct turn turn = { 5, SCHED_TURN_RUN, 1ull << 40, 0 };
	uint64_t at = 0;

	(void)state;
	assert_int_equal(turn_put(words, &turn), 3);
	assert_true(turn_get(words, 3, &at, &turn));
	assert_int_equal(at, 3);
	assert_false(turn_get(words, 3, &at, &turn));
	for (uint64_t n = 1; n < 3; n++) {
		at = 0;
		assert_false(turn_get(words, n, &at, &turn));
	}
	/* The largest number of steps that fits in one word, and the smallest that does not. */
	turn = (struct turn){ 1023, SCHED_TURN_SIGNAL, (1u << TURN_STEPS_BITS) - 1, 0 };
	assert_int_equal(turn_put(words, &turn), 1);
	turn.steps++;
	assert_int_equal(turn_put(words, &turn), 3);
	at = 0;
	assert_true(turn_get(words, 3, &at, &turn));
	assert_true(turn.thread == 1023 && turn.kind == SCHED_TURN_SIGNAL && turn.check == 0 &&
		    turn.steps == 1u << TURN_STEPS_BITS);
}

static void test_from_run_and_back(void **state)
{
	uint64_t child = sched_child_name(SCHED_MAIN, 1), grandchild = sched_child_name(child, 1);
	const uint64_t many = 0x123456789abull;
	const struct turn turns[] = {
		{ 0, SCHED_TURN_RUN, 4, 0x89ab12cd }, { 1, SCHED_TURN_EXPIRE, 0, 0 },
		/* damaged: no thread 7 */
		{ 2, SCHED_TURN_WAKE, 0, 0 }, { 7, SCHED_TURN_RUN, 3, 0 },
		{ 2, SCHED_TURN_RUN, many, 0 },
	};
	const struct sched_turn wanted[] = {
		{ SCHED_MAIN, 4, SCHED_TURN_RUN, 0x89ab12cd }, { child, 0, SCHED_TURN_EXPIRE, 0 },
		{ grandchild, 0, SCHED_TURN_WAKE, 0 }, { grandchild, many, SCHED_TURN_RUN, 0 },
	};
	struct ctl_block *b = make_block(turns, ARRAY_SIZE(turns));
	struct schedule s = { 0 };
	struct buf text = { 0 }, plan = { 0 };
	struct sched_plan head;
	struct err err;

	(void)state;
	b->report.checks = 3;
	schedule_set_turns(&s, b);
	schedule_text(&s, &text);
	assert_string_equal(buf_string(&text), HEAD
			    "steps 1250999896495\n\nexact\n\t0 x 4 check=89ab12cd\n\t0.1 timeout\n"
			    "\twake 0.1.1\n\t0.1.1 x 1250999896491\n\n"
			    "events\n\t616263\n\nend\n");
	assert_int_equal(schedule_plan(&s, NULL, &plan, &err), 0);
	memcpy(&head, plan.data, sizeof(head));
	assert_int_equal(head.turns, ARRAY_SIZE(wanted));
	assert_int_equal(head.size, plan.size);
	assert_memory_equal(plan.data + sizeof(head), wanted, sizeof(wanted));
	assert_int_equal(head.checks, 3);
	assert_memory_equal(sched_plan_checks((const struct sched_plan *)(const void *)plan.data),
			    "abc", 3);
	/* A damaged report: more words than the area has. */
	b->report.checks = UINT64_MAX;
	schedule_set_turns(&s, b);
	assert_int_equal(s.events.size, 4);
	schedule_free(&s);
	buf_free(&text);
	buf_free(&plan);
	free(b);
}

/* The turn log of a killed run lacks its last turn. */
static void test_last_turn(void **state)
{
	const struct turn turn = { 0, SCHED_TURN_RUN, 4, 0 };
	struct ctl_block *b = make_block(&turn, 1);
	struct schedule s = { 0 };

	(void)state;
	b->report.outcome = CTL_RUNNING;
	b->report.thread = 2;
	schedule_set_turns(&s, b);
	assert_int_equal(s.turn_count, 2);
	assert_string_equal(s.threads.items[s.turns[1].thread], "0.1.1");
	assert_true(s.turns[1].steps == SCHED_NO_LIMIT);
	schedule_free(&s);
	free(b);
}

static void test_shared(void **state)
{
	const uint64_t granules[] = { 0x30, 0x10, 0x18, 0x18, 0x28, 0x50 };
	const uint64_t sorted[] = { 0x10, 0x18, 0x28, 0x30, 0x50 };
	struct schedule s = { 0 };
	struct buf out = { 0 };

	(void)state;
	schedule_set_shared(&s, granules, ARRAY_SIZE(granules));
	assert_int_equal(s.shared_count, 3);
	assert_true(s.shared[1].start == 0x28 && s.shared[1].size == 16);
	schedule_granules(&s, &out);
	assert_int_equal(out.size, sizeof(sorted));
	assert_memory_equal(out.data, sorted, sizeof(sorted));
	buf_free(&out);
	schedule_free(&s);
}

/* Truncated files and files with changed bytes are read or refused without a crash. */
static void test_mutations(void **state)
{
	uint64_t rng = 1;

	(void)state;
	for (size_t i = 0; i <= strlen(full); i++)
		fuzz_schedule((const uint8_t *)full, i);
	for (int i = 0; i < 20000; i++) {
		uint8_t text[sizeof(full)];

		memcpy(text, full, sizeof(full));
		for (int n = 0; n < 3; n++) {
			rng = rng * 6364136223846793005ull + 1442695040888963407ull;
			text[(rng >> 33) % (sizeof(full) - 1)] =
				(uint8_t) " \t\n0x#\"\\+.:(*,1e"[rng >> 20 & 15];
		}
		fuzz_schedule(text, sizeof(full) - 1);
	}
}

/* The fuzzer's corpus. Tests run in the root of the sources. */
static void test_corpus(void **state)
{
	DIR *dir = opendir("tests/fuzz/schedules");
	struct dirent *e;
	int files = 0;

	(void)state;
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		uint8_t data[20000];
		char path[512];
		size_t size;
		FILE *f;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "tests/fuzz/schedules/%s", e->d_name);
		f = fopen(path, "r");
		assert_non_null(f);
		size = fread(data, 1, sizeof(data), f);
		fclose(f);
		fuzz_schedule(data, size);
		files++;
	}
	closedir(dir);
	assert_true(files >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_free_form),
		cmocka_unit_test(test_bad_files), cmocka_unit_test(test_bad_shared),
		cmocka_unit_test(test_bad_turns),
		cmocka_unit_test(test_bad_events),
		cmocka_unit_test(test_nul_byte), cmocka_unit_test(test_path_hash),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_from_run_and_back), cmocka_unit_test(test_last_turn),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_mutations), cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
