/*
 * Which dependencies other schedules may have: what is kept of each access.
 *
 * Of an access it is known only at the thread's next one to the location whether it was the
 * last of its critical sections, so each one waits for that (`pending`).
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

/* Of which of its locks is it the last access? `next` is the thread's access that follows, or NULL. */
static void find_last(const struct iroot_pending *w, const struct iroot_touch *next, bool *last)
{
	for (uint32_t i = 0; i < w->held_count; i++) {
		last[i] = true;
		for (uint32_t k = 0; next && k < next->thread->held_count; k++)
			if (next->thread->held[k].lock == w->held[i].lock &&
			    next->thread->held[k].section == w->held[i].section)
				last[i] = false;
	}
}

static uint64_t hash_locks(const struct iroot_pending *w, const bool *last)
{
	uint64_t hash = w->held_count;

	for (uint32_t i = 0; i < w->held_count; i++)
		hash = mix_add_small(hash, (uint64_t)w->held[i].lock << 3 | w->held[i].shared << 2 |
				       w->held[i].first << 1 | last[i]);
	return hash;
}

static uint32_t set_new(struct iroot_profile *p, const struct iroot_pending *w, const bool *last)
{
	struct iroot_lockset *set;
	uint32_t ref = iroot_alloc(p, sizeof(*set) + w->held_count * sizeof(set->at[0]));

	if (!ref)
		return 0;
	set = iroot_at(p, ref);
	set->count = w->held_count;
	for (uint32_t i = 0; i < w->held_count; i++) {
		set->at[i].lock = w->held[i].lock;
		set->at[i].shared = (uint8_t)w->held[i].shared;
		set->at[i].first = (uint8_t)w->held[i].first;
		set->at[i].last = last[i];
	}
	return ref;
}

/* The set of the locks it holds, of that hash; 0 if nothing is left. */
static uint32_t intern_locks(struct iroot_profile *p, const struct iroot_pending *w, const bool *last,
			     uint64_t hash)
{
	uint32_t *ref = &p->no_locks;
	bool added;

	if (w->held_count)
		ref = iroot_table_put(p, &p->sets, hash, &added);
	if (ref && !*ref)
		*ref = set_new(p, w, last);
	return ref ? *ref : 0;
}

/* Into the history, unless one like it is there: that predicted all that this one could. */
static void settle(struct iroot_profile *p, struct iroot_place *place, struct iroot_history *h,
		   struct iroot_pending *w, const struct iroot_touch *next)
{
	struct iroot_seen *s = iroot_seen_make(p, place, h, w->key);
	bool last[IROOT_HELD];
	uint64_t locks;

	find_last(w, next, last);
	locks = hash_locks(w, last);
	w->entry.after = next ? iroot_epoch(p, next->thread) : 0;
	if (iroot_seen_known(p, h, w, locks, s))
		return;
	w->entry.locks = intern_locks(p, w, last, locks);
	if (w->entry.locks)
		iroot_history_add(p, place, h, &w->entry);
}

static struct iroot_history *history_of(struct iroot_profile *p, const struct iroot_touch *t)
{
	uint32_t self = (uint32_t)(((char *)t->thread - (char *)p) / 8), ref = t->place->history;
	struct iroot_history *h = ref ? iroot_at(p, ref) : NULL;

	if (h && h->thread == self)
		return h;
	for (ref = t->place->histories; ref; ref = h->next) {
		h = iroot_at(p, ref);
		if (h->thread == self) {
			t->place->history = ref;
			return h;
		}
	}
	ref = iroot_alloc(p, sizeof(*h));
	if (!ref)
		return NULL;
	h = iroot_at(p, ref);
	h->thread = self;
	h->next = t->place->histories;
	t->place->histories = t->place->history = ref;
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
			  uint64_t key, uint32_t before, const bool *first)
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
					 .event = t->event, .before = before, .epoch = iroot_epoch(p, t->thread),
					 .clock = iroot_clock_keep(p, t->thread) };
	w->index = t->index;
	w->key = key;
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

/* `w` is the access that comes before `name`, with nothing of the thread's in between. */
static void pair_next(struct iroot_profile *p, const struct iroot_place *place, const struct iroot_pending *w,
		      const struct iroot_name *name, struct iroot_seen *s)
{
	const struct iroot_name first = { w->key, iroot_var(place, w->entry.mask), name->thread, w->entry.event };

	if (s && (s->before_key[0] == w->key || s->before_key[1] == w->key))
		return;		/* it is known, or refused for good */
	iroot_pair_add(p, &first, name, IROOT_PAIR_NEXT, NULL);
	if (s) {
		s->before_key[1] = s->before_key[0];
		s->before_key[0] = w->key;
	}
}

/* Of those that end: the clock of the last one, and whether they were in the same sections. */
static uint32_t settle_before(struct iroot_profile *p, struct iroot_history *h, const struct iroot_touch *t,
			      const struct iroot_name *name, bool *first)
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
			pair_next(p, t->place, w, name, iroot_seen_find(p, t->place, h, name->key));
		settle(p, t->place, h, w, t);
		*link = w->next;
		pending_free(p, ref);
	}
	return clock;
}

void iroot_predict(struct iroot_profile *p, const struct iroot_touch *t)
{
	const struct iroot_name name = iroot_name(iroot_var(t->place, t->mask), t->thread->own, t->event);
	struct iroot_history *h = history_of(p, t);
	bool first[IROOT_HELD];
	uint32_t before;

	if (!h)
		return;
	for (uint32_t i = 0; i < IROOT_HELD; i++)
		first[i] = true;
	before = settle_before(p, h, t, &name, first);
	wait_for_next(p, h, t, name.key, before, first);
	if (p->window)
		iroot_pairs_see(p, t, &name);
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
	for (uint32_t ref = place->histories; ref;) {
		struct iroot_history *h = iroot_at(p, ref);

		iroot_history_clear(p, h);
		ref = iroot_older(p, ref, h->next);
	}
}
