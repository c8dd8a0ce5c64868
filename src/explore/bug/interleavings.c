#include "explore/bug/interleavings.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/bug/same_cause.h"
#include "explore/search/replay_trace.h"

#define MINIMISE_ONE_RUNS 60u	/* at most, to minimise one run before its trace is compared */

void interleavings_free(struct interleavings *l)
{
	for (size_t i = 0; i < l->count; i++) {
		lead_free(l->at[i].lead);
		if (l->at[i].failure)
			search_failure_free(l->at[i].failure);
	}
	free(l->at);
	*l = (struct interleavings){ 0 };
}

static struct interleaving *add(struct interleavings *l, const struct lead *lead)
{
	l->at = xgrow(l->at, l->count, &l->capacity, sizeof(*l->at));
	l->at[l->count] = (struct interleaving){ .lead = lead_copy(lead) };
	return &l->at[l->count++];
}

void interleavings_begin(struct interleavings *l, const struct lead *cause)
{
	add(l, cause);
}

/* True if the orders of a lead of the list imply those of `lead`, or the other way round. */
static bool has_like(const struct interleavings *l, const struct lead *lead, struct places *places)
{
	for (size_t i = 0; i < l->count; i++)
		if (same_cause_implies(l->at[i].lead, lead, places) ||
		    same_cause_implies(lead, l->at[i].lead, places))
			return true;
	return false;
}

/* Context of is_known(). */
struct known {
	const struct interleavings *l;
	struct places *places;
};

static bool is_known(void *ctx, const struct lead *lead)
{
	const struct known *k = ctx;

	return has_like(k->l, lead, k->places);
}

/*
 * True if the trace of a failing run has another explanation than the order that the run was made
 * for: an order of the list, or the cause of another bug. Compares with the predicted leads as
 * well, because the trace alone shows little of a use after free or a deadlock.
 */
static bool is_explained(const struct interleavings *l, const struct search_failure *f,
			 const struct interleavings_config *c)
{
	struct known known = { l, c->places };
	struct lead *cause = NULL;
	bool explained = false;
	struct err err;

	c->attempts->runs++;
	if (replay_record(&c->attempts->config.replay, &f->schedule, c->places, c->scratch, false,
			  &err) == 0) {
		cause = leads_explain(c->leads, c->scratch, f->result.failure);
		explained = (cause && (is_known(&known, cause) ||
				       !same_cause_matches(l->at[0].lead, cause, c->places))) ||
			    leads_any_in_trace(c->leads, c->scratch, is_known, &known);
	}
	unlink(c->scratch);
	lead_free(cause);
	return explained;
}

static bool is_proved(struct interleaving *i, const struct interleavings_config *c)
{
	struct oracle_result other;
	unsigned made;

	i->replays = c->replays;
	i->good = replay_prove(&i->failure->schedule, &c->attempts->config.replay, c->replays,
			       c->places, &made, &other, c->attempts->err);
	c->attempts->runs += made;
	return i->good == i->replays;
}

/* Minimises with at most MINIMISE_ONE_RUNS runs. True if the small run still has the order. */
static bool minimise_one(struct interleaving *i, const struct interleavings_config *c)
{
	unsigned most = c->attempts->most;
	int code;

	if (most - c->attempts->runs > MINIMISE_ONE_RUNS)
		c->attempts->most = c->attempts->runs + MINIMISE_ONE_RUNS;
	code = minimise_switches(i->failure, c->attempts, true, c->places, &i->minimised);
	c->attempts->most = most;
	return code == 0 && i->minimised.done && i->minimised.has_lead;
}

static void try(struct interleavings *l, const struct search_failure *like, const struct lead *lead,
		const struct interleavings_config *c)
{
	struct interleaving i = { 0 }, *added;

	i.failure = minimise_fail_directed(like, lead, c->attempts, c->places);
	if (!i.failure)
		return;
	if (attempt_over(c->attempts) || !minimise_one(&i, c) || is_explained(l, i.failure, c) ||
	    !is_proved(&i, c)) {
		search_failure_free(i.failure);
		return;
	}
	added = add(l, lead);
	i.lead = added->lead;
	i.failure->lead = i.lead;
	*added = i;
}

int interleavings_gather(struct interleavings *l, const struct search_failure *like,
			 const struct interleavings_config *config)
{
	unsigned before = config->attempts->runs;

	for (size_t i = 0; i < config->leads->count && !attempt_over(config->attempts) &&
			   l->count < INTERLEAVINGS_MAX && l->tried < INTERLEAVINGS_TRIED; i++) {
		const struct lead *lead = config->leads->at[i];

		if (!same_cause_matches(l->at[0].lead, lead, config->places) ||
		    has_like(l, lead, config->places))
			continue;
		l->tried++;
		try(l, like, lead, config);
	}
	l->runs += config->attempts->runs - before;
	return config->attempts->broken ? -1 : 0;
}
