#include "explore/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "explore/replay_trace.h"

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
	/* To round robin the number is how long a turn is. */
	q->run = ways[way].permille ? run : 9 + 10 * round;
}

static void prepare(const struct search_config *config, const struct search_memory *memory,
		    uint64_t run, struct server *s)
{
	struct ctl_request *q = server_request(s);
	size_t most = s->block->shared_size / sizeof(uint64_t);
	size_t count = memory->count < most ? memory->count : most;

	memset(q, 0, sizeof(*q));
	profile_shape(config->seed, run, q);
	q->flags = config->flags | CTL_LEARN;
	q->begin_search = 1;
	q->max_steps = config->max_steps;
	q->shared_count = count;
	if (count)
		memcpy(server_area(s, s->block->shared), memory->granules, count * sizeof(uint64_t));
}

static void learn(struct search_memory *memory, struct server *s)
{
	const uint64_t *shared = server_area(s, s->block->shared);
	uint64_t most = s->block->shared_size / sizeof(*shared), known = s->block->request.shared_count;
	uint64_t count = s->block->report.shared_new;

	for (uint64_t i = known; i < known + count && i < most; i++) {
		memory->granules = xgrow(memory->granules, memory->count, &memory->capacity,
					 sizeof(*memory->granules));
		memory->granules[memory->count++] = shared[i];
	}
}

static int make(const struct search_config *config, struct search_memory *memory, uint64_t run,
		struct server *s, struct search_stats *stats, struct search_failure **failure,
		struct err *err)
{
	struct oracle_result result;

	prepare(config, memory, run, s);
	if (server_run(s, err) < 0 || oracle_judge(config->oracle, s, &result, err) < 0)
		return -1;
	if (result.verdict == ORACLE_BROKEN)
		return err_set(err, "the program cannot be controlled: %.300s", result.text);
	stats->runs++;
	stats->steps += s->block->report.steps;
	if (result.verdict == ORACLE_CUT) {
		stats->cut++;
		return err_set(err, "the run took too many steps");
	}
	if (result.verdict == ORACLE_FAILED) {
		stats->failed++;
		*failure = search_failure_new(s, memory, config->oracle, run, &result);
		(*failure)->run = stats->runs - 1;
		return 0;
	}
	learn(memory, s);
	return 0;
}

int profile_trace(const struct search_config *config, struct search_memory *memory, uint64_t run,
		  const char *path, struct search_stats *stats, struct search_failure **failure,
		  struct err *err)
{
	struct server_config recording = config->server;
	struct server server = { 0 };
	struct replay_trace trace;
	struct err closing;
	int result = replay_trace_open(&trace, path, err);

	*failure = NULL;
	if (result == 0) {
		recording.exec = true;
		recording.options = trace.options;
		result = server_open(&server, &recording, err);
		if (result == 0)
			result = make(config, memory, run, &server, stats, failure, err);
		server_close(&server);
	}
	if (replay_trace_close(&trace, result == 0 && !*failure, &closing) < 0 && result == 0) {
		*err = closing;
		result = -1;
	}
	return result;
}
