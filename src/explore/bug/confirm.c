#include "explore/bug/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define SHARE 6u		/* each step gets at most a sixth of the time left, and of --runs */
#define GATHER_SECONDS 10.0	/* at most, for all orders of one bug */

/* Seconds for one step: its share of the time left, at most `most`. */
static double share(const struct confirm_config *c, double most)
{
	double part = deadline_left(c->attempt.deadline) / SHARE;

	return part < most ? part : most;
}

/* Names the step for the progress line. */
static void tell(const struct confirm *u, const char *task)
{
	if (u->config->attempt.replay.task)
		snprintf(u->config->attempt.replay.task, REPLAY_TASK, "%s", task);
}

/* Begins a step of at most `runs` runs. False: no time is left for it. */
static bool begin(struct confirm *u, const char *task, uint64_t runs, double seconds)
{
	tell(u, task);
	if (deadline_over(u->config->attempt.deadline))
		return false;
	attempt_allow(&u->attempt, runs, share(u->config, seconds));
	return true;
}

void confirm_open(struct confirm *u, const struct confirm_config *config,
		   const struct search_failure *f)
{
	*u = (struct confirm){ .config = config };
	/* Many runs of a fork bomb would take too long. An error here is not reported: the replays
	 * will have and report it, too. */
	if (config->minimise && f->result.failure != ORACLE_BOMB)
		u->open = attempt_open(&u->attempt, &config->attempt, &f->schedule, &u->err) == 0;
	u->cause = (struct cause_config){ .source = &config->source,
					  .replay = &config->attempt.replay,
					  .attempt = u->open ? &u->attempt : NULL,
					  .seconds = share(config, MINIMISE_SECONDS),
					  .scratch = config->out,
					  .places = config->places };
}

void confirm_close(struct confirm *u)
{
	if (u->config->minimise)
		attempt_close(&u->attempt);
}

/* Minimises the switches. Drops the lead and its goals if the small run fails without its order. */
static void minimise(struct confirm *u, struct search_failure *f, struct minimised *out)
{
	if (!begin(u, "minimising the failure", MINIMISE_RUNS, MINIMISE_SECONDS))
		return;
	if (minimise_switches(f, &u->attempt, false, u->config->places, out) < 0 || !out->done ||
	    !f->lead)
		return;
	if (!out->has_lead) {
		f->lead = NULL;
		schedule_free_goals(&f->schedule);
	}
}

/* Makes the cause the goals of the schedule: the orders that snarl check-fix tries after a fix. */
static void set_goals(struct confirm *u, struct bug *b)
{
	struct search_failure *f = b->failure;
	unsigned before = u->attempt.runs;

	if (b->cause && !f->schedule.goal_count)
		lead_goals(b->cause, u->config->places, &f->schedule);
	if (!u->open || !begin(u, "explaining the failure", MINIMISE_GOAL_RUNS, MINIMISE_SECONDS))
		return;
	if (f->schedule.goal_count)
		minimise_goals(f, &u->attempt, u->config->places);
	b->goal_runs = u->attempt.runs - before;
}

bool confirm_prove(struct confirm *u, struct bug *b, struct search_failure *f, int *code,
		    struct err *err)
{
	const struct confirm_config *c = u->config;
	const struct lead *predicted = f->lead;
	struct schedule first = { 0 };
	struct minimised m = { 0 };
	bool proved;

	*code = 0;
	schedule_copy_header(&first, &f->schedule);
	schedule_copy_run(&first, &f->schedule);
	if (u->open)
		minimise(u, f, &m);
	bug_init(b, f, c->places);
	b->minimised = m;
	proved = bug_prove(b, &c->attempt.replay, c->replays, c->places, err);
	if (proved)
		tell(u, "recording the failure");
	if (proved)
		*code = bug_record(b, c->out, &c->attempt.replay, c->places, err);
	if (proved && *code == 0) {
		tell(u, "explaining the failure");
		/* If minimisation removed nothing, the run before it has no other orders. */
		cause_find(b, predicted, m.switches < m.from ? &first : NULL, &u->cause);
		set_goals(u, b);
	}
	schedule_free(&first);
	return proved;
}

void confirm_find_passing(struct confirm *u, struct bug *b)
{
	const struct confirm_config *c = u->config;
	char *path, *failing;

	if (!u->open || !begin(u, "looking for a passing run", PASSING_RUNS, PASSING_SECONDS))
		return;
	passing_find(&b->passing, &b->failure->schedule, &u->attempt, c->replays, c->places);
	if (!b->passing.found || !b->traced)
		return;
	path = xasprintf("%s/passing.snarl", b->path);
	failing = xasprintf("%s/trace.snarl", b->path);
	passing_trace(&b->passing, &u->attempt.config.replay, c->places, path, failing);
	bug_locate(b);
	free(path);
	free(failing);
}

void confirm_find_interleavings(struct confirm *u, struct bug *b)
{
	const struct confirm_config *c = u->config;
	uint64_t part = c->runs / SHARE;
	struct interleavings_config config = { .attempts = &u->attempt, .replays = c->replays,
					       .places = c->places };
	char *scratch;

	if (!c->source.leads || !u->open || !b->interleavings.count ||
	    !begin(u, "looking for other orders that fail",
		   c->runs && part < INTERLEAVINGS_RUNS ? part : INTERLEAVINGS_RUNS,
		   GATHER_SECONDS))
		return;
	config.leads = c->source.leads(c->source.ctx);
	config.scratch = scratch = xasprintf("%s/trace-%d.tmp", c->out, (int)getpid());
	interleavings_gather(&b->interleavings, b->failure, &config);
	free(scratch);
}
