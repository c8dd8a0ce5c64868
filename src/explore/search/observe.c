#include "explore/search/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/turn_log.h"
#include "base/mem.h"
#include "explore/search/replay_trace.h"

#define RETRIES_MAX 12u		/* runs to repeat a failure */
#define RETRY_STEPS_MAX 100000u	/* longer failing runs are not repeated: that would take too long */

void profile_shape(uint64_t seed, uint64_t run, struct ctl_request *q)
{
	static const struct {
		const char *strategy;
		uint32_t permille;
	} ways[] = { { "random", 2 }, { "roundrobin", 0 }, { "random", 20 }, { "random", 60 } };
	uint64_t way = run % ARRAY_SIZE(ways), round = run / ARRAY_SIZE(ways);

	snprintf(q->strategy, sizeof(q->strategy), "%s", ways[way].strategy);
	q->seed = seed;
	q->switch_permille = ways[way].permille;
	q->depth = 0;
	/* roundrobin takes the run number as the length of a turn in steps. */
	q->run = ways[way].permille ? run : 9 + 10 * round;
}

void profile_free(struct profile *p)
{
	free(p->turns);
	p->turns = NULL;
	p->count = 0;
}

/* Computes the path hash of each thread. Creators have lower numbers than their children. */
static uint32_t name_threads(const struct ctl_report *r, uint64_t *names)
{
	uint32_t count = r->threads < CTL_THREADS ? r->threads : CTL_THREADS;

	for (uint32_t i = 0; i < count; i++)
		names[i] = i && r->parent[i] < i
				   ? sched_child_name(names[r->parent[i]], r->ordinal[i])
				   : SCHED_MAIN;
	return count;
}

struct sched_turn *profile_turns(const struct ctl_block *b, size_t *count)
{
	const uint32_t *words = (const void *)((const char *)b + b->turns);
	uint64_t names[CTL_THREADS];
	uint32_t threads = name_threads(&b->report, names);
	struct sched_turn *turns;
	struct turn turn;

	*count = 0;
	if (b->report.turns_lost || !b->report.turns || b->report.turns > PROFILE_TURNS_MAX)
		return NULL;
	turns = xmalloc(b->report.turns * sizeof(*turns));
	for (uint64_t at = 0; turn_get(words, b->report.turns, &at, &turn);)
		if (turn.thread < threads)
			turns[(*count)++] =
				(struct sched_turn){ names[turn.thread], turn.steps, turn.kind, 0 };
	return turns;
}

/* Fills in the request and plan of a replay of `again`. */
static void request_replay(const struct profile *again, struct server *s)
{
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);
	size_t size = again->count * sizeof(*again->turns);

	snprintf(q->strategy, sizeof(q->strategy), "exact");
	*plan = (struct sched_plan){ .size = sizeof(*plan) + size, .turns = again->count };
	memcpy(plan + 1, again->turns, size);
	q->plan_size = plan->size;
}

/* Fills in the request and the known granules. */
static void prepare(const struct search_config *config, const struct search_memory *memory,
		    const struct profile_order *order, struct server *s)
{
	const struct search_plan *plan = &config->plan;
	const struct profile *again = order->again;
	struct ctl_request *q = server_request(s);
	size_t most = s->block->shared_size / sizeof(uint64_t);
	size_t known = again ? again->known : memory->count, count = known < most ? known : most;

	memset(q, 0, sizeof(*q));
	profile_shape(plan->seed, order->run, q);
	if (order->by_strategy) {
		snprintf(q->strategy, sizeof(q->strategy), "%s", plan->strategy->name);
		q->switch_permille = plan->switch_permille;
		q->run = order->run;
	}
	if (again)
		request_replay(again, s);
	q->flags = plan->flags | CTL_LEARN;
	q->begin_search = 1;
	q->max_steps = plan->max_steps;
	q->shared_count = count;
	if (count)
		memcpy(server_area(s, s->block->shared), memory->granules,
		       count * sizeof(uint64_t));
}

/* Adds the granules that the run found to the memory. */
static void add_granules(struct search_memory *memory, struct server *s)
{
	const uint64_t *shared = server_area(s, s->block->shared);
	uint64_t most = s->block->shared_size / sizeof(*shared),
		 known = s->block->request.shared_count;
	uint64_t count = s->block->report.shared_new;

	for (uint64_t i = known; i < known + count && i < most; i++) {
		memory->granules = xgrow(memory->granules, memory->count, &memory->capacity,
					 sizeof(*memory->granules));
		memory->granules[memory->count++] = shared[i];
	}
}

