/*
 * Active: brings about one interleaving root (abi/iroot.h), like the active scheduler of Maple (Yu,
 * Narayanasamy, Pereira, Pokam, OOPSLA 2012). Threads have strict priorities; those of run 1 are
 * the reverse of those of run 0. The events of the root are brought about one after the other, in
 * one of the orders that its idiom allows:
 *
 *  - Before the first event: a thread that stands before the first event of either part is held,
 *    until two threads stand before both, at the same memory. Then they go on in the wanted order.
 *  - After it ("watch mode"): the thread of the next event goes first, and the thread of the other
 *    part is held. Any other thread is held before it touches memory of an open dependency.
 *  - If all threads that can run are held, one is let go. Preferred is a thread that stands before
 *    the next event (the other part may still follow, for example if it waits for a lock), then
 *    one that does not disturb the attempt, then any.
 *
 * Unlike in the paper, the runtime knows which threads can run, so that no attempt is given up by a
 * time-out. All threads before the first event are held, where the paper tosses a coin for each.
 * Four difficulties that the paper leaves open:
 *
 *  - Preconditions: if the plan names the threads and visits of both parts (struct sched_wanted),
 *    the turns of the run that had these visits are followed until shortly before the first.
 *  - Late occurrences: the visits named in the plan are meant, not the first ones. They are visits
 *    with the same call stack, which matters for functions that are called from many places.
 *  - Locks around both events: each thread is held at a point where it holds no lock yet.
 *  - Synchronisation by flags: a thread that writes what another one spins on is not held.
 *
 * Whether the root was exposed is decided by iroot_match.h. Afterwards the run is a random walk.
 * Until then pick() grants one step at a time.
 */
#include "sched/active_internal.h"

/* sched_point.spin_rounds from which a spinning thread is taken to wait for a held thread. */
#define SPIN_ROUNDS 2u
#define EXEMPT_STEPS 64u	/* number of steps that such a held thread may then take */

/*
 * The orders of events that idioms allow. In idiom 5, A and C come before B and D. In idiom 6, C
 * comes before or after B.
 */
static const uint8_t event_orders[][IROOT_EVENTS] = {
	{ 0, 1, 2, 3 },							/* idioms 1 to 4 */
	{ 0, 2, 3, 1 }, { 2, 0, 1, 3 }, { 0, 2, 1, 3 }, { 2, 0, 3, 1 },	/* idiom 5 */
	{ 0, 1, 2, 3 }, { 0, 2, 1, 3 },					/* idiom 6 */
};

static void active_init(void *state, const struct sched_params *params)
{
	struct active *a = state;
	const struct sched_plan *plan = params->plan;

	strategy_exact.init(&a->guide, params);
	a->seed = params->seed;
	a->permille = params->switch_permille < 1000 ? params->switch_permille : 1000;
	a->any = plan && plan->wanted;
	if (!a->any)
		return;
	a->wanted = *sched_plan_wanted(plan);
	iroot_match_init(&a->match, &a->wanted.iroot);
	a->any = a->match.possible;
	if (a->any) {
		uint64_t idiom = a->wanted.iroot.idiom;
		unsigned from = idiom == 5 ? 1 : idiom == 6 ? 5 : 0;

		for (unsigned i = 0; i < IROOT_EVENTS; i++)
			a->order[i] = event_orders[from + a->wanted.way % active_ways(idiom)][i];
	}
	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		a->wants_release |= a->wanted.iroot.event[i].access == IROOT_RELEASE;
	a->has_parts = a->any && a->wanted.part[0].thread && a->wanted.part[1].thread;
}

static void active_begin(void *state, const struct sched_run *run)
{
	struct active *a = state;

	strategy_exact.begin(&a->guide, run);
	a->guided = a->has_parts && a->wanted.prefix && !exact_done(&a->guide);
	if (!a->guided)
		exact_end(&a->guide);
	a->number = run->number;
	a->rng = pick_seed(a->seed, run->number);
	a->last_pick = SCHED_NO_LIMIT;
	a->exempt = NO_THREAD;
	a->until = 0;
	a->demoted = 0;
	a->spinners = 0;
	a->result = (struct active_result){ 0 };
	for (unsigned i = 0; i < SCHED_MAX_THREADS; i++)
		a->thread_state[i] = (struct active_thread){ 0 };
	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		a->visit_count[i] = 0;
	iroot_match_begin(&a->match);
	active_reset(a);
}

/* Priority: in run 0 the thread created first goes first, in run 1 the last, later by chance. */
static uint64_t rank_of(struct active *a, uint32_t thread)
{
	struct active_thread *l = &a->thread_state[thread];

	if (!l->has_rank) {
		l->has_rank = true;
		l->rank = a->number == 0 ? 2 * SCHED_MAX_THREADS - thread :
			  a->number == 1 ? SCHED_MAX_THREADS + thread :
					   SCHED_MAX_THREADS + rng_below(&a->rng, 1u << 30);
		l->rank += 1ull << 32;
	}
	return l->rank;
}

