/*
 * Which dependencies other schedules may have: histories of accesses to each location, and the
 * check of two of them.
 *
 * Of an access it is known only at the thread's next one to the location whether it was the
 * last of its critical sections, so each one waits for that (`pending`).
 */
#include "sched/iroot_internal.h"

static bool hb(const struct iroot_profile *p, const struct iroot_thread *first, uint32_t epoch,
	       uint32_t clock)
{
	return clock && iroot_clock_get(p, iroot_at(p, clock), first->own) >= epoch;
}

static uint32_t epoch(const struct iroot_profile *p, const struct iroot_thread *t, uint32_t clock)
{
	return iroot_clock_get(p, iroot_at(p, clock), t->own);
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

static void edge_add(struct iroot_profile *p, uint32_t first, uint32_t second)
{
	struct iroot_node *a = iroot_at(p, first), *b = iroot_at(p, second);
	uint32_t *ref, out, in;
	struct iroot_edge *e;
	bool added;

	ref = iroot_table_put(p, &p->edges, (uint64_t)first << 32 | second, &added);
	if (!ref || !added)
		return;
	out = iroot_alloc(p, sizeof(*e));
	in = iroot_alloc(p, sizeof(*e));
	if (!out || !in)
		return;
	*ref = out;
	e = iroot_at(p, out);
	e->node = second;
	e->next = a->after;
	a->after = out;
	e = iroot_at(p, in);
	e->node = first;
	e->next = b->before;
	b->before = in;
	iroot_found_add(p, IROOT_PREDICTED, 1, a->event, b->event, 0, 0);
}

bool iroot_edge_is(const struct iroot_profile *p, uint32_t first, uint32_t second)
{
	return iroot_table_get(p, &p->edges, (uint64_t)first << 32 | second) != 0;
}

/* `first` → `second`, threads a and b. */
static void expect(struct iroot_profile *p, const struct iroot_thread *a,
		   const struct iroot_entry *first, const struct iroot_thread *b,
		   const struct iroot_entry *second)
{
	if (!iroot_conflict(first->access, second->access) || (first->shared && second->shared) ||
	    hb(p, b, epoch(p, b, second->clock), first->clock) ||
	    (first->after && hb(p, a, first->after, second->clock)) ||
	    hb(p, a, epoch(p, a, first->clock), second->before) ||
	    !locks_allow(p, first, second))
		return;
	edge_add(p, first->node, second->node);
}

/* With all that other threads did here. */
static void scan(struct iroot_profile *p, const struct iroot_place *place,
		 const struct iroot_history *h, const struct iroot_entry *e)
{
	const struct iroot_thread *self = iroot_at(p, h->thread);

	for (uint32_t ref = place->histories; ref;) {
		const struct iroot_history *other = iroot_at(p, ref);
		const struct iroot_thread *thread = iroot_at(p, other->thread);
		uint32_t left = IROOT_HISTORY;

		for (uint32_t i = other != h ? other->entries : 0; i && left-- > 0;) {
			const struct iroot_entry *f = iroot_at(p, i);

			if (f->mask & e->mask) {
				expect(p, self, e, thread, f);
				expect(p, thread, f, self, e);
			}
			i = f->next;
		}
		ref = iroot_older(p, ref, other->next);
	}
}

/* All others know what its thread did after it: nothing that is to come can make a pair with it. */
static bool is_useless(const struct iroot_profile *p, const struct iroot_thread *self,
		       const struct iroot_entry *e)
{
	if (!e->after)
		return false;
	for (uint32_t ref = p->all_threads; ref;) {
		const struct iroot_thread *t = iroot_at(p, ref);

		if (t != self && !t->ended && !hb(p, self, e->after, t->clock))
			return false;
		ref = iroot_older(p, ref, t->next);
	}
	return true;
}

/* What is useless goes; if nothing is, the oldest. */
static void shorten(struct iroot_profile *p, struct iroot_history *h)
{
	const struct iroot_thread *self = iroot_at(p, h->thread);
	uint32_t *link = &h->entries, before = h->count, left = IROOT_HISTORY;

	while (*link && left-- > 0) {
		struct iroot_entry *e = iroot_at(p, *link);
		uint32_t ref = *link;

		if (!is_useless(p, self, e) && !(h->count == before && !e->next)) {
			link = &e->next;
			continue;
		}
		p->lost += !is_useless(p, self, e);
		*link = e->next;
		e->next = p->free_entries;
		p->free_entries = ref;
		h->count--;
	}
}

static uint64_t hash_locks(const struct iroot_pending *w, const bool *last)
{
	uint64_t hash = w->held_count;

	for (uint32_t i = 0; i < w->held_count; i++)
		hash = iroot_mix(hash, (uint64_t)w->held[i].lock << 3 | w->held[i].shared << 2 |
				       w->held[i].first << 1 | last[i]);
	return hash;
}

/* The locks it holds; `next` is the thread's access that follows, or NULL. */
static uint32_t intern_locks(struct iroot_profile *p, const struct iroot_pending *w,
			     const struct iroot_touch *next)
{
	bool last[IROOT_HELD], added;
	struct iroot_lockset *set;
	uint32_t *ref;

	for (uint32_t i = 0; i < w->held_count; i++) {
		last[i] = true;
		for (uint32_t k = 0; next && k < next->thread->held_count; k++)
			if (next->thread->held[k].lock == w->held[i].lock &&
			    next->thread->held[k].section == w->held[i].section)
				last[i] = false;
	}
	ref = iroot_table_put(p, &p->sets, hash_locks(w, last), &added);
	if (!ref || *ref)
		return ref ? *ref : 0;
	*ref = iroot_alloc(p, sizeof(*set) + w->held_count * sizeof(set->at[0]));
	if (!*ref)
		return 0;
	set = iroot_at(p, *ref);
	set->count = w->held_count;
	for (uint32_t i = 0; i < w->held_count; i++) {
		set->at[i].lock = w->held[i].lock;
		set->at[i].shared = (uint8_t)w->held[i].shared;
		set->at[i].first = (uint8_t)w->held[i].first;
		set->at[i].last = last[i];
	}
	return *ref;
}

static uint64_t hash_entry(const struct iroot_entry *e)
{
	uint64_t hash = iroot_mix(e->node, (uint64_t)e->mask << 32 | e->locks);

	hash = iroot_mix(hash, (uint64_t)e->clock << 32 | e->before);
	return iroot_mix(hash, e->after);
}

/* Into the history, unless one like it is there: that predicted all that this one could. */
static void settle(struct iroot_profile *p, struct iroot_place *place, struct iroot_history *h,
		   struct iroot_pending *w, const struct iroot_touch *next)
{
	struct iroot_entry *e;
	uint32_t ref = p->free_entries, *known;
	bool added;

	w->entry.after = next ? epoch(p, next->thread, next->thread->clock) : 0;
	w->entry.locks = intern_locks(p, w, next);
	if (!w->entry.locks)
		return;
	known = iroot_table_put(p, &p->known, hash_entry(&w->entry), &added);
	if (!known || !added)
		return;
	if (h->count >= IROOT_HISTORY)
		shorten(p, h);
	ref = p->free_entries;
	if (ref)
		p->free_entries = ((struct iroot_entry *)iroot_at(p, ref))->next;
	else
		ref = iroot_alloc(p, sizeof(*e));
	if (!ref)
		return;
	e = iroot_at(p, ref);
	*e = w->entry;
	e->next = h->entries;
	h->entries = ref;
	h->count++;
	p->entry_count++;
	scan(p, place, h, e);
}

static struct iroot_history *history_of(struct iroot_profile *p, const struct iroot_touch *t)
{
	uint32_t self = (uint32_t)(((char *)t->thread - (char *)p) / 8), ref;
	struct iroot_history *h;

	for (ref = t->place->histories; ref; ref = h->next) {
		h = iroot_at(p, ref);
		if (h->thread == self)
			return h;
	}
	ref = iroot_alloc(p, sizeof(*h));
	if (!ref)
		return NULL;
	h = iroot_at(p, ref);
	h->thread = self;
	h->next = t->place->histories;
	t->place->histories = ref;
	return h;
}

static bool holds(const struct iroot_pending *w, uint32_t lock, uint32_t section)
{
	for (uint32_t i = 0; i < w->held_count; i++)
		if (w->held[i].lock == lock && w->held[i].section == section)
			return true;
	return false;
}

/* It waits for the next one. */
static void wait_for_next(struct iroot_profile *p, struct iroot_history *h, const struct iroot_touch *t,
			  uint32_t node, uint32_t before, const bool *first)
{
	bool locks = t->thread->held_count > 0;
	uint32_t ref = p->free_pending[locks];
	struct iroot_pending *w;

	if (ref)
		p->free_pending[locks] = ((struct iroot_pending *)iroot_at(p, ref))->next;
	else
		ref = iroot_alloc(p, sizeof(*w) + (locks ? IROOT_HELD * sizeof(w->held[0]) : 0));
	if (!ref)
		return;
	w = iroot_at(p, ref);
	w->entry = (struct iroot_entry){ .mask = t->mask, .access = t->access, .shared = t->shared,
					 .node = node, .before = before,
					 .clock = iroot_clock_keep(p, t->thread) };
	w->index = t->index;
	w->event = t->event;
	w->held_count = t->thread->held_count;
	for (uint32_t i = 0; i < w->held_count; i++) {
		w->held[i].lock = t->thread->held[i].lock;
		w->held[i].section = t->thread->held[i].section;
		w->held[i].shared = t->thread->held[i].shared;
		w->held[i].first = first[i];
	}
	w->next = h->pending;
	h->pending = ref;
}

static void pending_free(struct iroot_profile *p, uint32_t ref)
{
	struct iroot_pending *w = iroot_at(p, ref);

	w->next = p->free_pending[w->held_count > 0];
	p->free_pending[w->held_count > 0] = ref;
}

/* Of those that end: the clock of the last one, and whether they were in the same sections. */
static uint32_t settle_before(struct iroot_profile *p, struct iroot_history *h, const struct iroot_touch *t,
			      uint32_t node, bool *first)
{
	uint32_t *link = &h->pending, clock = 0;
	uint64_t latest = 0;

	while (*link) {
		struct iroot_pending *w = iroot_at(p, *link);
		uint32_t ref = *link;

		if (!(w->entry.mask & t->mask)) {
			link = &w->next;
			continue;
		}
		if (w->index >= latest) {
			latest = w->index;
			clock = w->entry.clock;
		}
		for (uint32_t i = 0; i < t->thread->held_count; i++)
			first[i] &= !holds(w, t->thread->held[i].lock, t->thread->held[i].section);
		if (t->index - w->index <= p->window)
			iroot_pair_add(p, w->entry.node, node, IROOT_PAIR_NEXT, NULL);
		settle(p, t->place, h, w, t);
		*link = w->next;
		pending_free(p, ref);
	}
	return clock;
}

void iroot_predict(struct iroot_profile *p, const struct iroot_touch *t)
{
	struct iroot_history *h = history_of(p, t);
	bool first[IROOT_HELD];
	uint32_t node, before;

	node = iroot_node(p, t->place->number * 8ull + (unsigned)__builtin_ctz(t->mask),
			  t->thread->own, t->event);
	if (!h || !node)
		return;
	for (uint32_t i = 0; i < IROOT_HELD; i++)
		first[i] = true;
	before = settle_before(p, h, t, node, first);
	wait_for_next(p, h, t, node, before, first);
	iroot_pairs_see(p, t, node);
}

/* Nothing follows on what is pending. */
void iroot_predict_forget(struct iroot_profile *p, struct iroot_place *place)
{
	for (uint32_t ref = place->histories; ref;) {
		struct iroot_history *h = iroot_at(p, ref);

		for (unsigned left = 8; h->pending && left > 0; left--) {	/* no two have a byte in common */
			struct iroot_pending *w = iroot_at(p, h->pending);
			uint32_t next = w->next;

			if (w->held_count > IROOT_HELD)
				w->held_count = 0;	/* damaged */
			settle(p, place, h, w, NULL);
			pending_free(p, h->pending);
			h->pending = next;
		}
		ref = iroot_older(p, ref, h->next);
	}
	place->histories = 0;
}
