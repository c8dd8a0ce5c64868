/*
 * Doubtful candidates, which values read on the way forbid: small traces, and all interleavings of
 * small random traces.
 */
#include "analyze_util.h"

#include "analyze/value_flow.h"
#include "reference/value_flow.h"

/* The numbers of candidates of a pattern that are doubtful and that are not. */
static void assert_doubts(const char *text, const struct analysis *a, const char *pattern,
			  unsigned doubtful, unsigned others)
{
	unsigned got[2] = { 0 };
	struct analyzed x;

	analyze(&x, text, a);
	for (size_t i = 0; i < findings_count(x.out); i++)
		if (findings_at(x.out, i)->pattern == pattern_find(pattern))
			got[findings_at(x.out, i)->doubtful]++;
	assert_int_equal(got[1], doubtful);
	assert_int_equal(got[0], others);
	analyzed_free(&x);
}

/* A lost update: a reader that comes earlier finds another value and goes on with it. */
static void test_counter(void **state)
{
	(void)state;
	assert_doubts("0 create 0.1\n0 create 0.2\n"
		      "0.1 lock m @1\n0.1 read x:8 @2\n0.1 unlock m\n"
		      "0.1 lock m @3\n0.1 write x:8 @4\n0.1 unlock m\n"
		      "0.2 lock m @1\n0.2 read x:8 @2\n0.2 unlock m\n"
		      "0.2 lock m @3\n0.2 write x:8 @4\n0.2 unlock m\n",
		      &analysis_atomicity, "RWW", 0, 1);
}

/* The second thread goes on because it read a flag, set after the first one's two accesses. */
static void test_flag(void **state)
{
	static const char flag[] =
		"0 create 0.1\n0 create 0.2\n"
		"0.1 read x:8 @1\n0.1 write x:8 @2\n"
		"0.1 lock m @3\n0.1 write ready:8 @4\n0.1 unlock m\n"
		"0.2 lock m @5\n0.2 read ready:8 @6\n0.2 unlock m\n"
		"0.2 write x:8 @7\n";
	static const char count[] =
		"0 create 0.1\n0 create 0.2\n"
		"0.1 read x:8 @1\n0.1 write x:8 @2\n"
		"0.1 lock m @3\n0.1 read ready:8 @8\n0.1 write ready:8 @4\n0.1 unlock m\n"
		"0.2 lock m @5\n0.2 read ready:8 @6\n0.2 unlock m\n"
		"0.2 write x:8 @7\n";
	static const char before[] =
		"0 create 0.1\n0 create 0.2\n"
		"0.1 lock m @3\n0.1 write ready:8 @4\n0.1 unlock m\n"
		"0.1 read x:8 @1\n0.1 write x:8 @2\n"
		"0.2 lock m @5\n0.2 read ready:8 @6\n0.2 unlock m\n"
		"0.2 write x:8 @7\n";

	(void)state;
	assert_doubts(flag, &analysis_atomicity, "RWW", 1, 0);
	assert_doubts(count, &analysis_atomicity, "RWW", 0, 1);
	assert_doubts(before, &analysis_atomicity, "RWW", 0, 1);
}

/* The last write has to cover all bytes of the read. */
static void test_unknown(void **state)
{
	(void)state;
	assert_doubts("0 create 0.1\n0 create 0.2\n"
		      "0.1 read x:8 @1\n0.1 write x:8 @2\n"
		      "0.1 write ready:4 @4\n0.2 read ready:8 @6\n0.2 write x:8 @7\n",
		      &analysis_atomicity, "RWW", 0, 1);
	assert_doubts("0 create 0.1\n0 create 0.2\n"
		      "0.1 read x:8 @1\n0.1 write x:8 @2\n"
		      "0.1 write ready:8 @4\n0.1 write ready:4 @5\n0.2 read ready:4 @6\n"
		      "0.2 write x:8 @7\n",
		      &analysis_atomicity, "RWW", 1, 0);
}

