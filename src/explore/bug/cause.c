#include "explore/bug/cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/bug/rank_causes.h"
#include "explore/bug/same_cause.h"
#include "explore/search/replay_trace.h"
#include "explore/target/leftovers.h"

static bool is_same(const struct lead *a, const struct lead *b, struct places *places)
{
	return same_cause_implies(a, b, places) && same_cause_implies(b, a, places);
}

/* The order that explains the failure best, of this trace and of the leads; NULL: none. */
static struct lead *likeliest_order(const struct cause_config *c, const struct bug *b,
				    const char *trace)
{
	const struct leads *leads = c->source->leads(c->source->ctx);

	return leads_explain(leads, trace, b->failure->result.failure);
}

/*
 * Drops the cause found in the trace if the run was made for another candidate: the trace also has
 * orders that only led to the candidate's. Keeps it if it breaks the atomicity of one variable and
 * contains the candidate's order, which then is only a part of the cause.
 */
static void prefer_predicted(struct bug *b, struct places *places)
{
	const struct lead *lead = b->failure->lead;

	if (!lead || !b->cause || (same_cause_implies(lead, b->cause, places) &&
				   same_cause_implies(b->cause, lead, places)))
		return;
	if (b->cause->c.class == CANDIDATE_ATOMICITY &&
	    strcmp(lead_class(lead), "atomicity") != 0 &&
	    same_cause_implies(b->cause, lead, places)) {
		schedule_free_goals(&b->failure->schedule);
		return;
	}
	lead_free(b->cause);
	b->cause = NULL;
}

/* Source 1 of cause.h, checked against source 2. */
static void find_in_trace(struct bug *b, const struct cause_config *c)
{
	if (b->traced && c->source->leads)
		b->cause = likeliest_order(c, b, b->trace);
	if (b->traced && c->source->leads && !bug_cause(b))
		b->cause = rank_causes_use_after_free(b->failure, b->trace);
	prefer_predicted(b, c->places);
	if (bug_cause(b))
		interleavings_begin(&b->interleavings, bug_cause(b));
}

static bool was_predicted(const struct leads *l, const struct lead *cause, struct places *places)
{
	for (size_t i = 0; i < l->count; i++)
		if (is_same(cause, l->at[i], places))
			return true;
	return false;
}

/* Replaces the candidate that the run was made for by an order of which it is only a part. */
static void find_wider(struct bug *b, const struct cause_config *c)
{
	struct search_failure *f = b->failure;
	const struct leads *leads;
	struct lead *cause;

	if (!c->attempt || !c->source->leads || !f->lead || b->cause || !b->traced)
		return;
	leads = c->source->leads(c->source->ctx);
	attempt_allow(c->attempt, RANK_CAUSES_RUNS, c->seconds);
	cause = rank_causes(f, b->trace, leads, c->attempt, c->places);
	if (!cause)
		return;
	schedule_free_goals(&f->schedule);
	f->lead = NULL;
	b->cause = cause;
	b->predicted = was_predicted(leads, cause, c->places);
	interleavings_free(&b->interleavings);
	interleavings_begin(&b->interleavings, cause);
}

/*
 * If there is no cause yet, looks for one in the run before minimisation, whose trace may have an
 * order that the small run lacks.
 */
static void find_in_first_run(struct bug *b, struct schedule *s, const struct cause_config *c)
{
	char *path = xasprintf("%s/trace-%d.other.tmp", c->scratch, (int)getpid());
	struct oracle_result other;
	unsigned made;
	struct err err;

	if (!bug_cause(b) && c->source->leads && s->steps <= BUG_TRACE_STEPS &&
	    replay_prove(s, c->replay, 1, c->places, &made, &other, &err) == 1 &&
	    replay_record(c->replay, s, c->places, path, false, &err) == 0)
		b->cause = likeliest_order(c, b, path);
	unlink(path);
	free(path);
	if (b->cause && !b->interleavings.count)
		interleavings_begin(&b->interleavings, b->cause);
}

void cause_find(struct bug *b, const struct lead *tried, struct schedule *first,
		const struct cause_config *c)
{
	find_in_trace(b, c);
	find_wider(b, c);
	if (first)
		find_in_first_run(b, first, c);
	b->predicted |= tried && b->cause && is_same(b->cause, tried, c->places);
}

/*
 * Looks for a cause in the trace of one more replay, without values: writes that changed nothing
 * are not distinguished here. Without a hunt there are no leads, but the trace alone may show an
 * order.
 */
static struct lead *find_again(const struct bug *b, const struct suppressions *s,
			       const struct cause_config *c)
{
	char *path = leftovers_template("cause");
	const struct leads none = { .suppress = s, .deadline = c->replay->deadline };
	struct lead *cause = NULL;
	struct err err;
	int fd = mkstemp(path);

	if (fd >= 0 &&
	    replay_record(c->replay, &b->failure->schedule, c->places, path, false, &err) == 0)
		cause = c->source->leads ? likeliest_order(c, b, path) :
					   leads_explain(&none, path, b->failure->result.failure);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(path);
	return cause;
}

bool cause_is_suppressed(struct bug *b, const struct suppressions *s, const struct cause_config *c)
{
	struct lead *found;
	bool suppressed;

	if (bug_cause(b))
		return bug_cause(b)->suppressed == SUPPRESS_ALL;
	found = find_again(b, s, c);
	suppressed = found && found->suppressed == SUPPRESS_ALL;
	if (c->source->leads)
		b->cause = found;
	else
		lead_free(found);
	return suppressed;
}