/* True if the pending event of the thread writes what another thread spins on. */
static bool is_awaited(const struct active *a, const struct sched_point *point, uint32_t thread)
{
	const struct sched_event *e = &point->pending[thread];

	if (!a->spinners || iroot_access_of(e) != IROOT_WRITE)
		return false;
	for (uint32_t i = 0; i < point->threads; i++)
		if (i != thread && a->thread_state[i].spin_object &&
		    iroot_match_overlap(a->thread_state[i].spin_object, 1, e->object, e->size))
			return true;
	return false;
}

static uint64_t context_of(const struct sched_point *point, uint32_t thread)
{
	return point->context ? point->context(thread) : 0;
}

/* True if a thread stands before this event of the root, at a visit that is meant. */
static bool stands_before(const struct active *a, const struct sched_point *point, uint32_t thread,
			  uint32_t event)
{
	return active_is_at(a, event, &point->pending[thread]) &&
	       active_is_due(a, thread, point->name[thread],
			     a->has_parts ? context_of(point, thread) : 0, event);
}

/* Finds two threads that stand before the first events of both parts: sets `part_thread`. */
static bool find_meeting(struct active *a, const struct sched_point *point)
{
	uint32_t first = a->order[0], part = active_part(a, first);
	uint32_t other = active_first(a->wanted.iroot.idiom, !part);
	bool same = active_shape(a)->variable[first] == active_shape(a)->variable[other];
	uint64_t found = 0;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t t = point->runnable[i];
		const struct sched_event *e = &point->pending[t];

		if (!stands_before(a, point, t, first))
			continue;
		for (uint32_t u = 0; u < point->threads; u++) {
			const struct sched_event *f = &point->pending[u];

			if (u == t || !stands_before(a, point, u, other) ||
			    iroot_match_overlap(e->object, e->size, f->object, f->size) != same ||
			    rng_below(&a->rng, ++found) != 0)
				continue;
			a->part_thread[part] = t;
			a->part_thread[!part] = u;
		}
	}
	return found > 0;
}

/*
 * True if the plan names this thread for a part, and it has to wait for the thread of the other
 * part between the point where it holds no lock and its first event.
 */
static bool waits_at_rendezvous(const struct active *a, const struct sched_point *point,
				uint32_t thread)
{
	uint32_t lead = active_part(a, a->order[0]);

	for (unsigned part = 0; part < 2; part++) {
		const struct sched_reached *r = &a->wanted.part[part], *o = &a->wanted.part[!part];

		if (point->name[thread] != r->thread || a->thread_state[thread].own < r->unlocked ||
		    a->thread_state[thread].own > r->at)
			continue;
		for (uint32_t u = 0; u < point->threads; u++)
			if (point->name[u] == o->thread) {
				uint64_t own = a->thread_state[u].own;

				/*
				 * Both come to their points without a lock, then the leading one
				 * goes on to its event, then the other one.
				 */
				return part == lead ? own < o->unlocked : own < o->at;
			}
		return true;	/* the other thread does not exist yet */
	}
	return false;
}

/*
 * True if the thread before the next event waits there, because that event begins a dependency
 * that another thread has to end at once, and this thread does not stand before its event yet.
 */
static bool await_partner(const struct active *a, const struct sched_point *point)
{
	const struct iroot_shape *s = active_shape(a);
	uint32_t event = a->order[a->next], then, other;

	if (a->next + 1 >= s->events || a->variable[s->variable[event]].in_dependency)
		return false;
	then = a->order[a->next + 1];
	other = a->part_thread[active_part(a, then)];
	if (other == NO_THREAD || s->thread[event] == s->thread[then])
		return false;
	for (unsigned d = 0; d < s->dependencies; d++)
		if (s->dependency[d][0] == event && s->dependency[d][1] == then)
			return !active_is_at(a, then, &point->pending[other]);
	return false;
}

static bool is_held(const struct active *a, const struct sched_point *point, uint32_t thread)
{
	const struct sched_event *e = &point->pending[thread];

	if (is_awaited(a, point, thread))
		return false;
	if (!a->next) {
		if (a->has_parts && waits_at_rendezvous(a, point, thread))
			return true;
		for (unsigned part = 0; part < 2; part++)
			if (stands_before(a, point, thread,
					  active_first(a->wanted.iroot.idiom, part)))
				return true;
		return false;
	}
	if (active_may_be(a, a->order[a->next], thread, e))
		return a->await_partner;
	if (active_disturbs(a, thread, e))
		return true;
	return a->part_thread[!active_part(a, a->order[a->next])] == thread && !a->await_partner;
}

