/*
 * Takes a single snapshot of a run, without the bookkeeping of explore/target/snapshots.h.
 */
#ifndef TESTS_SERVER_SNAPSHOT_H
#define TESTS_SERVER_SNAPSHOT_H

#include "explore/target/worker.h"

/*
 * Makes the requested run, which stops after request.stop_at steps and becomes the fork server:
 * until server_leave(), every further run continues from there. May be nested. Returns 1; 0 if the
 * run ended before that point; -1 on an error.
 */
static inline int server_snapshot(struct server *s, struct err *err)
{
	unsigned depth = s->depth;

	if (s->exec)
		return err_set(err, "a snapshot needs the fork server");
	s->block->request.flags |= CTL_SNAPSHOT;
	if (server_run(s, err) < 0)
		return -1;
	s->block->request.flags &= ~CTL_SNAPSHOT;
	return s->depth > depth;
}

#endif
