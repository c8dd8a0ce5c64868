#include "explore/search/replay_schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define LOST_RETRIES 3	/* tries to make a run during which the fork server does not die */

int replay_open(struct replay *r, const struct replay_config *config, const struct schedule *s,
		struct err *err)
{
	struct server_config server = {
		.target = config->target,
		.backend = config->backend,
		.exec = config->exec,
		.options = config->options,
		.timeout = config->timeout,
		.deadline = config->deadline,
		.keep = s->check ? CAPTURE_CHECK : 0,
		.plan_size = schedule_plan_size(s),
	};

	r->max_steps = config->max_steps;
	return server_open(&r->server, &server, err);
}

void replay_close(struct replay *r)
{
	server_close(&r->server);
}

int replay_prepare(struct ctl_block *b, const struct schedule *s, const struct places *places,
		   uint64_t max_steps, struct err *err)
{
	struct ctl_request *q = &b->request;
	struct buf plan = { 0 }, granules = { 0 };
	int result = schedule_plan(s, places, &plan, err);

	schedule_granules(s, &granules);
	if (result == 0 && (plan.size > b->plan_size || granules.size > b->shared_size))
		result = err_set(
			err, "the schedule is too large for the memory shared with the program");
	if (result == 0) {
		memset(q, 0, sizeof(*q));
		memcpy((char *)b + b->plan, plan.data, plan.size);
		if (granules.size)
			memcpy((char *)b + b->shared, granules.data, granules.size);
		snprintf(q->strategy, sizeof(q->strategy), "%s", s->turn_count ? "exact" : "goal");
		q->seed = s->seed;
		q->run = s->run;
		q->flags = s->flags | CTL_HASH;
		q->begin_search = 1;
		q->max_steps = max_steps;
		q->plan_size = plan.size;
		q->shared_count = granules.size / sizeof(uint64_t);
	}
	buf_free(&plan);
	buf_free(&granules);
	return result;
}

int replay_once(struct replay *r, const struct schedule *s, const struct places *places,
		struct oracle *oracle, struct oracle_result *out, struct err *err)
{
	for (int i = 0; i < LOST_RETRIES; i++) {
		if (replay_prepare(r->server.block, s, places, r->max_steps, err) < 0 ||
		    server_run(&r->server, err) < 0)
			return -1;
		if (!r->server.result.lost)
			break;
	}
	return oracle_judge(oracle, &r->server, out, err);
}

bool replay_same(const struct schedule *s, const struct oracle_result *result)
{
	struct buf brief = { 0 };
	bool same = true;

	if (result->verdict == ORACLE_DIVERGED || result->verdict == ORACLE_BROKEN ||
	    result->verdict == ORACLE_DAMAGED)
		return false;
	oracle_brief(result, &brief);
	if (s->failure)
		same = strcmp(buf_string(&brief), s->failure) == 0;
	buf_free(&brief);
	return same;
}

/*
 * True if `made` replays in `seconds` have to be enough: another one would take too long. The grace
 * of the deadline is for the first REPLAY_LEAST, and for what comes after the replays.
 */
static bool is_enough(const struct replay_config *config, unsigned made, double seconds)
{
	struct deadline early = config->deadline ? *config->deadline : (struct deadline){ 0 };

	early.grace = 0;
	return made >= REPLAY_LEAST &&
	       ((config->patience > 0 && seconds + seconds / made > config->patience) ||
		seconds / made > deadline_left(&early));
}

static void tell_task(const struct replay_config *config, unsigned made, unsigned times,
		      double seconds)
{
	if (!config->task)
		return;
	if (made && seconds / made >= 1)
		snprintf(config->task, REPLAY_TASK, "replaying the failure: %u of %u, %.0f s each",
			 made + 1, times, seconds / made);
	else
		snprintf(config->task, REPLAY_TASK, "replaying the failure: %u of %u", made + 1,
			 times);
}

unsigned replay_prove(struct schedule *s, const struct replay_config *config, unsigned times,
		      const struct places *places, unsigned *made, struct oracle_result *other,
		      struct err *err)
{
	struct oracle expect;
	struct oracle_result got;
	struct replay replay;
	double began = clock_seconds();
	unsigned good = 0;
	int code = replay_open(&replay, config, s, err);

	oracle_from(&expect, s);
	for (*made = 0; code == 0 && *made < times &&
			!is_enough(config, *made, clock_seconds() - began); ++*made) {
		tell_task(config, *made, times, clock_seconds() - began);
		code = replay_once(&replay, s, places, &expect, &got, err);
		if (code < 0)
			break;
		if (got.verdict != ORACLE_FAILED || !replay_same(s, &got)) {
			*other = got;
			++*made;
			break;	/* no proof is possible any more */
		}
		if (good++ > 0)
			continue;
		schedule_set_turns(s, replay.server.block);
		if (schedule_plan_size(s) <= replay.server.block->plan_size)
			continue;
		replay_close(&replay);	/* the plan with checks needs a larger area */
		code = replay_open(&replay, config, s, err);
	}
	replay_close(&replay);
	return good;
}
