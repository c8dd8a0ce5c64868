#include "explore/bug/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/bug/delta_debug.h"
#include "sched/goal.h"
#include "sched/loose.h"

/* The twelve directed runs: policy once the orders came about, rate of switches, run number. */
static const struct {
	uint32_t then, permille;
	uint64_t run;
} ways[] = { { GOAL_RUN_ON, 20, 0 }, { GOAL_SWITCH, 20, 1 }, { GOAL_RANDOM, 20, 2 },
	     { GOAL_RUN_ON, 0, 3 },  { GOAL_SWITCH, 0, 4 },  { GOAL_RANDOM, 0, 5 },
	     { GOAL_RUN_ON, 20, 6 }, { GOAL_SWITCH, 0, 7 },  { GOAL_RANDOM, 20, 8 },
	     { GOAL_RUN_ON, 0, 9 },  { GOAL_SWITCH, 20, 10 }, { GOAL_RANDOM, 0, 11 } };
#define DIRECT_WAYS 6u	/* number of ways that minimise_fail_directed() tries */

struct minimise {
	struct search_failure *f;
	struct places *places;
	struct attempt *attempt;
	/* The failure to reproduce: oracle_identity(), its kind, its signal or exit code. */
	uint64_t identity;
	enum oracle_failure failure;
	int number;
	struct sched_turn *turns;	/* turns of the last run, as positions */
	bool has_lead;			/* the last run had the orders of the lead */
	bool keep_lead;			/* only runs that have these orders count */
	struct minimised *out;
};

static void set_up(struct minimise *m, struct search_failure *f, struct attempt *a,
		   struct places *places)
{
	*m = (struct minimise){
		.f = f, .attempt = a, .places = places, .failure = f->result.failure,
		.number = f->result.number, .identity = oracle_identity(&f->result, places),
	};
}

/* Makes the run that is prepared. True if it fails with the kind, number and lines looked for. */
static bool fails_alike(struct minimise *m)
{
	struct oracle_result *got = &m->attempt->got;

	if (!attempt_run(m->attempt) || got->failure != m->failure || got->number != m->number)
		return false;
	oracle_refine(got, server_report(&m->attempt->server), m->places);
	return oracle_identity(got, m->places) == m->identity;
}

size_t minimise_positions(const struct schedule *s, struct sched_turn **out)
{
	struct sched_turn *turns = xcalloc(s->turn_count + 1, sizeof(*turns));

	for (size_t i = 0; i < s->turn_count; i++) {
		const struct schedule_turn *t = &s->turns[i];

		turns[i] = (struct sched_turn){ .steps = t->steps, .kind = t->kind };
		schedule_path_hash(s->threads.items[t->thread], &turns[i].name);
	}
	*out = turns;
	return delta_debug_positions(turns, s->turn_count);
}

/* Sets *got to the turns of the last run; false if the runtime lost some of them. */
static bool take_turns(struct minimise *m, struct delta_debug_run *got)
{
	const struct ctl_block *b = m->attempt->server.block;
	struct schedule now = { 0 };

	if (b->report.turns_lost)
		return false;
	schedule_set_turns(&now, b);
	free(m->turns);
	got->count = minimise_positions(&now, &m->turns);
	got->turns = m->turns;
	schedule_free(&now);
	return true;
}

/* True for a predicted deadlock that happened: it may prevent the last events of its own order. */
static bool deadlock_cut_short(const struct lead *lead, const struct oracle_result *got)
{
	return lead->c.class == CANDIDATE_DEADLOCK && oracle_is_stuck(got->failure);
}

static bool fails(void *ctx, const struct sched_turn *turns, size_t count,
		  struct delta_debug_run *got)
{
	struct minimise *m = ctx;
	const struct lead *lead = m->f->lead;
	struct loose_result loose;
	struct ctl_request *q;

	q = attempt_prepare(m->attempt, "loose");
	q->flags |= m->keep_lead ? CTL_HASH : 0;
	if (!attempt_plan(m->attempt, turns, count, lead ? lead->order : NULL,
			  lead ? lead->orders : 0) ||
	    !fails_alike(m) || !take_turns(m, got))
		return false;
	loose_result(server_area(&m->attempt->server, m->attempt->server.block->state), &loose);
	got->switches = loose.switches;
	got->preemptions = loose.preemptions;
	m->has_lead = lead && (loose.kept == loose.orders ||
			       (deadlock_cut_short(lead, &m->attempt->got) && !loose.broken));
	return m->has_lead || !m->keep_lead;
}

static bool should_stop(void *ctx)
{
	const struct minimise *m = ctx;

	return attempt_over(m->attempt);
}

/* Copies result, report, turns and output of the run that has just ended into `f`. */
static void take_run(struct search_failure *f, const struct attempt *a)
{
	struct buf brief = { 0 };

	f->result = a->got;
	oracle_brief(&a->got, &brief);
	free(f->schedule.failure);
	f->schedule.failure = xstrdup(buf_string(&brief));
	buf_free(&brief);
	memcpy(f->report, server_report(&a->server), sizeof(*f->report));
	schedule_set_turns(&f->schedule, a->server.block);
	buf_clear(&f->out);
	buf_clear(&f->error);
	capture_text(&a->server.result.out, &f->out);
	capture_text(&a->server.result.error, &f->error);
}

