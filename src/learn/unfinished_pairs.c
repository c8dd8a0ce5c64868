#include "learn/unfinished_pairs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "learn/rule_database.h"

#define VISITS_MIN 2u		/* runs with the visit; a single one may be luck */
#define USUAL_SHARE 8u		/* a visit in less than one of this many runs is not usual */

struct site_pair {
	uint32_t first, second;
};

struct site_pairs {
	struct site_pair *items;	/* ascending by `second` */
	size_t count;
	struct map at;		/* `second` to index of its first pair, plus 1 */
};

struct unfinished {
	const struct known *k;
	struct site_pairs unblocked;	/* (P, I) */
	struct site_pairs next;	/* (I, P) of the same pairs */
	struct map runs;	/* P to the number of runs that went on to an I */
	struct map usual;	/* P << 32 | R: R often comes between P and I */
	/* P << 32 | R: the two accessed the same bytes, not only the same cell */
	struct map conflict;
	struct learn_pairs found;
};

static int by_second(const void *a, const void *b)
{
	const struct site_pair *x = a, *y = b;

	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void add(struct site_pairs *c, uint32_t first, uint32_t second)
{
	c->items[c->count++] = (struct site_pair){ first, second };
}

static void sort(struct site_pairs *c)
{
	if (c->count > 1)
		qsort(c->items, c->count, sizeof(*c->items), by_second);
	for (size_t i = c->count; i-- > 0;)
		*map_put(&c->at, c->items[i].second, NULL) = i + 1;
}

/* Returns the pairs with this `second`, and in *count their number. */
static const struct site_pair *find(const struct site_pairs *c, uint32_t second, size_t *count)
{
	const uint64_t *at = map_find(&c->at, second);

	*count = 0;
	while (at && *at - 1 + *count < c->count && c->items[*at - 1 + *count].second == second)
		++*count;
	return at ? c->items + *at - 1 : NULL;
}

static uint64_t key_of(uint32_t p, uint32_t r)
{
	return (uint64_t)p << 32 | r;
}

/*
 * A rare visit may have been an error that did no harm by luck. To delay it costs little, because
 * it is rare.
 */
static bool is_usual(const struct unfinished *u, const struct known_pair *visit)
{
	const uint64_t *runs = map_find(&u->runs, visit->first);

	return visit->seen >= VISITS_MIN && runs && visit->seen * USUAL_SHARE >= *runs;
}

static void unfinished_open(struct unfinished *u, const struct known *k)
{
	u->k = k;
	u->unblocked.items = xcalloc(k->unblocked_count + 1, sizeof(*u->unblocked.items));
	u->next.items = xcalloc(k->unblocked_count + 1, sizeof(*u->next.items));
	for (size_t i = 0; i < k->unblocked_count; i++) {
		uint64_t *runs = map_put(&u->runs, k->unblocked[i].first, NULL);

		add(&u->unblocked, k->unblocked[i].first, k->unblocked[i].second);
		add(&u->next, k->unblocked[i].second, k->unblocked[i].first);
		*runs = *runs > k->unblocked[i].seen ? *runs : k->unblocked[i].seen;
	}
	for (size_t i = 0; i < k->visit_count; i++)
		if (is_usual(u, &k->visits[i]))
			map_put(&u->usual, key_of(k->visits[i].first, k->visits[i].second), NULL);
	for (size_t i = 0; i < k->pair_count; i++)
		if (k->pairs[i].how & STORE_CONFLICT)
			map_put(&u->conflict, key_of(k->pairs[i].first, k->pairs[i].second), NULL);
	sort(&u->unblocked);
	sort(&u->next);
}

static void unfinished_close(struct unfinished *u)
{
	free(u->unblocked.items);
	free(u->next.items);
	map_free(&u->unblocked.at);
	map_free(&u->next.at);
	map_free(&u->runs);
	map_free(&u->usual);
	map_free(&u->conflict);
	learn_pairs_free(&u->found);
}

static void add_unless_usual(struct unfinished *u, uint32_t p, uint32_t r)
{
	if (!map_find(&u->usual, key_of(p, r)))
		learn_pairs_add(&u->found, p, r);
}

/*
 * Adds reads that are followed by such a write: they must wait, too, or both threads could begin a
 * pair. The list grows while it is read.
 */
static void add_reads(struct unfinished *u)
{
	for (size_t n = 0; n < u->found.count; n++) {
		struct learn_pair found = u->found.items[n];
		const struct site_pair *before;
		size_t count;

		if (u->k->sites[found.second].access == LEARN_LOCK)
			continue;
		before = find(&u->unblocked, found.second, &count);
		for (size_t i = 0; i < count; i++)
			if (u->k->sites[before[i].first].access == LEARN_READ)
				add_unless_usual(u, found.first, before[i].first);
	}
}

/* Do R and P access the same bytes, or R and an access that follows P? */
static bool conflicts(const struct unfinished *u, uint32_t p, uint32_t r)
{
	size_t count;
	const struct site_pair *next = find(&u->next, p, &count);
	bool found = map_find(&u->conflict, key_of(p, r));

	for (size_t i = 0; i < count && !found; i++)
		found = map_find(&u->conflict, key_of(r, next[i].first));
	return found;
}

static void add_memory(struct unfinished *u, enum learn_access access)
{
	for (size_t i = 0; i < u->k->visit_count; i++) {
		const struct known_pair *v = &u->k->visits[i];

		if (v->expected && u->k->sites[v->second].access == access &&
		    conflicts(u, v->first, v->second))
			add_unless_usual(u, v->first, v->second);
	}
}

/*
 * At a lock it is enough that R can follow P directly. Whether R can come before I is not known:
 * other things may have ordered it after I in all runs.
 */
static void add_locks(struct unfinished *u)
{
	for (size_t i = 0; i < u->k->pair_count; i++) {
		const struct known_pair *p = &u->k->pairs[i];

		if (p->expected && u->k->sites[p->first].access == LEARN_LOCK &&
		    map_find(&u->runs, p->first))
			add_unless_usual(u, p->first, p->second);
	}
}

void unfinished_pairs_each(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t r),
			   void *ctx)
{
	struct unfinished u = { 0 };

	unfinished_open(&u, k);
	add_memory(&u, LEARN_WRITE);
	add_reads(&u);
	add_memory(&u, LEARN_READ);
	add_locks(&u);
	for (size_t i = 0; i < u.found.count; i++)
		fn(ctx, u.found.items[i].first, u.found.items[i].second);
	unfinished_close(&u);
}

void unfinished_pairs_ends(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t i),
			   void *ctx)
{
	for (size_t i = 0; i < k->unblocked_count; i++)
		fn(ctx, k->unblocked[i].first, k->unblocked[i].second);
}
