/*
 * Which iRoots a run exposes.
 */
#include "coverage/fold/fold_internal.h"

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

/* The idiom that an earlier dependency makes with one that came about now, or 0. */
static uint32_t idiom_of(const struct iroot_profile *p, const struct iroot_instance *before,
			 const struct iroot_instance *now, bool along)
{
	if (!before->var || before->var == now->var)
		return 0;
	if (along)
		return near(p, before->first, now->first) && near(p, before->second, now->second) ? 6 : 0;
	if (!near(p, before->first, now->second))
		return 0;
	return near(p, before->second, now->first) ? 4 : near(p, now->first, before->second) ? 5 : 0;
}

static void join_two(struct iroot_profile *p, const struct iroot_recent *e, uint32_t at,
		     struct iroot_recent *d, const struct iroot_instance *now)
{
	bool along = e->direction == d->direction;
	uint32_t all = along ? 1u << 6 : 1u << 4 | 1u << 5;

	for (unsigned i = 0; i < 3 && (d->joined[at] & all) != all; i++) {
		uint32_t idiom = idiom_of(p, &e->instance[i], now, along);

		if (!idiom || d->joined[at] & 1u << idiom)
			continue;
		d->joined[at] |= (uint8_t)(1u << idiom);
		iroot_found_add(p, IROOT_EXPOSED, idiom, e->event[0], e->event[1], d->event[0],
				d->event[1]);
	}
}

static struct iroot_recents *recents_of(struct iroot_profile *p, uint32_t one, uint32_t other)
{
	uint64_t two = one < other ? (uint64_t)one << 32 | other : (uint64_t)other << 32 | one;
	uint32_t *ref;
	bool added;

	if (p->last_two != two || !p->last_recents) {
		ref = iroot_table_put(p, &p->pairs_of, two, &added);
		if (ref && !*ref)
			*ref = iroot_alloc(p, sizeof(struct iroot_recents));
		if (!ref || !*ref)
			return NULL;
		p->last_two = two;
		p->last_recents = *ref;
	}
	return iroot_at(p, p->last_recents);
}

/* The dependency that came about now, with those between the same two threads. */
static void join_all(struct iroot_profile *p, struct iroot_mark *from, const struct iroot_touch *t,
		     uint64_t var)
{
	struct iroot_instance now = { .var = var, .first = from->index, .second = t->index };
	struct iroot_recents *list = recents_of(p, from->thread, t->thread->own);
	const struct iroot_recent *e;
	struct iroot_recent *d;
	bool made;

	d = list ? iroot_recent_meet(p, list, from->event, t->event, from->thread < t->thread->own, &made) : NULL;
	if (!d || made)
		iroot_found_add(p, IROOT_EXPOSED, 1, from->event, t->event, 0, 0);
	if (!d)
		return;
	e = iroot_at(p, list->entries);
	for (uint32_t i = 0; i < list->count; i++)
		join_two(p, &e[i], i, d, &now);
	iroot_recent_set(list, d, &now);
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
	struct iroot_mark *first = t->place->marks ? iroot_at(p, t->place->marks) : NULL;
	uint8_t left = t->mask;

	/* Once more what it did last, and nobody came in between. */
	if (first && first->thread == t->thread->own && first->mask == t->mask && first->last == t->mask) {
		first->shared = t->shared;
		first->event = t->event;
		first->index = t->index;
		return;
	}
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
