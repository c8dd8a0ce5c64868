/*
 * The proving stage. Each lead is tried in the ways of the table below. Most begin as the run
 * that predicted it, up to where a thread has to wait (PENELOPE, Sorrentino et al., FSE 2010);
 * some do not, as chance may find a better way; and some take the first round of a loop
 * instead of the one that the trace had. If that run does not lead there, none follows it.
 *
 * Before that, leads of one trace that do not overlap share a run (AVPredictor, §4). Those
 * whose order did not come about in it are tried alone; so are all when it fails, and only
 * if none of them fails alone is that told as what it is: a failure of who knows which.
 *
 * All leads are tried in one way before the next, the best first. Later ways share what is
 * before the wait: leads are tried in the order of where that is, a few at a time, so that
 * one snapshot leads to the next.
 */
#include "explore/hunt/hunt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_list.h"
#include "base/mem.h"
#include "explore/lead/lead_run.h"

#define FEW_SWITCHES 20u		/* permille: few switches, near to the run that was watched */
#define PROVE_SHARE 0.75	/* of the runs that are left */
#define BATCH 16u		/* leads in the order of their prefixes, within the order of their ranks */
#define NO_SNAPSHOT (CTL_TIMEOUTS | CTL_SPURIOUS | CTL_REAL_TIME)	/* choices that steps do not tell */

enum guidance { GUIDED, FIRST_ITERATION, UNGUIDED };

static const struct {
	enum goal_then then;
	uint32_t permille;	/* 0: the default */
	enum guidance guidance;
} ways[HUNT_TRIES] = {
	{ GOAL_RUN_ON, FEW_SWITCHES, GUIDED },
	{ GOAL_RUN_ON, 0, FIRST_ITERATION }, { GOAL_SWITCH, FEW_SWITCHES, GUIDED },
	{ GOAL_RANDOM, FEW_SWITCHES, GUIDED }, { GOAL_SWITCH, 0, FIRST_ITERATION }, { GOAL_RANDOM, 0, GUIDED },
	{ GOAL_RUN_ON, 0, UNGUIDED }, { GOAL_SWITCH, 0, UNGUIDED }, { GOAL_RANDOM, 0, UNGUIDED },
};

struct proof_attempt {
	struct lead *member[HUNT_GROUP_MOST];
	uint8_t outcome[HUNT_GROUP_MOST];	/* enum lead_outcome */
	uint8_t count, way;
	bool guided, first_iteration, failed;
};

/* What is left for the stage. */
struct budget {
	bool limited;
	uint64_t runs;
	double until;		/* seconds since the hunt began; 0: no limit */
};

static const struct profile *profile_of(const struct hunt *h, const struct lead *lead)
{
	return &h->profiles[lead->profile];
}

static bool has_guide(const struct hunt *h, const struct lead *lead)
{
	const struct profile *p = profile_of(h, lead);

	return p->turns && p->known == h->memory.count && !lead->guide_failed;
}

/* --- a run --- */

/* Where the run begins: at its first wait, if the way there is long enough. */
static struct snapshots_point point_of(const struct hunt *h, const struct proof_attempt *a)
{
	const struct lead *lead = a->member[0];
	const struct profile *p = profile_of(h, lead);
	struct snapshots_point point = { p->turns, p->count, lead->prefix };
	bool possible = a->guided && a->count == 1 && h->config.snapshots &&
			lead->prefix >= h->config.snapshots &&
			!(h->config.search.plan.flags & NO_SNAPSHOT) && !lead->c.spurious &&
			snapshots_possible(&point);

	return possible ? point : (struct snapshots_point){ 0 };
}

