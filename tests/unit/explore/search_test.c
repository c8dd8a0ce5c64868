/*
 * Searches over a fake program: what is found depends on the seed, not on the
 * number of workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "explore/search/search.h"
#include "fake_target.h"

struct seen {
	uint64_t runs[64];
	uint64_t shared[64];
	size_t count;
	struct buf text;	/* of all */
};

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	struct seen *seen = ctx;

	seen->runs[seen->count] = f->run;
	seen->shared[seen->count++] = f->schedule.shared_count;
	buf_addf(&seen->text, "run %llu exit %d after %.*s", (unsigned long long)f->run,
		 f->result.number, (int)f->out.size, (const char *)f->out.data);
	search_failure_free(f);
	return SEARCH_MORE;
}

static enum search_answer on_found_stop(void *ctx, struct search_failure *f)
{
	on_found(ctx, f);
	return SEARCH_ENOUGH;
}

static enum search_answer on_found_doubt(void *ctx, struct search_failure *f)
{
	on_found(ctx, f);
	return SEARCH_DOUBT;
}

static uint64_t odd_or_even(void *ctx, uint64_t run)
{
	(void)ctx;
	return run % 2;
}

static bool endless_end(void *state)
{
	(void)state;
	return true;
}

static bool short_end(void *state)
{
	return ++*(uint32_t *)state < 5;
}

static void search(struct seen *seen, struct search_stats *stats, const char *what,
		   struct search_config config)
{
	char *argv[] = { (char *)"/proc/self/exe", (char *)what, NULL };
	static const struct strategy none = { .name = "random" };
	struct oracle oracle = { 0 };
	struct target target;
	struct places places;
	struct err err;

	*seen = (struct seen){ 0 };
	config.server.target = &target;
	config.server.timeout = 60;
	config.oracle = &oracle;
	config.ctx = seen;
	if (!config.found)
		config.found = on_found;
	if (!config.strategy)
		config.strategy = &none;
	places_init(&places);
	assert_int_equal(target_init(&target, argv, NULL, &err), 0);
	*stats = (struct search_stats){ 0 };
	if (search_run(&config, &places, stats, &err) < 0)
		fail_msg("%s", err.text);
	target_free(&target);
	places_free(&places);
}

static void test_same_with_any_jobs(void **state)
{
	struct search_stats first_stats, stats;
	struct seen first, seen;

	(void)state;
	for (int all = 0; all < 2; all++) {
		struct search_config config = {
			.runs = 300, .seed = 7, .jobs = 1, .keep_going = all,
			.found = all ? on_found : on_found_stop,
		};

		search(&first, &first_stats, "random", config);
		assert_int_equal(first.count, all ? 3 : 1);	/* it fails in three ways */
		for (config.jobs = 2; config.jobs < 6; config.jobs++) {
			search(&seen, &stats, "random", config);
			assert_string_equal(buf_string(&seen.text), buf_string(&first.text));
			assert_int_equal(stats.shared, first_stats.shared);
			if (all)
				assert_int_equal(stats.failed, first_stats.failed);
			buf_free(&seen.text);
		}
		buf_free(&first.text);
	}
}

/* Of failures alike three are told if none is proved; and one for each cause. */
static void test_doubts_and_causes(void **state)
{
	struct search_config config = { .runs = 3000, .seed = 7, .jobs = 3, .keep_going = true };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "random", config);
	assert_int_equal(seen.count, 3);
	buf_free(&seen.text);
	config.cause = odd_or_even;
	search(&seen, &stats, "random", config);
	assert_int_equal(seen.count, 6);
	buf_free(&seen.text);
	config.cause = NULL;
	config.found = on_found_doubt;
	search(&seen, &stats, "random", config);
	assert_int_equal(seen.count, 3 * SEARCH_DOUBTS);
	assert_true(stats.failed > seen.count);
	buf_free(&seen.text);
}

static void test_seed_matters(void **state)
{
	struct search_config config = { .runs = 300, .seed = 7, .jobs = 2, .keep_going = true };
	struct search_stats stats;
	struct seen a, b;

	(void)state;
	search(&a, &stats, "random", config);
	assert_int_equal(stats.runs, 300);
	config.seed = 8;
	search(&b, &stats, "random", config);
	assert_string_not_equal(buf_string(&a.text), buf_string(&b.text));
	buf_free(&a.text);
	buf_free(&b.text);
}

/* A strategy that goes on from run to run begins anew when it learns of more memory. */
static void test_strategy_that_goes_on(void **state)
{
	const struct strategy endless = { .name = "chess", .end = endless_end };
	const struct strategy short_one = { .name = "chess", .end = short_end };
	struct search_config config = { .runs = 50, .seed = 3, .jobs = 4, .strategy = &endless,
					.keep_going = true };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "random", config);
	assert_int_equal(stats.runs, 50);
	assert_false(stats.exhausted);
	buf_free(&seen.text);
	config.strategy = &short_one;
	search(&seen, &stats, "echo", config);
	assert_int_equal(stats.runs, 5);
	assert_true(stats.exhausted);
	buf_free(&seen.text);
}

static void test_stop(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct search_config config = { .runs = 300, .jobs = 2, .stop = &stop };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "echo", config);
	assert_int_equal(stats.runs, 0);
}

static unsigned generations;

static void on_generation(void *ctx)
{
	(void)ctx;
	generations++;
}

/* A generation ends before runs 1, 2, 4 … 256, and at the end of the search. */
static void test_generations(void **state)
{
	struct search_config config = { .runs = 300, .jobs = 2, .keep_going = true };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	config.generation = on_generation;
	generations = 0;
	search(&seen, &stats, "random", config);
	assert_int_equal(generations, 10);
	buf_free(&seen.text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_with_any_jobs),
		cmocka_unit_test(test_doubts_and_causes), cmocka_unit_test(test_seed_matters),
		cmocka_unit_test(test_strategy_that_goes_on), cmocka_unit_test(test_stop),
		cmocka_unit_test(test_generations),
	};

	fake_target_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
