/*
 * Collects the counterparts of old events in a trace of the new build, and describes the old events
 * that have none.
 */
#include "explore/fix/remap_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "trace/read/kinds.h"

static bool same_event(const struct schedule_event *a, const struct schedule_event *b)
{
	return remap_equal(a->thread, b->thread) && remap_equal(a->file, b->file) &&
	       a->line == b->line && remap_equal(a->function, b->function) &&
	       remap_equal(a->build_id, b->build_id) && a->offset == b->offset &&
	       a->nth == b->nth && remap_equal(a->op, b->op) && remap_equal(a->object, b->object);
}

static int add_event(struct remap *r, const struct schedule_event *old)
{
	struct remap_event *e;

	for (size_t i = 0; i < r->event_count; i++)
		if (same_event(r->events[i].old, old))
			return (int)i;
	if (r->event_count == CANDIDATE_EVENTS)
		return -1;
	e = &r->events[r->event_count];
	*e = (struct remap_event){ .old = old,
				   .kind = old->op ? kind_find(old->op, strlen(old->op)) : -1 };
	return (int)r->event_count++;
}

struct remap *remap_new(const struct schedule *s)
{
	struct remap *r = xcalloc(1, sizeof(*r));
	bool good = s->goal_count > 0 && s->goal_count <= CANDIDATE_EVENTS;

	r->schedule = s;
	r->events = xcalloc(CANDIDATE_EVENTS, sizeof(*r->events));
	for (size_t i = 0; good && i < s->goal_count; i++) {
		int first = add_event(r, &s->goals[i].first);
		int second = add_event(r, &s->goals[i].second);

		good = first >= 0 && second >= 0;
		if (good)
			r->orders[r->order_count++] =
				(struct candidate_order){ (uint8_t)first, (uint8_t)second };
	}
	if (good)
		return r;
	remap_free(r);
	return NULL;
}

static void forget_locks(struct counterpart *s)
{
	for (size_t i = 0; i < s->lock_count; i++)
		free((char *)s->locks[i].object);
	s->lock_count = 0;
}

void remap_free_counterparts(struct remap_event *e)
{
	for (size_t i = 0; i < e->counterpart_count; i++) {
		forget_locks(&e->counterparts[i]);
		free(e->counterparts[i].thread);
		free(e->counterparts[i].object);
	}
	e->counterpart_count = 0;
}

void remap_free(struct remap *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->event_count; i++) {
		remap_free_counterparts(&r->events[i]);
		free(r->events[i].counterparts);
	}
	for (size_t i = 0; i < r->fit_count; i++)
		lead_free(r->mappings[i].lead);
	free(r->events);
	free(r->mappings);
	free(r);
}

bool remap_wants_kind(const struct remap *r, unsigned kind)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (remap_same_kind(r->events[i].kind, kind))
			return true;
	return false;
}

static struct counterpart *counterpart_of(struct remap_event *e, const struct remap_observed *seen,
					  bool moved)
{
	struct counterpart *s;

	for (size_t i = 0; i < e->counterpart_count; i++)
		if (e->counterparts[i].id == seen->id && e->counterparts[i].pc == seen->pc)
			return &e->counterparts[i];
	e->counterparts = xgrow(e->counterparts, e->counterpart_count, &e->counterpart_capacity,
				sizeof(*e->counterparts));
	s = &e->counterparts[e->counterpart_count++];
	*s = (struct counterpart){
		.id = seen->id, .pc = seen->pc, .moved = moved, .thread = xstrdup(seen->thread)
	};
	return s;
}

static void set_counterpart(struct counterpart *s, const struct remap_observed *seen)
{
	forget_locks(s);
	free(s->object);
	s->has_event = true;
	s->object = xstrdup(seen->object);
	s->event = (struct candidate_event){ .thread = seen->id,
					     .kind = seen->kind,
					     .index = seen->index,
					     .pc = seen->pc,
					     .nth = seen->nth,
					     .addr = seen->addr };
	for (; s->lock_count < seen->lock_count && s->lock_count < REMAP_LOCKS; s->lock_count++) {
		s->locks[s->lock_count] = seen->locks[s->lock_count];
		s->locks[s->lock_count].object = xstrdup(seen->locks[s->lock_count].object);
	}
}

static double distance_of(const struct remap_event *e, const struct remap_observed *seen,
			  int object)
{
	unsigned lines =
		seen->line > e->old->line ? seen->line - e->old->line : e->old->line - seen->line;

	return object + (lines < 1000 ? lines : 1000) / 1001.0;
}

/*
 * Compares an event of the new build with an old one, and keeps it if it is a better counterpart
 * than earlier visits. That is the n-th visit with a fitting object, else the next one that has it,
 * else the last one before. Visits with other objects count, as they did when the goal was made.
 */
static void observe(struct remap_event *e, const struct remap_observed *seen)
{
	bool here = remap_same_function(e->old->function, seen->function);
	struct counterpart *s;
	int object;

	e->function_ran |= here;
	if (!remap_same_kind(e->kind, seen->kind))
		return;
	object = e->old->object ? remap_same_object(e->old->object, seen->object) : 0;
	if (!here && (object < 0 || object >= REMAP_OTHER_PART || !e->old->object))
		return;
	s = counterpart_of(e, seen, !here);
	s->count++;
	if (object < 0 || (s->nth_reached && (!s->other_part || object >= REMAP_OTHER_PART)))
		return;
	set_counterpart(s, seen);
	s->other_part = object >= REMAP_OTHER_PART;
	s->nth_reached = s->count >= e->old->nth;
	s->distance = distance_of(e, seen, object) + (s->nth_reached ? 0 : 3);
}

void remap_observe(struct remap *r, const struct remap_observed *seen)
{
	for (size_t i = 0; i < r->event_count; i++)
		observe(&r->events[i], seen);
}

static void describe(const struct schedule_event *e, struct buf *out)
{
	if (e->op)
		buf_addf(out, "%s %s in ", e->op, e->object);
	buf_addf(out, "%s", e->function ? e->function : "a function without a name");
	if (e->file)
		buf_addf(out, " (%s:%u)", e->file, e->line);
}

/* True if two events do the same at one place, maybe in other threads or at other visits. */
static bool same_action(const struct schedule_event *a, const struct schedule_event *b)
{
	return remap_equal(a->function, b->function) && remap_equal(a->file, b->file) &&
	       a->line == b->line && remap_equal(a->op, b->op) && remap_equal(a->object, b->object);
}

void remap_missing(const struct remap *r, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < r->event_count; i++) {
		const struct remap_event *e = &r->events[i];
		bool reported = e->seen_in_thread;

		for (size_t k = 0; k < i; k++)
			reported |= same_action(r->events[k].old, e->old) &&
				    (!e->seen_in_function ||
				     remap_equal(r->events[k].old->thread, e->old->thread));
		if (reported)
			continue;
		buf_add_text(out, any ? "; " : "");
		describe(e->old, out);
		if (!e->function_ran)
			buf_addf(out, ": its function did not run in %u recorded run%s", r->traces,
				 plural(r->traces));
		else if (!e->seen_in_function)
			buf_add_text(out, ": the function no longer does this");
		else
			buf_addf(out, ": thread %s no longer does this", e->old->thread);
		any = true;
	}
	if (!any && r->traces)
		buf_add_text(
			out,
			"the events are there, but no threads do them in this order any longer");
	if (!r->traces)
		buf_add_text(out, "no run of the new build could be recorded");
}
