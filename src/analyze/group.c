/*
 * Several candidates in one run (AVPredictor §3.3): all events of one before all of the
 * other, by the times of the trace, so that arranging the first does not disturb the
 * second. A new one goes to the group with the fewest members that it fits in, and to a
 * new group if there is none. Only the TRIES smallest are asked, so that a list of
 * candidates that all overlap does not cost its square.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_list.h"
#include "base/mem.h"

#define TRIES 64u

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

/* Where in the group it belongs, by time; false if it overlaps. */
static bool fits(const struct hunt_list *l, const struct hunt_group *g, struct span s, size_t *place)
{
	*place = 0;
	for (size_t i = 0; i < g->count; i++) {
		struct span other = span_of(l->at[g->member[i]]);

		if (other.from <= s.to && s.from <= other.to)
			return false;
		if (other.to < s.from)
			*place = i + 1;
	}
	return true;
}

/* Groups by how many members they have; each list the oldest first. */
struct sizes {
	size_t *first, *last;	/* by members: 1 + group */
	size_t *next;		/* by group: 1 + group */
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

/* Takes `group` out, which comes after `before` (1 + group; 0: it is the first). */
static void sizes_take(struct sizes *s, size_t group, size_t before, size_t members)
{
	if (before)
		s->next[before - 1] = s->next[group];
	else
		s->first[members] = s->next[group];
	if (s->last[members] == group + 1)
		s->last[members] = before;
}

static void put(struct hunt_group *g, size_t place, size_t member)
{
	memmove(g->member + place + 1, g->member + place, (g->count - place) * sizeof(*g->member));
	g->member[place] = member;
	g->count++;
}

static bool put_into_some(const struct hunt_list *l, size_t most, struct sizes *sizes,
			  struct hunt_groups *out, size_t member)
{
	struct span span = span_of(l->at[member]);
	size_t tries = 0, place;

	for (size_t members = 1; members < most; members++) {
		size_t before = 0;

		for (size_t g = sizes->first[members]; g && tries < TRIES; g = sizes->next[g - 1]) {
			tries++;
			if (fits(l, &out->at[g - 1], span, &place)) {
				put(&out->at[g - 1], place, member);
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
		if (candidate_is_result(l->at[i]) || put_into_some(l, most, &sizes, out, i))
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
