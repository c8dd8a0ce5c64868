/* The atomicity analysis on random traces, compared with a reference that tries all triples. */
#include "analyze_atomicity_util.h"
#include "reference/atomicity.h"

/* Locks nest or overlap. A site has one kind of access, but any location. */
static void random_trace(uint64_t seed, struct buf *b)
{
	static const char *const kinds[] = { "read",  "write",	    "read",
					     "write", "atomic-add", "atomic-load" };
	static const char *const places[] = { "x:8", "x:4", "x+4:4", "y:2", "x+6:4" };
	uint64_t rng = seed * 2654435761u + 88172645463325252ull;
	unsigned threads = 2 + test_random(&rng) % 2, events = 8 + test_random(&rng) % 24;
	unsigned held[4] = { 0 };

	buf_clear(b);
	for (unsigned t = 1; t <= threads; t++)
		buf_addf(b, "0 create 0.%u\n", t);
	for (unsigned n = 0; n < events; n++) {
		unsigned t = 1 + (unsigned)(test_random(&rng) % threads);
		unsigned what = (unsigned)(test_random(&rng) % 10),
			 lock = (unsigned)(test_random(&rng) % 2);

		if (what < 4 && !(held[t] & 1u << lock) && !(held[1] & 1u << lock) &&
		    !(held[2] & 1u << lock) && !(held[3] & 1u << lock)) {
			buf_addf(b, "0.%u lock m%u @l%llu\n", t, lock,
				 (unsigned long long)(test_random(&rng) % 6));
			held[t] |= 1u << lock;
		} else if (what < 6 && (held[t] & 1u << lock)) {
			buf_addf(b, "0.%u unlock m%u\n", t, lock);
			held[t] &= ~(1u << lock);
		} else {
			unsigned site = (unsigned)(test_random(&rng) % 6);

			buf_addf(b, "0.%u %s %s @s%u\n", t, kinds[site],
				 places[test_random(&rng) % 5], site);
		}
		if (n == events / 2 && test_random(&rng) % 2)
			buf_addf(b, "0.1 sem-post s\n0.2 sem-wait s\n");
	}
	if (test_random(&rng) % 2)
		buf_addf(b, "0.1 end\n0 join 0.1\n0 read x:8 @s0\n0 write x:8 @s1\n");
}

/* One candidate stands for both: the same sections are moved, or the sites are the same. */
static bool reported_as_one(const struct triple *a, const struct triple *b)
{
	return memcmp(a->unit, b->unit, sizeof(a->unit)) == 0 ||
	       memcmp(a->pc, b->pc, sizeof(a->pc)) == 0;
}

static void mark_equal(void)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t a = 0; a < slow.triples; a++)
			for (size_t b = 0; slow.triple[a].reported && b < slow.triples; b++)
				if (!slow.triple[b].reported &&
				    reported_as_one(&slow.triple[a], &slow.triple[b]))
					slow.triple[b].reported = more = true;
	}
}

/* Checks that each candidate is a triple of the reference, and that each triple has a candidate. */
static void compare(struct analyzed *x, const char *text, uint64_t seed)
{
	for (size_t n = 0; n < findings_count(x->out); n++) {
		const struct candidate_event *e = findings_at(x->out, n)->event;
		struct triple *found = NULL;

		for (size_t k = 0; k < slow.triples && !found; k++) {
			struct triple *t = &slow.triple[k];

			if (t->thread == e[0].thread && t->other == e[1].thread &&
			    t->p == e[0].index && t->r == e[1].index && t->i == e[2].index)
				found = t;
		}
		if (!found)
			fail_msg("seed %llu: candidate %u:%llu %u:%llu %llu is none:\n%s",
				 (unsigned long long)seed, e[0].thread,
				 (unsigned long long)e[0].index, e[1].thread,
				 (unsigned long long)e[1].index, (unsigned long long)e[2].index,
				 text);
		found->reported = true;
	}
	mark_equal();
	for (size_t k = 0; k < slow.triples; k++)
		if (!slow.triple[k].reported)
			fail_msg("seed %llu: missed %u:%llu %u:%llu %llu in\n%s",
				 (unsigned long long)seed, slow.triple[k].thread,
				 (unsigned long long)slow.triple[k].p, slow.triple[k].other,
				 (unsigned long long)slow.triple[k].r,
				 (unsigned long long)slow.triple[k].i, text);
}

static void test_random_traces(void **state)
{
	const struct analysis *which[] = { &analysis_slow, &analysis_atomicity, NULL };
	size_t candidates = 0, triples = 0;
	struct buf b = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct analyzed x;
		struct err err;

		random_trace(seed, &b);
		analyze(&x, buf_string(&b), &analysis_slow);
		assert_int_equal(analysis_run(x.reader, which, &x.ctx, x.out, NULL, &err), 0);
		compare(&x, buf_string(&b), seed);
		candidates += findings_count(x.out);
		triples += slow.triples;
		analyzed_free(&x);
	}
	/* The traces have enough violations. */
	assert_true(candidates > 5000);
	assert_true(triples > candidates + candidates / 4);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
