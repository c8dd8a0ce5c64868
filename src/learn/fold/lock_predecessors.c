#include "learn/fold/lock_predecessors.h"

#include <stdlib.h>

#include "base/mem.h"

#define LOCK_BYTES 8u	/* locks within the same 8 bytes count as one */
#define LOCK_TAKINGS 256u	/* per mutex; further ones are dropped: bounds time */

/*
 * The last acquisition of a thread at a site. An acquisition that is ordered after it is ordered
 * after all earlier ones.
 */
struct taking {
	uint32_t thread, site;
	uint64_t epoch;
};

struct lock {
	uint32_t thread, site;	/* last acquisition; site 0: not known */
	struct taking *items;
	size_t count, capacity;
};

struct lock_pred {
	struct cells locks;
	struct learn_pairs seen, unordered, first, after;
};

static void clear(void *item)
{
	free(((struct lock *)item)->items);
}

struct lock_pred *lock_pred_new(void)
{
	struct lock_pred *t = xcalloc(1, sizeof(*t));

	cells_init(&t->locks, LOCK_BYTES, sizeof(struct lock));
	return t;
}

void lock_pred_free(struct lock_pred *t)
{
	if (!t)
		return;
	cells_free(&t->locks, clear);
	learn_pairs_free(&t->seen);
	learn_pairs_free(&t->unordered);
	learn_pairs_free(&t->first);
	learn_pairs_free(&t->after);
	free(t);
}

void lock_pred_forget(struct lock_pred *t, uint64_t addr, uint64_t size)
{
	cells_forget(&t->locks, addr, size, clear);
}

static void take(struct lock_pred *t, struct lock *l, const struct learn_step *s,
		 const struct view *view)
{
	struct taking *same = NULL;
	bool after = false;

	for (size_t i = 0; i < l->count; i++) {
		struct taking *old = &l->items[i];

		if (old->thread == s->thread) {
			if (old->site == s->site)
				same = old;
		} else if (!vclock_saw(view->strong, old->thread, old->epoch)) {
			learn_pairs_add(&t->unordered, old->site, s->site);
			after = true;
		}
	}
	learn_pairs_add(after ? &t->after : &t->first, s->site, s->site);
	if (l->site && l->thread != s->thread)
		learn_pairs_add(&t->seen, l->site, s->site);
	if (!same && l->count < LOCK_TAKINGS) {
		l->items = xgrow(l->items, l->count, &l->capacity, sizeof(*l->items));
		same = &l->items[l->count++];
	}
	if (same)
		*same = (struct taking){ s->thread, s->site, view->strong_epoch };
}

void lock_pred_step(struct lock_pred *t, const struct learn_step *s, const struct view *view)
{
	struct lock *l;

	if (s->op == IROOT_OP_FRESH)
		lock_pred_forget(t, s->addr, s->size);
	if (s->op != IROOT_OP_ACQUIRE)
		return;
	l = cells_get(&t->locks, cells_first(&t->locks, s->addr));
	if (s->site)
		take(t, l, s, view);
	l->thread = s->thread;
	l->site = s->site;
}

static void add_all(const struct learn_pairs *from, struct learn_pairs *to)
{
	for (size_t i = 0; i < from->count; i++)
		learn_pairs_add(to, from->items[i].first, from->items[i].second);
}

void lock_pred_add_to(const struct lock_pred *t, const struct lock_pred_lists *lists)
{
	add_all(&t->seen, lists->seen);
	add_all(&t->first, lists->first);
	add_all(&t->after, lists->after);
	for (size_t i = 0; i < t->unordered.count; i++) {
		learn_pairs_add(lists->expected, t->unordered.items[i].first,
				t->unordered.items[i].second);
		learn_pairs_add(lists->expected, t->unordered.items[i].second,
				t->unordered.items[i].first);
	}
}
