/*
 * Snapshots of one worker: runs with a common prefix execute it once, and each continues from a
 * snapshot taken at its end. Snapshots nest: a snapshot at step 500 of a run starts from the one at
 * step 300 of that run, if there is one.
 *
 * A snapshot is a forked process. It is refused if fork() does not copy the program's whole state:
 * open files, pipes or sockets, shared memory, child processes.
 */
#ifndef EXPLORE_TARGET_SNAPSHOTS_H
#define EXPLORE_TARGET_SNAPSHOTS_H

#include "abi/plan.h"
#include "explore/target/worker.h"

#define SNAPSHOTS_DEPTH 8u	/* nesting; each level is a process with its memory */

/* A point in a run: after the first `steps` steps of its turns; 0: the start. */
struct snapshots_point {
	const struct sched_turn *turns;	/* borrowed; its address identifies the run */
	size_t count;
	uint64_t steps;
};

struct snapshots {
	struct {
		struct snapshots_point point;
		struct capture out, error;	/* output to restore when this level is left */
	} at[SNAPSHOTS_DEPTH];		/* outermost first */
	unsigned depth;			/* number of snapshots in `at` */
	struct snapshots_point refused;	/* last point without a snapshot; not tried again */
	bool impossible;	/* the runtime refused, e.g. with kernel threads */
};

void snapshots_free(struct snapshots *s);

/*
 * Leaves snapshots that are not on the way to `point`. Returns true if a run has to reach `point`
 * first: call server_start() with the request, which is filled in, and snapshots_arrived() when
 * that run has ended. Returns false if the next run can begin at once: at
 * `point` if server->depth is not 0, else from the start.
 */
bool snapshots_towards(struct snapshots *s, struct server *server,
		       const struct snapshots_point *point);
void snapshots_arrived(struct snapshots *s, struct server *server,
		       const struct snapshots_point *point);

/*
 * Whether a run can begin at `point`: the turns have that many steps, and no time-out or signal is
 * due right there.
 */
bool snapshots_possible(const struct snapshots_point *point);

/*
 * Writes the turns from step `from` of the run up to `point` to `out`, as a plan for the strategy
 * `exact`. `out` has room for point->count turns. Returns the number of turns.
 */
size_t snapshots_cut(const struct snapshots_point *point, uint64_t from, struct sched_turn *out);

#endif
