/*
 * The cover stage: with each input, an equal share of the rest of the budget goes into runs that
 * are directed at untested iRoots.
 */
#include "explore/cover/cover_chase.h"
#include "explore/hunt/hunt_internal.h"

int hunt_cover(struct hunt *h, struct err *err)
{
	const struct inputs *inputs = h->config.inputs;
	struct cover_chase x;

	for (size_t i = 0; i < inputs->count; i++) {
		uint64_t left = inputs->count - i;

		x = (struct cover_chase){ .listener = h->listener };
		if (!hunt_begin(h, HUNT_COVER, &x.search))
			return 0;
		x.search.budget.runs = (x.search.budget.runs + left - 1) / left;
		x.search.budget.deadline =
			deadline_share(&x.search.budget.deadline, 1.0 / (double)left);
		if (hunt_select(h, i, err) < 0)
			return -1;
		cover_input(h->config.cover, h->config.search.program.server.target);
		if (cover_chase_run(&x, h->config.cover, err) < 0)
			return -1;
		h->stats.chased += x.tried;
		h->stats.chased_exposed += x.exposed;
	}
	return 0;
}