static void begin(const struct hunt *h, const struct search_run *run)
{
	struct server *s = run->server;
	const struct proof_attempt *a = &h->attempts[run->number];
	const struct profile *p = profile_of(h, a->member[0]);
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);
	struct sched_turn *turns = (struct sched_turn *)(plan + 1);
	struct sched_order *orders;

	snprintf(q->strategy, sizeof(q->strategy), "goal");
	q->depth = ways[a->way].then;
	q->switch_permille = ways[a->way].permille;
	q->flags |= a->member[0]->c.spurious ? CTL_SPURIOUS : 0;
	*plan = (struct sched_plan){ .turns = a->guided && !s->depth ? p->count : 0 };
	if (plan->turns)
		memcpy(turns, p->turns, plan->turns * sizeof(*turns));
	orders = (struct sched_order *)(turns + plan->turns);
	for (unsigned i = 0; i < a->count; i++) {
		const struct lead *lead = a->member[i];
		struct lead first;

		if (a->first_iteration && lead_first_iteration(lead, &first))
			lead = &first;
		memcpy(orders + plan->orders, s->depth ? lead->order_after_prefix : lead->order,
		       lead->orders * sizeof(*orders));
		plan->orders += lead->orders;
	}
	plan->size = (size_t)((char *)(orders + plan->orders) - (char *)plan);
	q->plan_size = plan->size;
}

static void record_outcome(struct hunt *h, const struct search_run *run)
{
	const struct server *s = run->server;
	struct proof_attempt *a = &h->attempts[run->number];
	const void *state = (const char *)s->block + s->block->state;
	uint32_t order = 0;
	uint64_t steps;

	a->failed = run->result->verdict == ORACLE_FAILED;
	for (unsigned i = 0; i < a->count; i++) {
		struct lead *lead = a->member[i];
		struct goal_result goal;

		goal_result_of(state, order, lead->orders, &goal);
		order += lead->orders;
		a->outcome[i] = lead_run_judge(lead, &goal, run->result);
		/* Of a group only what came about tells, and only if all went well. */
		if (a->count > 1 && a->outcome[i] != LEAD_HARMLESS)
			a->outcome[i] = LEAD_UNTRIED;
		h->stats.proved += a->outcome[i] == LEAD_FAILED;
	}
	if (a->count == 1 && a->guided && !s->depth && goal_rest(state, &steps, a->member[0]->order_after_prefix))
		a->member[0]->prefix = steps;	/* the same in all runs of this lead */
	h->stats.left -= a->way == 0 && a->count == 1 && h->stats.left > 0;
}

/* Leads about the same memory are one cause. */
static uint64_t cause(const struct proof_attempt *a)
{
	return a->outcome[0] == LEAD_FAILED ? a->member[0]->c.addr + 1 : 0;
}

void hunt_prove_attribute(struct hunt *h, struct search_failure *f)
{
	const struct proof_attempt *a = &h->attempts[f->schedule.run];
	struct lead first;

	if (a->outcome[0] != LEAD_FAILED)
		return;
	f->lead = a->member[0];
	lead_first_iteration(f->lead, &first);
	lead_goals(a->first_iteration ? &first : f->lead, h->places, &f->schedule);
}

void hunt_prove_end_at(struct hunt *h, uint64_t run)
{
	h->counted = run + 1;
}

/* --- what came of them --- */

void hunt_count(struct hunt *h)
{
	struct hunt_stats *st = &h->stats;

	st->left = st->proved = st->harmless = st->infeasible = st->unreached = st->grouped = 0;
	for (size_t i = 0; i < h->leads.count; i++) {
		st->grouped += h->leads.at[i]->grouped;
		switch (h->leads.at[i]->outcome) {
		case LEAD_UNTRIED: st->left++; break;
		case LEAD_UNREACHED: st->unreached++; break;
		case LEAD_INFEASIBLE: st->infeasible++; break;
		case LEAD_HARMLESS: st->harmless++; break;
		case LEAD_FAILED: st->proved++; break;
		}
	}
}

static void update_leads(struct proof_attempt *a)
{
	for (unsigned i = 0; i < a->count; i++) {
		struct lead *lead = a->member[i];

		lead->runs++;
		lead->exposed += a->outcome[i] == LEAD_HARMLESS;
		if (a->outcome[i] > lead->outcome)
			lead->outcome = a->outcome[i];
		lead->grouped |= a->count > 1;
		lead->group_failed = a->count > 1 && a->failed;
		if (a->count == 1)
			lead->guide_failed |= a->guided && !lead->prefix;
		/* In a group it counts as the first way, if it came about. */
		if (a->count == 1 || a->outcome[i] == LEAD_HARMLESS)
			lead->tries = a->way + 1u;
	}
}

