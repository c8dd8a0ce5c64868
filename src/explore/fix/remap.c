#include "explore/fix/remap_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "trace/read/kinds.h"

static bool same_event(const struct schedule_event *a, const struct schedule_event *b)
{
	return refit_equal(a->thread, b->thread) && refit_equal(a->file, b->file) && a->line == b->line &&
	       refit_equal(a->function, b->function) && refit_equal(a->build_id, b->build_id) &&
	       a->offset == b->offset && a->nth == b->nth && refit_equal(a->op, b->op) &&
	       refit_equal(a->object, b->object);
}

static int add_event(struct refit *r, const struct schedule_event *old)
{
	struct refit_event *e;

	for (size_t i = 0; i < r->event_count; i++)
		if (same_event(r->events[i].old, old))
			return (int)i;
	if (r->event_count == CANDIDATE_EVENTS)
		return -1;
	e = &r->events[r->event_count];
	*e = (struct refit_event){ .old = old, .kind = old->op ? kind_find(old->op, strlen(old->op)) : -1 };
	return (int)r->event_count++;
}

struct refit *refit_new(const struct schedule *s)
{
	struct refit *r = xcalloc(1, sizeof(*r));
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
	refit_free(r);
	return NULL;
}

static void forget_locks(struct spot *s)
{
	for (size_t i = 0; i < s->lock_count; i++)
		free((char *)s->locks[i].object);
	s->lock_count = 0;
}

void refit_forget_spots(struct refit_event *e)
{
	for (size_t i = 0; i < e->spot_count; i++) {
		forget_locks(&e->spots[i]);
		free(e->spots[i].thread);
		free(e->spots[i].object);
	}
	e->spot_count = 0;
}

void refit_free(struct refit *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->event_count; i++) {
		refit_forget_spots(&r->events[i]);
		free(r->events[i].spots);
	}
	for (size_t i = 0; i < r->fit_count; i++)
		lead_free(r->fits[i].lead);
	free(r->events);
	free(r->fits);
	free(r);
}

bool refit_wants(const struct refit *r, unsigned kind)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (refit_same_kind(r->events[i].kind, kind))
			return true;
	return false;
}

static struct spot *spot_at(struct refit_event *e, const struct refit_seen *seen, bool moved)
{
	struct spot *s;

	for (size_t i = 0; i < e->spot_count; i++)
		if (e->spots[i].id == seen->id && e->spots[i].pc == seen->pc)
			return &e->spots[i];
	e->spots = xgrow(e->spots, e->spot_count, &e->spot_capacity, sizeof(*e->spots));
	s = &e->spots[e->spot_count++];
	*s = (struct spot){ .id = seen->id, .pc = seen->pc, .moved = moved, .thread = xstrdup(seen->thread) };
	return s;
}

static void fill_spot(struct spot *s, const struct refit_seen *seen)
{
	forget_locks(s);
	free(s->object);
	s->found = true;
	s->object = xstrdup(seen->object);
	s->event = (struct candidate_event){ .thread = seen->id, .kind = seen->kind, .index = seen->index,
					     .pc = seen->pc, .nth = seen->nth, .addr = seen->addr };
	for (; s->lock_count < seen->lock_count && s->lock_count < REFIT_LOCKS; s->lock_count++) {
		s->locks[s->lock_count] = seen->locks[s->lock_count];
		s->locks[s->lock_count].object = xstrdup(seen->locks[s->lock_count].object);
	}
}

static double distance_of(const struct refit_event *e, const struct refit_seen *seen, int object)
{
	unsigned apart = seen->line > e->old->line ? seen->line - e->old->line : e->old->line - seen->line;

	return object + (apart < 1000 ? apart : 1000) / 1001.0;
}

/*
 * The n-th time at a place counts whatever the object is, as it did when the goal was made; if it is
 * another one then, the next time with the right one is taken, or the last before.
 */
static void see(struct refit_event *e, const struct refit_seen *seen)
{
	bool here = refit_same_function(e->old->function, seen->function);
	struct spot *s;
	int object;

	e->was_run |= here;
	if (!refit_same_kind(e->kind, seen->kind))
		return;
	object = e->old->object ? refit_same_object(e->old->object, seen->object) : 0;
	if (!here && (object < 0 || object >= REFIT_OTHER_PART || !e->old->object))
		return;
	s = spot_at(e, seen, !here);
	s->count++;
	if (object < 0 || (s->settled && (!s->elsewhere || object >= REFIT_OTHER_PART)))
		return;
	fill_spot(s, seen);
	s->elsewhere = object >= REFIT_OTHER_PART;
	s->settled = s->count >= e->old->nth;
	s->distance = distance_of(e, seen, object) + (s->settled ? 0 : 3);
}

void refit_see(struct refit *r, const struct refit_seen *seen)
{
	for (size_t i = 0; i < r->event_count; i++)
		see(&r->events[i], seen);
}

static void describe(const struct schedule_event *e, struct buf *out)
{
	if (e->op)
		buf_addf(out, "%s %s in ", e->op, e->object);
	buf_addf(out, "%s", e->function ? e->function : "a function without a name");
	if (e->file)
		buf_addf(out, " (%s:%u)", e->file, e->line);
}

/* The same in other threads and rounds. */
static bool same_deed(const struct schedule_event *a, const struct schedule_event *b)
{
	return refit_equal(a->function, b->function) && refit_equal(a->file, b->file) && a->line == b->line &&
	       refit_equal(a->op, b->op) && refit_equal(a->object, b->object);
}

void refit_missing(const struct refit *r, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < r->event_count; i++) {
		const struct refit_event *e = &r->events[i];
		bool told = e->was_done_by_it;

		for (size_t k = 0; k < i; k++)
			told |= same_deed(r->events[k].old, e->old) &&
				(!e->was_done || refit_equal(r->events[k].old->thread, e->old->thread));
		if (told)
			continue;
		buf_add_text(out, any ? "; " : "");
		describe(e->old, out);
		if (!e->was_run)
			buf_addf(out, ": no such function was run in %u run%s", r->traces, plural(r->traces));
		else if (!e->was_done)
			buf_add_text(out, ": the function does no such thing any more");
		else
			buf_addf(out, ": thread %s does it no more", e->old->thread);
		any = true;
	}
	if (!any && r->traces)
		buf_add_text(out, "no threads do these things in this order any more");
	if (!r->traces)
		buf_add_text(out, "no run could be watched");
}
