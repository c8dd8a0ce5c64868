/*
 * Keeps track of what the steps of a run by the strategy `active` did: progress of the attempt,
 * visits to the events of the root, locks held.
 */
#include "sched/active_internal.h"

uint32_t active_ways(uint64_t idiom)
{
	return idiom == 5 ? 4 : idiom == 6 ? 2 : 1;
}

uint32_t active_first(uint64_t idiom, uint32_t part)
{
	return !part ? 0 : idiom == 5 ? 2 : 1;
}

void active_result(const void *state, struct active_result *out)
{
	const struct active *a = state;
	struct iroot_match last = a->match;
	struct iroot_match_event e = { a->event.object, a->event.size, 0, a->chosen, 0 };

	*out = a->result;
	out->possible = a->any && a->match.possible;
	out->exposed = a->match.exposed;
	if (!a->any || a->last_pick == SCHED_NO_LIMIT || out->exposed)
		return;
	/*
	 * No pick() follows the last step of a run, so that step is counted here: it may have
	 * crashed.
	 */
	e.own = a->thread_state[a->chosen].own;
	out->exposed = iroot_match_event(&last, &e, a->event.site, iroot_access_of(&a->event));
}

uint32_t active_visits(const void *state, uint32_t event, const struct active_visit **out)
{
	const struct active *a = state;

	*out = a->visits[event];
	return a->visit_count[event] < ACTIVE_VISITS ? a->visit_count[event] : ACTIVE_VISITS;
}

void active_reset(struct active *a)
{
	a->next = 0;
	a->part_thread[0] = a->part_thread[1] = NO_THREAD;
	a->variable[0] = a->variable[1] = (struct active_variable){ 0 };
}

static bool touches(const struct active_variable *v, const struct sched_event *e)
{
	return v->size && e->object && iroot_access_of(e) != IROOT_MATCH_NO_ACCESS &&
	       iroot_match_overlap(v->object, v->size, e->object, e->size);
}

bool active_disturbs(const struct active *a, uint32_t thread, const struct sched_event *e)
{
	for (unsigned v = 0; v < 2; v++)
		if (a->variable[v].in_dependency && touches(&a->variable[v], e))
			return true;
	/* In idiom 3 the thread of A and D must not access the variable in between. */
	return a->wanted.iroot.idiom == 3 && a->part_thread[0] == thread &&
	       touches(&a->variable[0], e);
}

static uint32_t count_context(const struct active_visit *seen, uint64_t context)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ACTIVE_VISITS; i++)
		count += seen[i].reached.context == context;
	return count;
}

/*
 * Index of the kept visit that a new one replaces; ACTIVE_VISITS: the new one is not kept.
 *
 * If some call stack has at least 2 more kept visits than the new one's, the choice is among those
 * of the most frequent call stack. Otherwise any visit, kept or not, is drawn; if its call stack
 * is rarer than the new one's, it stays.
 */
static uint64_t choose_victim(struct active *a, uint32_t event)
{
	const struct active_visit *seen = a->visits[event];
	uint32_t mine = count_context(seen, a->chosen_context), most = mine + 1;
	uint64_t found = ACTIVE_VISITS, draw = 0;

	for (uint32_t i = 0; mine < ACTIVE_VISITS && i < ACTIVE_VISITS; i++) {
		uint32_t count = count_context(seen, seen[i].reached.context);

		if (count < most || (count == most && found == ACTIVE_VISITS))
			continue;
		draw = count > most ? 0 : draw;
		most = count;
		if (rng_below(&a->rng, ++draw) == 0)
			found = i;
	}
	if (found == ACTIVE_VISITS)
		found = rng_below(&a->rng, a->visit_count[event]);
	return found < ACTIVE_VISITS && count_context(seen, seen[found].reached.context) < mine ?
		       ACTIVE_VISITS :
		       found;
}

/*
 * Keeps a sample of the visits to an event: reservoir sampling (Vitter's algorithm R), but with
 * about as many visits for each call stack.
 */
