/*
 * The turn log: what the run did, as an exact schedule; and, following one, whether
 * the run is still the plan's.
 */
#include "runtime/control_step.h"
#include "sched/exact.h"

/* The turn log is an exact schedule of the run. */
void ctl_turn_log(uint64_t name, uint32_t kind, uint64_t steps, uint32_t check)
{
	struct ctl_block *b = ctl.block;
	struct sched_turn *turns = (struct sched_turn *)((char *)b + b->turns);

	if (ctl.private_child)
		return;
	if ((ctl.turns + 1) * sizeof(*turns) > b->turns_size) {
		b->report.turns_lost++;
		return;
	}
	turns[ctl.turns++] = (struct sched_turn){ name, steps, kind, check };
	b->report.turns = ctl.turns;
}

bool ctl_is_exact(void)
{
	return ctl.strategy == &strategy_exact;
}

void ctl_diverged(const char *text)
{
	struct ctl_report *r = &ctl.block->report;
	size_t n = 0;

	if (ctl.private_child)
		return;
	while (text[n] && n + 1 < sizeof(r->text)) {
		r->text[n] = text[n];
		n++;
	}
	r->text[n] = 0;
	exact_lose(ctl.state);
	exact_lost(ctl.state, &r->turn);
	ctl_end_run(CTL_DIVERGED);
}

void ctl_turn_end(struct ctl_thread *t)
{
	uint64_t steps = t->steps - t->turn_began;
	uint32_t check = ctl.flags & CTL_HASH ? (uint32_t)(ctl.turn_hash >> 32) | 1 : 0;

	if (steps)
		ctl_turn_log(t->name, SCHED_TURN_RUN, steps, check);
	if (ctl_is_exact() && check && steps && !ctl.private_child &&
	    !exact_check(ctl.state, steps, check))
		ctl_diverged("the events of a turn are not those of the schedule");
	ctl.hash = (ctl.hash ^ ctl.turn_hash ^ t->name) * 0xbf58476d1ce4e5b9ull;
	ctl.turn_hash = 0;
	t->turn_began = t->steps;
}
