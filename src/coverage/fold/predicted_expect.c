/*
 * Which dependencies other schedules may have: the histories of accesses to each location, and the check
 * of two of them.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

static inline bool hb(const struct iroot_profile *p, const struct iroot_thread *first, uint32_t epoch,
	       uint32_t clock)
{
	return clock && iroot_clock_get(p, iroot_at(p, clock), first->own) >= epoch;
}

/* Of each lock that both hold, the first access is the last of its section and the second the first. */
static bool locks_allow(const struct iroot_profile *p, const struct iroot_entry *first,
			const struct iroot_entry *second)
{
	const struct iroot_lockset *a = iroot_at(p, first->locks), *b = iroot_at(p, second->locks);

	for (uint32_t i = 0; i < a->count && i < IROOT_HELD; i++)
		for (uint32_t k = 0; k < b->count && k < IROOT_HELD; k++)
			if (a->at[i].lock == b->at[k].lock && !(a->at[i].shared && b->at[k].shared) &&
			    !(a->at[i].last && b->at[k].first))
				return false;
	return true;
}

/* Two sites that walk through memory are worth some of their variables. */
static void edge_add(struct iroot_profile *p, const struct iroot_name *first, const struct iroot_name *second)
{
	uint32_t *count, *ref, from, to, out, in;
	struct iroot_node *a, *b;
	struct iroot_edge *e;
	bool added;

	count = iroot_table_put(p, &p->edge_sites, mix_add_small((uint64_t)first->thread << 32 | second->thread,
							     (uint64_t)first->event << 32 | second->event), &added);
	if (!count || *count >= IROOT_EDGE_PLACES)
		return;
	if (!*count)
		iroot_found_add(p, IROOT_PREDICTED, 1, first->event, second->event, 0, 0);
	ref = iroot_table_put(p, &p->edges, iroot_pair_key(first->key, second->key), &added);
	if (!ref || !added)
		return;
	(*count)++;
	from = iroot_node(p, first);
	to = iroot_node(p, second);
	out = iroot_alloc(p, sizeof(*e));
	in = iroot_alloc(p, sizeof(*e));
	if (!from || !to || !out || !in)
		return;
	*ref = out;
	a = iroot_at(p, from);
	b = iroot_at(p, to);
	e = iroot_at(p, out);
	e->node = to;
	e->next = a->after;
	a->after = out;
	e = iroot_at(p, in);
	e->node = from;
	e->next = b->before;
	b->before = in;
}

/* Does strong order allow first → second, threads a and b? */
static inline bool order_allows(const struct iroot_profile *p, const struct iroot_thread *a,
				const struct iroot_entry *first, const struct iroot_thread *b,
				const struct iroot_entry *second)
{
	return !hb(p, b, second->epoch, first->clock) &&
	       !(first->after && hb(p, a, first->after, second->clock)) &&
	       !hb(p, a, first->epoch, second->before);
}

static void expect(struct iroot_profile *p, const struct iroot_place *place, const struct iroot_thread *a,
		   const struct iroot_entry *first, const struct iroot_thread *b,
		   const struct iroot_entry *second)
{
	struct iroot_name one, two;

	if (!iroot_conflict(first->access, second->access) || (first->shared && second->shared) ||
	    !order_allows(p, a, first, b, second) || !locks_allow(p, first, second))
		return;
	one = iroot_name(iroot_var(place, first->mask), a->own, first->event);
	two = iroot_name(iroot_var(place, second->mask), b->own, second->event);
	edge_add(p, &one, &two);
}

/* The entries of a history; *count is how many there are. */
static struct iroot_entry *entries_of(const struct iroot_profile *p, const struct iroot_history *h, uint32_t *count)
{
	*count = h->entries && h->count <= IROOT_HISTORY ? h->count : 0;
	return *count ? iroot_at(p, h->entries) : NULL;
}

/*
 * With all that other threads did here. Most of it came before in strong order, and so did the access
 * after it or before this one: numbers that are at hand tell.
 */
static void scan(struct iroot_profile *p, const struct iroot_place *place,
		 const struct iroot_history *h, const struct iroot_entry *e)
{
	const struct iroot_thread *self = iroot_at(p, h->thread);

	for (uint32_t ref = place->histories; ref;) {
		const struct iroot_history *other = iroot_at(p, ref);
		const struct iroot_thread *thread = iroot_at(p, other->thread);
		uint32_t count, clock = iroot_clock_get(p, iroot_at(p, e->clock), thread->own);
		uint32_t before = e->before ? iroot_clock_get(p, iroot_at(p, e->before), thread->own) : 0;
		const struct iroot_entry *f = entries_of(p, other, &count), *end = f + count;

		for (f = other != h ? f : end; f < end; f++) {
			if (!(f->mask & e->mask))
				continue;
			if (clock < f->epoch)
				expect(p, place, self, e, thread, f);
			if (before < f->epoch && !(f->after && clock >= f->after))
				expect(p, place, thread, f, self, e);
		}
		ref = iroot_older(p, ref, other->next);
	}
}

