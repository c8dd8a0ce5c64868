/*
 * Sets and histories are interned by content. Transitions between sets are looked up by (set, lock,
 * mode, pc). The set that remains after the release of the first or last lock is kept with the set.
 * A repeated critical section thus costs at most one probe of a hash table.
 *
 * A history keeps at most HISTORY_MAX locks. A lock that is left out can make two sets look
 * compatible that are not. This yields a candidate that a run refutes; no candidate is lost.
 */
#include "analyze/context/locksets_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/page_array.h"

#define HISTORY_MAX 64u		/* locks: bounds copies on the stack */
#define UNKNOWN UINT32_MAX	/* locks_ends.without_outer, without_inner: not computed yet */
#define FIRST_ENDS 64u		/* entries of 64 bytes: one page of memory */
#define MAX_HELD 256u		/* locks that a thread holds; further acquisitions are ignored */

_Static_assert(sizeof(struct locks_ends) == 64, "a cache line");

static void more_ends(struct locks *l)
{
	size_t old = l->ends_capacity;

	if (l->set_count < old)
		return;
	l->ends_capacity = old ? 2 * old : FIRST_ENDS;
	l->ends = pages_grow(l->ends, old * sizeof(*l->ends), l->ends_capacity * sizeof(*l->ends));
}

struct locks *locks_new(void)
{
	struct locks *l = xcalloc(1, sizeof(*l));

	l->sets = xgrow(NULL, 0, &l->set_capacity, sizeof(*l->sets));
	more_ends(l);
	l->ends[l->set_count] = (struct locks_ends){ .outer_shared = true, .inner_shared = true };
	l->sets[l->set_count++] = (struct locks_span){ 0 };
	l->histories = xgrow(NULL, 0, &l->history_capacity, sizeof(*l->histories));
	l->histories[l->history_count++] = (struct locks_span){ 0 };
	l->transition_size = 256;
	l->transitions = xcalloc(l->transition_size, sizeof(*l->transitions));
	l->cache = xcalloc(LOCKS_CACHE, sizeof(*l->cache));
	return l;
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	free(l->members);
	free(l->sets);
	pages_free(l->ends, l->ends_capacity * sizeof(*l->ends));
	free(l->elements);
	free(l->histories);
	free(l->set_table.at);
	free(l->history_table.at);
	free(l->transitions);
	free(l->cache);
	free(l);
}

static uint64_t hash_set(const struct locks_member *e, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++) {
		hash = hash_add(hash, e[i].lock);
		hash = hash_add(hash, e[i].pc);
		hash = hash_add(hash, (uint64_t)e[i].history << 32 | e[i].depth << 1 | e[i].shared);
	}
	return hash;
}

static uint64_t hash_history(const uint64_t *locks, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = hash_add(hash, locks[i]);
	return hash;
}

static bool same_members(const struct locks_member *a, const struct locks_member *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].lock != b[i].lock || a[i].pc != b[i].pc || a[i].history != b[i].history ||
		    a[i].depth != b[i].depth || a[i].shared != b[i].shared)
			return false;
	return true;
}

/* Makes room for element `count`. True: the table is new and empty, and has to be filled again. */
static bool table_full(struct locks_table *t, size_t count)
{
	if (count * 2 < t->size)
		return false;
	free(t->at);
	t->size = t->size ? t->size * 2 : 256;
	t->at = xcalloc(t->size, sizeof(*t->at));
	return true;
}

static void table_put(struct locks_table *t, uint64_t hash, uint32_t number)
{
	size_t i = hash & (t->size - 1);

	while (t->at[i])
		i = (i + 1) & (t->size - 1);
	t->at[i] = number + 1;
}

static uint32_t intern_history(struct locks *l, const uint64_t *locks, uint32_t count)
{
	uint64_t hash = hash_history(locks, count);
	struct locks_table *t = &l->history_table;
	struct locks_span *s;

	if (count == 0)
		return 0;
	if (table_full(t, l->history_count))
		for (uint32_t i = 1; i < l->history_count; i++)
			table_put(t, hash_history(l->elements + l->histories[i].first,
						  l->histories[i].count), i);
	for (size_t i = hash & (t->size - 1); t->at[i]; i = (i + 1) & (t->size - 1)) {
		s = &l->histories[t->at[i] - 1];
		if (s->count == count && memcmp(l->elements + s->first, locks,
						count * sizeof(*locks)) == 0)
			return t->at[i] - 1;
	}
	l->histories = xgrow(l->histories, l->history_count, &l->history_capacity,
			     sizeof(*l->histories));
	l->histories[l->history_count] = (struct locks_span){ l->element_count, count };
	for (uint32_t i = 0; i < count; i++) {
		l->elements = xgrow(l->elements, l->element_count, &l->element_capacity,
				    sizeof(*l->elements));
		l->elements[l->element_count++] = locks[i];
	}
	table_put(t, hash, (uint32_t)l->history_count);
	return (uint32_t)l->history_count++;
}

