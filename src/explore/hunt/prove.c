/*
 * The proving stage: makes runs with the orders of each lead.
 *
 * Each lead is tried in up to nine ways (table below). Some runs follow the profile run that
 * predicted the lead, their guide, up to the first wait (PENELOPE, Sorrentino et al., FSE 2010).
 * The others have no guide and may reach the order in another way. Two of them try the first
 * iteration of a loop instead of the one in the trace. A lead whose guided run does not reach the
 * first wait is no longer guided.
 *
 * Before that, leads of one trace whose events do not overlap in time share runs (AVPredictor,
 * section 4). Leads whose order did not come about in such a run are tried alone. If the run fails,
 * all its leads are tried alone, since any of them may be the cause. If none fails alone, the
 * failure is reported without a lead.
 *
 * There is one pass over all leads for the first way, one for the next two, and one for the other
 * six, each with the likeliest leads first. After the first pass, batches of leads are sorted by
 * the length of their prefix, so that a lead can continue from the snapshot of the lead before it.
 */
#include "explore/hunt/hunt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_list.h"
#include "base/mem.h"
#include "explore/lead/lead_run.h"

#define FEW_SWITCHES 20u	/* permille: the run stays near the profile run */
#define PROVE_SHARE 0.75	/* of the runs and the time left: the rest is for searching */
#define BATCH 16u		/* leads with neighbouring ranks that are sorted by prefix */

/* A number of steps does not identify a point of runs with these flags: no snapshots. */
#define NO_SNAPSHOT (CTL_TIMEOUTS | CTL_SPURIOUS | CTL_REAL_TIME)

enum guidance {
	GUIDED,			/* follows the profile run up to the first wait */
	FIRST_ITERATION,	/* tries the first visits to the sites, without a guide */
	UNGUIDED,		/* tries the visits that the trace had, without a guide */
};

static const struct {
	enum goal_then then;
	uint32_t permille;	/* rate of switches; 0: the default */
	enum guidance guidance;
} ways[HUNT_TRIES] = {
	{ GOAL_RUN_ON, FEW_SWITCHES, GUIDED },
	{ GOAL_RUN_ON, 0, FIRST_ITERATION }, { GOAL_SWITCH, FEW_SWITCHES, GUIDED },
	{ GOAL_RANDOM, FEW_SWITCHES, GUIDED }, { GOAL_SWITCH, 0, FIRST_ITERATION },
	{ GOAL_RANDOM, 0, GUIDED },
	{ GOAL_RUN_ON, 0, UNGUIDED }, { GOAL_SWITCH, 0, UNGUIDED }, { GOAL_RANDOM, 0, UNGUIDED },
};

/* A run that tries a lead, or a group of leads. */
struct proof_attempt {
	struct lead *member[HUNT_GROUP_MOST];
	uint8_t outcome[HUNT_GROUP_MOST];	/* of each member: enum lead_outcome */
	uint8_t count;		/* number of members */
	uint8_t way;		/* index of `ways` */
	bool guided;		/* the plan has the turns of the profile run */
	bool first_iteration;	/* the plan has the orders of lead_first_iteration() */
	bool failed;		/* the run failed */
};

/* The rest of the budget of this stage. */
struct budget {
	bool limited;		/* `runs` is a limit */
	uint64_t runs;
	struct deadline deadline;
};

static const struct profile *profile_of(const struct hunt *h, const struct lead *lead)
{
	return &h->profiles[lead->profile];
}

/* True if the profile run can be followed: it has turns, and no granule became shared since. */
static bool has_guide(const struct hunt *h, const struct lead *lead)
{
	const struct profile *p = profile_of(h, lead);

	return p->turns && p->known == h->memory.count && !lead->guide_failed;
}

/* --- a run --- */

/* Where to begin the run: at its first wait if a snapshot there saves enough; else at the start. */
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

/* Fills in the request and plan of an attempt. */
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

/* Sets the outcomes of an attempt from a run that has ended. */
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
		/* Members of a group influence each other: only a harmless outcome is certain. */
		if (a->count > 1 && a->outcome[i] != LEAD_HARMLESS)
			a->outcome[i] = LEAD_UNTRIED;
		h->stats.proved += a->outcome[i] == LEAD_FAILED;
	}
	if (a->count == 1 && a->guided && !s->depth &&
	    goal_rest(state, a->member[0]->orders, &steps, a->member[0]->order_after_prefix))
		a->member[0]->prefix = steps;	/* equal in all guided runs of this lead */
	h->stats.left -= a->way == 0 && a->count == 1 && h->stats.left > 0;
}

/* Hash for search_cause(), equal for proved leads about the same memory. */
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

/* --- outcomes --- */

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

/* Adds the outcome of an attempt to its leads. */
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
		/* A harmless run in a group counts as the lead's first way. */
		if (a->count == 1 || a->outcome[i] == LEAD_HARMLESS)
			lead->tries = a->way + 1u;
	}
}

/* Size of the largest plan of this pass. */
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

