/*
 * The analysis of two locations on random traces, compared with a reference that tries all pairs of
 * location pairs.
 */
#include "analyze_atomicity_util.h"
#include "reference/two_locations.h"

/*
 * Up to three shared locations, of which one may be read only, and one of each thread's own. The
 * sites of the latter may be shared. All accesses of a thread are recent ones: at most eight of a
 * location and direction, two of a site.
 */
static void random_trace(uint64_t seed, struct buf *b)
{
	uint64_t rng = seed * 2654435761u + 88172645463325252ull;
	unsigned events = 4 + test_random(&rng) % 14, held[3] = { 0 };
	bool own = seed % 2, busy = seed / 2 % 2, read_only = seed / 4 % 2;

	buf_clear(b);
	buf_add_text(b, "0 create 0.1\n0 create 0.2\n");
	for (unsigned n = 0; n < events; n++) {
		unsigned t = 1 + (unsigned)(test_random(&rng) % 2),
			 lock = (unsigned)(test_random(&rng) % 2);
		unsigned what = (unsigned)(test_random(&rng) % 10),
			 site = (unsigned)(test_random(&rng) % 6);

		if (what < 4 && !((held[1] | held[2]) & 1u << lock)) {
			buf_addf(b, "0.%u lock m%u @l%u\n", t, lock, site);
			held[t] |= 1u << lock;
		} else if (what < 6 && (held[t] & 1u << lock)) {
			buf_addf(b, "0.%u unlock m%u\n", t, lock);
			held[t] &= ~(1u << lock);
		} else if (own && what == 9) {
			buf_addf(b, "0.%u %s own%u:8 @%s%u\n", t, site % 2 ? "write" : "read", t,
				 busy ? "s" : "o", site % 2);
		} else {
			site -= read_only && site == 5;
			buf_addf(b, "0.%u %s x%u:8 @s%u\n", t, site % 2 ? "write" : "read",
				 site / 2, site);
		}
		if (n == events / 2 && test_random(&rng) % 2)
			buf_add_text(b, "0.1 sem-post s\n0.2 sem-wait s\n");
	}
}

static void test_random_traces(void **state)
{
	const struct analysis *which[] = { &analysis_slow, &analysis_atomicity2, NULL };
	size_t found = 0, none = 0;
	struct buf b = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		struct analyzed x;
		struct err err;

		random_trace(seed, &b);
		analyze(&x, buf_string(&b), &analysis_slow);
		assert_int_equal(analysis_run(x.reader, which, &x.ctx, x.out, NULL, &err), 0);
		for (size_t n = 0; n < findings_count(x.out); n++) {
			const struct candidate_event *e = findings_at(x.out, n)->event;

			if (!is_location_pair(find(&e[0]), find(&e[3])) ||
			    !is_location_pair(find(&e[1]), find(&e[2])) ||
			    !breaks(find(&e[0]), find(&e[3]), find(&e[1]), find(&e[2])))
				fail_msg("seed %llu: candidate %zu is none:\n%s",
					 (unsigned long long)seed, n, buf_string(&b));
		}
		if (any_breaks() != (findings_count(x.out) > 0))
			fail_msg("seed %llu: missed all of\n%s", (unsigned long long)seed,
				 buf_string(&b));
		found += findings_count(x.out) > 0;
		none += findings_count(x.out) == 0;
		analyzed_free(&x);
	}
	/* Traces with and without candidates are frequent. */
	assert_true(found > 300 && none > 300);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
