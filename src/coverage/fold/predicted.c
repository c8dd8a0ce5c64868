/*
 * Predicted dependencies, part 1: from a step to an entry of its thread's history.
 *
 * Only the thread's next access to the same bytes shows whether an access is the last one of its
 * critical sections. Until then it is pending. Then it becomes an entry, and predicted_expect.c
 * compares it with the entries of other threads.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

/* Is `w` the last access in the section of each lock? `next`: the thread's next access, or NULL. */
static void find_last(const struct iroot_pending *w, const struct iroot_location_step *next,
		      bool *last)
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

/* Ref of the annotated lockset of `w`, which has this hash; 0: no memory is left. */
static uint32_t intern_locks(struct iroot_profile *p, const struct iroot_pending *w,
			     const bool *last,
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

/* Adds the access to the history, unless one with an equal signature was added before. */
static void finish_pending(struct iroot_profile *p, struct iroot_location *loc,
			   struct iroot_history *h, struct iroot_pending *w,
			   const struct iroot_location_step *next)
{
	struct iroot_seen *s = iroot_seen_make(p, loc, h, w->key);
	bool last[IROOT_HELD];
	uint64_t locks;

	find_last(w, next, last);
	locks = hash_locks(w, last);
	w->entry.after = next ? iroot_epoch(p, next->thread) : 0;
	if (iroot_seen_known(p, h, w, locks, s))
		return;
	w->entry.locks = intern_locks(p, w, last, locks);
	if (w->entry.locks)
		iroot_history_add(p, loc, h, &w->entry);
}

static struct iroot_history *history_of(struct iroot_profile *p,
					const struct iroot_location_step *t)
{
	uint32_t self = (uint32_t)(((char *)t->thread - (char *)p) / 8), ref = t->loc->history;
	struct iroot_history *h = ref ? iroot_at(p, ref) : NULL;

	if (h && h->thread == self)
		return h;
	for (ref = t->loc->histories; ref; ref = h->next) {
		h = iroot_at(p, ref);
		if (h->thread == self) {
			t->loc->history = ref;
			return h;
		}
	}
	ref = iroot_alloc(p, sizeof(*h));
	if (!ref)
		return NULL;
	h = iroot_at(p, ref);
	h->thread = self;
	h->next = t->loc->histories;
	t->loc->histories = t->loc->history = ref;
	return h;
}

static bool holds(const struct iroot_pending *w, uint32_t lock, uint32_t section)
{
	for (uint32_t i = 0; i < w->held_count; i++)
		if (w->held[i].lock == lock && w->held[i].section == section)
			return true;
	return false;
}

/* Makes the step pending. `before`: clock of the thread's previous access; `first`: by lock. */
static void add_pending(struct iroot_profile *p, struct iroot_history *h,
			const struct iroot_location_step *t, uint64_t key, uint32_t before,
			const bool *first)
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
					 .event = t->event, .before = before,
					 .epoch = iroot_epoch(p, t->thread),
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

/* Adds the IROOT_PAIR_NEXT pair of `w` and the step `name`. */
static void pair_next(struct iroot_profile *p, const struct iroot_location *loc,
		      const struct iroot_pending *w, const struct iroot_node_id *name,
		      struct iroot_seen *s)
{
	const struct iroot_node_id first = { w->key, iroot_var(loc, w->entry.mask), name->thread,
					     w->entry.event };

	if (s && (s->before_key[0] == w->key || s->before_key[1] == w->key))
		return;		/* the pair was added before, or its sites have enough pairs */
	iroot_pair_add(p, &first, name, IROOT_PAIR_NEXT, NULL);
	if (s) {
		s->before_key[1] = s->before_key[0];
		s->before_key[0] = w->key;
	}
}

/*
 * Finishes pending accesses that overlap with the step. Returns the clock of the last of them, and
 * clears first[i] if one of them was in the same section of held lock i.
 */
static uint32_t finish_overlapping(struct iroot_profile *p, struct iroot_history *h,
				   const struct iroot_location_step *t,
				   const struct iroot_node_id *name, bool *first)
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
			pair_next(p, t->loc, w, name, iroot_seen_find(p, t->loc, h, name->key));
		finish_pending(p, t->loc, h, w, t);
		*link = w->next;
		pending_free(p, ref);
	}
	return clock;
}

void iroot_predicted_step(struct iroot_profile *p, const struct iroot_location_step *t)
{
	const struct iroot_node_id name = iroot_node_id(iroot_var(t->loc, t->mask), t->thread->own,
							t->event);
	struct iroot_history *h = history_of(p, t);
	bool first[IROOT_HELD];
	uint32_t before;

	if (!h)
		return;
	for (uint32_t i = 0; i < IROOT_HELD; i++)
		first[i] = true;
	before = finish_overlapping(p, h, t, &name, first);
	add_pending(p, h, t, name.key, before, first);
	if (p->window)
		iroot_pairs_step(p, t, &name);
}

/* Finishes all pending accesses before any history is cleared: they are compared with it. */
void iroot_predicted_forget(struct iroot_profile *p, struct iroot_location *loc)
{
	for (uint32_t ref = loc->histories; ref;) {
		struct iroot_history *h = iroot_at(p, ref);

		/* Pending accesses have no byte in common: at most 8. */
		for (unsigned left = 8; h->pending && left > 0; left--) {
			struct iroot_pending *w = iroot_at(p, h->pending);
			uint32_t next = w->next;

			if (w->held_count > IROOT_HELD)
				w->held_count = 0;	/* damaged */
			finish_pending(p, loc, h, w, NULL);
			pending_free(p, h->pending);
			h->pending = next;
		}
		ref = iroot_next_older(p, ref, h->next);
	}
	for (uint32_t ref = loc->histories; ref;) {
		struct iroot_history *h = iroot_at(p, ref);

		iroot_history_clear(p, h);
		ref = iroot_next_older(p, ref, h->next);
	}
}
