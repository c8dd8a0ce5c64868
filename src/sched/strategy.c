/*
 * The table of strategies.
 */
#include "sched/strategy.h"

#define STRATEGY(name) extern const struct strategy strategy_##name;
#include "sched/strategies.def"
#undef STRATEGY

const struct strategy *const strategies[] = {
#define STRATEGY(name) &strategy_##name,
#include "sched/strategies.def"
#undef STRATEGY
	NULL,
};

/* The runtime intercepts strcmp, so strategies cannot call it. */
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
