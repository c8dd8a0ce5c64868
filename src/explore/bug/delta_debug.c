#include "explore/bug/delta_debug.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "sched/strategy.h"

#define SINGLE_SWITCH_MOST 64u		/* turns; in longer runs no switch is tried alone */
#define ALL_PREEMPTIONS_MOST 250u	/* runs; if every preemption takes more, none is tried */
#define THREADS_MOST 16u		/* threads among which preemptions are tried */

struct reduction {
	const struct delta_debug_config *config;
	struct delta_debug_result *result;
	struct sched_turn *best, *attempt;	/* turns of the smallest run; turns to try next */
	size_t count;			/* number of turns in `best` */
	size_t capacity;		/* of both arrays */
};

size_t delta_debug_positions(struct sched_turn *turns, size_t count)
{
	struct map taken = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct sched_turn turn = turns[i];

		if (turn.kind == SCHED_TURN_RUN) {
			uint64_t *steps = map_put(&taken, turn.name, NULL);

			*steps =
				turn.steps == SCHED_NO_LIMIT ? SCHED_NO_LIMIT : *steps + turn.steps;
			turn.steps = *steps;
			turn.check = 0;
			if (n && turns[n - 1].kind == SCHED_TURN_RUN &&
			    turns[n - 1].name == turn.name)
				n--;
		}
		turns[n++] = turn;
	}
	map_free(&taken);
	return n;
}

static bool is_over(const struct reduction *s)
{
	return s->result->runs >= s->config->most ||
	       (s->config->should_stop && s->config->should_stop(s->config->ctx));
}

static void keep(struct reduction *s, const struct delta_debug_run *got)
{
	if (got->count > s->capacity) {
		s->capacity = got->count;
		s->best = xrealloc(s->best, s->capacity * sizeof(*s->best));
		s->attempt = xrealloc(s->attempt, s->capacity * sizeof(*s->attempt));
	}
	if (got->count)
		memcpy(s->best, got->turns, got->count * sizeof(*s->best));
	s->count = got->count;
	s->result->switches = got->switches;
	s->result->preemptions = got->preemptions;
	s->config->keep(s->config->ctx, got);
}

/* Makes a run by the first `count` turns of s->attempt; true if it is the smallest so far. */
static bool attempt(struct reduction *s, size_t count)
{
	struct delta_debug_run got = { 0 };

	s->result->runs++;
	if (!s->config->fails(s->config->ctx, s->attempt, count, &got))
		return false;
	if (got.switches > s->result->switches ||
	    (got.switches == s->result->switches && got.preemptions >= s->result->preemptions))
		return false;
	keep(s, &got);
	return true;
}

/* Tries the smallest run without `size` turns from `start` on. */
static bool try_without(struct reduction *s, size_t start, size_t size)
{
	memcpy(s->attempt, s->best, start * sizeof(*s->best));
	memcpy(s->attempt + start, s->best + start + size,
	       (s->count - start - size) * sizeof(*s->best));
	return attempt(s, s->count - size);
}

/* Removes `size` adjacent turns wherever the run still fails. True if it removed any. */
static bool remove_turns(struct reduction *s, size_t size)
{
	bool better = false;

	for (size_t start = 0; start + size <= s->count && !is_over(s);)
		if (try_without(s, start, size))
			better = true;
		else
			start += size;
	return better;
}

/* Lets the thread of a turn run until it blocks, wherever the run still fails. */
static bool extend_turns(struct reduction *s)
{
	bool better = false;

	for (size_t i = 0; i < s->count && !is_over(s); i++) {
		if (s->best[i].kind != SCHED_TURN_RUN || s->best[i].steps == SCHED_NO_LIMIT)
			continue;
		memcpy(s->attempt, s->best, s->count * sizeof(*s->best));
		s->attempt[i].steps = SCHED_NO_LIMIT;
		better |= attempt(s, s->count);
	}
	return better;
}

