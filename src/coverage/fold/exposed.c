/*
 * Exposed iRoots: finds the dependencies that a step makes, and the compound iRoots that each of
 * them makes with earlier ones.
 */
#include "coverage/fold/fold_internal.h"

static uint32_t last_new(struct iroot_profile *p)
{
	uint32_t ref = p->free_last;

	if (ref) {
		p->free_last = ((struct iroot_last *)iroot_at(p, ref))->next;
		return ref;
	}
	return iroot_alloc(p, sizeof(struct iroot_last));
}

static bool within_window(const struct iroot_profile *p, uint64_t first, uint64_t second)
{
	return first < second && second - first <= p->window;
}

/* The idiom (4 to 6) that instance `before` of a dependency makes with `now`, or 0. */
static uint32_t idiom_of(const struct iroot_profile *p, const struct iroot_instance *before,
			 const struct iroot_instance *now, bool same_direction)
{
	if (!before->var || before->var == now->var)
		return 0;
	if (same_direction)
		return within_window(p, before->first, now->first) &&
		       within_window(p, before->second, now->second) ? 6 : 0;
	if (!within_window(p, before->first, now->second))
		return 0;
	return within_window(p, before->second, now->first) ? 4 :
	       within_window(p, now->first, before->second) ? 5 : 0;
}

static void combine(struct iroot_profile *p, const struct iroot_recent *e, uint32_t at,
		    struct iroot_recent *d, const struct iroot_instance *now)
{
	bool same_direction = e->direction == d->direction;
	uint32_t all = same_direction ? 1u << 6 : 1u << 4 | 1u << 5;

	for (unsigned i = 0; i < 3 && (d->joined[at] & all) != all; i++) {
		uint32_t idiom = idiom_of(p, &e->instance[i], now, same_direction);

		if (!idiom || d->joined[at] & 1u << idiom)
			continue;
		d->joined[at] |= (uint8_t)(1u << idiom);
		iroot_found_add(p, IROOT_EXPOSED, idiom, e->event[0], e->event[1], d->event[0],
				d->event[1]);
	}
}

static struct iroot_recent_list *recents_of(struct iroot_profile *p, uint32_t one, uint32_t other)
{
	uint64_t two = one < other ? (uint64_t)one << 32 | other : (uint64_t)other << 32 | one;
	uint32_t *ref;
	bool added;

	if (p->last_two != two || !p->last_recents) {
		ref = iroot_table_put(p, &p->pairs_of, two, &added);
		if (ref && !*ref)
			*ref = iroot_alloc(p, sizeof(struct iroot_recent_list));
		if (!ref || !*ref)
			return NULL;
		p->last_two = two;
		p->last_recents = *ref;
	}
	return iroot_at(p, p->last_recents);
}

/* Idioms 1, 4, 5 and 6: joins the dependency from -> t with recent ones of the two threads. */
static void find_all(struct iroot_profile *p, struct iroot_last *from,
		     const struct iroot_location_step *t, uint64_t var)
{
	struct iroot_instance now = { .var = var, .first = from->index, .second = t->index };
	struct iroot_recent_list *list = recents_of(p, from->thread, t->thread->own);
	const struct iroot_recent *e;
	struct iroot_recent *d;
	bool added;

	d = list ? iroot_recent_put(p, list, from->event, t->event, from->thread < t->thread->own,
				    &added) : NULL;
	if (!d || added)
		iroot_found_add(p, IROOT_EXPOSED, 1, from->event, t->event, 0, 0);
	if (!d)
		return;
	e = iroot_at(p, list->entries);
	for (uint32_t i = 0; i < list->count; i++)
		combine(p, &e[i], i, d, &now);
	iroot_recent_set(list, d, &now);
}

/*
 * Idioms 2 and 3: finds an earlier access A of the step's thread on which `from` depends (idiom 2),
 * or on which an earlier access of the thread of `from` depends (idiom 3).
 */
static void find_same_variable(struct iroot_profile *p, const struct iroot_last *from,
			       const struct iroot_location_step *t, uint8_t bytes)
{
	for (uint32_t ref = t->loc->last; ref;) {
		const struct iroot_last *a = iroot_at(p, ref);

		ref = a->next;
		if (a->thread != t->thread->own || !(a->mask & bytes) || !a->conflict ||
		    a->next_thread != from->thread || t->index - a->index > p->window)
			continue;
		if (a->next_index == from->index)
			iroot_found_add(p, IROOT_EXPOSED, 2, a->event, from->event, t->event, 0);
		else if (within_window(p, a->next_index, from->index))
			iroot_found_add(p, IROOT_EXPOSED, 3, a->event, a->next_event, from->event,
					t->event);
	}
}

/* `from` was the last access to these bytes before `t`, by another thread. */
static void depend_on(struct iroot_profile *p, struct iroot_last *from,
		      const struct iroot_location_step *t, uint8_t bytes)
{
	bool conflict = iroot_conflict((uint32_t)iroot_event_at(p, from->event)->access,
				       t->access) &&
			!(from->shared && t->shared);
	struct iroot_last *rest;
	uint32_t ref;

	if (conflict) {
		p->dependencies++;
		find_same_variable(p, from, t, bytes);
		find_all(p, from, t, t->loc->number * 8ull + (unsigned)__builtin_ctz(bytes));
	}
	if (from->mask != bytes) {
		ref = last_new(p);
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

static struct iroot_last *last_of(struct iroot_profile *p, struct iroot_location *loc, uint8_t byte)
{
	for (uint32_t ref = loc->last; ref;) {
		struct iroot_last *m = iroot_at(p, ref);

		if (m->last & byte)
			return m;
		ref = m->next;
	}
	return NULL;
}

/* Makes the step its thread's last access to the step's bytes. Reuses or frees empty entries. */
static void set_last(struct iroot_profile *p, const struct iroot_location_step *t)
{
	uint32_t *link = &t->loc->last, ref = 0;
	struct iroot_last *m;

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
			((struct iroot_last *)iroot_at(p, ref))->next = p->free_last;
			p->free_last = ref;
		}
		ref = *link;
		*link = m->next;
	}
	if (!ref)
		ref = last_new(p);
	if (!ref)
		return;
	m = iroot_at(p, ref);
	*m = (struct iroot_last){ .mask = t->mask, .last = t->mask, .shared = t->shared,
				  .thread = t->thread->own, .event = t->event, .index = t->index,
				  .next = t->loc->last };
	t->loc->last = ref;
}

void iroot_exposed_step(struct iroot_profile *p, const struct iroot_location_step *t)
{
	struct iroot_last *first = t->loc->last ? iroot_at(p, t->loc->last) : NULL;
	uint8_t left = t->mask;

	/* The thread accesses the same bytes again, with no other access in between. */
	if (first && first->thread == t->thread->own && first->mask == t->mask &&
	    first->last == t->mask) {
		first->shared = t->shared;
		first->event = t->event;
		first->index = t->index;
		return;
	}
	while (left) {
		uint8_t byte = left & -left, bytes;
		struct iroot_last *m = last_of(p, t->loc, byte);

		left &= (uint8_t)~byte;
		if (!m || m->thread == t->thread->own)
			continue;
		bytes = (m->last & left) | byte;
		left &= (uint8_t)~bytes;
		depend_on(p, m, t, bytes);
	}
	set_last(p, t);
}