/*
 * Makes the runs of a pass within the budget. Outcomes count only up to the run that ended the
 * pass, so that they do not depend on the number of jobs.
 */
static int run_attempts(struct hunt *h, struct budget *b, struct err *err)
{
	struct search_memory memory = h->memory;
	struct search_config config;
	uint64_t runs = h->runs->runs;
	int result;

	if (!h->attempt_count || !hunt_begin(h, HUNT_PROVE, &config) ||
	    (b->limited && !b->runs) || deadline_over(&b->deadline))
		return 0;
	h->counted = h->attempt_count;
	if (b->limited && h->counted > b->runs)
		h->counted = b->runs;
	config.budget.deadline = b->deadline;
	config.budget.runs = h->counted;
	config.plan.learned = true;
	config.program.server.plan_size = plan_size(h);
	if (h->grouping) {
		/*
		 * Failures of groups are postponed. Their identities are not remembered, or the
		 * same failure of a lead alone would be dropped.
		 */
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
		h->counted = runs;	/* fewer runs were made: the time was up, or Ctrl-C */
	for (uint64_t i = 0; i < h->counted; i++)
		update_leads(&h->attempts[i]);
	b->runs -= b->limited ? h->counted : 0;
	hunt_count(h);
	return result;
}

/* --- which runs to make --- */

/* Adds an attempt for one lead. */
static struct proof_attempt *add(struct hunt *h, size_t *capacity, struct lead *lead, unsigned way)
{
	struct lead first;
	struct proof_attempt *a;

	h->attempts = xgrow(h->attempts, h->attempt_count, capacity, sizeof(*h->attempts));
	a = &h->attempts[h->attempt_count++];
	*a = (struct proof_attempt){ .member = { lead }, .count = 1, .way = (uint8_t)way };
	a->first_iteration =
		ways[way].guidance == FIRST_ITERATION && lead_first_iteration(lead, &first);
	a->guided = ways[way].guidance != UNGUIDED && !a->first_iteration && has_guide(h, lead);
	return a;
}

/* Adds attempts for groups of untried leads of one profile run that do not overlap in time. */
static void add_groups(struct hunt *h, size_t profile, size_t *capacity)
{
	struct hunt_list list = { .at = xcalloc(h->leads.count + 1, sizeof(struct candidate *)) };
	struct lead **leads = xcalloc(h->leads.count + 1, sizeof(*leads));
	struct hunt_groups groups;

	for (size_t i = 0; i < h->leads.count; i++) {
		struct lead *lead = h->leads.at[i];

		if (lead->profile == profile && !lead->runs && has_guide(h, lead) &&
		    !lead->c.spurious) {
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

/* Adds the attempts of a batch; after the first pass sorted by prefix, for snapshots. */
static void add_batch(struct hunt *h, struct lead **batch, size_t count, unsigned first,
		      unsigned end, size_t *capacity)
{
	if (first > 0 && count > 1)
		qsort(batch, count, sizeof(*batch), by_prefix);
	for (size_t i = 0; i < count; i++)
		for (unsigned way = first; way < end; way++)
			add(h, capacity, batch[i], way);
}

/* Adds the ways first to end - 1 of each lead that was tried in all ways before `first`. */
static void add_singles(struct hunt *h, unsigned first, unsigned end, bool group_failed,
			size_t *capacity)
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

enum { GROUP_PASS = 99 };	/* as `first` of pass(): the pass that tries groups */

/* With each input, tries the ways first to end - 1; or groups, if `first` is GROUP_PASS. */
static int pass(struct hunt *h, unsigned first, unsigned end, struct budget *b, struct err *err)
{
	int result = 0;

	for (size_t input = 0; input < h->config.inputs->count && !h->stopped && result == 0;
	     input++) {
		size_t capacity = 0;

		if (hunt_select(h, input, err) < 0)
			return -1;
		leads_sort(&h->leads);	/* the outcomes of the last pass change the order */
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

/* Reports failures of groups, except for those that a lead alone has reproduced meanwhile. */
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
	} passes[] = { { GROUP_PASS, 0 },
		       { 0, 1 },
		       { 1, HUNT_TRIES_FIRST },
		       { HUNT_TRIES_FIRST, HUNT_TRIES } };
	struct budget b = { 0 };
	struct search_config config;
	int result = 0;

	if (!h->leads.count || !hunt_begin(h, HUNT_PROVE, &config))
		return 0;
	b.limited = config.budget.runs > 0;
	b.runs = b.limited ? (uint64_t)((double)config.budget.runs * PROVE_SHARE) + 1 : 0;
	b.deadline = deadline_share(&config.budget.deadline, PROVE_SHARE);
	for (size_t i = 0; i < ARRAY_SIZE(passes) && result == 0 && passes[i].end <= until; i++) {
		result = pass(h, passes[i].first, passes[i].end, &b, err);
		if (passes[i].first == 0)
			report_postponed(h);
	}
	report_postponed(h);
	return result;
}
