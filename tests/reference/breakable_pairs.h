/*
 * Reference of breakable pairs (learn/fold/breakable_pairs.h), as lines "p i" and "visit p r", for
 * one short run of accesses, locks and semaphores. For each pair (p, i) of one thread it tries
 * every step r of other threads: r can come between if strong happens-before does not forbid it
 * (before()) and no lock is held from p to i that r holds as well (holds()). The test fills `knew`
 * with each step's vector clock.
 */
#ifndef REFERENCE_BREAKABLE_PAIRS_H
#define REFERENCE_BREAKABLE_PAIRS_H

#include "learn_util.h"

#include "learn/fold/breakable_pairs.h"

#define STEPS 48u
#define THREADS 3u
#define LOCKS 2u

struct step {
	enum { READ, WRITE, TAKE, GIVE, POST, WAIT, NOTHING } what;
	/* cell: memory, lock, or the step of the POST that a WAIT waits for */
	uint32_t thread, cell, site;
};

/* A run, and the views that an analysis would have of it. */
struct world {
	struct step step[STEPS];
	struct locks *locks;
	struct breakable *by_access;
	struct vclock clock[THREADS], posted[STEPS];
	uint64_t knew[STEPS][THREADS];	/* the vector clock of each step */
	uint32_t set[THREADS];
	struct view_acquired acquired[THREADS][LOCKS];
	uint64_t index[THREADS];
	int holder[LOCKS];
};

/* Is a before b by program order and by the order from each POST to its WAIT? */
static bool before(const struct world *w, size_t a, size_t b)
{
	bool reached[STEPS] = { false };

	reached[a] = true;
	for (size_t i = a + 1; i <= b; i++)
		for (size_t k = a; k < i; k++)
			if (reached[k] && (w->step[k].thread == w->step[i].thread ||
					   (w->step[i].what == WAIT && w->step[i].cell == k)))
				reached[i] = true;
	return reached[b];
}

static bool is_access(const struct step *s)
{
	return s->what == READ || s->what == WRITE;
}

/*
 * The locks, as bits, that the thread of step `at` holds there and took at step `since` or earlier.
 */
static unsigned holds(const struct world *w, size_t at, size_t since)
{
	unsigned set = 0;

	for (uint32_t lock = 0; lock < LOCKS; lock++)
		for (size_t i = at; i-- > 0;) {
			const struct step *s = &w->step[i];

			if (s->thread != w->step[at].thread || s->cell != lock ||
			    (s->what != TAKE && s->what != GIVE))
				continue;
			set |= s->what == TAKE && i <= since ? 1u << lock : 0;
			break;
		}
	return set;
}

/* Prints the pair if any r can break it. */
static void slow_pair(const struct world *w, size_t p, size_t i, struct buf *out)
{
	bool both = w->step[p].what == WRITE && w->step[i].what == WRITE;
	unsigned through = holds(w, i, p);

	for (size_t r = 0; r < STEPS; r++) {
		const struct step *s = &w->step[r];

		if (!is_access(s) || s->thread == w->step[i].thread || s->cell != w->step[i].cell ||
		    before(w, r, p) || before(w, i, r) || through & holds(w, r, r))
			continue;
		if (both != (s->what == WRITE)) {
			buf_addf(out, "%u %u\n", w->step[p].site, w->step[i].site);
			return;
		}
	}
}

/*
 * Prints each r that can come between p and i and conflicts with them. p and i have nothing but
 * lock operations between them.
 */
static void slow_visits(const struct world *w, size_t p, size_t i, struct buf *out)
{
	bool p_write = w->step[p].what == WRITE, i_write = w->step[i].what == WRITE;
	unsigned through = holds(w, i, p);

	for (size_t r = 0; r < STEPS && !memcmp(w->knew[p], w->knew[i], sizeof(w->knew[p])); r++) {
		const struct step *s = &w->step[r];

		if (w->step[p].site != w->step[i].site && is_access(s) &&
		    s->thread != w->step[i].thread && s->cell == w->step[i].cell &&
		    !before(w, r, p) && !before(w, i, r) && !(through & holds(w, r, r)) &&
		    (s->what == WRITE ? !(p_write && i_write) : i_write))
			buf_addf(out, "visit %u %u\n", w->step[p].site, s->site);
	}
}

/* Goes through all pairs; two writes may have reads of their own thread between them. */
static char *slow(const struct world *w)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < STEPS; i++) {
		bool own_read = false;

		for (size_t p = i; is_access(&w->step[i]) && p-- > 0;) {
			const struct step *s = &w->step[p];

			if (!is_access(s) || s->thread != w->step[i].thread ||
			    s->cell != w->step[i].cell)
				continue;
			if (!own_read) {
				slow_pair(w, p, i, &out);
				slow_visits(w, p, i, &out);
			}
			if (own_read && s->what == WRITE && (!holds(w, i, i) || holds(w, i, p)))
				slow_pair(w, p, i, &out);
			own_read = true;
			if (s->what == WRITE || w->step[i].what == READ)
				break;
		}
	}
	return sorted(&out);
}

#endif
