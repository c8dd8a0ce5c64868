/*
 * Chooses a counterpart for each old event, in every way that agrees with threads and program
 * order, and makes leads of the choices.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "explore/fix/remap_internal.h"
#include "trace/read/kinds.h"

#define MAPPINGS_MAX 20u	/* observed mappings kept: each costs runs */
#define EXTRAPOLATED_MAX 16u	/* extrapolated mappings kept besides */
#define SEARCH_STEPS_MAX 20000u	/* choices tried per trace: bounds time */
#define UNSEEN_DISTANCE 20.0	/* added for a visit that no recorded run had */

/* True if the goals demand, directly or by way of others, event `a` before `b`. */
static bool comes_before(const struct remap *r, size_t a, size_t b)
{
	bool after[CANDIDATE_EVENTS] = { false };

	after[a] = true;
	for (size_t round = 0; round < r->order_count; round++)
		for (size_t i = 0; i < r->order_count; i++)
			after[r->orders[i].second] |= after[r->orders[i].first];
	return a != b && after[b];
}

/* A choice of counterparts, while it is searched. */
struct assignment {
	struct remap *r;
	const struct counterpart *chosen[CANDIDATE_EVENTS];	/* by index of the old event */
	unsigned steps;		/* number of choices tried */
};

/*
 * True if counterpart `s` of event `at` agrees with those chosen for the events before `at`: equal
 * threads stay equal, different threads and events stay different, and the goals do not contradict
 * the program order of a thread.
 */
static bool agrees(const struct assignment *c, size_t at, const struct counterpart *s)
{
	const struct remap *r = c->r;

	for (size_t i = 0; i < at; i++) {
		const struct counterpart *other = c->chosen[i];
		const char *a = r->events[i].old->thread, *b = r->events[at].old->thread;
		bool same = remap_equal(other->thread, s->thread);

		if (a && b && remap_equal(a, b) != same)
			return false;
		if (same && other->event.pc == s->event.pc && other->event.nth == s->event.nth)
			return false;
		if (!same || other->extrapolated || s->extrapolated)
			continue;
		if ((comes_before(r, i, at) && other->event.index >= s->event.index) ||
		    (comes_before(r, at, i) && s->event.index >= other->event.index))
			return false;
	}
	return true;
}

static char *names_of_locks(const struct counterpart *s)
{
	struct buf text = { 0 };
	char *result;

	for (size_t i = 0; i < s->lock_count; i++)
		buf_addf(&text, "%s%s", i ? ", " : "", s->locks[i].object);
	result = xstrdup(buf_string(&text));
	buf_free(&text);
	return result;
}

/*
 * A thread that waits for its event must not hold a lock that the other thread needs first. Returns
 * the outermost lock that the thread has taken since its previous event, before which it can wait.
 * NULL: it has taken none.
 */
static const struct remap_lock *hold_at(const struct assignment *c, size_t which)
{
	const struct counterpart *s = c->chosen[which];
	uint64_t from = 0;

	for (size_t i = 0; i < c->r->event_count; i++)
		if (remap_equal(c->chosen[i]->thread, s->thread) &&
		    c->chosen[i]->event.index < s->event.index && c->chosen[i]->event.index >= from)
			from = c->chosen[i]->event.index + 1;
	for (size_t i = 0; i < s->lock_count; i++)
		/* A thread cannot stop between waking up and having the lock again. */
		if (s->locks[i].index >= from && s->locks[i].kind != TRACE_COND_WAKE)
			return &s->locks[i];
	return NULL;
}

static void add_hold(struct lead *lead, const struct assignment *c, size_t which)
{
	const struct remap_lock *lock = hold_at(c, which);
	unsigned at = lead->c.events;

	if (!lock || lead->c.hold[which] >= 0 || at == CANDIDATE_EVENTS)
		return;
	lead->c.hold[which] = (int8_t)at;
	lead->c.event[at] = (struct candidate_event){
		.thread = c->chosen[which]->id, .kind = lock->kind, .index = lock->index,
		.pc = lock->pc, .nth = lock->nth, .addr = lock->addr,
	};
	lead->event[at].thread = xstrdup(c->chosen[which]->thread);
	lead->event[at].object = xstrdup(lock->object);
	lead->event[at].locks = xstrdup("");
	lead->c.events++;
}

