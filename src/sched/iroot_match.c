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

uint32_t iroot_access_of(const struct sched_event *e)
{
	if (!e->object)
		return IROOT_MATCH_NO_ACCESS;
	switch (e->op) {
	case SCHED_OP_READ: return IROOT_READ;
	case SCHED_OP_WRITE:
	case SCHED_OP_UPDATE: return IROOT_WRITE;
	case SCHED_OP_ACQUIRE:
	case SCHED_OP_TRY: return IROOT_ACQUIRE;
	case SCHED_OP_RELEASE: return IROOT_RELEASE;
	}
	return IROOT_MATCH_NO_ACCESS;
}

void iroot_match_init(struct iroot_match *m, const struct iroot *wanted)
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

void iroot_match_begin(struct iroot_match *m)
{
	m->exposed = false;
	m->sources = m->dependencies[0] = m->dependencies[1] = 0;
	for (unsigned i = 0; i < IROOT_MATCH_OPEN; i++)
		m->source[i].event.size = 0;
}

static bool overlaps(const struct iroot_match_event *a, const struct iroot_match_event *b)
{
	return iroot_match_overlap(a->object, a->size, b->object, b->size);
}

/* True if the events of two dependencies have the threads, variables and window of the idiom. */
static bool fits_idiom(const struct iroot_match *m, const struct iroot_match_event *const *event)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];

	for (unsigned i = 0; i < s->events; i++)
		for (unsigned k = 0; k < i; k++)
			if ((s->thread[i] == s->thread[k]) !=
				    (event[i]->thread == event[k]->thread) ||
			    (s->variable[i] == s->variable[k]) != overlaps(event[i], event[k]))
				return false;
	for (unsigned i = 0; i < s->pairs; i++) {
		const struct iroot_match_event *a = event[s->pair[i][0]], *b = event[s->pair[i][1]];

		if (a->own >= b->own || b->own - a->own > IROOT_WINDOW)
			return false;
	}
	/* In idiom 2 the dependencies themselves exclude accesses in between. */
	return m->wanted.idiom != 3 || !event[0]->touched;
}

static bool joins(const struct iroot_match *m, const struct iroot_match_dependency *first,
		  const struct iroot_match_dependency *second)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];
	const struct iroot_match_event *event[IROOT_EVENTS];

	event[s->dependency[0][0]] = &first->event[0];
	event[s->dependency[0][1]] = &first->event[1];
	if (m->wanted.idiom == 2 && (first->event[1].thread != second->event[0].thread ||
				     first->event[1].own != second->event[0].own))
		return false;	/* B must be one event, which both dependencies share */
	event[s->dependency[1][0]] = &second->event[0];
	event[s->dependency[1][1]] = &second->event[1];
	return fits_idiom(m, event);
}

static uint32_t stored(uint32_t added)
{
	return added < IROOT_MATCH_OPEN ? added : IROOT_MATCH_OPEN;
}

/* Records an instance of a dependency, and checks whether it completes the root. */
static void add_dependency(struct iroot_match *m, uint32_t which,
			   const struct iroot_match_event *from, const struct iroot_match_event *to)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];
	struct iroot_match_dependency *d =
		&m->dependency[which][m->dependencies[which]++ % IROOT_MATCH_OPEN];

	*d = (struct iroot_match_dependency){ { *from, *to } };
	m->exposed |= s->dependencies == 1;
	for (uint32_t i = 0; s->dependencies == 2 && i < stored(m->dependencies[!which]); i++) {
		const struct iroot_match_dependency *other = &m->dependency[!which][i];

		m->exposed |= which ? joins(m, other, d) : joins(m, d, other);
	}
}

/* Ends the sources at the object that `e` accesses; marks events whose thread touches it again. */
static void add_access(struct iroot_match *m, const struct iroot_match_event *e, uint64_t site,
		       uint32_t access)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];

	for (uint32_t i = 0; i < stored(m->sources); i++) {
		struct iroot_match_source *from = &m->source[i];
		const struct iroot_event *to = &m->wanted.event[s->dependency[from->dependency][1]];

		if (!from->event.size || !overlaps(&from->event, e))
			continue;
		if (from->event.thread != e->thread && iroot_match_is(to, site, access))
			add_dependency(m, from->dependency, &from->event, e);
		from->event.size = 0;
	}
	for (uint32_t i = 0; m->wanted.idiom == 3 && i < stored(m->dependencies[0]); i++) {
		struct iroot_match_event *first = &m->dependency[0][i].event[0];

		first->touched |= first->thread == e->thread && overlaps(first, e);
	}
}

bool iroot_match_event(struct iroot_match *m, const struct iroot_match_event *e, uint64_t site,
		       uint32_t access)
{
	const struct iroot_shape *s = &iroot_shapes[m->wanted.idiom];

	if (m->exposed || !m->possible || access == IROOT_MATCH_NO_ACCESS || !e->size)
		return m->exposed;
	add_access(m, e, site, access);
	for (uint32_t d = 0; d < s->dependencies; d++)
		if (iroot_match_is(&m->wanted.event[s->dependency[d][0]], site, access))
			m->source[m->sources++ % IROOT_MATCH_OPEN] =
				(struct iroot_match_source){ *e, d };
	return m->exposed;
}
