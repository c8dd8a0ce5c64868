/* Compiles rules from a database made by hand. */
#include "trace_util.h"

#include "abi/rules_format.h"
#include "learn/compile.h"
#include "learn/fold/lifetx.h"
#include "trace/codec/codec.h"

/* 6 of 10 passing runs break it, so by chance 5.2 of 13 failing runs would not, and 4.8 of 12. */
static void test_harm(void **state)
{
	struct known_site s = { .runs = 10, .broken = 6, .failed = 12, .harmed = 12 };

	(void)state;
	assert_false(known_holds(&s, 0));
	s.failed = s.harmed = 13;
	assert_true(known_holds(&s, 0));
	s.harmed = 12;
	assert_false(known_holds(&s, 0));
}

/*
 * check judges pairs that can be broken and occur often enough; it watches all sites of the same
 * variable.
 */
static void test_checked(void **state)
{
	struct known_site sites[] = {
		{ .access = LEARN_READ, .runs = 3 },
		{ .access = LEARN_WRITE, .runs = 3 },
		{ .access = LEARN_READ, .runs = 3, .broken = 1 },
		{ .access = LEARN_READ, .runs = 3 },
		{ .access = LEARN_WRITE, .runs = 3 },
		{ .access = LEARN_READ, .runs = 21 },
	};
	/*
	 * Site 1 follows 0, which follows 2; site 4 could break 1. 3 follows 2. 5 has another
	 * variable, and its 2 of 21 runs are too few.
	 */
	struct learnt_local locals[] = {
		{ 2, 0, 3, 0 }, { 0, 1, 3, 2 }, { 2, 3, 3, 0 }, { 5, 5, 2, 2 }
	};
	struct known_pair between[] = { { 4, 1, 0, 0, 0 } };
	struct known k = { .sites = sites,
			   .count = 6,
			   .locals = locals,
			   .local_count = 4,
			   .between = between,
			   .between_count = 1 };
	uint32_t *marks = compile_marks(&k, 0);
	const uint32_t wanted[] = { RULES_CHECK, RULES_CHECK | RULES_BREAKABLE,
				    RULES_CHECK, RULES_CHECK,
				    RULES_CHECK, 0 };

	(void)state;
	for (size_t i = 0; i < k.count; i++)
		assert_int_equal(marks[i] & (RULES_CHECK | RULES_BREAKABLE), wanted[i]);
	free(marks);
}

/*
 * All three sites were never first. If other threads hold the same lock, the site of the lock
 * waits instead.
 */
static void test_late(void **state)
{
	enum { LOCKED, RACING, LOCK, OTHER };
	struct known_site sites[] = { [LOCKED] = { .access = LEARN_READ },
				      [RACING] = { .access = LEARN_READ },
				      [LOCK] = { .access = LEARN_LOCK },
				      [OTHER] = { .access = LEARN_WRITE } };
	struct known_pair pairs[] = {
		{ .first = LOCKED, .second = LOCKED, .how = STORE_AFTER },
		{ .first = OTHER, .second = LOCKED, .how = STORE_CONFLICT },
		{ .first = RACING, .second = RACING, .how = STORE_AFTER },
		{ .first = OTHER, .second = RACING, .how = STORE_CONFLICT | STORE_RACE },
		{ .first = LOCK, .second = LOCK, .how = STORE_AFTER }
	};
	struct known k = { .sites = sites, .count = 4, .pairs = pairs, .pair_count = 5 };
	uint32_t *marks = compile_marks(&k, 0);

	(void)state;
	assert_int_equal(marks[LOCKED] & RULES_LATE, 0);
	assert_int_equal(marks[RACING] & RULES_LATE, RULES_LATE);
	assert_int_equal(marks[LOCK] & RULES_LATE, RULES_LATE);
	assert_int_equal(marks[OTHER], RULES_SOURCE);
	free(marks);
}

/*
 * One module: a read, a write that may follow it but never did, a memcpy that reads and writes
 * at one offset, and a function with the first two.
 */
