/*
 * Runs of a program from a snapshot, and the way there:
 *
 *   snapshot N STEPS PROGRAM ARGS…
 *
 * Stops the program after STEPS steps, goes on from there N times, each time with
 * another seed, and exits with 0 if all of these runs did.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../../unit/server_snapshot.h"
#include "explore/target/orphans.h"
#include "explore/target/worker.h"

static int runs(struct server *s, uint64_t count, struct err *err)
{
	for (uint64_t i = 0; i < count; i++) {
		server_request(s)->run = i;
		if (server_run(s, err) < 0)
			return -1;
		if (s->result.lost || s->result.status != 0)
			return err_set(err, "run %llu failed: status %d", (unsigned long long)i,
				       s->result.status);
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 3 ? strtoull(argv[1], NULL, 10) : 0;
	struct target target = { 0 };
	struct server_config config = { .target = &target, .timeout = 60 };
	struct server server;
	struct err err = { 0 };
	int stopped;

	if (!count) {
		fprintf(stderr, "usage: snapshot N STEPS PROGRAM ARGS…\n");
		return 2;
	}
	orphans_adopt();
	if (target_init(&target, argv + 3, NULL, &err) < 0 ||
	    server_open(&server, &config, &err) < 0) {
		fprintf(stderr, "snapshot: %s\n", err.text);
		return 3;
	}
	*server_request(&server) = (struct ctl_request){ .strategy = "random", .seed = 1,
							 .begin_search = 1,
							 .stop_at = strtoull(argv[2], NULL, 10) };
	stopped = server_snapshot(&server, &err);
	if (stopped == 0)
		err_set(&err, "the program ended before");
	if (stopped <= 0 || runs(&server, count, &err) < 0 || server_leave(&server, &err) < 0) {
		fprintf(stderr, "snapshot: %s\n", err.text);
		return 3;
	}
	server_close(&server);
	target_free(&target);
	return 0;
}