static struct locks_ends ends_of(const struct locks *l, const struct locks_member *e,
				 uint32_t count)
{
	struct locks_ends ends = {
		.outer = e[0].lock, .outer_pc = e[0].pc, .outer_shared = e[0].shared,
		.inner = e[count - 1].lock, .inner_pc = e[count - 1].pc,
		.inner_shared = e[count - 1].shared, .count = count, .again = e[0].depth > 0,
		.without_outer = UNKNOWN, .without_inner = UNKNOWN,
	};

	for (size_t i = 0; i < count; i++) {
		const struct locks_span *h = &l->histories[e[i].history];

		ends.held |= locks_bit(e[i].lock);
		for (uint32_t k = 0; k < h->count; k++)
			ends.taken |= locks_bit(l->elements[h->first + k]);
	}
	ends.taken |= ends.held;
	return ends;
}

static void note_nested(struct locks *l, uint64_t lock)
{
	unsigned bit = locks_nested_bit(lock);

	l->nested[bit / 64] |= 1ull << bit % 64;
}

static uint32_t intern_set(struct locks *l, const struct locks_member *entries, uint32_t count)
{
	uint64_t hash = hash_set(entries, count);
	struct locks_table *t = &l->set_table;
	struct locks_span *s;

	if (count == 0)
		return LOCKS_NONE;
	if (table_full(t, l->set_count))
		for (uint32_t i = 1; i < l->set_count; i++)
			table_put(t, hash_set(l->members + l->sets[i].first, l->sets[i].count), i);
	for (size_t i = hash & (t->size - 1); t->at[i]; i = (i + 1) & (t->size - 1)) {
		s = &l->sets[t->at[i] - 1];
		if (s->count == count && same_members(l->members + s->first, entries, count))
			return t->at[i] - 1;
	}
	l->sets = xgrow(l->sets, l->set_count, &l->set_capacity, sizeof(*l->sets));
	l->sets[l->set_count] = (struct locks_span){ l->member_count, count };
	more_ends(l);
	l->ends[l->set_count] = ends_of(l, entries, count);
	for (uint32_t i = 0; i < count; i++) {
		l->members = xgrow(l->members, l->member_count, &l->member_capacity,
				   sizeof(*l->members));
		l->members[l->member_count++] = entries[i];
		if (i)
			note_nested(l, entries[i].lock);
	}
	table_put(t, hash, (uint32_t)l->set_count);
	return (uint32_t)l->set_count++;
}

/* The history with `lock` added. */
static uint32_t history_add(struct locks *l, uint32_t history, uint64_t lock)
{
	const struct locks_span *s = &l->histories[history];
	const uint64_t *old = l->elements + s->first;
	uint64_t locks[HISTORY_MAX];
	uint32_t n = 0, i = 0;

	while (i < s->count && old[i] < lock)
		locks[n++] = old[i++];
	if ((i < s->count && old[i] == lock) || s->count == HISTORY_MAX)
		return history;
	locks[n++] = lock;
	while (i < s->count)
		locks[n++] = old[i++];
	return intern_history(l, locks, n);
}

/* The transition with this key, or the free slot where it belongs. */
static struct locks_transition *transition_slot(const struct locks *l,
						const struct locks_transition *key)
{
	size_t i = hash_add(hash_add(key->set * 2u + key->shared, key->lock), key->pc) &
		   (l->transition_size - 1);
	struct locks_transition *s;

	for (;; i = (i + 1) & (l->transition_size - 1)) {
		s = &l->transitions[i];
		if (!s->used || (s->set == key->set && s->lock == key->lock && s->pc == key->pc &&
				 s->shared == key->shared))
			return s;
	}
}

