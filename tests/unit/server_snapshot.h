/*
 * One snapshot of a run, for what takes none through explore/target/snapshots.h.
 */
#ifndef TESTS_SERVER_SNAPSHOT_H
#define TESTS_SERVER_SNAPSHOT_H

#include "explore/target/worker.h"

/*
 * A run as the request says that stops after request.stop_at steps and serves from there: every further run goes on
 * from that point, by its own request, until server_leave(). 1: stopped there; 0: the run ended before, its result is
 * there; -1: error. May be nested.
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
