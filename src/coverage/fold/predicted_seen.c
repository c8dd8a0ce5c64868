/*
 * What accesses of one name did last, so that most that add nothing new are recognised without a table.
 *
 * An access adds nothing if there was one of the same name with the same sign. All of one name overlap, so
 * each is settled before the next one comes, and their clocks never go back: only those of the same
 * clock have to be remembered. Two are here; if there are more, or others needed the place, a table has them.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

static uint64_t hash_entry(uint64_t key, const struct iroot_sign *s)
{
	uint64_t hash = mix_add_small(key, s->locks);

	hash = mix_add_small(hash, (uint64_t)s->clock << 32 | s->before);
	return mix_add_small(hash, (uint64_t)s->mask << 32 | s->after);
}

static void list_known(struct iroot_profile *p, struct iroot_seen *s)
{
	bool added;

	for (unsigned i = 0; i < 2 && !s->listed; i++)
		if (s->sign[i].clock)
			iroot_table_put(p, &p->known, hash_entry(s->key, &s->sign[i]), &added);
	s->listed = true;
}

static bool is_sign(const struct iroot_sign *a, const struct iroot_sign *b)
{
	return a->clock == b->clock && a->before == b->before && a->after == b->after && a->locks == b->locks &&
	       a->mask == b->mask;
}

static bool is_crowded(const struct iroot_history *h, uint32_t clock)
{
	return h->crowded == clock || h->crowded == IROOT_EVER;
}

bool iroot_seen_known(struct iroot_profile *p, const struct iroot_history *h, const struct iroot_pending *w,
		      uint64_t locks, struct iroot_seen *s)
{
	const struct iroot_sign now = { w->entry.clock, w->entry.before, w->entry.after, w->entry.mask, locks };
	bool added = true, table = is_crowded(h, now.clock);

	if (s && (is_sign(&s->sign[0], &now) || is_sign(&s->sign[1], &now)))
		return true;
	if (s && s->sign[0].clock != now.clock) {
		s->sign[0].clock = 0;
		s->listed = table;
	} else if (s && s->sign[1].clock == now.clock) {
		list_known(p, s);
	}
	if (s) {
		table |= s->listed;
		s->sign[1] = s->sign[0];
		s->sign[0] = now;
	}
	/* What does not fit is taken for known. */
	return table && (!iroot_table_put(p, &p->known, hash_entry(w->key, &now), &added) || !added);
}

struct iroot_seen *iroot_seen_find(const struct iroot_profile *p, const struct iroot_place *place,
				   const struct iroot_history *h, uint64_t key)
{
	for (unsigned i = 0; i < IROOT_SEEN; i++)
		if (h->tag[i] == (uint16_t)key && h->seen[i]) {
			struct iroot_seen *s = iroot_at(p, h->seen[i]);

			if (s->key == key && s->number == place->number)
				return s;
		}
	return NULL;
}

/* It has to leave. With the clock that it had it may come again at once, or if it waits. */
static void unsee(struct iroot_profile *p, struct iroot_history *h, struct iroot_seen *s, uint32_t clock)
{
	unsigned left = 8;

	if (s->sign[0].clock == clock) {
		list_known(p, s);
		if (h->crowded != IROOT_EVER)
			h->crowded = clock;
	}
	for (uint32_t ref = h->pending; ref && left-- > 0;) {
		const struct iroot_pending *w = iroot_at(p, ref);

		if (w->key == s->key) {
			list_known(p, s);
			h->crowded = IROOT_EVER;
		}
		ref = w->next;
	}
}

struct iroot_seen *iroot_seen_make(struct iroot_profile *p, const struct iroot_place *place,
				   struct iroot_history *h, uint64_t key)
{
	struct iroot_seen *s = iroot_seen_find(p, place, h, key);
	const struct iroot_thread *t;
	unsigned at;

	if (s)
		return s;
	at = h->leaves++ % IROOT_SEEN;
	if (!h->seen[at])
		h->seen[at] = iroot_alloc(p, sizeof(*s));
	if (!h->seen[at])
		return NULL;
	h->tag[at] = (uint16_t)key;
	s = iroot_at(p, h->seen[at]);
	t = iroot_at(p, h->thread);
	if (s->key && s->number == place->number)
		unsee(p, h, s, t->clock);
	*s = (struct iroot_seen){ .key = key, .number = place->number };
	return s;
}
