#include "learn/training_run.h"

#include <stdlib.h>

#include "abi/trace_roles.h"
#include "analyze/context/track.h"
#include "base/mem.h"
#include "coverage/fold/event_step.h"
#include "coverage/trace_coverage.h"
#include "learn/fold/cancellation.h"
#include "learn/fold/lock_predecessors.h"
#include "learn/fold/sample.h"
#include "learn/fold/unordered_sites.h"

static bool is_plain(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_PLAIN;
}

/*
 * Does the event end a transaction? A call that may wait for another thread or the outside, or
 * the thread's end. Locks do not.
 */
static bool blocks(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_BLOCKS || ev->kind == TRACE_THREAD_EXIT;
}

unsigned training_run_steps(struct learn_sites *sites, const struct event *ev, uint64_t at,
			    struct learn_step *out)
{
	struct iroot_step steps[TRACE_STEPS];
	unsigned count;

	/* Shortcut: most events are plain accesses. */
	if (is_plain(ev)) {
		bool write = trace_roles(ev->kind) & ROLE_WRITE;

		*out = (struct learn_step){ .thread = ev->thread,
					    .op = write ? IROOT_OP_WRITE : IROOT_OP_READ,
					    .addr = ev->addr,
					    .size = ev->size,
					    .pc = ev->pc,
					    .at = at };
		out->site = learn_sites_number(sites, ev->pc, write ? LEARN_WRITE : LEARN_READ);
		return 1;
	}
	count = iroot_steps(ev, steps);
	for (unsigned i = 0; i < count; i++) {
		const struct iroot_step *s = &steps[i];

		out[i] = (struct learn_step){ .thread = s->thread, .op = s->op, .addr = s->addr,
					      .size = s->size, .pc = ev->pc, .at = at };
		if (s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE)
			out[i].site = learn_sites_number(
				sites, s->site, s->op == IROOT_OP_READ ? LEARN_READ : LEARN_WRITE);
		else if (ev->kind == TRACE_MUTEX_LOCK)
			out[i].site = learn_sites_number(sites, ev->pc, LEARN_LOCK);
	}
	return count;
}

/* Adds the predicted iRoots of idiom 1 whose sites have no fixed order. */
static void add_expected(struct training_run *run, struct iroot_profile *p,
			 const struct unordered *u)
{
	struct iroot_profile_stats stats;
	uint32_t cursor = 0, flags;
	struct iroot r;

	iroot_profile_finish(p);
	while ((flags = iroot_profile_next(p, &cursor, &r))) {
		uint32_t first, second;

		if (r.idiom != 1 || !(flags & IROOT_PREDICTED) || r.event[0].access > IROOT_WRITE)
			continue;
		first = learn_sites_number(&run->sites, r.event[0].site,
					   r.event[0].access == IROOT_READ ? LEARN_READ
									   : LEARN_WRITE);
		second = learn_sites_number(&run->sites, r.event[1].site,
					    r.event[1].access == IROOT_READ ? LEARN_READ
									    : LEARN_WRITE);
		if (!unordered_have(u, first, second) || unordered_private(u, first) ||
		    unordered_private(u, second))
			continue;
		learn_pairs_add(&run->expected, first, second);
	}
	iroot_profile_stats(p, &stats);
	run->lost += stats.lost;
}

/*
 * The folds that say what other runs may do. In a probe, all but those that `breakable` needs
 * are NULL.
 */
struct prediction {
	void *memory;
	struct iroot_profile *profile;
	struct analysis_context ctx;
	struct track track;
	struct unordered *unordered;
	struct lock_pred *lock_pred;
	struct cancellation *cancellation;
};

static void prediction_open(struct prediction *e, struct training_run *run,
			    const struct reader *trace, unsigned granularity, bool probe)
{
	analysis_context_init(&e->ctx);
	e->ctx.reader = trace;
	track_init(&e->track, &e->ctx);
	run->breakable = breakable_new(granularity, e->ctx.locks);
	if (probe)
		return;
	run->interleaved = interleaved_new(granularity);
	e->memory = xcalloc(1, IROOT_MEMORY);
	/* Window 0 leaves only iRoots of idiom 1: the other idioms need two events of a thread. */
	e->profile = iroot_profile_init(e->memory, IROOT_MEMORY, 0);
	e->unordered = unordered_new(e->ctx.locks);
	e->lock_pred = lock_pred_new();
	e->cancellation = cancellation_new();
}

/* Passes an event to the folds that find which sites may follow which. */
static void predict_orders(struct prediction *e, struct training_run *run, const struct event *ev,
			   const struct learn_step *own, unsigned own_count,
			   const struct view *view)
{
	uint32_t cancels = ev->kind == TRACE_THREAD_CANCEL
				   ? learn_sites_number(&run->sites, ev->pc, LEARN_CANCEL)
				   : 0;
	struct iroot_step steps[TRACE_STEPS];
	unsigned count = iroot_steps(ev, steps);

	for (unsigned i = 0; i < count; i++)
		iroot_profile_step(e->profile, &steps[i]);
	unordered_event(e->unordered, ev, own_count ? own[0].site : 0, view);
	cancellation_event(e->cancellation, ev, own, own_count, cancels);
	if (view && view->gone_size)
		lock_pred_forget(e->lock_pred, view->gone_addr, view->gone_size);
	for (unsigned i = 0; view && i < own_count; i++)
		lock_pred_step(e->lock_pred, &own[i], view);
}