static enum candidate_class class_of(const struct schedule *s)
{
	for (int class = CANDIDATE_RACE; s->cause && class <= CANDIDATE_MISUSE; class++)
		if (strcmp(candidate_class_name(class), s->cause) == 0)
			return class;
	return s->failure && strcmp(s->failure, "deadlock") == 0 ? CANDIDATE_DEADLOCK :
								   CANDIDATE_ORDER;
}

/*
 * Numbers the threads of a lead by their names. If an event is extrapolated, its index in the
 * program is not known: all get the order of the goals instead.
 */
static void number_events(struct lead *lead, const struct assignment *c)
{
	bool extrapolated = false;

	for (size_t i = 0; i < c->r->event_count; i++)
		extrapolated |= c->chosen[i]->extrapolated;
	for (unsigned i = 0; i < lead->c.events; i++) {
		unsigned first = 0, rank = 0;

		while (!remap_equal(lead->event[first].thread, lead->event[i].thread))
			first++;
		lead->c.event[i].thread = first + 1;
		for (size_t k = 0; k < c->r->event_count && i < c->r->event_count; k++)
			rank += comes_before(c->r, k, i);
		if (extrapolated)
			lead->c.event[i].index = rank;
	}
}

static struct lead *make_lead(const struct assignment *c, bool held)
{
	const struct remap *r = c->r;
	struct lead *lead = xcalloc(1, sizeof(*lead));

	lead->c.class = class_of(r->schedule);
	lead->c.pattern = pattern_find(r->schedule->pattern);
	lead->c.events = (uint8_t)r->event_count;
	memset(lead->c.hold, -1, sizeof(lead->c.hold));
	for (size_t i = 0; i < r->event_count; i++) {
		lead->c.event[i] = c->chosen[i]->event;
		lead->event[i].thread = xstrdup(c->chosen[i]->thread);
		lead->event[i].object = xstrdup(c->chosen[i]->object);
		lead->event[i].locks = names_of_locks(c->chosen[i]);
	}
	lead->c.orders = (uint8_t)r->order_count;
	for (size_t i = 0; i < r->order_count; i++) {
		lead->c.order[i] = r->orders[i];
		if (held)
			add_hold(lead, c, r->orders[i].second);
	}
	number_events(lead, c);
	if (lead_plan(lead))
		return lead;
	lead_free(lead);
	return NULL;
}

static bool is_known(const struct remap *r, const struct lead *lead)
{
	for (size_t i = 0; i < r->fit_count; i++)
		if (memcmp(r->mappings[i].lead->order, lead->order, sizeof(lead->order)) == 0)
			return true;
	return false;
}

static void add_mapping(struct remap *r, const struct remap_mapping *fit)
{
	if (!fit->lead || is_known(r, fit->lead)) {
		lead_free(fit->lead);
		return;
	}
	r->mappings = xgrow(r->mappings, r->fit_count, &r->mapping_capacity, sizeof(*r->mappings));
	r->mappings[r->fit_count++] = *fit;
}

static void add_mappings(const struct assignment *c)
{
	struct remap *r = c->r;
	struct remap_mapping fit = { .level = REMAP_SAME };

	for (size_t i = 0; i < r->event_count; i++) {
		const struct counterpart *s = c->chosen[i];
		const char *thread = r->events[i].old->thread;
		bool renamed = thread && !remap_equal(thread, s->thread);

		if (s->moved)
			fit.level = REMAP_MOVED;
		else if (renamed && fit.level == REMAP_SAME)
			fit.level = REMAP_RENAMED;
		fit.extrapolated |= s->extrapolated;
		fit.other_parts |= (uint32_t)s->other_part << i;
		fit.distance += s->distance + (s->moved ? 100 : 0) + (renamed ? 10 : 0);
	}
	fit.lead = make_lead(c, true);
	add_mapping(r, &fit);
	fit.lead = make_lead(c, false);
	fit.distance += 0.5;
	add_mapping(r, &fit);
}

static void choose_counterparts(struct assignment *c, size_t at)
{
	const struct remap_event *e = &c->r->events[at];

	if (at == c->r->event_count) {
		add_mappings(c);
		return;
	}
	for (size_t i = 0; i < e->counterpart_count; i++) {
		if (!e->counterparts[i].has_event || !agrees(c, at, &e->counterparts[i]))
			continue;
		if (++c->steps > SEARCH_STEPS_MAX) {
			c->r->more = true;
			return;
		}
		c->chosen[at] = &e->counterparts[i];
		choose_counterparts(c, at + 1);
	}
}

