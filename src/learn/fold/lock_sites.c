#include "learn/fold/lock_sites.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

struct hold {
	uint64_t lock;
	uint32_t site, function;
};

struct thread {
	struct hold *holds;
	size_t count, capacity;
};

/* A lock taken while another is held: the sites and thread of the first time. */
struct nesting {
	uint64_t outer, inner;
	struct hold at[2];
	uint32_t thread;
	bool others;		/* other threads did it, too */
};

struct lock_sites {
	struct thread *threads;
	size_t thread_count;
	struct nesting *nestings;
	size_t nesting_count, nesting_capacity;
	struct map at;		/* hash of the two locks to index in `nestings`, plus 1 */
	struct learn_pairs outermost, cycles, members;
};

struct lock_sites *lock_sites_new(void)
{
	return xcalloc(1, sizeof(struct lock_sites));
}

void lock_sites_free(struct lock_sites *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->thread_count; i++)
		free(k->threads[i].holds);
	free(k->threads);
	free(k->nestings);
	map_free(&k->at);
	learn_pairs_free(&k->outermost);
	learn_pairs_free(&k->cycles);
	learn_pairs_free(&k->members);
	free(k);
}

static uint64_t hash_of(uint64_t outer, uint64_t inner)
{
	return hash_add(hash_spread(outer), inner);
}

/* NULL: none. Also if another pair has the same hash, so that a cycle is missed. */
static struct nesting *find(struct lock_sites *k, uint64_t outer, uint64_t inner)
{
	const uint64_t *at = map_find(&k->at, hash_of(outer, inner));
	struct nesting *n = at ? &k->nestings[*at - 1] : NULL;

	return n && n->outer == outer && n->inner == inner ? n : NULL;
}

static void add_member(struct lock_sites *k, const struct hold *h)
{
	if (h->function)
		learn_pairs_add(&k->members, h->function, h->site);
}

static void nest(struct lock_sites *k, uint32_t thread, const struct hold *outer,
		 const struct hold *inner)
{
	struct nesting *n = find(k, outer->lock, inner->lock),
		       *back = find(k, inner->lock, outer->lock);

	if (!n) {
		k->nestings =
			xgrow(k->nestings, k->nesting_count, &k->nesting_capacity, sizeof(*n));
		n = &k->nestings[k->nesting_count++];
		*n = (struct nesting){
			outer->lock, inner->lock, { *outer, *inner }, thread, false
		};
		*map_put(&k->at, hash_of(outer->lock, inner->lock), NULL) = k->nesting_count;
		back = find(k, inner->lock, outer->lock);
	}
	n->others |= n->thread != thread;
	if (!back || (back->thread == thread && !back->others))
		return;
	learn_pairs_add(&k->cycles, outer->site, inner->site);
	learn_pairs_add(&k->cycles, back->at[0].site, back->at[1].site);
	learn_pairs_add(&k->cycles, outer->site, back->at[0].site);
	add_member(k, outer);
	add_member(k, inner);
	add_member(k, &back->at[0]);
	add_member(k, &back->at[1]);
}

static void acquire(struct lock_sites *k, struct thread *t, const struct learn_step *s,
		    uint32_t function)
{
	struct hold now = { s->addr, s->site, function };

	for (size_t i = 0; i < t->count; i++)
		if (t->holds[i].lock != s->addr && t->holds[i].site && s->site)
			nest(k, s->thread, &t->holds[i], &now);
	t->holds = xgrow(t->holds, t->count, &t->capacity, sizeof(*t->holds));
	t->holds[t->count++] = now;
}

static void release(struct thread *t, uint64_t lock)
{
	for (size_t i = t->count; i > 0; i--)
		if (t->holds[i - 1].lock == lock) {
			for (t->count--; i <= t->count; i++)
				t->holds[i - 1] = t->holds[i];
			return;
		}
}

void lock_sites_step(struct lock_sites *k, const struct learn_step *s, uint32_t function)
{
	struct thread *t;

	k->threads = xreach(k->threads, s->thread, &k->thread_count, sizeof(*k->threads));
	t = &k->threads[s->thread];
	switch (s->op) {
	case IROOT_OP_ACQUIRE: case IROOT_OP_ACQUIRE_SHARED: acquire(k, t, s, function); break;
	case IROOT_OP_RELEASE: release(t, s->addr); break;
	case IROOT_OP_READ: case IROOT_OP_WRITE:
		if (t->count && t->holds[0].site)
			learn_pairs_add(&k->outermost, t->holds[0].site, s->site);
		break;
	}
}

const struct learn_pairs *lock_sites_outermost(const struct lock_sites *k)
{
	return &k->outermost;
}

const struct learn_pairs *lock_sites_cycles(const struct lock_sites *k)
{
	return &k->cycles;
}

const struct learn_pairs *lock_sites_members(const struct lock_sites *k)
{
	return &k->members;
}
