/*
 * Controlled runs that try one lead with the strategy `goal`, and their outcome.
 */
#ifndef EXPLORE_LEAD_LEAD_RUN_H
#define EXPLORE_LEAD_LEAD_RUN_H

#include "explore/lead/lead.h"
#include "explore/target/worker.h"
#include "sched/goal.h"

#define FOLLOW_ROUNDS 9u	/* 3 policies (enum goal_then), 3 tries each */
/* Size of the plan of one lead, for server_config.plan_size. */
#define FOLLOW_PLAN_SIZE \
	(sizeof(struct sched_plan) + 2 * CANDIDATE_EVENTS * sizeof(struct sched_order))

/*
 * Fills in the request and plan of try number `round` of a lead, from 0. Tries 0 to 2 switch
 * seldom. Later tries of one policy differ only in their random numbers, by the run number.
 */
void follow_shape(const struct lead *lead, uint64_t round, struct server *s);

/*
 * The outcome of a run that tried a lead. lead_run_judge() takes the result of the lead's orders.
 * follow_outcome() takes the worker of a run whose plan had only these orders.
 */
enum lead_outcome lead_run_judge(const struct lead *lead, const struct goal_result *goal,
				 const struct oracle_result *result);
enum lead_outcome follow_outcome(const struct lead *lead, const struct server *s,
				 const struct oracle_result *result);

#endif