static size_t plan_size(const struct hunt *h)
{
	size_t most = 0, orders = 2 * HUNT_GROUP_MOST * CANDIDATE_EVENTS;

	for (uint64_t i = 0; i < h->attempt_count; i++)
		if (profile_of(h, h->attempts[i].member[0])->count > most)
			most = profile_of(h, h->attempts[i].member[0])->count;
	return sizeof(struct sched_plan) + most * sizeof(struct sched_turn) +
	       orders * sizeof(struct sched_order);
}

static int search_attempts(struct hunt *h, const struct search_config *config, struct err *err)
{
	struct search *s = search_open(config, err);
	struct snapshots_point point;
	struct search_run run;
	int event;

	while ((event = search_next(s, &run, err)) > 0)
		switch (event) {
		case SEARCH_BEGIN:
			point = point_of(h, &h->attempts[run.number]);
			if (!search_begin_at(s, &point))
				begin(h, &run);
			break;
		case SEARCH_ENDED:
			record_outcome(h, &run);
			search_cause(s, cause(&h->attempts[run.number]));
			break;
		default: search_report(event, &run, &h->listener);
		}
	search_close(s);
	return event;
}

/* Only runs up to the one that ended it count: the same for any number of jobs. */
static int run_attempts(struct hunt *h, struct budget *b, struct err *err)
{
	struct search_memory memory = h->memory;
	struct search_config config;
	uint64_t runs = h->runs->runs;
	int result;

	if (!h->attempt_count || !hunt_begin(h, HUNT_PROVE, &config) ||
	    (b->limited && !b->runs) || (b->until > 0 && h->runs->seconds >= b->until))
		return 0;
	h->counted = h->attempt_count;
	if (b->limited && h->counted > b->runs)
		h->counted = b->runs;
	if (b->until > 0)
		config.budget.seconds = b->until - h->runs->seconds;
	config.budget.runs = h->counted;
	config.plan.learned = true;
	config.program.server.plan_size = plan_size(h);
	if (h->grouping) {
		/* Its failures are not reported yet. */
		memory.identities = (struct map){ 0 };
		config.memory = &memory;
	}
	result = search_attempts(h, &config, err);
	if (h->grouping) {
		map_free(&memory.identities);
		memory.identities = h->memory.identities;
		h->memory = memory;
	}
	runs = h->runs->runs - runs;
	if (runs < h->counted)
		h->counted = runs;	/* time was up, or Ctrl-C */
	for (uint64_t i = 0; i < h->counted; i++)
		update_leads(&h->attempts[i]);
	b->runs -= b->limited ? h->counted : 0;
	hunt_count(h);
	return result;
}

/* --- which runs to make --- */

static struct proof_attempt *add(struct hunt *h, size_t *capacity, struct lead *lead, unsigned way)
{
	struct lead first;
	struct proof_attempt *a;

	h->attempts = xgrow(h->attempts, h->attempt_count, capacity, sizeof(*h->attempts));
	a = &h->attempts[h->attempt_count++];
	*a = (struct proof_attempt){ .member = { lead }, .count = 1, .way = (uint8_t)way };
	a->first_iteration = ways[way].guidance == FIRST_ITERATION && lead_first_iteration(lead, &first);
	a->guided = ways[way].guidance != UNGUIDED && !a->first_iteration && has_guide(h, lead);
	return a;
}

/* Leads of one watched run, not tried yet, that do not overlap. */
static void add_groups(struct hunt *h, size_t profile, size_t *capacity)
{
	struct hunt_list list = { .at = xcalloc(h->leads.count + 1, sizeof(struct candidate *)) };
	struct lead **leads = xcalloc(h->leads.count + 1, sizeof(*leads));
	struct hunt_groups groups;

	for (size_t i = 0; i < h->leads.count; i++) {
		struct lead *lead = h->leads.at[i];

		if (lead->profile == profile && !lead->runs && has_guide(h, lead) && !lead->c.spurious) {
			leads[list.count] = lead;
			list.at[list.count++] = &lead->c;
		}
	}
	group_list(&list, HUNT_GROUP_MOST, &groups);
	for (size_t g = 0; g < groups.count; g++) {
		struct proof_attempt *a;

		if (groups.at[g].count < 2)
			continue;
		a = add(h, capacity, leads[groups.at[g].member[0]], 0);
		for (a->count = 0; a->count < groups.at[g].count; a->count++)
			a->member[a->count] = leads[groups.at[g].member[a->count]];
	}
	hunt_groups_free(&groups);
	free(list.at);
	free(leads);
}

