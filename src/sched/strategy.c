/*
 * The table of strategies.
 */
#include "sched/strategy.h"

extern const struct strategy strategy_random, strategy_roundrobin, strategy_pct, strategy_pctlarge,
	strategy_pos, strategy_surw, strategy_delay, strategy_chess, strategy_exact, strategy_goal,
	strategy_loose, strategy_active, strategy_feedback, strategy_greedy;

const struct strategy *const strategies[] = {
	&strategy_random,
	&strategy_roundrobin,
	&strategy_pct,
	&strategy_pctlarge,
	&strategy_pos,
	&strategy_surw,
	&strategy_delay,
	&strategy_chess,
	&strategy_feedback,
	&strategy_exact,
	&strategy_goal,
	&strategy_loose,
	&strategy_active,
	&strategy_greedy,
	NULL,
};

/* Own comparison: strcmp is among what the runtime intercepts. */
static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; strategies[i]; i++)
		if (same(strategies[i]->name, name))
			return strategies[i];
	return NULL;
}
