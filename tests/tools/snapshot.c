/*
 * snapshot PROGRAM [ARGUMENT…]: stops runs at several steps, continues each snapshot with several
 * seeds, and replays each continuation from the beginning: it must end in the same way after the
 * same steps. Then it does so for points of one run, each reached from the snapshot before. Prints
 * the numbers of snapshots and runs, or the first difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../unit/server_snapshot.h"
#include "explore/search/observe.h"
#include "explore/search/replay_schedule.h"
#include "explore/search/search.h"

#define CONTINUATIONS 5
#define STOPS 8

static void die(const char *what, const struct err *err)
{
	fprintf(stderr, "snapshot: %s: %s\n", what, err->text);
	exit(1);
}

static void request(struct server *s, uint64_t seed)
{
	struct ctl_request *q = server_request(s);

	memset(q, 0, sizeof(*q));
	snprintf(q->strategy, sizeof(q->strategy), "random");
	q->seed = seed;
	q->switch_permille = 300;
	q->begin_search = 1;
	q->flags = CTL_HASH;
}

static void compare(const struct target *target, struct server *s, uint64_t at, uint64_t seed)
{
	struct replay_config config = { .target = target, .timeout = 60 };
	const struct ctl_report *r = server_report(s);
	struct schedule schedule = { 0 };
	struct oracle oracle = { 0 };
	struct oracle_result result;
	struct replay replay;
	struct err err;

	schedule_set_turns(&schedule, s->block);
	if (replay_open(&replay, &config, &schedule, &err) < 0 ||
	    replay_once(&replay, &schedule, NULL, &oracle, &result, &err) < 0)
		die("replay", &err);
	if (result.verdict == ORACLE_DIVERGED || replay.server.result.status != s->result.status ||
	    server_report(&replay.server)->steps != r->steps ||
	    server_report(&replay.server)->hash != r->hash ||
	    replay.server.result.out.hash != s->result.out.hash) {
		struct buf text = { 0 };

		schedule_text(&schedule, &text);
		fprintf(stderr,
			"snapshot at step %llu, seed %llu: status %x and %x, %llu and %llu steps, "
			"%s\n%s",
			(unsigned long long)at, (unsigned long long)seed,
			(unsigned)s->result.status, (unsigned)replay.server.result.status,
			(unsigned long long)r->steps,
			(unsigned long long)server_report(&replay.server)->steps, result.text,
			buf_string(&text));
		exit(1);
	}
	replay_close(&replay);
	schedule_free(&schedule);
}

/* Moves to a point of the run, from the current snapshot or the start; false if there is no
 * snapshot. */
static bool go_to(struct snapshots *shots, struct server *s, const struct snapshots_point *point)
{
	struct err err;

	request(s, 1);
	if (!snapshots_towards(shots, s, point))
		return shots->depth > 0;
	if (server_run(s, &err) < 0)
		die("to a point", &err);
	snapshots_arrived(shots, s, point);
	return shots->depth > 0;
}

/* Moves forward, each time from the snapshot before, then back to the second point. */
static void nest(const struct target *target, struct server *s, unsigned *made, unsigned *deepest)
{
	static const unsigned order[] = { 1, 2, 3, 3, 2, 4 };
	struct snapshots shots = { 0 };
	struct snapshots_point point;
	struct sched_turn *turns;
	struct err err;
	uint64_t steps;

	request(s, 1);
	if (server_run(s, &err) < 0)
		die("run", &err);
	steps = server_report(s)->steps;
	turns = profile_turns(s->block, &point.count);
	point.turns = turns;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		point.steps = 1 + steps * order[i] / 5;
		if (!snapshots_possible(&point) || !go_to(&shots, s, &point))
			continue;
		*deepest = shots.depth > *deepest ? shots.depth : *deepest;
		for (uint64_t seed = 1; seed <= 2; seed++) {
			request(s, seed);
			if (server_run(s, &err) < 0)
				die("continuation", &err);
			++*made;
			compare(target, s, point.steps, seed);
		}
	}
	point.steps = 0;
	if (go_to(&shots, s, &point))
		die("back to the start", &(struct err){ "there still is a snapshot" });
	snapshots_free(&shots);
	free(turns);
}

int main(int argc, char **argv)
{
	struct target target;
	struct server s;
	struct err err;
	uint64_t steps;
	unsigned stopped = 0, made = 0, failed = 0, deepest = 0;

	if (argc < 2 || target_init(&target, argv + 1, NULL, &err) < 0 ||
	    server_open(&s, &(struct server_config){ .target = &target, .timeout = 60,
						     .plan_size = 1 << 20 }, &err) < 0)
		die("cannot start", &err);
	request(&s, 1);
	if (server_run(&s, &err) < 0)
		die("run", &err);
	steps = server_report(&s)->steps;
	for (uint64_t i = 0; i < STOPS; i++) {
		int got;

		request(&s, 1);
		server_request(&s)->stop_at = 1 + steps * i / STOPS;
		got = server_snapshot(&s, &err);
		if (got < 0)
			die("snapshot", &err);
		if (got == 0)
			continue;
		stopped++;
		for (uint64_t seed = 1; seed <= CONTINUATIONS; seed++) {
			request(&s, seed);
			if (server_run(&s, &err) < 0)
				die("continuation", &err);
			made++;
			failed += s.result.status != 0;
			compare(&target, &s, server_request(&s)->stop_at, seed);
		}
		if (server_leave(&s, &err) < 0)
			die("leave", &err);
	}
	nest(&target, &s, &made, &deepest);
	server_close(&s);
	printf("%u snapshots, %u deep, %u runs, %s\n", stopped, deepest, made,
	       failed ? "some failed" : "none failed");
	target_free(&target);
	return 0;
}
