/*
 * Ranks candidates, likely harmful first. The score is a sum: the base of the pattern
 * (pattern.def) plus bonuses and penalties of the functions below. The numbers are chosen by hand
 * and only serve to order candidates.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_list.h"
#include "analyze/context/access.h"
#include "base/map.h"
#include "base/mem.h"

/* Whether the early access is a write that the first write overwrites: mostly harmless. */
static bool is_overwritten(const struct candidate *c)
{
	return c->pattern == PATTERN_BEFORE_INIT && access_of(c->event[0].kind) == ACCESS_WRITE &&
	       access_of(c->event[1].kind) == ACCESS_WRITE;
}

/* The base of the pattern. */
static double base(const struct candidate *c)
{
	return is_overwritten(c) ? 3 : pattern_row(c->pattern)->score;
}

/* A bonus for writes of 8 bytes, which may be pointers, or of 1 byte, which may be a flag. */
static double size_bonus(const struct candidate *c)
{
	double best = 0;

	for (int i = 0; i < c->events; i++) {
		const struct candidate_event *e = &c->event[i];
		unsigned access = access_of(e->kind);

		if (!(access & ACCESS_WRITE))
			continue;
		if (e->size == 8 && best < 1)
			best = 1;
		else if (e->size == 1 && best < 0.5)
			best = 0.5;
	}
	return best;
}

/* A penalty if all accesses are atomic: they are meant to be concurrent, counters most of all. */
static double atomic_penalty(const struct candidate *c)
{
	int accesses = 0, atomics = 0, adds = 0;

	for (int i = 0; i < c->events; i++) {
		unsigned access = access_of(c->event[i].kind);

		accesses += access != 0;
		atomics += (access & ACCESS_ATOMIC) != 0;
		adds += c->event[i].kind == TRACE_ATOMIC_ADD ||
			c->event[i].kind == TRACE_ATOMIC_SUB;
	}
	if (!accesses || atomics < accesses)
		return 0;
	return adds == accesses ? -3 : -1.5;
}

/* A bonus for rare events, a penalty for frequent ones: tests probably had all their orders. */
static double rarity_bonus(const struct candidate *c)
{
	double score = 1;
	uint64_t most = c->count;

	for (int i = 0; i < c->events; i++)
		most = c->event[i].nth > most ? c->event[i].nth : most;
	for (; most > 1 && score > -1; most /= 2)
		score -= 0.25;
	return score;
}

static double score(const struct candidate *c, const struct rank_hints *hints)
{
	double sum = base(c) + size_bonus(c) + atomic_penalty(c) + rarity_bonus(c);

	/* The order did no harm in the traced run. */
	if (c->seen && !candidate_is_result(c))
		sum -= 1;
	/* The values that make it doubtful may not matter: it is tried late, but tried. */
	if (c->doubtful)
		sum -= 2;
	/* Each order or stop that a run has to enforce may fail. */
	sum -= 0.1 * c->orders;
	for (int i = 0; i < c->events; i++)
		sum -= c->hold[i] >= 0 ? 0.1 : 0;
	for (int i = 0; hints && hints->near_oracle && i < c->events; i++)
		if (hints->near_oracle(hints->ctx, &c->event[i])) {
			sum += 2;
			break;
		}
	if (hints && hints->tested)
		sum -= 5.0 * hints->tested(hints->ctx, c);
	return sum;
}

static int compare(const void *a, const void *b)
{
	const struct candidate *x = *(struct candidate *const *)a;
	const struct candidate *y = *(struct candidate *const *)b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	for (int i = 0; i < x->events && i < y->events; i++) {
		const struct candidate_event *e = &x->event[i], *g = &y->event[i];

		if (e->time != g->time)
			return e->time < g->time ? -1 : 1;
		if (e->thread != g->thread)
			return e->thread < g->thread ? -1 : 1;
		if (e->index != g->index)
			return e->index < g->index ? -1 : 1;
	}
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return strcmp(pattern_row(x->pattern)->name, pattern_row(y->pattern)->name);
}

void rank_list(struct hunt_list *l, const struct rank_hints *hints)
{
	for (size_t i = 0; i < l->count; i++)
		l->at[i]->score = score(l->at[i], hints);
	if (l->count)
		qsort(l->at, l->count, sizeof(l->at[0]), compare);
}

static uint64_t distance(const struct candidate *c)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (int i = 0; i < c->events; i++) {
		low = c->event[i].time < low ? c->event[i].time : low;
		high = c->event[i].time > high ? c->event[i].time : high;
	}
	return high > low ? high - low : 0;
}

/* A bonus for what is sound, a penalty for locks: the fewer, the likelier is an oversight. */
static double readers_bonus(const struct candidate *c, uint64_t most)
{
	static const double by_evidence[] = {
		[EVIDENCE_PATTERN] = 0, [EVIDENCE_REORDERING] = 3, [EVIDENCE_UNORDERED] = 6,
	};
	double sum = by_evidence[c->evidence];
	unsigned locks = 0;

	for (int i = 0; i < c->events; i++)
		locks += access_of(c->event[i].kind) && c->event[i].lockset_size > 0;
	sum -= 0.25 * locks;
	return most ? sum - 0.5 * (double)distance(c) / (double)most : sum;
}

static int compare_for_readers(const void *a, const void *b)
{
	const struct candidate *x = *(struct candidate *const *)a;
	const struct candidate *y = *(struct candidate *const *)b;

	if (candidate_is_doubtful(x) != candidate_is_doubtful(y))
		return candidate_is_doubtful(x) ? 1 : -1;
	return compare(a, b);
}

static void sort_for_readers(struct hunt_list *l)
{
	if (l->count)
		qsort(l->at, l->count, sizeof(l->at[0]), compare_for_readers);
}

/* Gives a doubt to all but the best of those that want the same orders of the same sites. */
static void doubt_repeats(struct hunt_list *l)
{
	struct map known = { 0 };
	bool added;

	for (size_t i = 0; i < l->count; i++) {
		struct candidate *c = l->at[i];

		if (candidate_is_result(c) || candidate_is_doubtful(c))
			continue;
		map_put(&known, candidate_hash_orders(c), &added);
		if (candidate_is_impossible(c))
			c->doubt = "the orders contradict each other";
		else if (!added)
			c->doubt = "a better one wants the same order of the same places";
	}
	map_free(&known);
}

void rank_for_readers(struct findings *f, bool (*named)(void *ctx, const struct candidate *c),
		      void *ctx, struct hunt_list *out)
{
	uint64_t most = 0;

	*out = (struct hunt_list){ .count = findings_count(f) };
	out->at = xcalloc(out->count + 1, sizeof(*out->at));
	for (size_t i = 0; i < out->count; i++) {
		out->at[i] = findings_at(f, i);
		most = distance(out->at[i]) > most ? distance(out->at[i]) : most;
	}
	for (size_t i = 0; i < out->count; i++)
		out->at[i]->score = score(out->at[i], NULL) + readers_bonus(out->at[i], most) +
				    (named(ctx, out->at[i]) ? 0.5 : 0);
	sort_for_readers(out);
	doubt_repeats(out);
	sort_for_readers(out);
	for (size_t i = 0; i < out->count; i++)
		out->doubtful += candidate_is_doubtful(out->at[i]);
}
