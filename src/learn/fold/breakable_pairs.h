/*
 * Which pairs of accesses other threads can break apart at all: what snarl check has to watch.
 *
 * p and then i are accesses of a thread to the same memory with none of its own in between.
 * Another thread's r may come between them in some run if r is not before p, nor after i, by
 * creation, join, barriers, conditions, semaphores; and if no lock is held from p to i that r
 * holds as well. Of locks nothing else is asked: their order may be another one the next time.
 *
 * A thread that comes in between may go on as others do from there, though in this run it did
 * not: who finds a pointer set will clear it. So what follows r in any thread, with no more
 * than locks in the way, may come between as well (breakable_finish).
 *
 * Where too much would have to be remembered, r is taken to be able.
 */
#ifndef LEARN_FOLD_BREAKABLE_PAIRS_H
#define LEARN_FOLD_BREAKABLE_PAIRS_H

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct breakable;

/* `locks` of the views to come. */
struct breakable *breakable_new(unsigned granularity, struct locks *locks);
void breakable_free(struct breakable *a);

/* Accesses and memory that begins anew; `view` is that of the step's event. */
void breakable_step(struct breakable *a, const struct learn_step *s, const struct view *view);

/* All steps were there; once. */
void breakable_finish(struct breakable *a);

/* Pairs (p, i) there were. */
const struct learn_pairs *breakable_local_pairs(const struct breakable *a);

/* (r, i): r may come between i and one of its p, and writes, or one of these does. */
const struct learn_pairs *breakable_between(const struct breakable *a);

/*
 * (p, r): r may come between p and an i that has no more than locks before it, and it matters: r changes what the
 * two should find, or leave, alike; or it reads what is about to change.
 */
const struct learn_pairs *breakable_visits(const struct breakable *a);

/* (p, i) that some r may break apart unserializably (learn/fold/avio.h). */
const struct learn_pairs *breakable_pairs(const struct breakable *a);

#endif
