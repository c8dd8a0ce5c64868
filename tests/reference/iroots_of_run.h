/*
 * Reference of the iRoots that a simulated run exposes (definition: abi/iroot.h).
 *
 * iroots_of() finds all dependencies of a run by comparing every two events, and tries every two
 * dependencies for each compound idiom. iroots_enumerate() adds those of all interleavings of a
 * small program: what any strategy can expose at most.
 */
#ifndef REFERENCE_IROOTS_OF_RUN_H
#define REFERENCE_IROOTS_OF_RUN_H

#include "sched_sim.h"
#include "sched/iroot_match.h"

#define IROOTS_MAX 20000u

struct iroots {
	size_t count;
	struct iroot at[IROOTS_MAX];
};

static UNUSED bool iroots_has(const struct iroots *s, const struct iroot *r)
{
	for (size_t i = 0; i < s->count; i++)
		if (memcmp(&s->at[i], r, sizeof(*r)) == 0)
			return true;
	return false;
}

static UNUSED void iroots_add(struct iroots *s, const struct iroot *r)
{
	if (iroots_has(s, r))
		return;
	assert_true(s->count < IROOTS_MAX);
	s->at[s->count++] = *r;
}

static inline bool slow_same(const struct sim_result *r, unsigned i, unsigned k)
{
	return r->event[i].object == r->event[k].object &&
	       iroot_access_of(&r->event[i]) != IROOT_MATCH_NO_ACCESS &&
	       iroot_access_of(&r->event[k]) != IROOT_MATCH_NO_ACCESS;
}

static inline unsigned slow_own(const struct sim_result *r, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < i; k++)
		n += r->thread[k] == r->thread[i];
	return n;
}

static inline bool slow_depends(const struct sim_result *r, unsigned i, unsigned k)
{
	uint32_t a = iroot_access_of(&r->event[i]), b = iroot_access_of(&r->event[k]);

	if (i >= k || !slow_same(r, i, k) || r->thread[i] == r->thread[k])
		return false;
	for (unsigned m = i + 1; m < k; m++)
		if (slow_same(r, i, m))
			return false;
	if (a == IROOT_ACQUIRE || a == IROOT_RELEASE)
		return a == IROOT_RELEASE && b == IROOT_ACQUIRE;
	return a == IROOT_WRITE || b == IROOT_WRITE;
}

static inline void slow_put(struct iroots *out, const struct sim_result *r, unsigned idiom,
			    const unsigned *e)
{
	const struct iroot_shape *s = &iroot_shapes[idiom];
	struct iroot found = { .idiom = idiom };

	for (unsigned i = 0; i < s->events; i++) {
		for (unsigned k = 0; k < i; k++)
			if ((s->thread[i] == s->thread[k]) !=
				    (r->thread[e[i]] == r->thread[e[k]]) ||
			    (s->variable[i] == s->variable[k]) != slow_same(r, e[i], e[k]))
				return;
		found.event[i] = (struct iroot_event){ r->event[e[i]].site,
						       iroot_access_of(&r->event[e[i]]) };
	}
	for (unsigned i = 0; i < s->pairs; i++) {
		unsigned a = e[s->pair[i][0]], b = e[s->pair[i][1]];

		if (a >= b || slow_own(r, b) - slow_own(r, a) > IROOT_WINDOW)
			return;
	}
	for (unsigned i = e[0] + 1; idiom == 3 && i < e[3]; i++)
		if (r->thread[i] == r->thread[e[0]] && slow_same(r, i, e[0]))
			return;
	iroots_add(out, &found);
}

/* Adds all iRoots that the run exposes. */
static UNUSED void iroots_of(struct iroots *out, const struct sim_result *r)
{
	static unsigned dep[SIM_STEPS * 4][2];
	unsigned deps = 0;

	for (unsigned i = 0; i < r->steps; i++)
		for (unsigned k = i + 1; k < r->steps; k++)
			if (slow_depends(r, i, k)) {
				dep[deps][0] = i;
				dep[deps++][1] = k;
			}
	for (unsigned i = 0; i < deps; i++) {
		slow_put(out, r, 1, dep[i]);
		for (unsigned k = 0; k < deps; k++) {
			if (dep[i][1] == dep[k][0])
				slow_put(out, r, 2,
					 (unsigned[]){ dep[i][0], dep[i][1], dep[k][1] });
			for (unsigned idiom = 3; idiom <= IROOT_IDIOMS; idiom++)
				slow_put(
					out, r, idiom,
					(unsigned[]){ dep[i][0], dep[i][1], dep[k][0], dep[k][1] });
		}
	}
}

/* Adds the iRoots of all runs that go on from `s`; `r` holds the run so far. */
static UNUSED void iroots_enumerate(struct iroots *out, const struct sim *s, struct sim_result *r)
{
	bool any = false;

	for (unsigned i = 0; i < s->program->threads; i++) {
		struct sim next = *s;

		if (!sim_enabled(s, i))
			continue;
		any = true;
		r->thread[r->steps] = s->number[i];
		r->event[r->steps++] = *sim_pending(s, i);
		sim_execute(&next, i);
		iroots_enumerate(out, &next, r);
		r->steps--;
	}
	if (!any)
		iroots_of(out, r);
}

#endif
