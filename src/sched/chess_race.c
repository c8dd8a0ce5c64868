/*
 * Finds the alternatives that a run of `chess` shows to be worth trying.
 *
 * Without a bound: computes happens-before over the steps of the run, and from it the reversible
 * races, pairs of steps that could be swapped. A step happens before a later one if both are of one
 * thread, if they depend on each other, or if it enabled the later one (unlock, post, create, ...):
 * then the thread of the later one became runnable at that step.
 *
 * With a bound: branches before each event that conflicts with a later one of another thread.
 */
#include "sched/chess_race.h"

/* True if step `i` happened before an event with the vector clock `before`. */
static bool is_before(const struct chess *c, uint32_t i, const uint16_t *before)
{
	return before[c->frames[i].chosen] > i;
}

static void join(const struct chess *c, uint16_t *into, uint32_t i)
{
	const struct chess_frame *f = &c->frames[i];

	for (uint32_t t = 0; t < CHESS_THREADS; t++)
		if (f->before[t] > into[t])
			into[t] = f->before[t];
	if (into[f->chosen] <= i)
		into[f->chosen] = (uint16_t)(i + 1);
}

/* All steps below the returned index happened before, so that a search may stop there. */
static uint32_t least_clock(const struct chess *c, const uint16_t *before)
{
	uint32_t least = before[0];

	for (uint32_t t = 1; t < c->threads; t++)
		if (before[t] < least)
			least = before[t];
	return least;
}

/*
 * The initials (Abdulla et al.): threads that could take the first step at `i` if the event of
 * `thread` at `j` is to come before step `i`. Considers that event and the steps in between that
 * did not happen after `i`. A thread is an initial if none of these happened before its first one.
 * `before`: the clock of the event, complete down to `i`.
 */
static uint64_t initials(const struct chess *c, uint32_t i, uint32_t j, uint32_t thread,
			 const uint16_t *before)
{
	uint32_t first[CHESS_THREADS];	/* first such step of each thread in the set `in` */
	uint64_t in = 0, found = 0;

	for (uint32_t k = i + 1; k <= j; k++) {
		const struct chess_frame *f = &c->frames[k];
		const uint16_t *clock = k < j ? f->before : before;
		uint32_t own = k < j ? f->chosen : thread;
		bool initial = !(in >> own & 1);

		if (k < j && (f->is_choice || is_before(c, i, clock)))
			continue;
		for (uint64_t left = in; left && initial; left &= left - 1) {
			uint32_t t = (uint32_t)__builtin_ctzll(left);

			initial = clock[t] <= first[t];
		}
		if (initial)
			found |= 1ull << own;
		if (!(in >> own & 1))
			first[own] = k;
		in |= 1ull << own;
	}
	return found;
}

/* Adds one of `threads` to `todo` of step `i`, unless one of them is in it or in the sleep set. */
static void add_backtrack(struct chess *c, uint32_t i, uint64_t threads, uint32_t rather)
{
	struct chess_frame *f = &c->frames[i];

	if (threads & (f->todo | f->sleep))
		return;
	threads &= f->allowed;
	if (threads >> rather & 1)
		f->todo |= 1ull << rather;
	else if (threads)
		f->todo |= threads & -threads;
	else
		f->todo |= f->allowed;
}

/* True for dependent steps that cannot be swapped since they are never enabled together. */
static bool never_adjacent(const struct sched_event *earlier, const struct sched_event *later)
{
	return earlier->op == SCHED_OP_RELEASE && later->op == SCHED_OP_ACQUIRE;
}

/*
 * Fills the clock `before` of the event of `thread` that comes after all frames below `j`, whether
 * or not the run executed it. Adds a backtracking point at each step with which the event could be
 * swapped. `runnable`: set of threads that could run at `j`.
 */
static void find_reversible(struct chess *c, uint32_t j, uint32_t thread,
			    const struct sched_event *event, uint64_t runnable, uint16_t *before)
{
	uint16_t prior[CHESS_THREADS];	/* clock of the thread before the event */
	/* Clock of the steps that are before another race, and need no point of their own. */
	uint16_t covered[CHESS_THREADS];
	bool met = false;
	uint32_t stop = 0;

	for (uint32_t t = 0; t < CHESS_THREADS; t++)
		prior[t] = covered[t] = before[t] = 0;
	for (uint32_t i = j; i-- > stop;) {
		const struct chess_frame *f = &c->frames[i];
		bool enabled = !met && !(f->runnable >> thread & 1) && runnable >> thread & 1;

		if (f->is_choice)
			continue;
		runnable = f->runnable;
		if (f->chosen == thread) {
			if (met)
				continue;
			met = true;
			join(c, before, i);
			join(c, covered, i);
			join(c, prior, i);
			stop = least_clock(c, prior);
		} else if (enabled) {
			join(c, before, i);
		} else if (sched_dependent(&f->event, event)) {
			bool swaps = !never_adjacent(&f->event, event);

			if (swaps && !is_before(c, i, covered)) {
				add_backtrack(c, i, initials(c, i, j, thread, before), thread);
				join(c, covered, i);
			}
			join(c, before, i);
		}
	}
}

/*
 * With a bound: adds all threads to `todo` of the steps of other threads that conflict with the
 * event. No alternatives are needed at other steps: an event that no later event of another thread
 * depends on can be executed before its thread is left, without an additional preemption.
 */
static void branch_at_conflicts(struct chess *c, uint32_t j, uint32_t thread,
			       const struct sched_event *event)
{
	for (uint32_t i = 0; i < j; i++) {
		struct chess_frame *f = &c->frames[i];

		if (f->todo != f->allowed && f->chosen != thread &&
		    sched_dependent(&f->event, event))
			f->todo = f->allowed;
	}
}

static void add_alternatives(struct chess *c, uint32_t j, uint32_t thread,
			     const struct sched_event *event, uint64_t runnable, uint16_t *before)
{
	if (c->bounded)
		branch_at_conflicts(c, j, thread, event);
	else
		find_reversible(c, j, thread, event, runnable, before);
}

void chess_find_races(struct chess *c)
{
	uint16_t before[CHESS_THREADS];

	for (uint32_t j = c->first_new; j < c->count; j++) {
		struct chess_frame *f = &c->frames[j];

		if (!f->is_choice)
			add_alternatives(c, j, f->chosen, &f->event, f->runnable, f->before);
	}
	/*
	 * Events still pending at the end of the run: after a deadlock, or if the rest was
	 * redundant.
	 */
	for (uint32_t t = 0; t < c->threads; t++)
		add_alternatives(c, c->count, t, &c->pending[t], 0, before);
}
