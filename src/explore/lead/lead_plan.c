/*
 * A lead as orders of events: for the strategy `goal` (lead_plan) and for a schedule file
 * (lead_goals).
 */
#include "explore/lead/lead.h"

#include "base/mem.h"
#include "trace/read/kinds.h"

/* Names an event for the strategy; false if its site or thread is unknown. */
static bool plan_event(const struct lead *lead, unsigned which, struct sched_name *out)
{
	const struct candidate_event *e = &lead->c.event[which];

	*out = (struct sched_name){ .site = e->pc, .nth = e->nth ? e->nth : 1 };
	return e->pc && schedule_path_hash(lead->event[which].thread, &out->thread);
}

/* The event before which the thread of `second` waits: itself, or a lock operation (hold). */
static unsigned waits_at(const struct candidate *c, unsigned second)
{
	return c->hold[second] >= 0 ? (unsigned)c->hold[second] : second;
}

/* Example: the top of lead.h. */
bool lead_plan(struct lead *lead)
{
	const struct candidate *c = &lead->c;

	lead->orders = c->orders;
	for (unsigned i = 0; i < c->orders; i++) {
		unsigned second = c->order[i].second, waits = waits_at(c, second);
		struct sched_order *o = &lead->order[i];

		if (!plan_event(lead, c->order[i].first, &o->first) ||
		    !plan_event(lead, waits, &o->second))
			return false;
		if (waits == second)
			continue;
		lead->order[lead->orders] = *o;
		if (!plan_event(lead, second, &lead->order[lead->orders++].second))
			return false;
	}
	return c->orders > 0;
}

static uint64_t nth_of(const struct candidate_event *e)
{
	return e->nth ? e->nth : 1;
}

/* All events of a thread move back by the same number of visits, so that their order stays. */
bool lead_first_iteration(const struct lead *lead, struct lead *out)
{
	bool earlier = false;

	*out = *lead;
	for (unsigned i = 0; i < lead->c.events; i++) {
		uint64_t least = UINT64_MAX;

		for (unsigned k = 0; k < lead->c.events; k++)
			if (lead->c.event[k].thread == lead->c.event[i].thread &&
			    nth_of(&lead->c.event[k]) < least)
				least = nth_of(&lead->c.event[k]);
		out->c.event[i].nth = nth_of(&lead->c.event[i]) - least + 1;
		earlier |= least > 1;
	}
	lead_plan(out);
	return earlier;
}

/* Names an event for a schedule file; false without the build-id of its module. */
static bool goal_event(const struct lead *lead, unsigned which, struct places *places,
		       struct schedule_event *out)
{
	const struct candidate_event *e = &lead->c.event[which];
	const struct places_module *m = places_module(places, e->pc);
	struct symbol_frame frame;

	if (!m || !*m->build_id)
		return false;
	places_frame(places, e->pc, &frame);
	*out = (struct schedule_event){
		.thread = xstrdup(lead->event[which].thread), .build_id = xstrdup(m->build_id),
		.file = frame.file ? xstrdup(frame.file) : NULL, .line = frame.line,
		.function = frame.function ? xstrdup(frame.function) : NULL,
		.offset = e->pc - m->base, .nth = e->nth ? e->nth : 1,
		.op = xstrdup(kind_name(e->kind)), .object = xstrdup(lead->event[which].object),
	};
	return true;
}

void lead_goals(const struct lead *lead, struct places *places, struct schedule *s)
{
	for (unsigned i = 0; i < lead->c.orders; i++) {
		unsigned second = lead->c.order[i].second, waits = waits_at(&lead->c, second);
		struct schedule_goal goal = { .is_held = waits != second };
		bool named = goal_event(lead, lead->c.order[i].first, places, &goal.first) &&
			     goal_event(lead, second, places, &goal.second) &&
			     (!goal.is_held || goal_event(lead, waits, places, &goal.held));

		s->goals = xgrow(s->goals, s->goal_count, &s->goal_capacity, sizeof(*s->goals));
		s->goals[s->goal_count++] = goal;
		if (!named) {
			schedule_free_goals(s);
			return;
		}
	}
	s->cause = xstrdup(lead_class(lead));
	s->pattern = xstrdup(pattern_row(lead->c.pattern)->name);
	s->variable = xstrdup(lead->event[0].object);
}
