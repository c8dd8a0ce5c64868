/*
 * Recognises accesses that predict nothing new, most of them without a table.
 *
 * An access predicts nothing new if there was one with the same node id and signature. Accesses of
 * one node id overlap, so each is finished before the next one begins, and their clocks never
 * decrease: only signatures of the last clock have to be remembered. Two are kept in struct
 * iroot_seen. If there are more, or another node id needed its place, they move to the table
 * iroot_profile.known.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

static uint64_t hash_entry(uint64_t key, const struct iroot_signature *s)
{
	uint64_t hash = mix_add_small(key, s->locks);

	hash = mix_add_small(hash, (uint64_t)s->clock << 32 | s->before);
	return mix_add_small(hash, (uint64_t)s->mask << 32 | s->after);
}

static void move_to_table(struct iroot_profile *p, struct iroot_seen *s)
{
	bool added;

	for (unsigned i = 0; i < 2 && !s->in_table; i++)
		if (s->signature[i].clock)
			iroot_table_put(p, &p->known, hash_entry(s->key, &s->signature[i]), &added);
	s->in_table = true;
}

static bool is_same_signature(const struct iroot_signature *a, const struct iroot_signature *b)
{
	return a->clock == b->clock && a->before == b->before && a->after == b->after &&
	       a->locks == b->locks &&
	       a->mask == b->mask;
}

static bool may_be_in_table(const struct iroot_history *h, uint32_t clock)
{
	return h->evicted_clock == clock || h->evicted_clock == IROOT_ANY_CLOCK;
}

bool iroot_seen_known(struct iroot_profile *p, const struct iroot_history *h,
		      const struct iroot_pending *w,
		      uint64_t locks, struct iroot_seen *s)
{
	const struct iroot_signature now = { w->entry.clock, w->entry.before, w->entry.after,
					     w->entry.mask, locks };
	bool added = true, table = may_be_in_table(h, now.clock);

	if (s && (is_same_signature(&s->signature[0], &now) ||
		  is_same_signature(&s->signature[1], &now)))
		return true;
	if (s && s->signature[0].clock != now.clock) {
		s->signature[0].clock = 0;
		s->in_table = table;
	} else if (s && s->signature[1].clock == now.clock) {
		move_to_table(p, s);
	}
	if (s) {
		table |= s->in_table;
		s->signature[1] = s->signature[0];
		s->signature[0] = now;
	}
	/* If no memory is left for the table, the access counts as known. */
	return table && (!iroot_table_put(p, &p->known, hash_entry(w->key, &now), &added) ||
			 !added);
}

struct iroot_seen *iroot_seen_find(const struct iroot_profile *p, const struct iroot_location *loc,
				   const struct iroot_history *h, uint64_t key)
{
	for (unsigned i = 0; i < IROOT_SEEN; i++)
		if (h->tag[i] == (uint16_t)key && h->seen[i]) {
			struct iroot_seen *s = iroot_at(p, h->seen[i]);

			if (s->key == key && s->number == loc->number)
				return s;
		}
	return NULL;
}

/*
 * Another node id replaces `s`. Its signatures move to the table if they may be needed again: if
 * the thread's clock is still theirs, or if an access of this node id is pending.
 */
static void evict(struct iroot_profile *p, struct iroot_history *h, struct iroot_seen *s,
		  uint32_t clock)
{
	unsigned left = 8;

	if (s->signature[0].clock == clock) {
		move_to_table(p, s);
		if (h->evicted_clock != IROOT_ANY_CLOCK)
			h->evicted_clock = clock;
	}
	for (uint32_t ref = h->pending; ref && left-- > 0;) {
		const struct iroot_pending *w = iroot_at(p, ref);

		if (w->key == s->key) {
			move_to_table(p, s);
			h->evicted_clock = IROOT_ANY_CLOCK;
		}
		ref = w->next;
	}
}

struct iroot_seen *iroot_seen_make(struct iroot_profile *p, const struct iroot_location *loc,
				   struct iroot_history *h, uint64_t key)
{
	struct iroot_seen *s = iroot_seen_find(p, loc, h, key);
	const struct iroot_thread *t;
	unsigned at;

	if (s)
		return s;
	at = h->next_victim++ % IROOT_SEEN;
	if (!h->seen[at])
		h->seen[at] = iroot_alloc(p, sizeof(*s));
	if (!h->seen[at])
		return NULL;
	h->tag[at] = (uint16_t)key;
	s = iroot_at(p, h->seen[at]);
	t = iroot_at(p, h->thread);
	if (s->key && s->number == loc->number)
		evict(p, h, s, t->clock);
	*s = (struct iroot_seen){ .key = key, .number = loc->number };
	return s;
}
