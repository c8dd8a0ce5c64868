#include "explore/search/attempt.h"

#include <stdio.h>
#include <string.h>

#define TURNS_ROOM 4096u	/* turns that a plan may have beyond those of the schedule */
#define ORDERS_ROOM 64u		/* orders that a plan may have */

int attempt_open(struct attempt *a, const struct attempt_config *config, const struct schedule *s,
		 struct err *err)
{
	struct server_config server = {
		.target = config->replay.target,
		.backend = config->replay.backend,
		.exec = config->replay.exec,
		.options = config->replay.options,
		.timeout = config->replay.timeout,
		.deadline = &a->deadline,
		.keep = s->check ? CAPTURE_CHECK : 0,
		.plan_size = sizeof(struct sched_plan) + ORDERS_ROOM * sizeof(struct sched_order) +
			     (s->turn_count + TURNS_ROOM) * sizeof(struct sched_turn),
	};

	*a = (struct attempt){ .config = *config, .seed = s->seed, .run = s->run, .flags = s->flags,
			       .deadline = *config->deadline, .err = err };
	a->config.replay.deadline = &a->deadline;
	oracle_from(&a->oracle, s);
	a->oracle.ignore = config->replay.ignore;
	schedule_granules(s, &a->granules);
	return server_open(&a->server, &server, err);
}

void attempt_close(struct attempt *a)
{
	server_close(&a->server);
	buf_free(&a->granules);
}

bool attempt_over(const struct attempt *a)
{
	return a->broken || a->runs >= a->most || deadline_over(&a->deadline);
}

void attempt_allow(struct attempt *a, uint64_t runs, double seconds)
{
	a->most = runs < UINT32_MAX - a->runs ? a->runs + (unsigned)runs : UINT32_MAX;
	a->deadline = deadline_within(a->config.deadline, seconds);
}

struct ctl_request *attempt_prepare(struct attempt *a, const char *strategy)
{
	struct ctl_block *b = a->server.block;
	struct ctl_request *q = &b->request;

	memset(q, 0, offsetof(struct ctl_request, parent));
	snprintf(q->strategy, sizeof(q->strategy), "%s", strategy);
	q->seed = a->seed;
	q->run = a->run;
	q->flags = (uint32_t)a->flags;
	q->begin_search = 1;
	q->max_steps = a->config.replay.max_steps;
	if (a->granules.size && a->granules.size <= b->shared_size) {
		memcpy(server_area(&a->server, b->shared), a->granules.data, a->granules.size);
		q->shared_count = a->granules.size / sizeof(uint64_t);
	}
	return q;
}

bool attempt_plan(struct attempt *a, const struct sched_turn *turns, size_t turn_count,
		  const struct sched_order *orders, size_t order_count)
{
	struct ctl_block *b = a->server.block;
	struct sched_plan *plan = server_area(&a->server, b->plan);
	size_t turn_size = turn_count * sizeof(*turns), order_size = order_count * sizeof(*orders);

	if (sizeof(*plan) + turn_size + order_size > b->plan_size)
		return false;
	*plan = (struct sched_plan){ .size = sizeof(*plan) + turn_size + order_size,
				     .turns = turn_count, .orders = order_count };
	if (turn_size)
		memcpy(plan + 1, turns, turn_size);
	if (order_size)
		memcpy((char *)(plan + 1) + turn_size, orders, order_size);
	b->request.plan_size = plan->size;
	return true;
}

bool attempt_run(struct attempt *a)
{
	a->runs++;
	a->got = (struct oracle_result){ .verdict = ORACLE_BROKEN };
	if (server_run(&a->server, a->err) < 0) {
		a->broken = !deadline_over(&a->deadline);
		return false;
	}
	if (a->server.result.lost)
		return false;
	a->broken = oracle_judge(&a->oracle, &a->server, &a->got, a->err) < 0;
	return !a->broken && a->got.verdict == ORACLE_FAILED;
}