static void test_rules(void **state)
{
	struct known_site sites[] = {
		{ .access = LEARN_READ, .runs = 3, .cuts = LIFETX_BEFORE },
		{ .access = LEARN_WRITE, .runs = 3, .broken = 1 },
		{ .access = LEARN_READ, .runs = 3, .broken = 1 },
		{ .access = LEARN_WRITE, .runs = 3 },
		{ .access = LEARN_FUNCTION, .cuts = LIFETX_EXIT },
	};
	struct learnt_address places[] = {
		{ 4, (char *)"abcd", 0x10, true }, { 0, (char *)"abcd", 0x20, true },
		{ 0, (char *)"abcd", 0x28, true },
		{ 1, (char *)"abcd", 0x30, true }, { 2, (char *)"abcd", 0x40, true },
		{ 3, (char *)"abcd", 0x40, true },
		{ 0, (char *)"eeee", 0x99, false },	/* an old build */
	};
	struct known_pair pairs[] = {
		{ 0, 1, 0, 2, 12 }, { 1, 0, 2, 2, 12 }, { 3, 1, 1, 0, 0 }, { 1, 1, 1, 1, 12 }
	};
	struct known_pair members[] = { { 4, 0, 0, 0, 0 }, { 4, 1, 0, 0, 0 } };
	struct known_pair orders[] = { { 0, 1, 0, 0, 0 } };
	/*
	 * The write follows one of the reads in most runs. The memcpy's write follows its read,
	 * and more often itself.
	 */
	struct learnt_local locals[] = {
		{ 2, 1, 1, 0 }, { 0, 1, 2, 0 }, { 3, 3, 2, 0 }, { 2, 3, 1, 0 }
	};
	struct known k = { .sites = sites,
			   .count = 5,
			   .addresses = places,
			   .address_count = 7,
			   .pairs = pairs,
			   .pair_count = 4,
			   .members = members,
			   .member_count = 2,
			   .orders = orders,
			   .order_count = 1,
			   .locals = locals,
			   .local_count = 4 };
	struct compile_stats stats;
	struct rules_header h;
	struct buf out = { 0 };

	(void)state;
	compile_rules(&k, 0, &out, &stats);
	memcpy(&h, out.data, sizeof(h));
	assert_true(h.magic == RULES_MAGIC && h.version == RULES_VERSION && h.size == out.size);
	assert_int_equal(h.check, trace_check(out.data + sizeof(h), out.size - sizeof(h)));
	assert_int_equal(h.modules, 1);
	assert_int_equal(h.sites, 6);	/* including site 0 */
	assert_int_equal(h.functions, 1);

	const struct rules_module *m = (const void *)(out.data + h.modules_at);
	const struct rules_site *s = (const void *)(out.data + h.sites_at);
	const struct rules_function *f = (const void *)(out.data + h.functions_at);
	const uint32_t *numbers = (const void *)(out.data + h.numbers_at);

	assert_true(m->id_size == 2 && m->id[0] == 0xab && m->id[1] == 0xcd);
	assert_true(m->first_site == 1 && m->sites == 5 && m->first_function == 0 &&
		    m->functions == 1);
	assert_true(f->offset == 0x10 && f->flags == (1 | 4));
	/* Of the write's three predecessors, one was never seen. The read is at two offsets. */
	assert_int_equal(s[1].flags, RULES_INVARIANT | RULES_PSET | RULES_SOURCE | RULES_IN_TX |
					     RULES_CUT | RULES_REMOTE);
	assert_int_equal(s[2].flags, s[1].flags);
	assert_true(s[1].offset == 0x20 && s[2].offset == 0x28);
	assert_int_equal(s[3].flags, RULES_PSET | RULES_OPEN | RULES_SOURCE | RULES_IN_TX |
					     RULES_WRITE | RULES_REMOTE);
	assert_int_equal(s[3].before_count, 5);
	assert_true(numbers[s[3].before] == 3 && numbers[s[3].before + 1] == 5);
	/* The thread itself came from the read of memcpy, or from the read at either offset. */
	assert_true(numbers[s[3].before + 2] == (1 | RULES_OWN) &&
		    numbers[s[3].before + 3] == (2 | RULES_OWN) &&
		    numbers[s[3].before + 4] == (4 | RULES_OWN));
	assert_true(s[1].before_count == 1 && numbers[s[1].before] == 3);
	assert_true(s[1].after == 0 && s[3].after == 1 && s[4].after == 0 && s[5].after == 4);
	/* memcpy: the invariant of its read is broken, that of its write holds. */
	assert_int_equal(s[4].flags, RULES_PSET);
	assert_int_equal(s[5].flags, RULES_INVARIANT | RULES_PSET | RULES_SOURCE | RULES_WRITE);
	assert_true(s[4].offset == 0x40 && s[5].offset == 0x40);
	assert_true(stats.sites == 5 && stats.open == 1 && stats.transactions == 1 &&
		    stats.members == 3);
	buf_free(&out);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_harm),
		cmocka_unit_test(test_checked),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
