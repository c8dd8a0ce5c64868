/*
 * The list of candidates. Two are equal if they have the same pattern, sites and orders, and if
 * their events are spread over threads in the same way. A hash table finds equal ones.
 */
#include "analyze/candidate.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

struct findings {
	struct candidate *list;
	size_t count, capacity;
	uint32_t *table;	/* indices in `list`, plus 1; 0: free */
	size_t table_size;
	uint64_t pruned[PRUNE_REASONS], dropped;
};

struct findings *findings_new(void)
{
	return xcalloc(1, sizeof(struct findings));
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	free(f->list);
	free(f->table);
	free(f);
}

/* The first event by the same thread, which stands for the thread in comparisons. */
static uint8_t same_thread_as(const struct candidate *c, uint8_t event)
{
	uint8_t i = 0;

	while (c->event[i].thread != c->event[event].thread)
		i++;
	return i;
}

static uint64_t hash_of(const struct candidate *c)
{
	uint64_t hash = hash_add(c->events, c->pattern);

	for (uint8_t i = 0; i < c->events; i++)
		hash = hash_add(hash, c->event[i].pc << 8 | same_thread_as(c, i));
	for (uint8_t i = 0; i < c->orders; i++)
		hash = hash_add(hash, (uint64_t)c->order[i].first << 8 | c->order[i].second);
	return hash;
}

static bool equal(const struct candidate *a, const struct candidate *b)
{
	if (a->pattern != b->pattern || a->events != b->events || a->orders != b->orders)
		return false;
	for (uint8_t i = 0; i < a->events; i++)
		if (a->event[i].pc != b->event[i].pc ||
		    same_thread_as(a, i) != same_thread_as(b, i))
			return false;
	for (uint8_t i = 0; i < a->orders; i++)
		if (a->order[i].first != b->order[i].first ||
		    a->order[i].second != b->order[i].second)
			return false;
	return true;
}

/* The table entry of an equal candidate, or the free entry where it belongs. */
static uint32_t *table_slot(const struct findings *f, const struct candidate *c, uint64_t hash)
{
	size_t i = hash & (f->table_size - 1);

	while (f->table[i] && !equal(&f->list[f->table[i] - 1], c))
		i = (i + 1) & (f->table_size - 1);
	return &f->table[i];
}

static void grow_table(struct findings *f)
{
	free(f->table);
	f->table_size = f->table_size ? f->table_size * 2 : 64;
	f->table = xcalloc(f->table_size, sizeof(*f->table));
	for (size_t i = 0; i < f->count; i++)
		*table_slot(f, &f->list[i], hash_of(&f->list[i])) = (uint32_t)i + 1;
}

/*
 * The entry of the same race in the other order, or NULL. Both orders then happen in the trace, so
 * the race is listed once, as seen.
 */
static struct candidate *find_reversed(struct findings *f, const struct candidate *c)
{
	enum pattern pattern = pattern_reversed(c->pattern);
	struct candidate reversed;
	uint32_t *at;

	if (!pattern || c->events != 2)
		return NULL;
	reversed = *c;
	reversed.event[0] = c->event[1];
	reversed.event[1] = c->event[0];
	reversed.pattern = pattern;
	at = table_slot(f, &reversed, hash_of(&reversed));
	if (!*at)
		return NULL;
	f->list[*at - 1].seen = true;
	return &f->list[*at - 1];
}

struct candidate *findings_add(struct findings *f, const struct candidate *c)
{
	uint64_t weight = c->count ? c->count : 1;
	struct candidate *known = NULL;
	uint32_t *at;

	if (f->count * 2 >= f->table_size)
		grow_table(f);
	at = table_slot(f, c, hash_of(c));
	known = *at ? &f->list[*at - 1] : find_reversed(f, c);
	if (known) {
		known->seen |= c->seen;
		known->count += weight;
		return known;
	}
	f->list = xgrow(f->list, f->count, &f->capacity, sizeof(*f->list));
	known = &f->list[f->count++];
	*at = (uint32_t)f->count;
	*known = *c;
	known->count = weight;
	if (c->pattern)
		known->class = pattern_row(c->pattern)->class;
	if (!c->note)
		known->note = pattern_row(c->pattern)->note;
	return known;
}

size_t findings_count(const struct findings *f)
{
	return f->count;
}

struct candidate *findings_at(struct findings *f, size_t i)
{
	return &f->list[i];
}

size_t findings_remove(struct findings *f, bool (*gone)(void *ctx, const struct candidate *c),
		       void *ctx)
{
	size_t kept = 0, all = f->count;

	for (size_t i = 0; i < all; i++)
		if (!gone(ctx, &f->list[i]))
			f->list[kept++] = f->list[i];
	f->count = kept;
	return all - kept;
}

void findings_pruned(struct findings *f, enum prune_reason why, uint64_t count)
{
	f->pruned[why] += count;
}

uint64_t findings_pruned_count(const struct findings *f, enum prune_reason why)
{
	return f->pruned[why];
}

void findings_dropped(struct findings *f, uint64_t count)
{
	f->dropped += count;
}

uint64_t findings_dropped_count(const struct findings *f)
{
	return f->dropped;
}
