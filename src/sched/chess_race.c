/*
 * Without a bound: happens-before over the steps of a run, and from it the pairs
 * of steps that could be swapped. One step happens before a later one if they are of the same
 * thread, if they depend on each other, or if it made the later one possible:
 * unlocked, posted, created, …, which shows in who was runnable.
 */
#include "sched/chess_race.h"

/* Is step `i` before a moment whose clock is `before`? */
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

/* All threads' steps below this have happened before: no need to add_alternatives further. */
static uint32_t least_clock(const struct chess *c, const uint16_t *before)
{
	uint32_t least = before[0];

	for (uint32_t t = 1; t < c->threads; t++)
		if (before[t] < least)
			least = before[t];
	return least;
}

/*
 * Who could take the first step if `event` of `thread`, at `j`, is to come before
 * step `i`: of the steps in between that need not come after `i`, and the event
 * itself, those that none of the others comes before. `before`: the event's clock,
 * complete as far down as `i`.
 */
static uint64_t initials(const struct chess *c, uint32_t i, uint32_t j, uint32_t thread,
			 const uint16_t *before)
{
	uint32_t first[CHESS_THREADS];	/* such a step, of each of the threads `in` */
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

/* One of `threads` is to be tried at step `i`, unless one is or need not be. */
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

/* Two steps that depend on each other, but never stand side by side ready to run. */
static bool never_adjacent(const struct sched_event *earlier, const struct sched_event *later)
{
	return earlier->op == SCHED_OP_RELEASE && later->op == SCHED_OP_ACQUIRE;
}

/*
 * `event` of `thread` comes after all frames below `j` (whether or not it was
 * executed): fills its clock, and says what it could be swapped with. `runnable`:
 * who was at `j`.
 */
static void find_reversible(struct chess *c, uint32_t j, uint32_t thread, const struct sched_event *event,
		      uint64_t runnable, uint16_t *before)
{
	uint16_t prior[CHESS_THREADS];	/* clock of the thread before the event */
	uint16_t covered[CHESS_THREADS];	/* what lies behind another swap, and need not be looked at */
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
 * Under a bound: an event that depends on nothing another thread does later can as
 * well be executed before its thread is left, at no more preemptions; before any
 * other, all threads are to be tried.
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

static void add_alternatives(struct chess *c, uint32_t j, uint32_t thread, const struct sched_event *event,
		 uint64_t runnable, uint16_t *before)
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
	/* What was still to be done at the end: in a deadlock, or if the rest was redundant. */
	for (uint32_t t = 0; t < c->threads; t++)
		add_alternatives(c, c->count, t, &c->pending[t], 0, before);
}
