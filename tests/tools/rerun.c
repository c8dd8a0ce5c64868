/*
 * rerun [-n TIMES] [-s SEED] [-S STRATEGY] [-f BACKEND] [-t BACKEND] [-x] PROGRAM [ARGUMENT…]
 *
 * Makes one run by a strategy on back end -f, and replays its schedule TIMES times on back end -t
 * (-x: in a new process each time, without fork server). Every replay must be the same in all that
 * can be observed: the hash of events (addresses, sites, values), steps, turns, exit status and
 * output. Prints a line with the number of replays. Exit 1 with the first difference otherwise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore/schedule/schedule.h"
#include "explore/search/replay_schedule.h"
#include "explore/target/orphans.h"
#include "explore/target/target.h"
#include "explore/target/worker.h"
#include "symbol/program_sites.h"

struct seen {
	uint32_t outcome, failure;
	int status;
	uint64_t hash, steps, turns, switches, now;
	uint32_t threads;
	uint64_t out, error;	/* hashes of stdout and stderr */
};

static int die(const char *what, const char *text)
{
	fprintf(stderr, "rerun: %s: %s\n", what, text);
	return 3;
}

static struct seen look(const struct server *s)
{
	const struct ctl_report *r = server_report(s);

	return (struct seen){
		.outcome = r->outcome, .failure = r->failure, .status = s->result.status,
		.hash = r->hash, .steps = r->steps, .turns = r->turns, .switches = r->switches,
		.now = r->now, .threads = r->threads,
		.out = s->result.out.hash, .error = s->result.error.hash,
	};
}

static void show(const char *what, const struct seen *s, const struct ctl_report *r)
{
	fprintf(stderr,
		"%s: outcome %u failure %u status 0x%x hash %016" PRIx64 " steps %" PRIu64
		" turns %" PRIu64 " switches %" PRIu64 " threads %u time %" PRIu64
		" stdout %016" PRIx64 " stderr %016" PRIx64 "%s%s\n",
		what, s->outcome, s->failure, (unsigned)s->status, s->hash, s->steps, s->turns,
		s->switches, s->threads, s->now, s->out, s->error, r && r->text[0] ? ": " : "",
		r ? r->text : "");
}

static bool same(const struct seen *a, const struct seen *b)
{
	return a->outcome == b->outcome && a->failure == b->failure && a->status == b->status &&
	       a->hash == b->hash && a->steps == b->steps && a->turns == b->turns &&
	       a->switches == b->switches && a->now == b->now && a->threads == b->threads &&
	       a->out == b->out && a->error == b->error;
}

/* Makes two runs: the first finds the shared granules, the second becomes the schedule. */
static int first_run(const struct server_config *config, const char *strategy, uint64_t seed,
		     struct schedule *schedule, struct seen *out, struct err *err)
{
	static uint64_t granules[1 << 20];
	struct ctl_request *q;
	struct server s;
	uint64_t count = 0;

	if (server_open(&s, config, err) < 0)
		return -1;
	q = server_request(&s);
	for (int i = 0; i < 2; i++) {
		uint64_t *shared = server_area(&s, s.block->shared);

		memset(q, 0, sizeof(*q));
		snprintf(q->strategy, sizeof(q->strategy), "%s", strategy);
		q->seed = seed;
		q->flags = CTL_HASH | CTL_LEARN;
		q->begin_search = 1;
		q->shared_count = count;
		q->length = i ? server_report(&s)->steps : 0;
		q->max_steps = 20000000;
		if (server_run(&s, err) < 0)
			return -1;
		if (i == 0) {
			count = server_report(&s)->shared_new;
			count = count < 1 << 20 ? count : 1 << 20;
			memcpy(granules, shared, count * sizeof(*granules));
		}
	}
	*out = look(&s);
	schedule_set_target(schedule, config->target);
	schedule_set_turns(schedule, s.block);
	schedule_set_shared(schedule, granules, count);
	schedule->seed = seed;
	server_close(&s);
	return 0;
}

static int replays(const struct replay_config *config, const struct schedule *schedule, long times,
		   const struct seen *first, struct err *err)
{
	struct replay r;
	int result = 0;

	if (replay_open(&r, config, schedule, err) < 0)
		return -1;
	for (long i = 0; i < times && result == 0; i++) {
		struct seen now;

		if (replay_prepare(r.server.block, schedule, NULL, 0, err) < 0 ||
		    server_run(&r.server, err) < 0) {
			result = -1;
			break;
		}
		now = look(&r.server);
		if (!same(first, &now)) {
			fprintf(stderr, "rerun: replay %ld is not the same\n", i + 1);
			show("first", first, NULL);
			show("then ", &now, server_report(&r.server));
			fprintf(stderr, "at turn %" PRIu64 "\n", server_report(&r.server)->turn);
			result = 1;
		}
	}
	replay_close(&r);
	return result;
}

int main(int argc, char **argv)
{
	const char *strategy = "random", *from = NULL, *to = NULL;
	long times = 10;
	uint64_t seed = 1;
	struct target target;
	struct schedule schedule = { 0 };
	struct seen first;
	struct err err = { "" };
	bool exec = false;
	int c, result;

	while ((c = getopt(argc, argv, "+n:s:S:f:t:x")) != -1)
		switch (c) {
		case 'n': times = atol(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 10); break;
		case 'S': strategy = optarg; break;
		case 'f': from = optarg; break;
		case 't': to = optarg; break;
		case 'x': exec = true; break;
		default: return 2;
		}
	if (optind == argc || target_init(&target, argv + optind, NULL, &err) < 0 ||
	    target_input(&target, STDIN_FILENO, &err) < 0)
		return die("which program?", err.text);
	orphans_adopt();
	result = first_run(&(struct server_config){ .target = &target, .backend = from,
						    .timeout = 60 },
			   strategy, seed, &schedule, &first, &err);
	if (result < 0)
		return die(argv[optind], err.text);
	result = replays(&(struct replay_config){ .target = &target, .backend = to, .exec = exec,
						  .timeout = 60 },
			 &schedule, times, &first, &err);
	if (result < 0)
		return die(argv[optind], err.text);
	if (result == 0)
		printf("%016" PRIx64 " %" PRIu64 " steps, %" PRIu64
		       " turns, %u threads: %ld of %ld the same\n",
		       first.hash, first.steps, first.turns, first.threads, times, times);
	schedule_free(&schedule);
	target_free(&target);
	orphans_end_all(NULL, 0);
	return result;
}