static int run_once(const struct search_config *config, const struct profile_order *order,
		    struct server *s, struct search_failure **failure, struct profile *out,
		    struct err *err)
{
	struct search_memory *memory = config->memory;
	struct search_stats *stats = config->stats;
	struct oracle_result result;

	prepare(config, memory, order, s);
	out->known = order->again ? order->again->known : memory->count;
	if (server_run(s, err) < 0 || oracle_judge(config->program.oracle, s, &result, err) < 0)
		return -1;
	if (result.verdict == ORACLE_BROKEN)
		return err_set(err, "the program cannot be controlled: %.300s", result.text);
	if (result.verdict == ORACLE_DIVERGED)
		return err_set(err, "the replay of the run diverged");
	stats->runs++;
	stats->steps += s->block->report.steps;
	stats->ignored += result.ignored;
	if (result.verdict == ORACLE_DAMAGED) {
		stats->damaged++;
		return err_set(err, "%s", result.text);
	}
	if (result.verdict == ORACLE_INCONCLUSIVE) {
		search_stats_limit(stats, &result);
		return err_set(err, result.failure == ORACLE_TIMEOUT
					    ? "the run did not end in time"
					    : "the run took too many steps");
	}
	if (result.verdict == ORACLE_FAILED) {
		stats->failed++;
		*failure =
			search_failure_new(s, memory, config->program.oracle, order->run, &result);
		(*failure)->run = stats->runs - 1;
		return 0;
	}
	out->turns = profile_turns(s->block, &out->count);
	if (!order->again)
		add_granules(memory, s);
	return 0;
}

int profile_trace(const struct search_config *config, const struct profile_order *order,
		  struct search_failure **failure, struct profile *out, struct err *err)
{
	struct server_config recording = config->program.server;
	struct server server = { 0 };
	struct replay_trace trace;
	struct profile unused;
	struct err closing;
	int result = replay_trace_open(&trace, order->path, false, err);

	*failure = NULL;
	if (!out)
		out = &unused;
	*out = (struct profile){ 0 };
	if (result == 0) {
		recording.exec = true;
		recording.options = trace.options;
		if (order->again)
			recording.plan_size = sizeof(struct sched_plan) +
					      order->again->count * sizeof(*order->again->turns);
		result = server_open(&server, &recording, err);
		if (result == 0)
			result = run_once(config, order, &server, failure, out, err);
		server_close(&server);
	}
	if (replay_trace_close(&trace, result == 0 && (!*failure || order->keep_failing),
			       &closing) < 0 &&
	    result == 0 && !*failure) {
		*err = closing;
		result = -1;
	}
	if (out == &unused)
		profile_free(&unused);
	return result;
}

/*
 * Makes one more run. Returns it if it fails with this identity and finds no new granules;
 * otherwise adds its new granules to the memory and returns NULL.
 */
static struct search_failure *retry_once(const struct search_config *config,
					 struct search_memory *memory, uint64_t run,
					 uint64_t identity, struct server *s)
{
	const struct profile_order order = { .run = run };
	struct places *places = config->program.places;
	struct search_failure *f = NULL;
	struct oracle_result result;
	struct err err;

	prepare(config, memory, &order, s);
	if (server_run(s, &err) < 0 || oracle_judge(config->program.oracle, s, &result, &err) < 0)
		return NULL;
	if (result.verdict == ORACLE_FAILED && !s->block->report.shared_new) {
		f = search_failure_new(s, memory, config->program.oracle, run, &result);
		oracle_refine(&f->result, f->report, places);
		if (oracle_identity(&f->result, places) == identity)
			return f;
		search_failure_free(f);
	}
	add_granules(memory, s);
	return NULL;
}

struct search_failure *profile_again(const struct search_config *config,
				     struct search_memory *memory, struct search_failure *f)
{
	uint64_t identity = oracle_identity(&f->result, config->program.places);
	struct search_failure *again = NULL;
	struct server server = { 0 };
	size_t known = memory->count;
	struct err err;

	if (!f->report->shared_new || f->report->steps > RETRY_STEPS_MAX)
		return f;
	/* Three runs like the failing one, each with more granules known; then other strategies. */
	if (server_open(&server, &config->program.server, &err) == 0)
		for (uint64_t i = 0;
		     !again && i < RETRIES_MAX && !deadline_over(&config->budget.deadline); i++)
			again = retry_once(config, memory, i < 3 ? f->schedule.run : i - 3,
					   identity, &server);
	server_close(&server);
	if (!again) {
		memory->count = known;
		return f;
	}
	again->run = f->run;
	again->cause = f->cause;
	search_failure_free(f);
	return again;
}
