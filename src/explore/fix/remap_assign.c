/*
 * From the places where events may be to leads: every way to choose one for each that
 * agrees with threads and program order.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "explore/fix/remap_internal.h"
#include "trace/read/kinds.h"

#define FITS_MAX 20u		/* ways that are kept */
#define IMAGINED_MAX 16u	/* … and imagined ones besides */
#define STEPS_MAX 20000u	/* of the search for them, for each trace */
#define UNSEEN 20.0		/* the distance of a round that no watched run came to */

/* Must event `a` come before `b` for the goals to be met? */
static bool comes_before(const struct refit *r, size_t a, size_t b)
{
	bool after[CANDIDATE_EVENTS] = { false };

	after[a] = true;
	for (size_t round = 0; round < r->order_count; round++)
		for (size_t i = 0; i < r->order_count; i++)
			after[r->orders[i].second] |= after[r->orders[i].first];
	return a != b && after[b];
}

/* Looks for ways to choose a spot for each event. */
struct choosing {
	struct refit *r;
	const struct spot *chosen[CANDIDATE_EVENTS];
	unsigned steps;
};

/* One thread stays one, two stay two, and so do events; within a thread the program has its own order. */
static bool agrees(const struct choosing *c, size_t at, const struct spot *s)
{
	const struct refit *r = c->r;

	for (size_t i = 0; i < at; i++) {
		const struct spot *other = c->chosen[i];
		const char *a = r->events[i].old->thread, *b = r->events[at].old->thread;
		bool same = refit_equal(other->thread, s->thread);

		if (a && b && refit_equal(a, b) != same)
			return false;
		if (same && other->event.pc == s->event.pc && other->event.nth == s->event.nth)
			return false;
		if (!same || other->imagined || s->imagined)
			continue;
		if ((comes_before(r, i, at) && other->event.index >= s->event.index) ||
		    (comes_before(r, at, i) && s->event.index >= other->event.index))
			return false;
	}
	return true;
}

static char *names_of_locks(const struct spot *s)
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
 * A thread had better wait before it takes a lock that the other needs on the way: the
 * outermost that it took since its event before. NULL: it holds none.
 */
static const struct refit_lock *hold_at(const struct choosing *c, size_t which)
{
	const struct spot *s = c->chosen[which];
	uint64_t from = 0;

	for (size_t i = 0; i < c->r->event_count; i++)
		if (refit_equal(c->chosen[i]->thread, s->thread) && c->chosen[i]->event.index < s->event.index &&
		    c->chosen[i]->event.index >= from)
			from = c->chosen[i]->event.index + 1;
	for (size_t i = 0; i < s->lock_count; i++)
		/* One cannot stop between waking up and having the lock again. */
		if (s->locks[i].index >= from && s->locks[i].kind != TRACE_COND_WAKE)
			return &s->locks[i];
	return NULL;
}

static void add_hold(struct lead *lead, const struct choosing *c, size_t which)
{
	const struct refit_lock *lock = hold_at(c, which);
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
	return s->failure && strcmp(s->failure, "deadlock") == 0 ? CANDIDATE_DEADLOCK : CANDIDATE_ORDER;
}

/* Threads by name; and the order of the goals, where that of the program is not known. */
static void number_events(struct lead *lead, const struct choosing *c)
{
	bool imagined = false;

	for (size_t i = 0; i < c->r->event_count; i++)
		imagined |= c->chosen[i]->imagined;
	for (unsigned i = 0; i < lead->c.events; i++) {
		unsigned first = 0, rank = 0;

		while (!refit_equal(lead->event[first].thread, lead->event[i].thread))
			first++;
		lead->c.event[i].thread = first + 1;
		for (size_t k = 0; k < c->r->event_count && i < c->r->event_count; k++)
			rank += comes_before(c->r, k, i);
		if (imagined)
			lead->c.event[i].index = rank;
	}
}

