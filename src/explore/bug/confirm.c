#include "explore/bug/confirm.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/bug/rank_causes.h"
#include "explore/bug/same_cause.h"

#define SHARE 6u		/* of the budget, at most */
#define GATHER_SECONDS 10.0

/* Of the time that is allowed in all, or of what is reasonable. */
static double share(const struct followup_config *c, double most)
{
	double part = c->seconds / SHARE;

	return c->seconds > 0 && part < most ? part : most;
}

/* A run that comes to no end of its own takes the whole time-out, every time. */
static bool is_endless(const struct search_failure *f)
{
	return f->result.failure == ORACLE_TIMEOUT || f->result.failure == ORACLE_BOMB;
}

void followup_open(struct followup *u, const struct followup_config *config,
		   const struct search_failure *f)
{
	*u = (struct followup){ .config = config };
	/* What goes wrong here will go wrong when it is replayed, and is told then. */
	if (config->minimise && !is_endless(f))
		u->open = attempt_open(&u->attempt, &config->attempt, &f->schedule, &u->err) == 0;
}

void followup_close(struct followup *u)
{
	if (u->config->minimise)
		attempt_close(&u->attempt);
}

static void minimise(struct followup *u, struct search_failure *f, struct minimised *out)
{
	attempt_allow(&u->attempt, MINIMISE_RUNS, share(u->config, MINIMISE_SECONDS));
	if (minimise_switches(f, &u->attempt, false, u->config->places, out) < 0 || !out->done ||
	    !f->lead)
		return;
	if (!out->has_lead) {
		f->lead = NULL;		/* it fails without that order, too */
		schedule_free_goals(&f->schedule);
	}
}

/* The order of the cause as goals: what has to be asked again when the program is mended. */
static void set_goals(struct followup *u, struct bug *b)
{
	struct search_failure *f = b->failure;
	unsigned before = u->attempt.runs;

	if (b->cause && !f->schedule.goal_count)
		lead_goals(b->cause, u->config->places, &f->schedule);
	if (!u->open)
		return;
	attempt_allow(&u->attempt, MINIMISE_GOAL_RUNS, share(u->config, MINIMISE_SECONDS));
	if (f->schedule.goal_count)
		minimise_goals(f, &u->attempt, u->config->places);
	b->goal_runs = u->attempt.runs - before;
}

static bool was_predicted(const struct leads *l, const struct lead *cause, struct places *places)
{
	for (size_t i = 0; i < l->count; i++)
		if (cluster_implies(cause, l->at[i], places) && cluster_implies(l->at[i], cause, places))
			return true;
	return false;
}

/* If the predicted order is only a part of the cause, that is told instead. */
static void weigh(struct followup *u, struct bug *b)
{
	struct search_failure *f = b->failure;
	const struct leads *leads;
	struct lead *cause;

	if (!u->open || !u->config->leads || !f->lead || b->cause || !b->traced)
		return;
	leads = u->config->leads(u->config->ctx);
	attempt_allow(&u->attempt, WEIGH_RUNS, share(u->config, MINIMISE_SECONDS));
	cause = weigh_cause(f, b->trace, leads, &u->attempt, u->config->places);
	if (!cause)
		return;
	schedule_free_goals(&f->schedule);
	f->lead = NULL;
	b->cause = cause;
	b->foretold = was_predicted(leads, cause, u->config->places);
	interleavings_free(&b->interleavings);
	interleavings_begin(&b->interleavings, cause);
}

bool followup_prove(struct followup *u, struct bug *b, struct search_failure *f, int *code,
		    struct err *err)
{
	const struct followup_config *c = u->config;
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
	b->explain = c->explain;
	b->explain_ctx = c->ctx;
	proved = bug_prove(b, &c->attempt.replay, c->replays, c->places, err);
	if (proved)
		*code = bug_examine(b, c->out, &c->attempt.replay, c->places, err);
	if (proved && *code == 0)
		weigh(u, b);
	/* In a long run the one place where it goes wrong may be overlooked. */
	if (proved && *code == 0 && m.switches < m.from)
		bug_examine_other(b, &first, c->out, &c->attempt.replay, c->places);
	b->foretold |= predicted && b->cause && cluster_implies(b->cause, predicted, c->places) &&
		       cluster_implies(predicted, b->cause, c->places);
	if (proved && *code == 0)
		set_goals(u, b);
	schedule_free(&first);
	return proved;
}

void followup_compare(struct followup *u, struct bug *b)
{
	const struct followup_config *c = u->config;
	char *path, *failing;

	if (!u->open)
		return;
	attempt_allow(&u->attempt, PASSING_RUNS, share(c, PASSING_SECONDS));
	passing_find(&b->passing, &b->failure->schedule, &u->attempt, c->replays, c->places);
	if (!b->passing.found || !b->traced)
		return;
	path = xasprintf("%s/passing.snarl", b->path);
	failing = xasprintf("%s/trace.snarl", b->path);
	passing_trace(&b->passing, &c->attempt.replay, c->places, path, failing);
	bug_locate(b);
	free(path);
	free(failing);
}

void followup_gather(struct followup *u, struct bug *b)
{
	const struct followup_config *c = u->config;
	uint64_t part = c->runs / SHARE;
	struct interleavings_config config = { .attempts = &u->attempt, .replays = c->replays,
					       .places = c->places };
	char *scratch;

	if (!c->leads || !u->open || !b->interleavings.count)
		return;
	attempt_allow(&u->attempt, c->runs && part < INTERLEAVINGS_RUNS ? part : INTERLEAVINGS_RUNS,
		      share(c, GATHER_SECONDS));
	config.leads = c->leads(c->ctx);
	config.scratch = scratch = xasprintf("%s/trace-%d.tmp", c->out, (int)getpid());
	interleavings_gather(&b->interleavings, b->failure, &config);
	free(scratch);
}
