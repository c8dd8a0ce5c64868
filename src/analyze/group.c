/*
 * Groups candidates to be tried in one run (AVPredictor, section 3.3). By the times of the trace,
 * all events of one candidate in a group come before all events of the next, so that enforcing one
 * does not disturb the next.
 *
 * A candidate goes to the smallest group that it fits into, or to a new group. Only the MAX_TRIES
 * smallest groups are tried: else the cost would be quadratic in candidates that all overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_list.h"
#include "base/mem.h"

#define MAX_TRIES 64u	/* groups that are tried for one candidate */

struct span {
	uint64_t from, to;
};

static struct span span_of(const struct candidate *c)
{
	struct span s = { UINT64_MAX, 0 };

	for (int i = 0; i < c->events; i++) {
		s.from = c->event[i].time < s.from ? c->event[i].time : s.from;
		s.to = c->event[i].time > s.to ? c->event[i].time : s.to;
	}
	return s;
}

/* Sets *at to the index in the group where the span belongs; false if it overlaps a member. */
static bool fits(const struct hunt_list *l, const struct hunt_group *g, struct span s, size_t *at)
{
	*at = 0;
	for (size_t i = 0; i < g->count; i++) {
		struct span other = span_of(l->at[g->member[i]]);

		if (other.from <= s.to && s.from <= other.to)
			return false;
		if (other.to < s.from)
			*at = i + 1;
	}
	return true;
}

/* For each number of members, the list of groups that have it, oldest first. */
struct sizes {
	size_t *first, *last;	/* by number of members: group plus 1; 0: none */
	size_t *next;		/* by group: next group plus 1 */
};

static void sizes_push(struct sizes *s, size_t group, size_t members)
{
	s->next[group] = 0;
	if (s->last[members])
		s->next[s->last[members] - 1] = group + 1;
	else
		s->first[members] = group + 1;
	s->last[members] = group + 1;
}

/* Removes `group` from its list. `before`: the group before it plus 1; 0: it is the first. */
static void sizes_take(struct sizes *s, size_t group, size_t before, size_t members)
{
	if (before)
		s->next[before - 1] = s->next[group];
	else
		s->first[members] = s->next[group];
	if (s->last[members] == group + 1)
		s->last[members] = before;
}

static void put(struct hunt_group *g, size_t at, size_t member)
{
	memmove(g->member + at + 1, g->member + at, (g->count - at) * sizeof(*g->member));
	g->member[at] = member;
	g->count++;
}

/* Puts the candidate `member` into the smallest group it fits into; false: it fits into none. */
static bool put_into_group(const struct hunt_list *l, size_t most, struct sizes *sizes,
			   struct hunt_groups *out, size_t member)
{
	struct span span = span_of(l->at[member]);
	size_t tries = 0, at;

	for (size_t members = 1; members < most; members++) {
		size_t before = 0;

		for (size_t g = sizes->first[members]; g && tries < MAX_TRIES;
		     g = sizes->next[g - 1]) {
			tries++;
			if (fits(l, &out->at[g - 1], span, &at)) {
				put(&out->at[g - 1], at, member);
				sizes_take(sizes, g - 1, before, members);
				sizes_push(sizes, g - 1, members + 1);
				return true;
			}
			before = g;
		}
	}
	return false;
}

void group_list(const struct hunt_list *l, size_t most, struct hunt_groups *out)
{
	struct sizes sizes = {
		xcalloc(most + 2, sizeof(size_t)), xcalloc(most + 2, sizeof(size_t)),
		xcalloc(l->count + 1, sizeof(size_t)),
	};

	*out = (struct hunt_groups){ .at = xcalloc(l->count + 1, sizeof(*out->at)) };
	for (size_t i = 0; i < l->count; i++) {
		if (candidate_is_result(l->at[i]) || put_into_group(l, most, &sizes, out, i))
			continue;
		out->at[out->count].member = xcalloc(most ? most : 1, sizeof(size_t));
		put(&out->at[out->count], 0, i);
		sizes_push(&sizes, out->count++, 1);
	}
	free(sizes.first);
	free(sizes.last);
	free(sizes.next);
}

void hunt_groups_free(struct hunt_groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->at[i].member);
	free(g->at);
	*g = (struct hunt_groups){ 0 };
}