static void prediction_event(struct prediction *e, struct training_run *run, const struct event *ev,
			     const struct learn_step *own, unsigned own_count)
{
	const struct view *view = track_before(&e->track, ev);

	if (e->profile)
		predict_orders(e, run, ev, own, own_count, view);
	if (!view)
		return;
	for (unsigned i = 0; i < own_count; i++)
		breakable_step(run->breakable, &own[i], view);
	track_after(&e->track, ev);
}

static void prediction_close(struct prediction *e)
{
	lock_pred_free(e->lock_pred);
	cancellation_free(e->cancellation);
	unordered_free(e->unordered);
	track_free(&e->track);
	analysis_context_free(&e->ctx);
	free(e->memory);
}

/*
 * A controlled run does not record the accesses to memory before a second thread comes, so it
 * cannot determine which site was first.
 */
static void add_predictions(struct training_run *run, struct prediction *e,
			    const struct reader *trace)
{
	unsigned how = reader_info(trace)->header->flags & (TRACE_TOTAL_ORDER | TRACE_UNFILTERED);

	unordered_add_pairs(e->unordered, &run->conflicts, &run->races);
	if (how != TRACE_TOTAL_ORDER)
		unordered_add_order(e->unordered, &run->first, &run->after);
	lock_pred_add_to(e->lock_pred,
			 &(struct lock_pred_lists){ &run->lock_seen, &run->lock_expected,
						    &run->first, &run->after });
	cancellation_add_to(e->cancellation, &run->first, &run->after);
	add_expected(run, e->profile, e->unordered);
}

static void read_event(struct training_run *run, struct prediction *e, const struct event *ev,
		       const struct learn_step *steps, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		avio_step(run->avio, &steps[i]);
		if (run->pset)
			pset_step(run->pset, &steps[i]);
		if (run->interleaved)
			interleaved_step(run->interleaved, &steps[i]);
	}
	if (run->interleaved && blocks(ev))
		interleaved_blocked(run->interleaved, ev->thread);
	if (e)
		prediction_event(e, run, ev, steps, count);
}

/* Forgets a line that rested: its accesses meanwhile are unknown (sample.h). */
static void forget_line(struct training_run *run, struct prediction *e, uint64_t addr)
{
	struct learn_step fresh = { .op = IROOT_OP_FRESH,
				    .addr = addr & ~(uint64_t)(SAMPLE_LINE - 1),
				    .size = SAMPLE_LINE };
	struct iroot_step step = { .op = IROOT_OP_FRESH, .addr = fresh.addr, .size = fresh.size };

	avio_step(run->avio, &fresh);
	breakable_step(run->breakable, &fresh, NULL);
	if (!e->profile)
		return;
	pset_step(run->pset, &fresh);
	interleaved_step(run->interleaved, &fresh);
	unordered_forget(e->unordered, fresh.addr, fresh.size);
	iroot_profile_step(e->profile, &step);
}

static void read_sampled(struct training_run *run, struct prediction *e, struct sample *sample,
			 const struct event *ev, const struct learn_step *step)
{
	uint64_t addr = ev->addr, end = ev->addr + ev->size;
	struct sample_part taken;

	while (sample_next(sample, step->site, &addr, end, &taken)) {
		struct event part = *ev;
		struct learn_step own = *step;

		part.addr = own.addr = taken.addr;
		own.size = taken.size;
		part.size = (__typeof__(part.size))taken.size;
		if (taken.after_rest)
			forget_line(run, e, taken.addr);
		read_event(run, e, &part, &own, 1);
	}
}

int training_run_read(struct training_run *run, struct reader *trace, unsigned granularity,
		      enum training_run_depth depth, uint64_t seed, struct pause *pause,
		      struct err *err)
{
	bool predict = depth != TRAINING_RUN_DETECT, probe = depth == TRAINING_RUN_PROBE;
	struct prediction prediction = { 0 }, *e = predict ? &prediction : NULL;
	struct sample *sample = predict ? sample_new(seed) : NULL;
	uint64_t at = 0;
	struct event ev;
	int got;

