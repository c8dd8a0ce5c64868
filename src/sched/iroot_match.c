#include "sched/iroot_match.h"

static bool is_lock(uint64_t access)
{
	return access == IROOT_ACQUIRE || access == IROOT_RELEASE;
}

static bool conflict(uint64_t first, uint64_t second)
{
	if (is_lock(first) || is_lock(second))
		return first == IROOT_RELEASE && second == IROOT_ACQUIRE;
	return first == IROOT_WRITE || second == IROOT_WRITE;
}

uint32_t match_access(const struct sched_event *e)
{
	if (!e->object)
		return MATCH_NONE;
	switch (e->op) {
	case SCHED_OP_READ: return IROOT_READ;
	case SCHED_OP_WRITE:
	case SCHED_OP_UPDATE: return IROOT_WRITE;
	case SCHED_OP_ACQUIRE:
	case SCHED_OP_TRY: return IROOT_ACQUIRE;
	case SCHED_OP_RELEASE: return IROOT_RELEASE;
	}
	return MATCH_NONE;
}

void match_init(struct match *m, const struct iroot *wanted)
{
	const struct iroot_shape *s;

	m->wanted = *wanted;
	m->possible = wanted->idiom >= 1 && wanted->idiom <= IROOT_IDIOMS;
	if (!m->possible)
		return;
	s = &iroot_shapes[wanted->idiom];
	for (unsigned d = 0; d < s->dependencies; d++)
		m->possible &= conflict(wanted->event[s->dependency[d][0]].access,
					wanted->event[s->dependency[d][1]].access);
}

void match_begin(struct match *m)
{
	m->exposed = false;
	m->sources = m->dependencies[0] = m->dependencies[1] = 0;
	for (unsigned i = 0; i < MATCH_LIVE; i++)
		m->source[i].event.size = 0;
}

static bool same_place(const struct match_event *a, const struct match_event *b)
{
	return match_overlap(a->object, a->size, b->object, b->size);
}

/* Do all events, which are of two dependencies, play the parts that the idiom has? */
static bool fits(const struct match *m, const struct match_event *const *event)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];

	for (unsigned i = 0; i < s->events; i++)
		for (unsigned k = 0; k < i; k++)
			if ((s->thread[i] == s->thread[k]) != (event[i]->thread == event[k]->thread) ||
			    (s->variable[i] == s->variable[k]) != same_place(event[i], event[k]))
				return false;
	for (unsigned i = 0; i < s->pairs; i++) {
		const struct match_event *a = event[s->pair[i][0]], *b = event[s->pair[i][1]];

		if (a->own >= b->own || b->own - a->own > IROOT_WINDOW)
			return false;
	}
	/* Of 2 the dependencies themselves leave no room in between. */
	return m->wanted.idiom != 3 || !event[0]->touched;
}

static bool joins(const struct match *m, const struct match_dependency *first,
		  const struct match_dependency *second)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];
	const struct match_event *event[IROOT_EVENTS];

	event[s->dependency[0][0]] = &first->event[0];
	event[s->dependency[0][1]] = &first->event[1];
	if (m->wanted.idiom == 2 && (first->event[1].thread != second->event[0].thread ||
				     first->event[1].own != second->event[0].own))
		return false;	/* B is one event of both */
	event[s->dependency[1][0]] = &second->event[0];
	event[s->dependency[1][1]] = &second->event[1];
	return fits(m, event);
}

static uint32_t live(uint32_t ever)
{
	return ever < MATCH_LIVE ? ever : MATCH_LIVE;
}

/* A dependency came about. */
static void depends(struct match *m, uint32_t which, const struct match_event *from,
		    const struct match_event *to)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];
	struct match_dependency *d = &m->dependency[which][m->dependencies[which]++ % MATCH_LIVE];

	*d = (struct match_dependency){ { *from, *to } };
	m->exposed |= s->dependencies == 1;
	for (uint32_t i = 0; s->dependencies == 2 && i < live(m->dependencies[!which]); i++) {
		const struct match_dependency *other = &m->dependency[!which][i];

		m->exposed |= which ? joins(m, other, d) : joins(m, d, other);
	}
}

/* What is open at this place: it ends here, or its thread comes back to it. */
static void touch(struct match *m, const struct match_event *e, uint64_t site, uint32_t access)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];

	for (uint32_t i = 0; i < live(m->sources); i++) {
		struct match_source *from = &m->source[i];
		const struct iroot_event *to = &m->wanted.event[s->dependency[from->dependency][1]];

		if (!from->event.size || !same_place(&from->event, e))
			continue;
		if (from->event.thread != e->thread && match_is(to, site, access))
			depends(m, from->dependency, &from->event, e);
		from->event.size = 0;
	}
	for (uint32_t i = 0; m->wanted.idiom == 3 && i < live(m->dependencies[0]); i++) {
		struct match_event *first = &m->dependency[0][i].event[0];

		first->touched |= first->thread == e->thread && same_place(first, e);
	}
}

bool match_event(struct match *m, const struct match_event *e, uint64_t site, uint32_t access)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];

	if (m->exposed || !m->possible || access == MATCH_NONE || !e->size)
		return m->exposed;
	touch(m, e, site, access);
	for (uint32_t d = 0; d < s->dependencies; d++)
		if (match_is(&m->wanted.event[s->dependency[d][0]], site, access))
			m->source[m->sources++ % MATCH_LIVE] = (struct match_source){ *e, d };
	return m->exposed;
}
