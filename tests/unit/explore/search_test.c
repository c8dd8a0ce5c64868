/*
 * Searches of a fake program: the result depends on the seed, not on the number of workers.
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
	struct buf text;	/* a line per failure */
	unsigned begun, ended, generations;
};

/* The answers of the loop around a search. */
struct how {
	enum search_answer answer;	/* to every failure */
	bool by_parity;		/* failures of odd and even runs have different causes */
};

static void see(struct seen *seen, struct search_failure *f)
{
	seen->runs[seen->count] = f->run;
	seen->shared[seen->count++] = f->schedule.shared_count;
	buf_addf(&seen->text, "run %llu exit %d after %.*s", (unsigned long long)f->run,
		 f->result.number, (int)f->out.size, (const char *)f->out.data);
	search_failure_free(f);
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

static int loop(struct search *s, struct how how, struct seen *seen, struct err *err)
{
	struct search_run run;
	int event;

	while ((event = search_next(s, &run, err)) > 0)
		switch (event) {
		case SEARCH_BEGIN: seen->begun++; break;
		case SEARCH_ENDED:
			seen->ended++;
			search_cause(s, how.by_parity ? run.number % 2 : 0);
			break;
		case SEARCH_FAILED:
			see(seen, run.failure);
			search_answer(s, how.answer);
			break;
		case SEARCH_GENERATION: seen->generations++; break;
		}
	return event;
}

static void search(struct seen *seen, struct search_stats *stats, const char *what,
		   struct search_config config, struct how how)
{
	char *argv[] = { (char *)"/proc/self/exe", (char *)what, NULL };
	static const struct strategy none = { .name = "random" };
	struct oracle oracle = { 0 };
	struct target target;
	struct places places;
	struct search *s;
	struct err err;

	*seen = (struct seen){ 0 };
	*stats = (struct search_stats){ 0 };
	config.program.server.target = &target;
	config.program.server.timeout = 60;
	config.program.oracle = &oracle;
	config.program.places = &places;
	config.stats = stats;
	if (!config.plan.strategy)
		config.plan.strategy = &none;
	places_init(&places);
	assert_int_equal(target_init(&target, argv, NULL, &err), 0);
	s = search_open(&config, &err);
	if (loop(s, how, seen, &err) < 0)
		fail_msg("%s", err.text);
	search_close(s);
	target_free(&target);
	places_free(&places);
}

static const struct how MORE = { .answer = SEARCH_MORE };

static void test_same_with_any_jobs(void **state)
{
	struct search_stats first_stats, stats;
	struct seen first, seen;

	(void)state;
	for (int all = 0; all < 2; all++) {
		struct search_config config = {
			.plan = { .seed = 7, .jobs = 1, .keep_going = all }, .budget.runs = 300,
		};
		struct how how = { .answer = all ? SEARCH_MORE : SEARCH_ENOUGH };

		search(&first, &first_stats, "random", config, how);
		assert_int_equal(first.count, all ? 3 : 1);	/* it fails in three ways */
		for (config.plan.jobs = 2; config.plan.jobs < 6; config.plan.jobs++) {
			search(&seen, &stats, "random", config, how);
			assert_string_equal(buf_string(&seen.text), buf_string(&first.text));
			assert_int_equal(stats.shared, first_stats.shared);
			if (all)
				assert_int_equal(stats.failed, first_stats.failed);
			buf_free(&seen.text);
		}
		buf_free(&first.text);
	}
}

/*
 * A failure is reported once for each cause, and up to SEARCH_DOUBTS times if it does not replay.
 */
static void test_unproved_and_causes(void **state)
{
	struct search_config config = { .plan = { .seed = 7, .jobs = 3, .keep_going = true },
					.budget.runs = 3000 };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "random", config, MORE);
	assert_int_equal(seen.count, 3);
	buf_free(&seen.text);
	search(&seen, &stats, "random", config,
	       (struct how){ .by_parity = true, .answer = SEARCH_MORE });
	assert_int_equal(seen.count, 6);
	buf_free(&seen.text);
	search(&seen, &stats, "random", config, (struct how){ .answer = SEARCH_DOUBT });
	assert_int_equal(seen.count, 3 * SEARCH_DOUBTS);
	assert_true(stats.failed > seen.count);
	buf_free(&seen.text);
}

