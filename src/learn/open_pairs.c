#include "learn/open_pairs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "learn/rule_database.h"

#define LEAST 2u
#define RARE 8u		/* less than one run in so many */

struct couple {
	uint32_t first, second;
};

struct couples {
	struct couple *items;	/* by `second` */
	size_t count;
	struct map at;		/* second to the first of them, plus 1 */
};

struct unfinished {
	const struct known *k;
	struct couples near;	/* (P, I) */
	struct couples next;	/* the same, by P */
	struct map runs;	/* of P: how many went on to an I */
	struct map inside;	/* P << 32 | R that comes in between */
	struct map meet;	/* likewise, that touched the same bytes, not only the same cell */
	struct learn_pairs told;
};

static int by_second(const void *a, const void *b)
{
	const struct couple *x = a, *y = b;

	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void add(struct couples *c, uint32_t first, uint32_t second)
{
	c->items[c->count++] = (struct couple){ first, second };
}

static void sort(struct couples *c)
{
	if (c->count > 1)
		qsort(c->items, c->count, sizeof(*c->items), by_second);
	for (size_t i = c->count; i-- > 0;)
		*map_put(&c->at, c->items[i].second, NULL) = i + 1;
}

/* Those of `second`; *count of them. */
static const struct couple *find(const struct couples *c, uint32_t second, size_t *count)
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

/* What hardly ever comes in between may have been wrong, and luck that it did no harm; to wait costs little then. */
static bool is_usual(const struct unfinished *u, const struct known_pair *visit)
{
	const uint64_t *runs = map_find(&u->runs, visit->first);

	return visit->seen >= LEAST && runs && visit->seen * RARE >= *runs;
}

static void open(struct unfinished *u, const struct known *k)
{
	u->k = k;
	u->near.items = xcalloc(k->near_count + 1, sizeof(*u->near.items));
	u->next.items = xcalloc(k->near_count + 1, sizeof(*u->next.items));
	for (size_t i = 0; i < k->near_count; i++) {
		uint64_t *runs = map_put(&u->runs, k->near[i].first, NULL);

		add(&u->near, k->near[i].first, k->near[i].second);
		add(&u->next, k->near[i].second, k->near[i].first);
		*runs = *runs > k->near[i].seen ? *runs : k->near[i].seen;
	}
	for (size_t i = 0; i < k->visit_count; i++)
		if (is_usual(u, &k->visits[i]))
			map_put(&u->inside, key_of(k->visits[i].first, k->visits[i].second), NULL);
	for (size_t i = 0; i < k->pair_count; i++)
		if (k->pairs[i].how & STORE_MEET)
			map_put(&u->meet, key_of(k->pairs[i].first, k->pairs[i].second), NULL);
	sort(&u->near);
	sort(&u->next);
}

static void close(struct unfinished *u)
{
	free(u->near.items);
	free(u->next.items);
	map_free(&u->near.at);
	map_free(&u->next.at);
	map_free(&u->runs);
	map_free(&u->inside);
	map_free(&u->meet);
	learn_pairs_free(&u->told);
}

static void judge(struct unfinished *u, uint32_t p, uint32_t r)
{
	if (!map_find(&u->inside, key_of(p, r)))
		learn_pairs_add(&u->told, p, r);
}

/* Reads that lead to such a write: with them both threads would have begun. The list grows by them. */
static void judge_reads(struct unfinished *u)
{
	for (size_t n = 0; n < u->told.count; n++) {
		struct learn_pair told = u->told.items[n];
		const struct couple *before;
		size_t count;

		if (u->k->sites[told.second].access == LEARN_LOCK)
			continue;
		before = find(&u->near, told.second, &count);
		for (size_t i = 0; i < count; i++)
			if (u->k->sites[before[i].first].access == LEARN_READ)
				judge(u, told.first, before[i].first);
	}
}

/* R and P, or what comes after it. */
static bool meets(const struct unfinished *u, uint32_t p, uint32_t r)
{
	size_t count;
	const struct couple *next = find(&u->next, p, &count);
	bool found = map_find(&u->meet, key_of(p, r));

	for (size_t i = 0; i < count && !found; i++)
		found = map_find(&u->meet, key_of(r, next[i].first));
	return found;
}

static void judge_memory(struct unfinished *u, enum learn_access access)
{
	for (size_t i = 0; i < u->k->visit_count; i++) {
		const struct known_pair *v = &u->k->visits[i];

		if (v->expected && u->k->sites[v->second].access == access && meets(u, v->first, v->second))
			judge(u, v->first, v->second);
	}
}

/* At a lock whoever may come right after P will do: I may have been ordered in all the runs where R came late. */
static void judge_locks(struct unfinished *u)
{
	for (size_t i = 0; i < u->k->pair_count; i++) {
		const struct known_pair *p = &u->k->pairs[i];

		if (p->expected && u->k->sites[p->first].access == LEARN_LOCK && map_find(&u->runs, p->first))
			judge(u, p->first, p->second);
	}
}

void unfinished_each(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t r), void *ctx)
{
	struct unfinished u = { 0 };

	open(&u, k);
	judge_memory(&u, LEARN_WRITE);
	judge_reads(&u);
	judge_memory(&u, LEARN_READ);
	judge_locks(&u);
	for (size_t i = 0; i < u.told.count; i++)
		fn(ctx, u.told.items[i].first, u.told.items[i].second);
	close(&u);
}

void unfinished_ends(const struct known *k, void (*fn)(void *ctx, uint32_t p, uint32_t i), void *ctx)
{
	for (size_t i = 0; i < k->near_count; i++)
		fn(ctx, k->near[i].first, k->near[i].second);
}