static struct lead *make_lead(const struct choosing *c, bool held)
{
	const struct refit *r = c->r;
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

static bool is_known(const struct refit *r, const struct lead *lead)
{
	for (size_t i = 0; i < r->fit_count; i++)
		if (memcmp(r->fits[i].lead->order, lead->order, sizeof(lead->order)) == 0)
			return true;
	return false;
}

static void add_fit(struct refit *r, const struct refit_fit *fit)
{
	if (!fit->lead || is_known(r, fit->lead)) {
		lead_free(fit->lead);
		return;
	}
	r->fits = xgrow(r->fits, r->fit_count, &r->fit_capacity, sizeof(*r->fits));
	r->fits[r->fit_count++] = *fit;
}

static void take(const struct choosing *c)
{
	struct refit *r = c->r;
	struct refit_fit fit = { .level = REFIT_SAME };

	for (size_t i = 0; i < r->event_count; i++) {
		const struct spot *s = c->chosen[i];
		const char *thread = r->events[i].old->thread;
		bool renamed = thread && !refit_equal(thread, s->thread);

		if (s->moved)
			fit.level = REFIT_MOVED;
		else if (renamed && fit.level == REFIT_SAME)
			fit.level = REFIT_RENAMED;
		fit.imagined |= s->imagined;
		fit.other_parts |= (uint32_t)s->elsewhere << i;
		fit.distance += s->distance + (s->moved ? 100 : 0) + (renamed ? 10 : 0);
	}
	fit.lead = make_lead(c, true);
	add_fit(r, &fit);
	fit.lead = make_lead(c, false);
	fit.distance += 0.5;
	add_fit(r, &fit);
}

static void choose(struct choosing *c, size_t at)
{
	const struct refit_event *e = &c->r->events[at];

	if (at == c->r->event_count) {
		take(c);
		return;
	}
	for (size_t i = 0; i < e->spot_count; i++) {
		if (!e->spots[i].found || !agrees(c, at, &e->spots[i]))
			continue;
		if (++c->steps > STEPS_MAX) {
			c->r->more = true;
			return;
		}
		c->chosen[at] = &e->spots[i];
		choose(c, at + 1);
	}
}

/* Other parts of an object are only looked at if nothing is done to the part itself any more, in any run. */
static void drop_other_parts(struct refit_event *e)
{
	for (size_t i = 0; i < e->spot_count; i++)
		e->is_exact |= e->spots[i].found && !e->spots[i].elsewhere;
	for (size_t i = 0; i < e->spot_count; i++)
		e->spots[i].found &= !e->is_exact || !e->spots[i].elsewhere;
	for (size_t i = 0; i < e->spot_count; i++) {
		bool done = e->spots[i].found && !e->spots[i].moved;

		e->was_done |= done;
		e->was_done_by_it |= done && (!e->old->thread ||
					      refit_equal(e->old->thread, e->spots[i].thread));
	}
}

/*
 * A thread that did not come to a place, or not so often, in the runs that were watched may do so
 * in others; and what was one loop may have become two, so that rounds are counted otherwise.
 * It is taken to hold the same locks then; what came before is not known.
 */
static void imagine(struct refit_event *e)
{
	static const int rounds[] = { 0, -1, 1 };
	size_t count = e->spot_count;

	for (size_t i = 0; e->old->thread && i < count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(rounds); k++) {
			const struct spot *from = &e->spots[i];
			struct spot s = *from;

			if (from->moved || !from->found || (rounds[k] < 0 && e->old->nth == 1))
				continue;
			s.imagined = true;
			s.thread = xstrdup(e->old->thread);
			s.object = xstrdup(from->object);
			s.event.nth = e->old->nth + (uint64_t)rounds[k];
			for (size_t l = 0; l < s.lock_count; l++) {
				s.locks[l].object = xstrdup(s.locks[l].object);
				s.locks[l].nth += s.event.nth - from->event.nth;
				s.locks[l].nth = (int64_t)s.locks[l].nth > 0 ? s.locks[l].nth : 1;
			}
			s.distance = from->distance + UNSEEN + (double)k;
			e->spots = xgrow(e->spots, e->spot_count, &e->spot_capacity, sizeof(*e->spots));
			e->spots[e->spot_count++] = s;
		}
}

static int by_distance(const void *a, const void *b)
{
	const struct refit_fit *x = a, *y = b;

	if (x->imagined != y->imagined)
		return y->imagined ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* Did a later run do to the part itself what was taken for it? */
static bool is_outdone(const struct refit *r, const struct refit_fit *fit)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (fit->other_parts >> i & 1 && r->events[i].is_exact)
			return true;
	return false;
}

static void drop_outdone(struct refit *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->fit_count; i++)
		if (is_outdone(r, &r->fits[i]))
			lead_free(r->fits[i].lead);
		else
			r->fits[kept++] = r->fits[i];
	r->fit_count = kept;
}

/* Keeps the best: of those that were seen only the nearest level, and some that were imagined. */
static void trim(struct refit *r)
{
	size_t seen = 0, imagined = 0, kept = 0;

	if (r->fit_count)
		qsort(r->fits, r->fit_count, sizeof(*r->fits), by_distance);
	for (size_t i = 0; i < r->fit_count; i++) {
		struct refit_fit fit = r->fits[i];
		bool wanted = fit.imagined ? fit.level != REFIT_MOVED : fit.level == r->fits[0].level;

		if (wanted && (fit.imagined ? imagined++ < IMAGINED_MAX : seen++ < FITS_MAX)) {
			r->fits[kept++] = fit;
			continue;
		}
		r->more |= wanted && !fit.imagined;
		lead_free(fit.lead);
	}
	r->fit_count = kept;
}

void refit_end_trace(struct refit *r)
{
	struct choosing c = { .r = r };

	r->traces++;
	for (size_t i = 0; i < r->event_count; i++) {
		drop_other_parts(&r->events[i]);
		imagine(&r->events[i]);
	}
	choose(&c, 0);
	drop_outdone(r);
	trim(r);
	for (size_t i = 0; i < r->event_count; i++)
		refit_forget_spots(&r->events[i]);
}
