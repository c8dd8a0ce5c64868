/*
 * Which iRoots a run exposes.
 */
#include "sched/iroot_internal.h"

static uint32_t mark_new(struct iroot_profile *p)
{
	uint32_t ref = p->free_marks;

	if (ref) {
		p->free_marks = ((struct iroot_mark *)iroot_at(p, ref))->next;
		return ref;
	}
	return iroot_alloc(p, sizeof(struct iroot_mark));
}

static bool near(const struct iroot_profile *p, uint64_t first, uint64_t second)
{
	return first < second && second - first <= p->window;
}

/* `d` came about now, from thread `from` to `to`; `e` before, in the same or the other direction. */
static void join_two(struct iroot_profile *p, const struct iroot_recent *e,
		     const struct iroot_instance *a, const struct iroot_recent *d,
		     const struct iroot_instance *b)
{
	const uint32_t *x = e->event, *y = d->event;

	if (!a->var || a->var == b->var)
		return;
	if (e->direction == d->direction) {
		if (near(p, a->first, b->first) && near(p, a->second, b->second))
			iroot_found_add(p, IROOT_EXPOSED, 6, x[0], x[1], y[0], y[1]);
		return;
	}
	if (!near(p, a->first, b->second))
		return;
	if (near(p, a->second, b->first))
		iroot_found_add(p, IROOT_EXPOSED, 4, x[0], x[1], y[0], y[1]);
	else if (near(p, b->first, a->second))
		iroot_found_add(p, IROOT_EXPOSED, 5, x[0], x[1], y[0], y[1]);
}

/* Of the same thread as the first of `d`, or the second: with everything that was between these two. */
static void join_all(struct iroot_profile *p, struct iroot_mark *from, const struct iroot_touch *t,
		     uint64_t var)
{
	uint32_t to = t->thread->own, low = from->thread < to ? from->thread : to;
	uint32_t high = from->thread < to ? to : from->thread;
	struct iroot_instance now = { .var = var, .first = from->index, .second = t->index };
	struct iroot_recents *list;
	struct iroot_recent *d;
	uint32_t *number;
	bool added;

	number = iroot_table_put(p, &p->pairs_of, (uint64_t)low << 32 | high, &added);
	if (number && !*number)
		*number = iroot_alloc(p, sizeof(*list));
	if (!number || !*number)
		return;
	list = iroot_at(p, *number);
	d = iroot_recent_touch(p, list, from->event, t->event, from->thread < to);
	if (!d)
		return;
	for (uint32_t ref = list->first; ref;) {
		const struct iroot_recent *e = iroot_at(p, ref);

		join_two(p, e, &e->instance[0], d, &now);
		join_two(p, e, &e->instance[1], d, &now);
		ref = e->next;
	}
	iroot_recent_set(d, &now);
}

/* The thread's own access before, of which the one that is depended on now, or an earlier one, depended. */
static void join_one(struct iroot_profile *p, const struct iroot_mark *from, const struct iroot_touch *t,
		     uint8_t bytes)
{
	for (uint32_t ref = t->place->marks; ref;) {
		const struct iroot_mark *a = iroot_at(p, ref);

		ref = a->next;
		if (a->thread != t->thread->own || !(a->mask & bytes) || !a->conflict ||
		    a->next_thread != from->thread || t->index - a->index > p->window)
			continue;
		if (a->next_index == from->index)
			iroot_found_add(p, IROOT_EXPOSED, 2, a->event, from->event, t->event, 0);
		else if (near(p, a->next_index, from->index))
			iroot_found_add(p, IROOT_EXPOSED, 3, a->event, a->next_event, from->event,
					t->event);
	}
}

/* `t` follows on `from` for these bytes. */
static void follow(struct iroot_profile *p, struct iroot_mark *from, const struct iroot_touch *t,
		   uint8_t bytes)
{
	bool conflict = iroot_conflict((uint32_t)iroot_event_at(p, from->event)->access, t->access) &&
			!(from->shared && t->shared);
	struct iroot_mark *rest;
	uint32_t ref;

	if (conflict) {
		p->dependencies++;
		iroot_found_add(p, IROOT_EXPOSED, 1, from->event, t->event, 0, 0);
		join_one(p, from, t, bytes);
		join_all(p, from, t, t->place->number * 8ull + (unsigned)__builtin_ctz(bytes));
	}
	if (from->mask != bytes) {
		ref = mark_new(p);
		if (!ref)
			return;
		rest = iroot_at(p, ref);
		*rest = *from;
		rest->mask &= (uint8_t)~bytes;
		rest->last &= (uint8_t)~bytes;
		from->mask = bytes;
		from->next = ref;
	}
	from->last = 0;
	from->conflict = conflict;
	from->next_thread = t->thread->own;
	from->next_event = t->event;
	from->next_index = t->index;
}

static struct iroot_mark *last_of(struct iroot_profile *p, struct iroot_place *place, uint8_t byte)
{
	for (uint32_t ref = place->marks; ref;) {
		struct iroot_mark *m = iroot_at(p, ref);

		if (m->last & byte)
			return m;
		ref = m->next;
	}
	return NULL;
}

/* The thread's marks of before; of the first that is empty now, the new one takes the place. */
static void mark_now(struct iroot_profile *p, const struct iroot_touch *t)
{
	uint32_t *link = &t->place->marks, ref = 0;
	struct iroot_mark *m;

	while (*link) {
		m = iroot_at(p, *link);
		if (m->thread == t->thread->own) {
			m->mask &= (uint8_t)~t->mask;
			m->last &= m->mask;
		}
		if (m->mask) {
			link = &m->next;
			continue;
		}
		if (ref) {
			((struct iroot_mark *)iroot_at(p, ref))->next = p->free_marks;
			p->free_marks = ref;
		}
		ref = *link;
		*link = m->next;
	}
	if (!ref)
		ref = mark_new(p);
	if (!ref)
		return;
	m = iroot_at(p, ref);
	*m = (struct iroot_mark){ .mask = t->mask, .last = t->mask, .shared = t->shared,
				  .thread = t->thread->own, .event = t->event, .index = t->index,
				  .next = t->place->marks };
	t->place->marks = ref;
}

void iroot_observe(struct iroot_profile *p, const struct iroot_touch *t)
{
	uint8_t left = t->mask;

	while (left) {
		uint8_t byte = left & -left, bytes;
		struct iroot_mark *m = last_of(p, t->place, byte);

		left &= (uint8_t)~byte;
		if (!m || m->thread == t->thread->own)
			continue;
		bytes = (m->last & left) | byte;
		left &= (uint8_t)~bytes;
		follow(p, m, t, bytes);
	}
	mark_now(p, t);
}
