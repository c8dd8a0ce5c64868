#include "explore/search/every_run.h"

#include <string.h>

#include "base/mem.h"
#include "explore/search/fingerprint.h"

#define RUNS_EACH 12u		/* runs by each strategy */
#define RUNS_LEAST 8u		/* fewer runs tell nothing */
#define SECONDS_EACH 4.0	/* for the runs of one strategy */

static const struct {
	const char *strategy;
	uint32_t depth;
} ways[] = { { "random", 0 }, { "pos", 0 }, { "pct", 3 } };

struct tally {
	uint64_t runs, alike;
	bool passed;		/* some run did */
};

static bool is_alike(const struct search_config *c, const struct search_run *run,
		     const char *fingerprint)
{
	struct oracle_result r = *run->result;
	char text[FINGERPRINT_SIZE];

	if (r.verdict != ORACLE_FAILED)
		return false;
	oracle_refine(&r, server_report(run->server), c->program.places);
	fingerprint_of(&r, c->program.places, text);
	return strcmp(text, fingerprint) == 0;
}

static void count_runs(const struct search_config *c, const char *fingerprint, struct tally *t)
{
	struct search_run run;
	struct err err;
	struct search *s = search_open(c, &err);
	int event;

	while ((event = search_next(s, &run, &err)) > 0)
		if (event == SEARCH_FAILED) {
			search_failure_free(run.failure);
		} else if (event == SEARCH_ENDED) {
			t->runs++;
			t->alike += is_alike(c, &run, fingerprint);
			t->passed |= run.result->verdict == ORACLE_PASSED;
			if (t->passed)
				search_stop(s);
		}
	search_close(s);
}

bool every_run_fails(const struct search_config *config, const struct search_failure *f,
		     uint64_t *made)
{
	struct oracle oracle = *config->program.oracle;
	struct tally t = { 0 };
	char fingerprint[FINGERPRINT_SIZE];

	fingerprint_of(&f->result, config->program.places, fingerprint);
	for (size_t i = 0; i < ARRAY_SIZE(ways) && !t.passed; i++) {
		struct search_stats stats = { 0 };
		struct search_config c = *config;

		c.program.oracle = &oracle;
		c.plan.strategy = strategy_find(ways[i].strategy);
		c.plan.depth = ways[i].depth;
		c.plan.keep_going = true;
		c.budget.runs = RUNS_EACH;
		c.budget.deadline = deadline_within(&config->budget.deadline, SECONDS_EACH);
		c.memory = NULL;
		c.stats = &stats;
		count_runs(&c, fingerprint, &t);
	}
	*made = t.runs;
	return !t.passed && t.runs >= RUNS_LEAST && 2 * t.alike > t.runs;
}