/* Preference for letting a held thread go, 0 to 4: the higher, the less it harms the attempt. */
static unsigned release_preference(const struct active *a, const struct sched_point *point,
				   uint32_t thread)
{
	const struct sched_event *e = &point->pending[thread];

	if (a->next && active_may_be(a, a->order[a->next], thread, e))
		return 4;
	if (!a->next && stands_before(a, point, thread, a->order[0]))
		return 2;
	if (active_disturbs(a, thread, e))
		return active_is_at(a, a->order[0], e);	/* 1: a new attempt begins there */
	if (!a->next &&
	    active_is_at(a, active_first(a->wanted.iroot.idiom, !active_part(a, a->order[0])), e))
		return a->has_parts ? 0 : 2;	/* 2: chance decides between both parts */
	return 3;
}

/* The held thread that is best let go; NO_THREAD: none is held. */
static uint32_t best_to_release(struct active *a, const struct sched_point *point)
{
	uint32_t found = NO_THREAD;
	unsigned best = 0;
	uint64_t seen = 0;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];
		unsigned preference = release_preference(a, point, thread);

		if (preference < best || !is_held(a, point, thread) ||
		    (point->yields && thread == point->running && point->count > 1))
			continue;
		seen = preference > best ? 0 : seen;
		best = preference;
		if (rng_below(&a->rng, ++seen) == 0)
			found = thread;
	}
	return found;
}

/* All threads that are not held spin: exempts a held one for EXEMPT_STEPS, and returns it. */
static uint32_t exempt_held(struct active *a, const struct sched_point *point, uint32_t spinner)
{
	a->exempt = best_to_release(a, point);
	if (a->exempt == NO_THREAD)
		return spinner;
	a->exempt_until = point->step + EXEMPT_STEPS;
	return a->exempt;
}

/* Gives the running thread, which spins, a rank below all others. */
static void note_spin(struct active *a, const struct sched_point *point)
{
	struct active_thread *l = &a->thread_state[point->running];
	const struct sched_event *e = &point->pending[point->running];

	rank_of(a, point->running);
	l->rank = (1ull << 31) - ++a->demoted;
	if (!l->spin_object && (e->op == SCHED_OP_READ || e->op == SCHED_OP_UPDATE)) {
		l->spin_object = e->object;
		a->spinners += e->object != 0;
	}
}

static bool is_spinner(const struct active *a, uint32_t thread)
{
	return a->thread_state[thread].has_rank && !(a->thread_state[thread].rank >> 32);
}

static uint64_t priority_of(struct active *a, const struct sched_point *point, uint32_t thread)
{
	uint64_t rank = rank_of(a, thread);
	uint32_t part;

	if (is_spinner(a, thread))
		return rank;
	if (a->next) {
		part = active_part(a, a->order[a->next]) ^ a->await_partner;
		return a->part_thread[part] == thread ? UINT64_MAX : rank;
	}
	part = active_part(a, a->order[0]);
	if (a->has_parts && point->name[thread] == a->wanted.part[part].thread)
		return UINT64_MAX;
	return a->has_parts && point->name[thread] == a->wanted.part[!part].thread ?
		       UINT64_MAX - 1 :
		       rank;
}

/* A uniform choice among the threads that are not held and do not spin; NO_THREAD: none. */
static uint32_t pick_random_unheld(struct active *a, const struct sched_point *point)
{
	uint32_t found = NO_THREAD;
	uint64_t seen = 0;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (!is_spinner(a, thread) && !is_held(a, point, thread) &&
		    rng_below(&a->rng, ++seen) == 0)
			found = thread;
	}
	return found;
}

/* Chooses the thread of highest priority that is not held, unless an event of the root is due. */
static uint32_t pick_unheld(struct active *a, const struct sched_point *point)
{
	uint32_t best = NO_THREAD;
	uint64_t most = 0;

	if (!a->next && find_meeting(a, point)) {
		uint32_t first = a->part_thread[active_part(a, a->order[0])];

		a->part_thread[0] = a->part_thread[1] = NO_THREAD;
		return first;
	}
	if (!a->next && a->permille && rng_below(&a->rng, 1000) < a->permille) {
		best = pick_random_unheld(a, point);
		if (best != NO_THREAD)
			return best;
	}
	a->await_partner = false;
	for (size_t i = 0; a->next && i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (!active_may_be(a, a->order[a->next], thread, &point->pending[thread]))
			continue;
		a->await_partner = await_partner(a, point);
		if (!a->await_partner)
			return thread;
	}
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];
		uint64_t priority = priority_of(a, point, thread);

		if (!is_held(a, point, thread) && (best == NO_THREAD || priority > most)) {
			best = thread;
			most = priority;
		}
	}
	if (best == NO_THREAD)
		return best_to_release(a, point);
	if (point->yields && point->spin_rounds >= SPIN_ROUNDS && is_spinner(a, best))
		return exempt_held(a, point, best);
	return best;
}

