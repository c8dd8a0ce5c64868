#include "explore/search/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/rng.h"

void corpus_free(struct corpus *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->entry[i].turns);
	for (size_t i = 0; i < c->news_count; i++) {
		free(c->news[i]->entry.turns);
		free(c->news[i]);
	}
	free(c->news);
	*c = (struct corpus){ 0 };
}

uint32_t corpus_new(const struct corpus *c, const uint8_t *bits)
{
	uint32_t count = 0;

	for (size_t i = 0; i < CORPUS_BYTES; i++)
		count += (uint32_t)__builtin_popcount(bits[i] & ~c->seen[i] & 0xffu);
	return count;
}

void corpus_add(struct corpus *c, uint64_t run, const uint8_t *bits, struct sched_turn *turns, size_t count)
{
	struct corpus_news *n = xcalloc(1, sizeof(*n));

	n->entry = (struct corpus_entry){ .turns = turns, .count = count, .run = run };
	memcpy(n->bits, bits, CORPUS_BYTES);
	c->news = xgrow(c->news, c->news_count, &c->news_capacity, sizeof(*c->news));
	c->news[c->news_count++] = n;
}

static int by_run(const void *a, const void *b)
{
	uint64_t x = (*(struct corpus_news *const *)a)->entry.run;
	uint64_t y = (*(struct corpus_news *const *)b)->entry.run;

	return x < y ? -1 : x > y;
}

/* In place of the one that showed least, the oldest of these; itself if that is it. */
static void keep(struct corpus *c, const struct corpus_entry *e)
{
	size_t least = 0;

	if (c->count < CORPUS_MOST) {
		c->entry[c->count++] = *e;
		return;
	}
	for (size_t i = 1; i < c->count; i++)
		if (c->entry[i].fresh < c->entry[least].fresh)
			least = i;
	if (c->entry[least].fresh > e->fresh) {
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

	if (c->news_count > 1)
		qsort(c->news, c->news_count, sizeof(*c->news), by_run);
	for (size_t i = 0; i < c->news_count; i++) {
		struct corpus_news *n = c->news[i];

		n->entry.fresh = corpus_new(c, n->bits);
		c->bits += n->entry.fresh;
		for (size_t k = 0; k < CORPUS_BYTES; k++)
			c->seen[k] |= n->bits[k];
		if (n->entry.fresh && n->entry.count)
			keep(c, &n->entry);
		else
			free(n->entry.turns);
		free(n);
	}
	c->news_count = 0;
	return c->bits - before;
}

/* --- mutations --- */

/* The later ones more often: they stand on what the earlier ones showed. */
static const struct corpus_entry *choose(const struct corpus *c, uint64_t *rng)
{
	uint64_t a = rng_below(rng, c->count), b = rng_below(rng, c->count);

	return &c->entry[a > b ? a : b];
}

/* Room for one more at `at`. */
static size_t open_at(struct sched_turn *t, size_t count, size_t at)
{
	memmove(t + at + 1, t + at, (count - at) * sizeof(*t));
	return count + 1;
}

static size_t remove_at(struct sched_turn *t, size_t count, size_t at)
{
	memmove(t + at, t + at + 1, (count - at - 1) * sizeof(*t));
	return count - 1;
}

/* Mostly a few steps, now and then many. */
static uint64_t length(uint64_t *rng)
{
	return 1 + rng_below(rng, 1ull << rng_below(rng, 11));
}

/* A switch comes some steps earlier or later. */
static size_t move_switch(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	uint64_t by = length(rng);

	if (rng_below(rng, 2))
		t[at].steps += by;
	else
		t[at].steps -= by < t[at].steps ? by : t[at].steps - 1;
	return count;
}

/* A turn is interrupted by one of another thread. */
static size_t preempt(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	const struct sched_turn other = t[rng_below(rng, count)];
	uint64_t first;

	if (count + 2 > CORPUS_TURNS || t[at].steps < 2)
		return count;
	first = 1 + rng_below(rng, t[at].steps - 1);
	count = open_at(t, count, at);
	count = open_at(t, count, at);
	t[at + 2].steps -= first;
	t[at].steps = first;
	t[at + 1] = other;
	if (rng_below(rng, 2))
		t[at + 1].steps = length(rng);
	return count;
}

/* Two turns the other way round. */
static size_t swap(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	const struct sched_turn first = t[at];

	(void)rng;
	if (at + 1 < count) {
		t[at] = t[at + 1];
		t[at + 1] = first;
	}
	return count;
}

static size_t leave_out(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	(void)rng;
	return count > 1 ? remove_at(t, count, at) : count;
}

/* From here on by chance. */
static size_t cut(struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	(void)t;
	(void)count;
	(void)rng;
	return at + 1;
}

/* From here on as another one does from about the same step. */
static size_t splice(const struct corpus *c, struct sched_turn *t, size_t count, size_t at, uint64_t *rng)
{
	const struct corpus_entry *other = choose(c, rng);
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
	static size_t (*const ways[])(struct sched_turn *, size_t, size_t, uint64_t *) = {
		move_switch, move_switch, preempt, preempt, swap, leave_out, cut,
	};
	const struct corpus_entry *e;
	size_t count = 0;

	if (!c->count)
		return 0;
	e = choose(c, rng);
	for (size_t i = 0; i < e->count && count < CORPUS_TURNS; i++)
		if (e->turns[i].kind == SCHED_TURN_RUN)
			out[count++] = e->turns[i];
	/* One change, and with half the chance each one more. */
	do {
		uint64_t way = rng_below(rng, sizeof(ways) / sizeof(*ways) + 1);
		size_t at;

		if (!count)
			return 0;
		at = rng_below(rng, count);
		count = way < sizeof(ways) / sizeof(*ways) ? ways[way](out, count, at, rng) :
							      splice(c, out, count, at, rng);
	} while (rng_below(rng, 2));
	return count;
}
