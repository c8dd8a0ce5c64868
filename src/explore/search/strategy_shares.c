#include "explore/search/strategy_shares.h"

#include <string.h>

#include "abi/turn_log.h"
#include "base/hash.h"

#define WORDS_MAX (1u << 16)	/* words read of a run's turn log: bounds time and memory */
#define SEEN_MAX (4u << 20)	/* switches remembered; beyond that no switch is new */
#define SHARE_LEAST 0.1		/* least share of each strategy, so that it can recover */

void feedback_free(struct feedback *f)
{
	map_free(&f->seen);
	map_free(&f->fresh);
	map_free(&f->interleavings);
	*f = (struct feedback){ 0 };
}

/* New switches per run of a strategy in the previous slice; 0 if it made no run. */
static double found_per_run(const struct feedback *f, unsigned way)
{
	return f->runs[way] ? (double)f->found[way] / (double)f->runs[way] : 0;
}

/*
 * Interleaves the strategies by weighted round robin: in each run every strategy earns its share as
 * credit, the one with most credit makes the run and pays 1.
 */
void feedback_begin(struct feedback *f, uint64_t runs)
{
	double sum = 0, share[FEEDBACK_WAYS], credit[FEEDBACK_WAYS] = { 0 };

	for (unsigned i = 0; i < FEEDBACK_WAYS; i++)
		sum += found_per_run(f, i);
	for (unsigned i = 0; i < FEEDBACK_WAYS; i++)
		share[i] = SHARE_LEAST + (1 - FEEDBACK_WAYS * SHARE_LEAST) *
			   (sum > 0 ? found_per_run(f, i) / sum : 1.0 / FEEDBACK_WAYS);
	f->slice = runs < FEEDBACK_SLICE_MOST ? runs : FEEDBACK_SLICE_MOST;
	for (uint64_t run = 0; run < f->slice; run++) {
		unsigned best = 0;

		for (unsigned i = 0; i < FEEDBACK_WAYS; i++) {
			credit[i] += share[i];
			/* Rounding errors must not decide a tie; the lowest index wins it. */
			if (credit[i] > credit[best] + 1e-9)
				best = i;
		}
		credit[best] -= 1;
		f->way[run] = (uint8_t)best;
		f->new_in[run] = f->hash[run] = 0;
	}
}

uint64_t feedback_note(struct feedback *f, uint64_t run, const struct ctl_block *b)
{
	const uint32_t *words = (const void *)((const char *)b + b->turns);
	uint64_t count = b->report.turns < WORDS_MAX ? b->report.turns : WORDS_MAX;
	uint64_t steps[CTL_THREADS] = { 0 }, fresh = 0;
	uint32_t last = CTL_THREADS;
	struct turn turn;

	for (uint64_t at = 0; turn_get(words, count, &at, &turn);) {
		if (turn.kind != SCHED_TURN_RUN || turn.thread >= CTL_THREADS)
			continue;
		if (last != CTL_THREADS && last != turn.thread) {
			uint64_t key = hash_add(hash_add(last + 1, steps[last]), turn.thread);

			if (map_count(&f->seen) < SEEN_MAX && !map_find(&f->seen, key)) {
				map_put(&f->fresh, key, NULL);
				fresh++;
			}
		}
		last = turn.thread;
		steps[last] += turn.steps;
	}
	if (run < f->slice) {
		f->new_in[run] = fresh;
		f->hash[run] = interleavings_seen_hash(b) | 1;
	}
	return fresh;
}

static void add_seen(void *ctx, uint64_t key, uint64_t value)
{
	struct feedback *f = ctx;

	(void)value;
	map_put(&f->seen, key, NULL);
}

/*
 * Updates `runs_since_new` and `longest`, in the order of run numbers up to the first missing run.
 */
static void count_without_new(struct feedback *f)
{
	for (uint64_t i = 0; i < f->slice && f->hash[i]; i++) {
		bool added = map_count(&f->interleavings) >= COVERAGE_MAX;

		if (!added)
			map_put(&f->interleavings, f->hash[i], &added);
		f->runs_since_new = added ? 0 : f->runs_since_new + 1;
		f->longest = f->runs_since_new > f->longest ? f->runs_since_new : f->longest;
	}
}

uint64_t feedback_end(struct feedback *f)
{
	uint64_t count = map_count(&f->fresh);

	memset(f->runs, 0, sizeof(f->runs));
	memset(f->found, 0, sizeof(f->found));
	for (uint64_t i = 0; i < f->slice; i++) {
		f->runs[f->way[i]]++;
		f->found[f->way[i]] += f->new_in[i];
	}
	count_without_new(f);
	map_each(&f->fresh, add_seen, f);
	map_free(&f->fresh);
	return count;
}