static void transition_add(struct locks *l, const struct locks_transition *step)
{
	struct locks_transition *old = l->transitions;
	size_t size = l->transition_size;

	if (++l->transition_count * 2 >= size) {
		l->transition_size *= 2;
		l->transitions = xcalloc(l->transition_size, sizeof(*l->transitions));
		for (size_t i = 0; i < size; i++)
			if (old[i].used)
				*transition_slot(l, &old[i]) = old[i];
		free(old);
	}
	*transition_slot(l, step) = *step;
}

/* Copies the members of a set to `out`, an array of MAX_HELD; returns their number. */
static uint32_t unpack(const struct locks *l, uint32_t set, struct locks_member *out)
{
	const struct locks_span *s = &l->sets[set];

	if (s->count)
		memcpy(out, l->members + s->first, s->count * sizeof(*out));
	return s->count;
}

uint32_t locks_acquire(struct locks *l, uint32_t set, uint64_t lock, bool shared, uint64_t pc)
{
	struct locks_transition key = {
		.set = set, .lock = lock, .pc = pc, .shared = shared, .used = true,
	};
	struct locks_transition *known = transition_slot(l, &key);
	struct locks_member held[MAX_HELD];
	uint32_t count, i = 0;

	if (known->used)
		return known->result;
	count = unpack(l, set, held);
	while (i < count && held[i].lock != lock)
		i++;
	if (i < count) {
		held[i].depth++;
	} else if (count == MAX_HELD) {
		return set;
	} else {
		for (i = 0; i < count; i++)
			held[i].history = history_add(l, held[i].history, lock);
		held[count++] = (struct locks_member){ .lock = lock, .pc = pc, .shared = shared };
	}
	key.result = intern_set(l, held, count);
	transition_add(l, &key);
	return key.result;
}

/* The set after the lock with this index is released once. */
static uint32_t released(struct locks *l, uint32_t set, size_t index)
{
	struct locks_member held[MAX_HELD];
	uint32_t count = unpack(l, set, held);

	if (held[index].depth > 0)
		held[index].depth--;
	else
		memmove(held + index, held + index + 1, (--count - index) * sizeof(*held));
	return intern_set(l, held, count);
}

uint32_t locks_release(struct locks *l, uint32_t set, uint64_t lock)
{
	struct locks_transition key = { .set = set, .lock = lock, .pc = ~0ull, .used = true };
	const struct locks_ends *e = &l->ends[set];
	struct locks_transition *known;
	size_t index;

	if (!e->count || locks_only(e, lock))
		return LOCKS_NONE;
	if (e->inner == lock) {
		key.result = e->without_inner != UNKNOWN ? e->without_inner :
			     released(l, set, e->count - 1);
		return l->ends[set].without_inner = key.result;
	}
	if (e->outer == lock) {
		key.result = e->without_outer != UNKNOWN ? e->without_outer : released(l, set, 0);
		return l->ends[set].without_outer = key.result;
	}
	known = transition_slot(l, &key);
	if (known->used)
		return known->result;
	index = locks_index(l, set, lock);
	if (index == LOCKS_ABSENT)
		return set;
	key.result = released(l, set, index);
	transition_add(l, &key);
	return key.result;
}

uint32_t locks_core(struct locks *l, uint32_t set)
{
	struct locks_member held[MAX_HELD];
	uint32_t count = unpack(l, set, held);

	for (uint32_t i = 0; i < count; i++)
		held[i].history = 0;
	return intern_set(l, held, count);
}

size_t locks_count(const struct locks *l, uint32_t set)
{
	return l->sets[set].count;
}

void locks_at(const struct locks *l, uint32_t set, size_t i, struct locks_held *out)
{
	const struct locks_member *e = &l->members[l->sets[set].first + i];
	const struct locks_span *h = &l->histories[e->history];

	*out = (struct locks_held){
		.lock = e->lock, .shared = e->shared, .depth = e->depth, .acquired_pc = e->pc,
		.history = h->count ? l->elements + h->first : NULL, .history_count = h->count,
	};
}

size_t locks_index(const struct locks *l, uint32_t set, uint64_t lock)
{
	const struct locks_span *s = &l->sets[set];

	for (size_t i = 0; i < s->count; i++)
		if (l->members[s->first + i].lock == lock)
			return i;
	return LOCKS_ABSENT;
}

bool locks_has(const struct locks *l, uint32_t set, uint64_t lock)
{
	return locks_index(l, set, lock) != LOCKS_ABSENT;
}