/* Can what waits in a history of another thread make a pair with it? */
static bool is_waited_for(const struct iroot_profile *p, const struct iroot_place *place,
			  const struct iroot_thread *self, const struct iroot_entry *e)
{
	for (uint32_t ref = place->histories; ref;) {
		const struct iroot_history *h = iroot_at(p, ref);
		const struct iroot_thread *t = iroot_at(p, h->thread);
		unsigned left = 8;

		for (uint32_t i = t != self ? h->pending : 0; i && left-- > 0;) {
			const struct iroot_pending *w = iroot_at(p, i);

			if (order_allows(p, self, e, t, &w->entry) || order_allows(p, t, &w->entry, self, e))
				return true;
			i = w->next;
		}
		ref = iroot_older(p, ref, h->next);
	}
	return false;
}

/* All others know what its thread did after it: nothing that is to come can make a pair with it. */
static bool is_useless(const struct iroot_profile *p, const struct iroot_place *place,
		       const struct iroot_thread *self, const struct iroot_entry *e)
{
	if (!e->after)
		return false;
	for (uint32_t ref = p->all_threads; ref;) {
		const struct iroot_thread *t = iroot_at(p, ref);

		if (t != self && !t->ended && !hb(p, self, e->after, t->clock))
			return false;
		ref = iroot_older(p, ref, t->next);
	}
	return !is_waited_for(p, place, self, e);
}

static void shorten(struct iroot_profile *p, const struct iroot_place *place, struct iroot_history *h)
{
	const struct iroot_thread *self = iroot_at(p, h->thread);
	uint32_t count, kept = 0;
	struct iroot_entry *e = entries_of(p, h, &count);

	for (uint32_t i = 0; i < count; i++)
		if (!is_useless(p, place, self, &e[i]))
			e[kept++] = e[i];
	h->count = kept;
}

static unsigned room_size(uint32_t room)
{
	return room >= IROOT_FEW ? (unsigned)__builtin_ctz(room / IROOT_FEW) % IROOT_ROOMS : 0;
}

void iroot_history_clear(struct iroot_profile *p, struct iroot_history *h)
{
	if (h->entries) {
		*(uint32_t *)iroot_at(p, h->entries) = p->free_rooms[room_size(h->room)];
		p->free_rooms[room_size(h->room)] = h->entries;
	}
	h->entries = h->room = h->count = 0;
}

static bool room_more(struct iroot_profile *p, struct iroot_history *h)
{
	uint32_t room = h->entries ? h->room * 2 : IROOT_FEW, *free = &p->free_rooms[room_size(room)];
	uint32_t ref = *free ? *free : iroot_alloc(p, room * sizeof(struct iroot_entry)), count;
	const struct iroot_entry *from = entries_of(p, h, &count);
	struct iroot_entry *to;

	if (!ref)
		return false;
	to = iroot_at(p, ref);
	if (*free)
		*free = *(const uint32_t *)to;
	for (uint32_t i = 0; i < count; i++)
		to[i] = from[i];
	iroot_history_clear(p, h);
	h->entries = ref;
	h->room = room;
	h->count = count;
	return true;
}

/*
 * Where a new entry goes; NULL if nothing is left. Whenever there is no room, what is useless goes, for
 * who comes has to look at all of them. But threads that nobody creates know nothing of what was before
 * them: if there are any, it goes, and after it the oldest, only when there is no more room to get.
 */
static struct iroot_entry *entry_new(struct iroot_profile *p, const struct iroot_place *place,
				     struct iroot_history *h)
{
	struct iroot_entry *e;
	uint32_t count;

	if (h->count > IROOT_HISTORY || h->room > IROOT_HISTORY)
		return iroot_nothing(p, 1);	/* damaged */
	if (h->count >= h->room) {
		if (h->room && (!p->foreign || h->room == IROOT_HISTORY))
			shorten(p, place, h);
		if ((h->count > h->room / 2 || !h->room) && h->room < IROOT_HISTORY && !room_more(p, h))
			return NULL;
	}
	e = entries_of(p, h, &count);
	if (count == IROOT_HISTORY) {
		p->lost++;
		for (uint32_t i = 1; i < count; i++)
			e[i - 1] = e[i];
		h->count--;
	}
	return (struct iroot_entry *)iroot_at(p, h->entries) + h->count++;
}

void iroot_history_add(struct iroot_profile *p, const struct iroot_place *place, struct iroot_history *h,
		       const struct iroot_entry *entry)
{
	struct iroot_entry *e = entry_new(p, place, h);

	if (!e)
		return;
	*e = *entry;
	p->entry_count++;
	scan(p, place, h, e);
}