/* Chooses the thread of the plan's current turn. False: the run no longer follows the turns. */
static bool follow_guide(struct active *a, const struct sched_point *point,
			 struct sched_choice *out)
{
	uint64_t turn;

	if (!a->guided)
		return false;
	if (point->step < a->wanted.prefix) {
		strategy_exact.pick(&a->guide, point, out);
		if (!exact_lost(&a->guide, &turn) && a->guide.left)
			return true;
	}
	a->guided = false;
	exact_end(&a->guide);
	return false;
}

/* Continues with a random walk, which may expose other roots. */
static void pick_afterwards(struct active *a, const struct sched_point *point,
			    struct sched_choice *out)
{
	exact_end(&a->guide);
	if (!pick_may_stay(point) || point->step >= a->until) {
		a->until = point->step +
			   pick_geometric(&a->rng, a->permille ? a->permille : PICK_PERMILLE);
		out->thread = pick_other(point, &a->rng);
	} else {
		out->thread = point->running;
	}
	out->steps = pick_steps(point, a->until);
}

/* Replaces waits on a condition by the release that they contain, where the root wants that. */
static void waits_as_releases(struct active *a, struct sched_point *point)
{
	for (size_t t = 0; t < point->threads; t++) {
		struct sched_event *e = &a->pending[t];

		*e = point->pending[t];
		for (unsigned i = 0;
		     e->op == SCHED_OP_WAIT && a->thread_state[t].lock && i < IROOT_EVENTS; i++)
			if (iroot_match_is(&a->wanted.iroot.event[i], e->site, IROOT_RELEASE))
				*e = (struct sched_event){ .object = a->thread_state[t].lock,
							   .size = 1,
							   .site = e->site,
							   .op = SCHED_OP_RELEASE };
	}
	point->pending = a->pending;
}

static void active_pick(void *state, const struct sched_point *at, struct sched_choice *out)
{
	struct active *a = state;
	struct sched_point seen = *at, *point = &seen;

	if (a->last_pick != SCHED_NO_LIMIT && point->step > a->last_pick)
		active_executed(a);
	a->last_pick = SCHED_NO_LIMIT;
	if (!a->any || a->match.exposed) {
		pick_afterwards(a, point, out);
		return;
	}
	if (a->wants_release)
		waits_as_releases(a, point);
	if (point->yields)
		note_spin(a, point);
	if (a->exempt != NO_THREAD &&
	    (point->step >= a->exempt_until || point->yields || !pick_runnable(point, a->exempt) ||
	     release_preference(a, point, a->exempt) == 0))
		a->exempt = NO_THREAD;
	if (follow_guide(a, point, out))
		;
	else if (a->exempt != NO_THREAD)
		out->thread = a->exempt;
	else
		out->thread = pick_unheld(a, point);
	out->steps = 1;
	a->last_pick = point->step;
	a->chosen = out->thread;
	a->chosen_name = point->name[out->thread];
	a->event = point->pending[out->thread];
	a->chosen_context = 0;
	for (unsigned i = 0; i < active_shape(a)->events; i++)
		if (active_is_at(a, i, &a->event))
			a->chosen_context = context_of(point, out->thread);
}

static uint32_t active_choose(void *state, uint32_t count)
{
	struct active *a = state;

	return (uint32_t)rng_below(&a->rng, count);
}

static size_t active_check(const void *state)
{
	const struct active *a = state;
	const struct iroot_match *m = &a->match;

	if (a->chosen >= SCHED_MAX_THREADS || m->wanted.idiom > IROOT_IDIOMS ||
	    !sched_is_bool(&a->any) || !sched_is_bool(&m->possible) ||
	    !sched_is_bool(&m->exposed) ||
	    !sched_is_bool(&a->result.exposed) || !sched_is_bool(&a->result.possible))
		return 0;
	for (uint32_t i = 0; i < IROOT_MATCH_OPEN; i++)
		if (m->source[i].dependency > 1)
			return 0;
	return sizeof(*a);
}

const struct strategy strategy_active = {
	.name = "active",
	.guided = "needs iRoots that a profile predicts: use snarl cover --chase",
	.follows = true,
	.summary = "brings about one iRoot that is wanted for coverage",
	.state_size = sizeof(struct active),
	.init = active_init,
	.begin = active_begin,
	.pick = active_pick,
	.choose = active_choose,
	.check = active_check,
};