static void note_visit(struct active *a, uint32_t event)
{
	const struct active_thread *l = &a->thread_state[a->chosen];
	uint64_t slot = a->visit_count[event]++;

	a->result.reached[event]++;
	if (slot >= ACTIVE_VISITS)
		slot = choose_victim(a, event);
	if (slot < ACTIVE_VISITS)
		a->visits[event][slot] = (struct active_visit){ { a->chosen_name, l->own,
								   l->unlocked, a->chosen_context },
								 a->event.object,
								 a->event.size,
								 a->last_pick,
								 l->unlocked_step };
}

/* Counts the locks that a thread holds. */
static void note_locks(struct active_thread *l, const struct sched_event *e)
{
	if (e->op == SCHED_OP_ACQUIRE) {
		l->locks += !l->waited;
		l->lock = e->object;
	} else if (e->op == SCHED_OP_RELEASE) {
		l->locks -= l->locks > 0;
		l->lock = 0;
	}
	l->waited = e->op == SCHED_OP_WAIT;
}

bool active_may_be(const struct active *a, uint32_t event, uint32_t thread,
		   const struct sched_event *e)
{
	uint32_t part = active_part(a, event), v = active_shape(a)->variable[event];

	if (!active_is_at(a, event, e) || a->part_thread[!part] == thread ||
	    (a->part_thread[part] != NO_THREAD && a->part_thread[part] != thread))
		return false;
	return a->variable[v].size ? touches(&a->variable[v], e) : !touches(&a->variable[!v], e);
}

static void advance(struct active *a, const struct sched_event *e)
{
	uint32_t event = a->order[a->next++], part = active_part(a, event);
	struct active_variable *v = &a->variable[active_shape(a)->variable[event]];

	if (event == active_first(a->wanted.iroot.idiom, part))
		a->part_begin[part] = a->thread_state[a->chosen].own;
	a->part_thread[part] = a->chosen;
	v->object = e->object;
	v->size = e->size;
	v->in_dependency = false;
	for (unsigned d = 0; d < active_shape(a)->dependencies; d++)
		v->in_dependency |= active_shape(a)->dependency[d][0] == event;
	if (a->next > a->result.furthest)
		a->result.furthest = a->next;
	if (a->next == active_shape(a)->events)
		/* If iroot_match.h has not found the root exposed, the attempt begins anew. */
		active_reset(a);
}

/* True if the current attempt cannot succeed any more. */
static bool has_failed(const struct active *a, const struct sched_event *e)
{
	for (unsigned part = 0; part < 2; part++)
		if (a->part_thread[part] == a->chosen &&
		    (e->op == SCHED_OP_EXIT ||
		     a->thread_state[a->chosen].own > a->part_begin[part] + IROOT_WINDOW))
			return true;
	return active_disturbs(a, a->chosen, e);
}

void active_executed(struct active *a)
{
	struct active_thread *l = &a->thread_state[a->chosen];
	const struct sched_event *e = &a->event;
	struct iroot_match_event m = { e->object, e->size, l->own, a->chosen, 0 };

	if (!l->locks) {
		l->unlocked = l->own;
		l->unlocked_step = a->last_pick;
	}
	for (unsigned i = 0; i < active_shape(a)->events; i++)
		if (active_is_at(a, i, e))
			note_visit(a, i);
	if (a->next && active_may_be(a, a->order[a->next], a->chosen, e)) {
		advance(a, e);
	} else if (a->next && has_failed(a, e)) {
		a->result.gave_up++;
		active_reset(a);
	}
	if (!a->next && active_may_be(a, a->order[0], a->chosen, e) &&
	    active_is_due(a, a->chosen, a->chosen_name, a->chosen_context, a->order[0]))
		advance(a, e);
	iroot_match_event(&a->match, &m, e->site, iroot_access_of(e));
	note_locks(l, e);
	l->own++;
	if (l->spin_object && l->spin_object != e->object) {
		l->spin_object = 0;
		a->spinners--;
	}
}

