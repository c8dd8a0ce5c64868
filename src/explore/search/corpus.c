#include "explore/search/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/rng.h"

void corpus_free(struct corpus *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->entry[i].turns);
	for (size_t i = 0; i < c->pending_count; i++) {
		free(c->pending[i]->entry.turns);
		free(c->pending[i]);
	}
	free(c->pending);
	*c = (struct corpus){ 0 };
}

uint32_t corpus_new(const struct corpus *c, const uint8_t *bits)
{
	uint32_t count = 0;

	for (size_t i = 0; i < CORPUS_BYTES; i++)
		count += (uint32_t)__builtin_popcount(bits[i] & ~c->seen[i] & 0xffu);
	return count;
}

void corpus_add(struct corpus *c, uint64_t run, const uint8_t *bits, struct sched_turn *turns,
		size_t count)
{
	struct corpus_pending *n = xcalloc(1, sizeof(*n));

	n->entry = (struct corpus_entry){ .turns = turns, .count = count, .run = run };
	memcpy(n->bits, bits, CORPUS_BYTES);
	c->pending = xgrow(c->pending, c->pending_count, &c->pending_capacity, sizeof(*c->pending));
	c->pending[c->pending_count++] = n;
}

static int by_run(const void *a, const void *b)
{
	uint64_t x = (*(struct corpus_pending *const *)a)->entry.run;
	uint64_t y = (*(struct corpus_pending *const *)b)->entry.run;

	return x < y ? -1 : x > y;
}

/*
 * Adds an entry. A full corpus drops the entry with the fewest new bits, the oldest of these, or
 * the new entry if it has fewer still.
 */
static void keep_entry(struct corpus *c, const struct corpus_entry *e)
{
	size_t least = 0;

	if (c->count < CORPUS_MOST) {
		c->entry[c->count++] = *e;
		return;
	}
	for (size_t i = 1; i < c->count; i++)
		if (c->entry[i].new_bits < c->entry[least].new_bits)
			least = i;
	if (c->entry[least].new_bits > e->new_bits) {
		free(e->turns);
		return;
	}
	free(c->entry[least].turns);
	memmove(&c->entry[least], &c->entry[least + 1], (c->count - least - 1) * sizeof(*e));
	c->entry[c->count - 1] = *e;
}

uint32_t corpus_end(struct corpus *c)
{
	uint32_t before = c->bits;

	if (c->pending_count > 1)
		qsort(c->pending, c->pending_count, sizeof(*c->pending), by_run);
	for (size_t i = 0; i < c->pending_count; i++) {
		struct corpus_pending *n = c->pending[i];

		n->entry.new_bits = corpus_new(c, n->bits);
		c->bits += n->entry.new_bits;
		for (size_t k = 0; k < CORPUS_BYTES; k++)
			c->seen[k] |= n->bits[k];
		if (n->entry.new_bits && n->entry.count)
			keep_entry(c, &n->entry);
		else
			free(n->entry.turns);
		free(n);
	}
	c->pending_count = 0;
	return c->bits - before;
}

/* --- mutations --- */

/* Prefers later entries: they cover new bits on top of those of earlier ones. */
static const struct corpus_entry *choose_entry(const struct corpus *c, uint64_t *rng)
{
	uint64_t a = rng_below(rng, c->count), b = rng_below(rng, c->count);

	return &c->entry[a > b ? a : b];
}

/* Moves the turns from `at` on up by one. Returns the new count. */
static size_t insert_at(struct sched_turn *t, size_t count, size_t at)
{
	memmove(t + at + 1, t + at, (count - at) * sizeof(*t));
	return count + 1;
}

static size_t remove_at(struct sched_turn *t, size_t count, size_t at)
{
	memmove(t + at, t + at + 1, (count - at - 1) * sizeof(*t));
	return count - 1;
}

/* A random number of steps, 1..1024, that favours small ones. */
static uint64_t random_length(uint64_t *rng)
{
	return 1 + rng_below(rng, 1ull << rng_below(rng, 11));
}

/* Makes the switch at the end of a turn come some steps earlier or later. */
static size_t move_switch(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	uint64_t by = random_length(rng);

	if (rng_below(rng, 2))
		t[at].steps += by;
	else
		t[at].steps -= by < t[at].steps ? by : t[at].steps - 1;
	return count;
}

/* Interrupts a turn by a copy of another turn, which half the time gets a random length. */
static size_t preempt(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	const struct sched_turn other = t[rng_below(rng, count)];
	uint64_t first;

	if (count + 2 > CORPUS_TURNS || t[at].steps < 2)
		return count;
	first = 1 + rng_below(rng, t[at].steps - 1);
	count = insert_at(t, count, at);
	count = insert_at(t, count, at);
	t[at + 2].steps -= first;
	t[at].steps = first;
	t[at + 1] = other;
	if (rng_below(rng, 2))
		t[at + 1].steps = random_length(rng);
	return count;
}

/* Swaps two adjacent turns. */
static size_t swap_turns(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	const struct sched_turn first = t[at];

	(void)rng;
	if (at + 1 < count) {
		t[at] = t[at + 1];
		t[at + 1] = first;
	}
	return count;
}

/* Removes a turn. */
static size_t drop_turn(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	(void)rng;
	return count > 1 ? remove_at(t, count, at) : count;
}

/* Drops the turns after `at`; the runtime continues with a random walk. */
static size_t cut_tail(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	(void)t;
	(void)count;
	(void)rng;
	return at + 1;
}

/* Continues after `at` with the turns of another entry, from about the same step on. */
static size_t splice(const struct corpus *c, struct sched_turn *t, size_t count, size_t at,
		     uint64_t *rng)
{
	const struct corpus_entry *other = choose_entry(c, rng);
	uint64_t steps = 0, passed = 0;
	size_t from = 0;

	for (size_t i = 0; i <= at; i++)
		steps += t[i].steps;
	while (from < other->count && passed < steps)
		passed += other->turns[from++].steps;
	if (from == other->count)
		return count;
	count = at + 1;
	for (; from < other->count && count < CORPUS_TURNS; from++)
		t[count++] = other->turns[from];
	return count;
}

size_t corpus_mutate(const struct corpus *c, uint64_t *rng, struct sched_turn *out)
{
	static size_t (*const mutations[])(struct sched_turn *, size_t, size_t, uint64_t *) = {
		move_switch, move_switch, preempt, preempt, swap_turns, drop_turn, cut_tail,
	};
	const struct corpus_entry *e;
	size_t count = 0;

	if (!c->count)
		return 0;
	e = choose_entry(c, rng);
	for (size_t i = 0; i < e->count && count < CORPUS_TURNS; i++)
		if (e->turns[i].kind == SCHED_TURN_RUN)
			out[count++] = e->turns[i];
	/* One mutation, with a chance of 1/2 a second one, and so on. */
	do {
		uint64_t kind = rng_below(rng, ARRAY_SIZE(mutations) + 1);
		size_t at;

		if (!count)
			return 0;
		at = rng_below(rng, count);
		if (kind < ARRAY_SIZE(mutations))
			count = mutations[kind](out, count, at, rng);
		else
			count = splice(c, out, count, at, rng);
	} while (rng_below(rng, 2));
	return count;
}