static int by_prefix(const void *a, const void *b)
{
	const struct lead *x = *(struct lead *const *)a, *y = *(struct lead *const *)b;

	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void add_batch(struct hunt *h, struct lead **batch, size_t count, unsigned first, unsigned end,
		      size_t *capacity)
{
	if (first > 0 && count > 1)
		qsort(batch, count, sizeof(*batch), by_prefix);
	for (size_t i = 0; i < count; i++)
		for (unsigned way = first; way < end; way++)
			add(h, capacity, batch[i], way);
}

/* The ways first … end - 1, of the leads that had all ways before. */
static void add_singles(struct hunt *h, unsigned first, unsigned end, bool group_failed, size_t *capacity)
{
	struct lead *batch[BATCH];
	size_t count = 0;

	for (size_t i = 0; i < h->leads.count; i++) {
		struct lead *lead = h->leads.at[i];

		if (lead->tries != first || lead->group_failed != group_failed ||
		    profile_of(h, lead)->input != h->input)
			continue;
		batch[count++] = lead;
		if (count == BATCH) {
			add_batch(h, batch, count, first, end, capacity);
			count = 0;
		}
	}
	add_batch(h, batch, count, first, end, capacity);
}

enum { GROUP_PASS = 99 };

static int pass(struct hunt *h, unsigned first, unsigned end, struct budget *b, struct err *err)
{
	int result = 0;

	for (size_t input = 0; input < h->config.inputs->count && !h->stopped && result == 0; input++) {
		size_t capacity = 0;

		if (hunt_select(h, input, err) < 0)
			return -1;
		leads_sort(&h->leads);	/* by what the last pass showed, too */
		h->grouping = first == GROUP_PASS;
		if (!h->grouping) {
			add_singles(h, first, end, true, &capacity);
			add_singles(h, first, end, false, &capacity);
		}
		for (size_t i = 0; h->grouping && i < h->profile_count; i++)
			if (h->profiles[i].input == input)
				add_groups(h, i, &capacity);
		result = run_attempts(h, b, err);
		free(h->attempts);
		h->attempts = NULL;
		h->attempt_count = 0;
	}
	h->grouping = false;
	return result;
}

/* Failures of groups; those that a lead alone has shown are known by now. */
static void report_postponed(struct hunt *h)
{
	struct err err;

	for (size_t i = 0; i < h->postponed_count; i++)
		if (h->stopped || hunt_select(h, h->postponed[i].input, &err) < 0)
			search_failure_free(h->postponed[i].failure);
		else
			hunt_report(h, h->postponed[i].failure);
	h->postponed_count = 0;
}

int hunt_prove(struct hunt *h, unsigned until, struct err *err)
{
	static const struct {
		unsigned first, end;
	} passes[] = { { GROUP_PASS, 0 }, { 0, 1 }, { 1, HUNT_TRIES_FIRST }, { HUNT_TRIES_FIRST, HUNT_TRIES } };
	struct budget b = { 0 };
	struct search_config config;
	int result = 0;

	if (!h->leads.count || !hunt_begin(h, HUNT_PROVE, &config))
		return 0;
	b.limited = config.budget.runs > 0;
	b.runs = b.limited ? (uint64_t)((double)config.budget.runs * PROVE_SHARE) + 1 : 0;
	b.until = config.budget.seconds > 0 ?
		  h->runs->seconds + config.budget.seconds * PROVE_SHARE : 0;
	for (size_t i = 0; i < ARRAY_SIZE(passes) && result == 0 && passes[i].end <= until; i++) {
		result = pass(h, passes[i].first, passes[i].end, &b, err);
		if (passes[i].first == 0)
			report_postponed(h);
	}
	report_postponed(h);
	return result;
}
