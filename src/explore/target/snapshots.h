/*
 * Runs of one worker that begin alike: what they have in common is run once, and each of
 * them goes on from a snapshot. A deeper snapshot is made from the one before it if that
 * lies on its way.
 *
 * A snapshot is a forked process, so it is refused where a fork is no copy: a program that
 * has files, pipes or sockets open, shared memory or children.
 */
#ifndef EXPLORE_TARGET_SNAPSHOTS_H
#define EXPLORE_TARGET_SNAPSHOTS_H

#include "abi/plan.h"
#include "explore/target/worker.h"

#define SNAPSHOTS_DEPTH 8u

/* A point in a run: after so many steps of these turns. No steps: the start. */
struct snapshots_point {
	const struct sched_turn *turns;	/* the same array for the same run; outlives its use */
	size_t count;
	uint64_t steps;
};

struct snapshots {
	struct {
		struct snapshots_point point;
		struct capture out, error;	/* printed before the program came here, less this point */
	} at[SNAPSHOTS_DEPTH];
	unsigned depth;
	struct snapshots_point refused;		/* the last one; not tried again */
	bool never;		/* this program has none */
};

void snapshots_free(struct snapshots *s);

/*
 * Leaves what is not on the way to `point`. True: server_start() the run that the request
 * now asks for, and tell snapshots_arrived() when it has ended; false: the next run begins
 * where the server is, which is `point` or the start.
 */
bool snapshots_towards(struct snapshots *s, struct server *server, const struct snapshots_point *point);
void snapshots_arrived(struct snapshots *s, struct server *server, const struct snapshots_point *point);

/* Could a run begin there? Not between steps where something else happens than a step. */
bool snapshots_possible(const struct snapshots_point *point);

/* The turns between two points of a run, as exact follows them; returns how many. */
size_t snapshots_cut(const struct snapshots_point *point, uint64_t from, struct sched_turn *out);

#endif
