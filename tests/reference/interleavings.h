/*
 * Reference of the systematic search (sched/chess.h) and of the reduction of schedules
 * (explore/bug/delta_debug.h): all interleavings of a small program of the simulator.
 *
 * sim_enumerate() and fewest_switches() let every enabled thread take the next step in turn, depth
 * first, on a copy of the simulator's state. They share with the tests only the simulator
 * (tests/unit/sched_sim.h), which defines when two runs have the same trace.
 */
#ifndef REFERENCE_INTERLEAVINGS_H
#define REFERENCE_INTERLEAVINGS_H

#include "sched_sim.h"

/* A set of hashes of traces. */
struct sim_set {
	uint64_t *value;
	size_t count, room;
};

static UNUSED bool set_has(const struct sim_set *set, uint64_t value)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->value[i] == value)
			return true;
	return false;
}

static UNUSED void set_add(struct sim_set *set, uint64_t value)
{
	if (set_has(set, value))
		return;
	if (set->count == set->room) {
		set->room = set->room ? 2 * set->room : 64;
		set->value = realloc(set->value, set->room * sizeof(*set->value));
	}
	set->value[set->count++] = value;
}

/*
 * Adds the traces of all runs from `s` on with at most `bound` preemptions, and counts the runs.
 * `running` is the thread that made the last step.
 */
static UNUSED void sim_enumerate(const struct sim *s, unsigned running, unsigned bound,
				 struct sim_set *set, unsigned *runs)
{
	bool runs_on = sim_enabled(s, running), any = false;

	for (unsigned i = 0; i < s->program->threads; i++) {
		struct sim next = *s;
		unsigned cost = runs_on && i != running;

		if (!sim_enabled(s, i))
			continue;
		any = true;
		if (cost > bound)
			continue;
		sim_execute(&next, i);
		sim_enumerate(&next, i, bound - cost, set, runs);
	}
	if (any)
		return;
	set_add(set, sim_trace(s));
	++*runs;
}

/*
 * Returns the fewest thread switches of all runs from `s` on for which `failed` is not 0; `most` if
 * none has fewer. `switches` were made so far, and `r` holds the run so far.
 */
static UNUSED unsigned fewest_switches(const struct sim *s, unsigned running, unsigned switches,
				       unsigned most, struct sim_result *r,
				       unsigned (*failed)(const struct sim_result *))
{
	bool any = false;

	if (switches >= most)
		return most;
	for (unsigned i = 0; i < s->program->threads; i++) {
		struct sim next = *s;

		if (!sim_enabled(s, i))
			continue;
		any = true;
		r->thread[r->steps] = s->number[i];
		r->event[r->steps++] = *sim_pending(s, i);
		r->end = next;
		sim_execute(&next, i);
		most = fewest_switches(&next, i, switches + (i != running), most, r, failed);
		r->steps--;
	}
	return !any && failed(r) ? switches : most;
}

#endif