	*run = (struct training_run){ .avio = avio_new(granularity),
				      .pset = probe ? NULL : pset_new(granularity),
				      .seed = seed };
	if (predict)
		prediction_open(&prediction, run, trace, granularity, probe);
	pause_enter(pause);
	got = reader_rewind(trace, err) < 0 ? -1 : 1;
	while (got > 0 && (got = reader_next(trace, &ev, err)) > 0) {
		struct learn_step steps[TRACE_STEPS];
		unsigned count = training_run_steps(&run->sites, &ev, at++, steps);

		pause_check(pause);
		if (ev.kind == TRACE_FUNC_ENTRY)
			learn_sites_number(&run->sites, ev.pc, LEARN_FUNCTION);
		if (sample && is_plain(&ev)) {
			read_sampled(run, e, sample, &ev, steps);
			continue;
		}
		if (sample && count && steps[0].op == IROOT_OP_FRESH)
			sample_fresh(sample, steps[0].addr, steps[0].size);
		read_event(run, e, &ev, steps, count);
	}
	if (predict)
		breakable_finish(run->breakable);
	if (prediction.profile && got == 0)
		add_predictions(run, &prediction, trace);
	if (predict)
		prediction_close(&prediction);
	sample_free(sample);
	pause_leave(pause);
	return got;
}

static bool is_access(const struct learn_step *s)
{
	return s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE;
}

static void transaction_step(struct training_run *run, const struct learn_step *s,
			     bool first_blocks)
{
	lifetx_step(run->lifetx, s, first_blocks);
	if (!is_access(s) || lifetx_watches(run->lifetx, s->site))
		lock_sites_step(run->lock_sites, s, lifetx_function(run->lifetx, s->thread));
}

/* Cuts and orders concern every access, so a step without sampled memory is passed with size 0. */
static void transaction_sampled(struct training_run *run, struct sample *sample,
				const struct learn_step *step)
{
	uint64_t addr = step->addr, end = step->addr + step->size;
	struct learn_step own = *step;
	struct sample_part taken;
	bool any = false;

	while (sample_next(sample, step->site, &addr, end, &taken)) {
		own.addr = taken.addr;
		own.size = taken.size;
		if (taken.after_rest)
			lifetx_forget(run->lifetx, taken.addr & ~(uint64_t)(SAMPLE_LINE - 1),
				      SAMPLE_LINE);
		if (any)
			lifetx_touch(run->lifetx, &own);
		else
			transaction_step(run, &own, false);
		any = true;
	}
	own.size = 0;
	if (!any)
		transaction_step(run, &own, false);
}

static void transaction_event(struct training_run *run, struct sample *sample,
			      const struct event *ev, uint64_t at)
{
	struct learn_step steps[TRACE_STEPS];
	unsigned count;

	if (ev->kind == TRACE_FUNC_ENTRY) {
		lifetx_enter(run->lifetx, ev->thread,
			     learn_sites_number(&run->sites, ev->pc, LEARN_FUNCTION), ev->addr);
	} else if (ev->kind == TRACE_FUNC_EXIT) {
		lifetx_exit(run->lifetx, ev->thread);
	} else if (ev->kind == TRACE_JUMP) {
		lifetx_unwind(run->lifetx, ev->thread, ev->arg);
	} else {
		count = training_run_steps(&run->sites, ev, at, steps);
		if (is_plain(ev)) {
			transaction_sampled(run, sample, &steps[0]);
			return;
		}
		if (!count && blocks(ev))
			steps[count++] =
				(struct learn_step){ .thread = ev->thread, .op = IROOT_OP_NONE };
		if (count && steps[0].op == IROOT_OP_FRESH)
			sample_fresh(sample, steps[0].addr, steps[0].size);
		for (unsigned i = 0; i < count; i++)
			transaction_step(run, &steps[i], i == 0 && blocks(ev));
	}
}

int training_run_transactions(struct training_run *run, struct reader *trace, unsigned granularity,
			      const uint8_t *cuts, struct err *err)
{
	struct sample *sample;
	uint64_t at = 0;
	struct event ev;
	int got;

	lifetx_free(run->lifetx);
	lock_sites_free(run->lock_sites);
	run->lifetx = lifetx_new(granularity);
	run->lock_sites = lock_sites_new();
	for (uint32_t i = 1; i < run->sites.count; i++)
		if (cuts[i])
			lifetx_set_cuts(run->lifetx, i, cuts[i]);
	for (size_t i = 0; i < run->conflicts.count; i++)
		lifetx_watch(run->lifetx, run->conflicts.items[i].first);
	if (reader_rewind(trace, err) < 0)
		return -1;
	sample = sample_new(run->seed);
	while ((got = reader_next(trace, &ev, err)) > 0)
		transaction_event(run, sample, &ev, at++);
	sample_free(sample);
	lifetx_finish(run->lifetx);
	return got;
}

void training_run_free(struct training_run *run)
{
	learn_sites_free(&run->sites);
	avio_free(run->avio);
	pset_free(run->pset);
	interleaved_free(run->interleaved);
	lifetx_free(run->lifetx);
	lock_sites_free(run->lock_sites);
	breakable_free(run->breakable);
	learn_pairs_free(&run->expected);
	learn_pairs_free(&run->conflicts);
	learn_pairs_free(&run->races);
	learn_pairs_free(&run->lock_seen);
	learn_pairs_free(&run->lock_expected);
	learn_pairs_free(&run->first);
	learn_pairs_free(&run->after);
	*run = (struct training_run){ 0 };
}
