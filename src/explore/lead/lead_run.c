#include "explore/lead/lead_run.h"

#include <stdio.h>
#include <string.h>

#define POLICIES 3u		/* values of enum goal_then */
#define FEW_SWITCHES 20u	/* permille, in the first three tries: stays near the profile run */

void follow_shape(const struct lead *lead, uint64_t round, struct server *s)
{
	struct ctl_request *q = server_request(s);
	size_t orders = lead->orders * sizeof(struct sched_order);
	struct sched_plan *plan = server_area(s, s->block->plan);

	snprintf(q->strategy, sizeof(q->strategy), "goal");
	q->depth = (uint32_t)(round % POLICIES);
	q->switch_permille = round < POLICIES ? FEW_SWITCHES : 0;
	*plan = (struct sched_plan){ .size = sizeof(*plan) + orders, .orders = lead->orders };
	memcpy(plan + 1, lead->order, orders);
	q->plan_size = plan->size;
}

enum lead_outcome lead_run_judge(const struct lead *lead, const struct goal_result *goal,
				 const struct oracle_result *result)
{
	if (result->verdict == ORACLE_DAMAGED)
		return LEAD_UNREACHED;	/* nothing is known about the run */
	if (result->verdict == ORACLE_FAILED) {
		/* A failure may prevent second events, and a deadlock first ones as well. */
		if (goal->kept == goal->orders ||
		    (oracle_is_stuck(result->failure) && lead->c.class == CANDIDATE_DEADLOCK &&
		     !goal->infeasible))
			return LEAD_FAILED;
	} else if (result->verdict == ORACLE_PASSED && goal->met == goal->orders) {
		return LEAD_HARMLESS;
	}
	return goal->infeasible ? LEAD_INFEASIBLE : LEAD_UNREACHED;
}

enum lead_outcome follow_outcome(const struct lead *lead, const struct server *s,
				 const struct oracle_result *result)
{
	struct goal_result goal;

	goal_result((const char *)s->block + s->block->state, &goal);
	return lead_run_judge(lead, &goal, result);
}
