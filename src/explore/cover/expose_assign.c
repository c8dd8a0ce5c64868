/*
 * Chooses, from the visits of a run to the events of an interleaving root, which threads at which
 * visits can expose it: expose_assign() in expose_active.h.
 */
#include "explore/cover/expose_active.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/iroot_match.h"
#include "sched/rng.h"

static bool is_same(const struct active_visit *a, const struct active_visit *b)
{
	return iroot_match_overlap(a->object, a->size, b->object, b->size);
}

/*
 * True if b is of the same thread as a and follows within the window of the idiom. `same`: whether
 * both must access the same memory.
 */
static bool follows(const struct active_visit *a, const struct active_visit *b, bool same)
{
	return a->reached.thread == b->reached.thread && a->reached.at < b->reached.at &&
	       b->reached.at - a->reached.at <= IROOT_WINDOW && is_same(a, b) == same;
}

/*
 * The number of other events of the root for which the run had a visit that fits this choice of the
 * first event of each part.
 */
static unsigned score_of(const struct iroot *iroot, const struct active_visit *const *seen,
			 const uint32_t *count, const struct active_visit *const *first)
{
	const struct iroot_shape *s = &iroot_shapes[iroot->idiom];
	unsigned score = 0;

	for (unsigned i = 0; i < s->events; i++) {
		uint32_t begins = active_first(iroot->idiom, s->thread[i]);
		bool same = s->variable[i] == s->variable[begins], any = false;

		for (uint32_t k = 0; i != begins && k < count[i] && !any; k++)
			any = follows(first[s->thread[i]], &seen[i][k], same);
		score += any;
	}
	return score;
}

static int by_draw(const void *a, const void *b)
{
	const struct expose_assignment *x = a, *y = b;

	return x->draw < y->draw ? -1 : x->draw > y->draw;
}

static int by_quality(const void *a, const void *b)
{
	const struct expose_assignment *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->duplicates != y->duplicates)
		return x->duplicates < y->duplicates ? -1 : 1;
	return by_draw(a, b);
}

static bool is_duplicate(const struct expose_assignment *a, const struct expose_assignment *b)
{
	return a->score == b->score && a->part[0].context == b->part[0].context &&
	       a->part[1].context == b->part[1].context;
}

size_t expose_assign(const struct iroot *iroot, const struct active_visit *const *seen,
		     const uint32_t *count, uint64_t salt, struct expose_assignment *out,
		     size_t most)
{
	const struct iroot_shape *s = &iroot_shapes[iroot->idiom];
	uint32_t a = active_first(iroot->idiom, 0), b = active_first(iroot->idiom, 1);
	struct expose_assignment *all = xcalloc((size_t)count[a] * count[b] + 1, sizeof(*all));
	bool same = s->variable[a] == s->variable[b];
	size_t found = 0;

	for (uint32_t i = 0; i < count[a]; i++)
		for (uint32_t k = 0; k < count[b]; k++) {
			const struct active_visit *x = &seen[a][i], *y = &seen[b][k];
			struct expose_assignment p = { .part = { x->reached, y->reached },
						       .draw = rng_next(&salt) };

			if (x->reached.thread == y->reached.thread || is_same(x, y) != same)
				continue;
			p.prefix = x->unlocked_step < y->unlocked_step ? x->unlocked_step :
									 y->unlocked_step;
			p.score = score_of(iroot, seen, count,
					   (const struct active_visit *[]){ x, y });
			all[found++] = p;
		}
	qsort(all, found, sizeof(*all), by_draw);
	for (size_t i = 0; i < found; i++)
		for (size_t k = 0; k < i; k++)
			all[i].duplicates += is_duplicate(&all[i], &all[k]);
	qsort(all, found, sizeof(*all), by_quality);
	found = found < most ? found : most;
	memcpy(out, all, found * sizeof(*out));
	free(all);
	return found;
}
