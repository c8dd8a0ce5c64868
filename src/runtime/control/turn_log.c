/*
 * The turn log: writes a record at the end of each turn. When an exact schedule is replayed it
 * compares the run's events with the plan.
 */
#include "abi/mix.h"
#include "runtime/control/step.h"

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

/*
 * Stores one check byte per event. One byte shows the first event that differs from the plan with
 * probability 255/256; the turn's hash shows any other.
 */
static void check_event(uint8_t check, uint64_t object, uint64_t site)
{
	struct ctl_block *b = ctl.block;
	const struct sched_plan *plan = (const struct sched_plan *)((const char *)b + b->plan);
	uint64_t n = ctl.events_hashed++;

	if (n < b->checks_size) {
		((uint8_t *)b + b->checks)[n] = check;
		b->report.checks = n + 1;
	}
	if (!b->request.plan_size || !is_exact() || n >= plan->checks ||
	    sched_plan_checks(plan)[n] == check)
		return;
	b->report.event = n + 1;
	b->report.object = object;
	b->report.pc = site & TRACE_ADDR_MASK;
	b->report.kind = trace_site_kind(site);
	exact_lose_here(ctl.state);
	ctl_diverged("an event differs from the schedule");
}

/* Adds an event to the turn's hash and compares its check byte with the plan. */
static void hash_event(uint64_t object, uint64_t site, uint64_t value)
{
	uint64_t h = (mix_spread(object) ^ site) * MIX_FACTOR ^ value;

	h = (h ^ h >> 29) * 0x94d049bb133111ebull;
	ctl.turn_hash = mix_spread(ctl.turn_hash ^ h);
	ctl.turn_hash ^= ctl.turn_hash >> 32;
	if (!ctl.private_child)
		check_event((uint8_t)(h >> 56), object, site);
}

void ctl_observe_event(uint64_t object, uint64_t site, uint64_t value)
{
	if (ctl.flags & CTL_HASH)
		hash_event(object, site, value);
	if (ctl.flags & CTL_DEPENDS)
		ctl_depends_event(object, site);
}

void ctl_turn_end(struct ctl_thread *t)
{
	uint64_t steps = t->steps - t->turn_began;
	uint32_t check = ctl.flags & CTL_HASH ? (uint32_t)(ctl.turn_hash >> 32) | 1 : 0;

	if (steps)
		ctl_turn_log(t, SCHED_TURN_RUN, steps, check);
	if (is_exact() && check && steps && !ctl.private_child &&
	    !exact_check(ctl.state, steps, check))
		ctl_diverged("the events of a turn differ from the schedule");
	ctl.hash = (ctl.hash ^ ctl.turn_hash ^ t->name) * MIX_FACTOR;
	ctl.turn_hash = 0;
	t->turn_began = t->steps;
}