/* The last run is the smallest so far: it becomes the failure. */
static void keep(void *ctx, const struct delta_debug_run *got)
{
	struct minimise *m = ctx;

	(void)got;
	take_run(m->f, m->attempt);
	m->out->has_lead = m->has_lead;
}

int minimise_switches(struct search_failure *f, struct attempt *a, bool keep_lead,
		      struct places *places, struct minimised *out)
{
	struct minimise m;
	struct delta_debug_config config = { .fails = fails, .keep = keep,
					     .should_stop = should_stop, .ctx = &m,
					     .most = a->most - a->runs, .thorough = !keep_lead };
	struct delta_debug_result result;
	struct sched_turn *turns;
	size_t count = minimise_positions(&f->schedule, &turns);

	*out = (struct minimised){ 0 };
	set_up(&m, f, a, places);
	m.out = out;
	m.keep_lead = keep_lead;
	delta_debug_turns(&config, turns, count, &result);
	out->done = result.reproduced;
	out->from = result.from;
	out->switches = result.switches;
	out->preemptions = result.preemptions;
	out->runs = result.runs;
	free(m.turns);
	free(turns);
	return a->broken ? -1 : 0;
}

/* Prepares a run directed by these orders, in one of the `ways`. */
static void direct(struct attempt *a, size_t way, const struct sched_order *orders, size_t count)
{
	struct ctl_request *q = attempt_prepare(a, "goal");

	q->depth = ways[way].then;
	q->switch_permille = ways[way].permille;
	q->run = ways[way].run;
	attempt_plan(a, NULL, 0, orders, count);
}

/* Makes a run in each of the `ways` and counts the outcomes. */
static struct minimise_tally direct_all(struct minimise *m, const struct sched_order *orders,
					size_t count)
{
	struct attempt *a = m->attempt;
	struct minimise_tally t = { 0 };
	struct goal_result goal;

	for (size_t i = 0; i < ARRAY_SIZE(ways) && !attempt_over(a); i++) {
		direct(a, i, orders, count);
		t.failing += fails_alike(m);
		if (a->got.verdict != ORACLE_PASSED)
			continue;
		goal_result(server_area(&a->server, a->server.block->state), &goal);
		t.harmless += goal.met == goal.orders;
	}
	return t;
}

static void drop_goal(struct schedule *s, struct sched_order *orders, size_t at)
{
	schedule_free_goal(&s->goals[at]);
	s->goal_count--;
	memmove(&s->goals[at], &s->goals[at + 1], (s->goal_count - at) * sizeof(*s->goals));
	memmove(&orders[at], &orders[at + 1], (s->goal_count - at) * sizeof(*orders));
}

/*
 * Drops an order if with the remaining ones as many runs fail, and no more runs have them and pass.
 * An order that distinguishes failing from passing runs has to stay. Without it, check-fix could
 * find the remaining orders in a passing run and call them harmless, although the fix made the
 * dropped order impossible.
 */
static void drop_goals(struct minimise *m, struct sched_order *orders)
{
	struct schedule *s = &m->f->schedule;
	struct minimise_tally all = direct_all(m, orders, s->goal_count);

	for (size_t i = s->goal_count; all.failing && i-- > 0 && s->goal_count > 1;) {
		struct sched_order *without = xcalloc(s->goal_count, sizeof(*without));
		struct minimise_tally rest;

		memcpy(without, orders, i * sizeof(*orders));
		memcpy(without + i, orders + i + 1, (s->goal_count - i - 1) * sizeof(*orders));
		rest = direct_all(m, without, s->goal_count - 1);
		if (rest.failing >= all.failing && rest.harmless <= all.harmless)
			drop_goal(s, orders, i);
		free(without);
	}
}

int minimise_goals(struct search_failure *f, struct attempt *a, struct places *places)
{
	struct buf plan = { 0 };
	struct minimise m;
	int code = schedule_plan(&f->schedule, places, &plan, a->err);

	set_up(&m, f, a, places);
	/* An atomicity violation needs all of its orders: one alone does no harm. */
	if (code == 0 && !(f->schedule.cause && strcmp(f->schedule.cause, "atomicity") == 0))
		drop_goals(&m,
			   (struct sched_order *)(uintptr_t)sched_plan_orders((void *)plan.data));
	buf_free(&plan);
	return a->broken ? -1 : code;
}

void minimise_count_directed(struct search_failure *f, const struct lead *lead, struct attempt *a,
			     struct places *places, struct minimise_tally *out)
{
	struct minimise m;

	set_up(&m, f, a, places);
	*out = direct_all(&m, lead->order, lead->orders);
}

struct search_failure *minimise_fail_directed(const struct search_failure *like,
					      const struct lead *lead, struct attempt *a,
					      struct places *places)
{
	struct search_failure *f = NULL;
	struct goal_result goal;

	for (size_t i = 0; !f && i < DIRECT_WAYS && !attempt_over(a); i++) {
		direct(a, i, lead->order, lead->orders);
		if (!attempt_run(a))
			continue;
		goal_result(server_area(&a->server, a->server.block->state), &goal);
		if (goal.infeasible ||
		    (goal.kept < goal.orders && !deadlock_cut_short(lead, &a->got)))
			continue;
		f = search_failure_like(like);
		take_run(f, a);
		oracle_refine(&f->result, f->report, places);
		f->lead = lead;
		lead_goals(lead, places, &f->schedule);
	}
	return f;
}