static void test_seed_matters(void **state)
{
	struct search_config config = { .plan = { .seed = 7, .jobs = 2, .keep_going = true },
					.budget.runs = 300 };
	struct search_stats stats;
	struct seen a, b;

	(void)state;
	search(&a, &stats, "random", config, MORE);
	assert_int_equal(stats.runs, 300);
	config.plan.seed = 8;
	search(&b, &stats, "random", config, MORE);
	assert_string_not_equal(buf_string(&a.text), buf_string(&b.text));
	buf_free(&a.text);
	buf_free(&b.text);
}

/* A stateful strategy starts from scratch when a run finds more shared granules. */
static void test_stateful_strategy(void **state)
{
	const struct strategy endless = { .name = "chess", .end = endless_end };
	const struct strategy short_one = { .name = "chess", .end = short_end };
	struct search_config config = { .plan = { .seed = 3, .jobs = 4, .strategy = &endless,
						  .keep_going = true },
					.budget.runs = 50 };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "random", config, MORE);
	assert_int_equal(stats.runs, 50);
	assert_false(stats.exhausted);
	buf_free(&seen.text);
	config.plan.strategy = &short_one;
	search(&seen, &stats, "echo", config, MORE);
	assert_int_equal(stats.runs, 5);
	assert_true(stats.exhausted);
	buf_free(&seen.text);
}

static void test_stop(void **state)
{
	struct deadline_stop stop = { .signal = SIGTERM };
	struct search_config config = { .plan.jobs = 2,
					.budget = { .runs = 300, .deadline.stop = &stop } };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "echo", config, MORE);
	assert_int_equal(stats.runs, 0);
}

/* A generation ends before runs 1, 2, 4 … 256, and at the end of the search. */
static void test_generations(void **state)
{
	struct search_config config = { .plan = { .jobs = 2, .keep_going = true },
					.budget.runs = 300 };
	struct search_stats stats;
	struct seen seen;

	(void)state;
	search(&seen, &stats, "random", config, MORE);
	assert_int_equal(seen.generations, 10);
	assert_int_equal(seen.begun, 300);
	assert_int_equal(seen.ended, 300);
	buf_free(&seen.text);
}

/* A caller may leave the loop at any event: search_close() frees everything. */
static void test_close_early(void **state)
{
	char *argv[] = { (char *)"/proc/self/exe", (char *)"random", NULL };
	static const struct strategy none = { .name = "random" };
	struct oracle oracle = { 0 };
	struct search_stats stats = { 0 };
	struct target target;
	struct places places;
	struct err err;

	(void)state;
	places_init(&places);
	assert_int_equal(target_init(&target, argv, NULL, &err), 0);
	for (int last = SEARCH_BEGIN; last <= SEARCH_GENERATION; last++) {
		struct search_config config = {
			.program = { { .target = &target, .timeout = 60 }, &oracle, &places },
			.plan = { .strategy = &none, .seed = 7, .jobs = 3, .keep_going = true },
			.budget.runs = 300, .stats = &stats,
		};
		struct search *s = search_open(&config, &err);
		struct search_run run;

		if (last == SEARCH_INCONCLUSIVE) {	/* no run exceeds a limit */
			search_close(s);
			continue;
		}
		while (search_next(s, &run, &err) != last)
			;
		if (last == SEARCH_FAILED)
			search_failure_free(run.failure);
		search_close(s);
	}
	target_free(&target);
	places_free(&places);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_with_any_jobs),
		cmocka_unit_test(test_unproved_and_causes), cmocka_unit_test(test_seed_matters),
		cmocka_unit_test(test_stateful_strategy), cmocka_unit_test(test_stop),
		cmocka_unit_test(test_generations), cmocka_unit_test(test_close_early),
	};

	fake_target_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