/* A value from an earlier life of a block orders nothing. */
static void test_anew(void **state)
{
	(void)state;
	assert_doubts("0 create 0.1\n0 create 0.2\n0 malloc h 64\n"
		      "0.1 read x:8 @1\n0.1 write x:8 @2\n0.1 write h+8:8 @4\n"
		      "0.1 free h\n0.2 malloc h 64\n0.2 read h+8:8 @6\n0.2 write x:8 @7\n",
		      &analysis_atomicity, "RWW", 0, 1);
}

/* A lock made of an exchange: releasing it sets no flag. */
static void test_lock(void **state)
{
	(void)state;
	assert_doubts("0 create 0.1\n0 create 0.2\n"
		      "0.1 atomic-xchg l 0 relaxed\n0.1 read x:8 @2\n0.1 atomic-store l 0 relaxed\n"
		      "0.1 atomic-xchg l 0 relaxed\n0.1 write x:8 @5\n"
		      "0.1 atomic-store l 0 relaxed\n"
		      "0.2 atomic-xchg l 0 relaxed\n0.2 write x:8 @8\n"
		      "0.2 atomic-store l 0 relaxed\n",
		      &analysis_atomicity, "RWW", 0, 1);
	assert_doubts("0 create 0.1\n0 create 0.2\n0.1 read x:8 @2\n0.1 write x:8 @5\n"
		      "0.1 atomic-store l 1 relaxed\n0.2 atomic-load l 1 relaxed\n"
		      "0.2 write x:8 @8\n",
		      &analysis_atomicity, "RWW", 1, 0);
}

/* --- against all interleavings --- */

static void random_trace(uint64_t seed, struct buf *b)
{
	uint64_t rng = seed * 2654435761u + 88172645463325252ull;
	unsigned held[3] = { 0 }, own[3] = { 0 };

	buf_clear(b);
	buf_add_text(b, "0 create 0.1\n0 create 0.2\n");
	for (unsigned n = 0; n < 12; n++) {
		unsigned t = n < 4 ? 1 : 1 + (unsigned)(test_random(&rng) % 2);
		unsigned what = (unsigned)(test_random(&rng) % 10);
		unsigned place = (unsigned)(test_random(&rng) % 3),
			 write = (unsigned)(test_random(&rng) % 2);

		if (++own[t] > 7)
			continue;
		if (what < 2 && !(held[1] | held[2])) {
			buf_addf(b, "0.%u lock m @l%u\n", t, n);
			held[t] = 1;
		} else if (what < 4 && held[t]) {
			buf_addf(b, "0.%u unlock m\n", t);
			held[t] = 0;
		} else {
			buf_addf(b, "0.%u %s x%u:8 @s%u\n", t, write ? "write" : "read", place, n);
		}
	}
}

static void check(const struct analysis *a, uint64_t seeds)
{
	const struct analysis *which[] = { &analysis_world, a, NULL };
	size_t doubtful = 0, possible = 0;
	struct buf b = { 0 };

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct analyzed x;
		struct err err;

		random_trace(seed, &b);
		analyze(&x, buf_string(&b), &analysis_world);
		findings_free(x.out);
		x.out = findings_new();
		assert_int_equal(analysis_run(x.reader, which, &x.ctx, x.out, &x.stats, &err), 0);
		find_flags();
		for (size_t i = 0; i < findings_count(x.out); i++) {
			const struct candidate *c = findings_at(x.out, i);
			bool can = is_possible(c);

			doubtful += c->doubtful;
			possible += can;
			if (c->doubtful && can)
				fail_msg("seed %d: %s is possible:\n%s", (int)seed,
					 pattern_row(c->pattern)->name, buf_string(&b));
		}
		analyzed_free(&x);
	}
	assert_true(doubtful > 50 && possible > 50);
	buf_free(&b);
}

static void test_all_interleavings(void **state)
{
	(void)state;
	check(&analysis_atomicity, 1000);
	check(&analysis_atomicity2, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter), cmocka_unit_test(test_flag),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_anew),
		cmocka_unit_test(test_lock),	cmocka_unit_test(test_all_interleavings),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
