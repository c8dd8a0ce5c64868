/*
 * Runs that follow a lead: by the strategy goal, and what came of them.
 */
#ifndef EXPLORE_LEAD_LEAD_RUN_H
#define EXPLORE_LEAD_LEAD_RUN_H

#include "explore/lead/lead.h"
#include "explore/target/worker.h"
#include "sched/goal.h"

#define FOLLOW_ROUNDS 9u	/* ways to go on after the last event, times seeds */
#define FOLLOW_PLAN_SIZE (sizeof(struct sched_plan) + 2 * CANDIDATE_EVENTS * sizeof(struct sched_order))

/* The n-th try, of FOLLOW_ROUNDS; later ones differ by the number of their run alone. */
void follow_shape(const struct lead *lead, uint64_t round, struct server *s);

/* By how its orders fared; and by the state of a run that had no other orders. */
enum lead_outcome lead_run_judge(const struct lead *lead, const struct goal_result *goal,
			       const struct oracle_result *result);
enum lead_outcome follow_outcome(const struct lead *lead, const struct server *s,
				 const struct oracle_result *result);

#endif
