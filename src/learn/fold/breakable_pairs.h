/*
 * Breakable pairs: accesses of a thread that another thread could come between in some run. `snarl
 * check` has to watch them.
 *
 * A local pair (p, i) is two accesses of a thread to the same memory, with none of its own in
 * between. Another thread's r can come between them unless creation, join, barriers, conditions or
 * semaphores order r before p or after i, or the thread holds a lock from p to i that r holds, too.
 * The order in which locks were taken does not matter: it may differ in the next run.
 *
 * If r comes in between, its thread may take another path than in this run. For example, it finds
 * a pointer set, and clears it. So each access that some thread does right after r, with at most
 * locks in between, can come between, too (breakable_finish()).
 *
 * A cell has limited room. Once an access or pair was dropped, all its further pairs count as
 * breakable.
 */
#ifndef LEARN_FOLD_BREAKABLE_PAIRS_H
#define LEARN_FOLD_BREAKABLE_PAIRS_H

#include "analyze/analysis.h"
#include "learn/fold/fold_common.h"

struct breakable;

/* `locks`: the locksets that the views of breakable_step() refer to. */
struct breakable *breakable_new(unsigned granularity, struct locks *locks);
void breakable_free(struct breakable *a);

/* Takes accesses and IROOT_OP_FRESH; `view` is the view of the step's event. */
void breakable_step(struct breakable *a, const struct learn_step *s, const struct view *view);

/* Call it once, after all steps. */
void breakable_finish(struct breakable *a);

/* (p, i): all local pairs. */
const struct learn_pairs *breakable_local_pairs(const struct breakable *a);

/* (r, i): r may come between i and one of its p, and one of the three is a write. */
const struct learn_pairs *breakable_between(const struct breakable *a);

/*
 * Possible visits (p, r): r may come after p and before an i that follows p with at most locks in
 * between. Listed are visits that matter: r writes, but p and i do not both write; or r reads, and
 * i writes.
 */
const struct learn_pairs *breakable_visits(const struct breakable *a);

/* Local pairs (p, i) that some r may break unserializably (learn/fold/avio.h). */
const struct learn_pairs *breakable_pairs(const struct breakable *a);

#endif
