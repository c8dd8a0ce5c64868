#include "explore/active.h"
#include "sched/match.h"
#include "sched/rng.h"

static bool is_same(const struct active_seen *a, const struct active_seen *b)
{
	return match_overlap(a->object, a->size, b->object, b->size);
}

/* Could b be an event of the same thread that follows a, at memory as the idiom wants it? */
static bool follows(const struct active_seen *a, const struct active_seen *b, bool same)
{
	return a->reached.thread == b->reached.thread && a->reached.at < b->reached.at &&
	       b->reached.at - a->reached.at <= IROOT_WINDOW && is_same(a, b) == same;
}

/* How many of the other events are there for this choice of the first ones. */
static unsigned score_of(const struct iroot *iroot, const struct active_seen *const *seen,
			 const uint32_t *count, const struct active_seen *const *first)
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

static bool is_better(const struct active_parts *a, const struct active_parts *b)
{
	return a->score != b->score ? a->score > b->score : a->draw < b->draw;
}

/* Into the list, sorted; the last falls out if it is full. */
static size_t insert(struct active_parts *out, size_t count, size_t most, const struct active_parts *p)
{
	size_t at = count;

	while (at > 0 && is_better(p, &out[at - 1]))
		at--;
	if (at == most)
		return count;
	count += count < most;
	for (size_t i = count - 1; i > at; i--)
		out[i] = out[i - 1];
	out[at] = *p;
	return count;
}

size_t active_casting(const struct iroot *iroot, const struct active_seen *const *seen,
		      const uint32_t *count, uint64_t salt, struct active_parts *out, size_t most)
{
	const struct iroot_shape *s = &iroot_shapes[iroot->idiom];
	uint32_t a = active_first(iroot->idiom, 0), b = active_first(iroot->idiom, 1);
	bool same = s->variable[a] == s->variable[b];
	size_t found = 0;

	for (uint32_t i = 0; i < count[a]; i++)
		for (uint32_t k = 0; k < count[b]; k++) {
			const struct active_seen *x = &seen[a][i], *y = &seen[b][k];
			struct active_parts p = { .part = { x->reached, y->reached },
						  .draw = rng_next(&salt) };

			if (x->reached.thread == y->reached.thread || is_same(x, y) != same)
				continue;
			p.prefix = x->unlocked_step < y->unlocked_step ? x->unlocked_step :
									 y->unlocked_step;
			p.score = score_of(iroot, seen, count, (const struct active_seen *[]){ x, y });
			found = insert(out, found, most, &p);
		}
	return found;
}