/* Drops counterparts with another part of the object if any run accessed the part itself. */
static void drop_other_parts(struct remap_event *e)
{
	for (size_t i = 0; i < e->counterpart_count; i++)
		e->exact_object |= e->counterparts[i].has_event && !e->counterparts[i].other_part;
	for (size_t i = 0; i < e->counterpart_count; i++)
		e->counterparts[i].has_event &= !e->exact_object || !e->counterparts[i].other_part;
	for (size_t i = 0; i < e->counterpart_count; i++) {
		bool done = e->counterparts[i].has_event && !e->counterparts[i].moved;

		e->seen_in_function |= done;
		e->seen_in_thread |=
			done &&
			(!e->old->thread || remap_equal(e->old->thread, e->counterparts[i].thread));
	}
}

/*
 * Adds counterparts that no recorded run had: the old thread at the old visit of a known pc, or one
 * visit earlier or later. Other runs may have them; and one loop may have become two, so that
 * visits are counted differently. The thread is assumed to hold the same locks. The order of these
 * events within their thread is not known.
 */
static void extrapolate(struct remap_event *e)
{
	static const int rounds[] = { 0, -1, 1 };
	size_t count = e->counterpart_count;

	for (size_t i = 0; e->old->thread && i < count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(rounds); k++) {
			const struct counterpart *from = &e->counterparts[i];
			struct counterpart s = *from;

			if (from->moved || !from->has_event || (rounds[k] < 0 && e->old->nth == 1))
				continue;
			s.extrapolated = true;
			s.thread = xstrdup(e->old->thread);
			s.object = xstrdup(from->object);
			s.event.nth = e->old->nth + (uint64_t)rounds[k];
			for (size_t l = 0; l < s.lock_count; l++) {
				s.locks[l].object = xstrdup(s.locks[l].object);
				s.locks[l].nth += s.event.nth - from->event.nth;
				s.locks[l].nth = (int64_t)s.locks[l].nth > 0 ? s.locks[l].nth : 1;
			}
			s.distance = from->distance + UNSEEN_DISTANCE + (double)k;
			e->counterparts = xgrow(e->counterparts, e->counterpart_count,
						&e->counterpart_capacity, sizeof(*e->counterparts));
			e->counterparts[e->counterpart_count++] = s;
		}
}

static int by_distance(const void *a, const void *b)
{
	const struct remap_mapping *x = a, *y = b;

	if (x->extrapolated != y->extrapolated)
		return y->extrapolated ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* True if a mapping has another part of an object, but a later run accessed the part itself. */
static bool is_superseded(const struct remap *r, const struct remap_mapping *fit)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (fit->other_parts >> i & 1 && r->events[i].exact_object)
			return true;
	return false;
}

static void drop_superseded(struct remap *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->fit_count; i++)
		if (is_superseded(r, &r->mappings[i]))
			lead_free(r->mappings[i].lead);
		else
			r->mappings[kept++] = r->mappings[i];
	r->fit_count = kept;
}

/*
 * Keeps the nearest mappings: observed ones of the nearest level only, and extrapolated ones that
 * did not move to other functions.
 */
static void keep_nearest(struct remap *r)
{
	size_t seen = 0, extrapolated = 0, kept = 0;

	if (r->fit_count)
		qsort(r->mappings, r->fit_count, sizeof(*r->mappings), by_distance);
	for (size_t i = 0; i < r->fit_count; i++) {
		struct remap_mapping fit = r->mappings[i];
		bool wanted = fit.extrapolated ? fit.level != REMAP_MOVED :
						 fit.level == r->mappings[0].level;

		if (wanted && (fit.extrapolated ? extrapolated++ < EXTRAPOLATED_MAX :
						  seen++ < MAPPINGS_MAX)) {
			r->mappings[kept++] = fit;
			continue;
		}
		r->more |= wanted && !fit.extrapolated;
		lead_free(fit.lead);
	}
	r->fit_count = kept;
}

void remap_end_trace(struct remap *r)
{
	struct assignment c = { .r = r };

	r->traces++;
	for (size_t i = 0; i < r->event_count; i++) {
		drop_other_parts(&r->events[i]);
		extrapolate(&r->events[i]);
	}
	choose_counterparts(&c, 0);
	drop_superseded(r);
	keep_nearest(r);
	for (size_t i = 0; i < r->event_count; i++)
		remap_free_counterparts(&r->events[i]);
}