/* Tries each switch of the run as the only one: most failures need only one preemption. */
static bool try_single_switches(struct reduction *s)
{
	for (size_t i = 0; i + 1 < s->count && s->count <= SINGLE_SWITCH_MOST && !is_over(s); i++) {
		if (s->best[i].kind != SCHED_TURN_RUN || s->best[i + 1].kind != SCHED_TURN_RUN)
			continue;
		s->attempt[0] = s->best[i];
		s->attempt[1] = s->best[i + 1];
		s->attempt[1].steps = SCHED_NO_LIMIT;
		if (attempt(s, 2))
			return true;
	}
	return false;
}

/* The highest position of a thread in the turns: the number of its steps, as far as known. */
static uint64_t length_of(const struct reduction *s, uint64_t name)
{
	uint64_t length = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->best[i].kind == SCHED_TURN_RUN && s->best[i].name == name &&
		    s->best[i].steps != SCHED_NO_LIMIT && s->best[i].steps > length)
			length = s->best[i].steps;
	return length;
}

/* Fills `names` with the threads of the run, each once; returns how many. */
static size_t threads_of(const struct reduction *s, uint64_t *names)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count && count < THREADS_MOST; i++) {
		size_t k = 0;

		while (k < count && names[k] != s->best[i].name)
			k++;
		if (s->best[i].kind == SCHED_TURN_RUN && k == count)
			names[count++] = s->best[i].name;
	}
	return count;
}

/* Tries thread `first` until it blocks, then `one` up to `step`, which is preempted by `other`. */
static bool try_preemption(struct reduction *s, uint64_t first, uint64_t one, uint64_t step,
			   uint64_t other)
{
	size_t count = 0;

	if (one != first)
		s->attempt[count++] = (struct sched_turn){ .name = first, .steps = SCHED_NO_LIMIT };
	s->attempt[count++] = (struct sched_turn){ .name = one, .steps = step };
	s->attempt[count++] = (struct sched_turn){ .name = other, .steps = SCHED_NO_LIMIT };
	return attempt(s, count);
}

/*
 * Tries a single preemption at every step of a short run, to every other thread. This finds smaller
 * runs that removing turns one by one cannot reach.
 */
static bool try_all_preemptions(struct reduction *s)
{
	uint64_t names[THREADS_MOST], length[THREADS_MOST], steps = 0;
	size_t threads = threads_of(s, names);
	bool better = false;

	for (size_t i = 0; i < threads; i++)
		steps += length[i] = length_of(s, names[i]);
	if (!s->config->thorough || threads < 2 || steps * (threads - 1) > ALL_PREEMPTIONS_MOST)
		return false;
	for (size_t i = 0; i < threads; i++)
		for (uint64_t at = 1; at <= length[i]; at++)
			for (size_t k = 0; k < threads && !is_over(s); k++)
				better |= k != i &&
					  try_preemption(s, names[0], names[i], at, names[k]);
	return better;
}

void delta_debug_turns(const struct delta_debug_config *config, const struct sched_turn *turns,
		       size_t count, struct delta_debug_result *out)
{
	struct reduction s = { .config = config, .result = out, .capacity = count + 3 };
	struct delta_debug_run got = { 0 };

	*out = (struct delta_debug_result){ .runs = 1 };
	out->reproduced = config->fails(config->ctx, turns, count, &got);
	if (!out->reproduced)
		return;
	out->from = got.switches;
	s.best = xcalloc(s.capacity, sizeof(*s.best));
	s.attempt = xcalloc(s.capacity, sizeof(*s.attempt));
	keep(&s, &got);
	try_single_switches(&s);
	for (size_t size = s.count; size > 1 && !is_over(&s);
	     size = size / 2 < s.count ? size / 2 : s.count)
		remove_turns(&s, size);
	do
		while (!is_over(&s)) {
			bool better = remove_turns(&s, 1);

			if (!extend_turns(&s) && !better)
				break;
		}
	while (try_all_preemptions(&s));
	free(s.best);
	free(s.attempt);
}
