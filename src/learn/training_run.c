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

/* Ends a transaction: a call that may wait for another thread or the world, or the thread's end. Locks do not. */
static bool blocks(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_BLOCKS || ev->kind == TRACE_THREAD_EXIT;
}

unsigned lesson_steps(struct learn_sites *sites, const struct event *ev, uint64_t at, struct learn_step *out)
{
	struct iroot_step steps[TRACE_STEPS];
	unsigned count;

	/* Nearly all are: the short way. */
	if (is_plain(ev)) {
		bool write = trace_roles(ev->kind) & ROLE_WRITE;

		*out = (struct learn_step){ .thread = ev->thread, .op = write ? IROOT_OP_WRITE : IROOT_OP_READ,
					    .addr = ev->addr, .size = ev->size, .pc = ev->pc, .at = at };
		out->site = learn_sites_number(sites, ev->pc, write ? LEARN_WRITE : LEARN_READ);
		return 1;
	}
	count = iroot_steps(ev, steps);
	for (unsigned i = 0; i < count; i++) {
		const struct iroot_step *s = &steps[i];

		out[i] = (struct learn_step){ .thread = s->thread, .op = s->op, .addr = s->addr,
					      .size = s->size, .pc = ev->pc, .at = at };
		if (s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE)
			out[i].site = learn_sites_number(sites, s->site,
							 s->op == IROOT_OP_READ ? LEARN_READ : LEARN_WRITE);
		else if (ev->kind == TRACE_MUTEX_LOCK)
			out[i].site = learn_sites_number(sites, ev->pc, LEARN_LOCK);
	}
	return count;
}

/* The prediction of idiom 1, where the two are not in a fixed order. */
static void take_expected(struct lesson *l, struct iroot_profile *p, const struct unordered *u)
{
	struct iroot_profile_stats stats;
	uint32_t cursor = 0, flags;
	struct iroot r;

	iroot_profile_finish(p);
	while ((flags = iroot_profile_next(p, &cursor, &r))) {
		uint32_t first, second;

		if (r.idiom != 1 || !(flags & IROOT_PREDICTED) || r.event[0].access > IROOT_WRITE)
			continue;
		first = learn_sites_number(&l->sites, r.event[0].site,
					   r.event[0].access == IROOT_READ ? LEARN_READ : LEARN_WRITE);
		second = learn_sites_number(&l->sites, r.event[1].site,
					    r.event[1].access == IROOT_READ ? LEARN_READ : LEARN_WRITE);
		if (!unordered_have(u, first, second) || unordered_private(u, first) ||
		    unordered_private(u, second))
			continue;
		learn_pairs_add(&l->expected, first, second);
	}
	iroot_profile_stats(p, &stats);
	l->lost += stats.lost;
}

/* What to expect of other runs, while it is found out. In a probe, what is not for `apart` is NULL. */
struct expecting {
	void *memory;
	struct iroot_profile *profile;
	struct analysis_context ctx;
	struct track track;
	struct unordered *unordered;
	struct turns *turns;
	struct cancels *cancels;
};

static void expecting_open(struct expecting *e, struct lesson *l, const struct reader *trace,
			   unsigned granularity, bool probe)
{
	analysis_context_init(&e->ctx);
	e->ctx.reader = trace;
	track_init(&e->track, &e->ctx);
	l->apart = apart_new(granularity, e->ctx.locks);
	if (probe)
		return;
	l->inside = inside_new(granularity);
	e->memory = xcalloc(1, IROOT_MEMORY);
	/* Of two events of a thread none is near enough: only idiom 1 is wanted. */
	e->profile = iroot_profile_init(e->memory, IROOT_MEMORY, 0);
	e->unordered = unordered_new(e->ctx.locks);
	e->turns = turns_new();
	e->cancels = cancels_new();
}

/* Which places may follow which. */
static void expecting_order(struct expecting *e, struct lesson *l, const struct event *ev,
			    const struct learn_step *own, unsigned own_count, const struct view *view)
{
	uint32_t cancels = ev->kind == TRACE_THREAD_CANCEL ? learn_sites_number(&l->sites, ev->pc, LEARN_CANCEL) : 0;
	struct iroot_step steps[TRACE_STEPS];
	unsigned count = iroot_steps(ev, steps);

	for (unsigned i = 0; i < count; i++)
		iroot_profile_step(e->profile, &steps[i]);
	unordered_event(e->unordered, ev, own_count ? own[0].site : 0, view);
	cancels_event(e->cancels, ev, own, own_count, cancels);
	if (view && view->gone_size)
		turns_forget(e->turns, view->gone_addr, view->gone_size);
	for (unsigned i = 0; view && i < own_count; i++)
		turns_step(e->turns, &own[i], view);
}

static void expecting_event(struct expecting *e, struct lesson *l, const struct event *ev,
			    const struct learn_step *own, unsigned own_count)
{
	const struct view *view = track_before(&e->track, ev);

	if (e->profile)
		expecting_order(e, l, ev, own, own_count, view);
	if (!view)
		return;
	for (unsigned i = 0; i < own_count; i++)
		apart_step(l->apart, &own[i], view);
	track_after(&e->track, ev);
}

static void expecting_close(struct expecting *e)
{
	turns_free(e->turns);
	cancels_free(e->cancels);
	unordered_free(e->unordered);
	track_free(&e->track);
	analysis_context_free(&e->ctx);
	free(e->memory);
}

/* Controlled runs do not tell of memory's first accesses, those before another thread comes: so not who was first. */
static void take(struct lesson *l, struct expecting *e, const struct reader *trace)
{
	unsigned how = reader_info(trace)->header->flags & (TRACE_TOTAL_ORDER | TRACE_UNFILTERED);

	unordered_take(e->unordered, &l->meet, &l->races);
	if (how != TRACE_TOTAL_ORDER)
		unordered_take_order(e->unordered, &l->first, &l->after);
	turns_take(e->turns, &(struct turns_told){ &l->turns_seen, &l->turns_expected, &l->first, &l->after });
	cancels_take(e->cancels, &l->first, &l->after);
	take_expected(l, e->profile, e->unordered);
}

static void read_event(struct lesson *l, struct expecting *e, const struct event *ev, const struct learn_step *steps,
		       unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		avio_step(l->avio, &steps[i]);
		if (l->pset)
			pset_step(l->pset, &steps[i]);
		if (l->inside)
			inside_step(l->inside, &steps[i]);
	}
	if (l->inside && blocks(ev))
		inside_rest(l->inside, ev->thread);
	if (e)
		expecting_event(e, l, ev, steps, count);
}

/* What was at rest has no past. */
static void forget_line(struct lesson *l, struct expecting *e, uint64_t addr)
{
	struct learn_step fresh = { .op = IROOT_OP_FRESH, .addr = addr & ~(uint64_t)(SAMPLE_LINE - 1), .size = SAMPLE_LINE };
	struct iroot_step step = { .op = IROOT_OP_FRESH, .addr = fresh.addr, .size = fresh.size };

	avio_step(l->avio, &fresh);
	apart_step(l->apart, &fresh, NULL);
	if (!e->profile)
		return;
	pset_step(l->pset, &fresh);
	inside_step(l->inside, &fresh);
	unordered_forget(e->unordered, fresh.addr, fresh.size);
	iroot_profile_step(e->profile, &step);
}

static void read_sampled(struct lesson *l, struct expecting *e, struct sample *sample, const struct event *ev,
			 const struct learn_step *step)
{
	uint64_t addr = ev->addr, end = ev->addr + ev->size;
	struct sample_run run;

	while (sample_next(sample, step->site, &addr, end, &run)) {
		struct event part = *ev;
		struct learn_step own = *step;

		part.addr = own.addr = run.addr;
		own.size = run.size;
		part.size = (__typeof__(part.size))run.size;
		if (run.anew)
			forget_line(l, e, run.addr);
		read_event(l, e, &part, &own, 1);
	}
}

int lesson_read(struct lesson *l, struct reader *trace, unsigned granularity, enum lesson_depth depth,
		uint64_t seed, struct pause *pause, struct err *err)
{
	bool expect = depth != LESSON_BROKEN, probe = depth == LESSON_PROBE;
	struct expecting expecting = { 0 }, *e = expect ? &expecting : NULL;
	struct sample *sample = expect ? sample_new(seed) : NULL;
	uint64_t at = 0;
	struct event ev;
	int got;

	*l = (struct lesson){ .avio = avio_new(granularity), .pset = probe ? NULL : pset_new(granularity),
			      .seed = seed };
	if (expect)
		expecting_open(&expecting, l, trace, granularity, probe);
	pause_enter(pause);
	got = reader_rewind(trace, err) < 0 ? -1 : 1;
	while (got > 0 && (got = reader_next(trace, &ev, err)) > 0) {
		struct learn_step steps[TRACE_STEPS];
		unsigned count = lesson_steps(&l->sites, &ev, at++, steps);

		pause_check(pause);
		if (ev.kind == TRACE_FUNC_ENTRY)
			learn_sites_number(&l->sites, ev.pc, LEARN_FUNCTION);
		if (sample && is_plain(&ev)) {
			read_sampled(l, e, sample, &ev, steps);
			continue;
		}
		if (sample && count && steps[0].op == IROOT_OP_FRESH)
			sample_fresh(sample, steps[0].addr, steps[0].size);
		read_event(l, e, &ev, steps, count);
	}
	if (expect)
		apart_finish(l->apart);
	if (expecting.profile && got == 0)
		take(l, &expecting, trace);
	if (expect)
		expecting_close(&expecting);
	sample_free(sample);
	pause_leave(pause);
	return got;
}

static bool is_access(const struct learn_step *s)
{
	return s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE;
}

static void transaction_step(struct lesson *l, const struct learn_step *s, bool first_blocks)
{
	lifetx_step(l->lifetx, s, first_blocks);
	if (!is_access(s) || lifetx_watches(l->lifetx, s->site))
		locking_step(l->locking, s, lifetx_function(l->lifetx, s->thread));
}

/* Whether or not its memory is looked at, cuts and what comes after what are about all accesses. */
static void transaction_sampled(struct lesson *l, struct sample *sample, const struct learn_step *step)
{
	uint64_t addr = step->addr, end = step->addr + step->size;
	struct learn_step own = *step;
	struct sample_run run;
	bool any = false;

	while (sample_next(sample, step->site, &addr, end, &run)) {
		own.addr = run.addr;
		own.size = run.size;
		if (run.anew)
			lifetx_forget(l->lifetx, run.addr & ~(uint64_t)(SAMPLE_LINE - 1), SAMPLE_LINE);
		if (any)
			lifetx_touch(l->lifetx, &own);
		else
			transaction_step(l, &own, false);
		any = true;
	}
	own.size = 0;
	if (!any)
		transaction_step(l, &own, false);
}

static void transaction_event(struct lesson *l, struct sample *sample, const struct event *ev, uint64_t at)
{
	struct learn_step steps[TRACE_STEPS];
	unsigned count;

	if (ev->kind == TRACE_FUNC_ENTRY) {
		lifetx_enter(l->lifetx, ev->thread, learn_sites_number(&l->sites, ev->pc, LEARN_FUNCTION),
			     ev->addr);
	} else if (ev->kind == TRACE_FUNC_EXIT) {
		lifetx_exit(l->lifetx, ev->thread);
	} else if (ev->kind == TRACE_JUMP) {
		lifetx_jump(l->lifetx, ev->thread, ev->arg);
	} else {
		count = lesson_steps(&l->sites, ev, at, steps);
		if (is_plain(ev)) {
			transaction_sampled(l, sample, &steps[0]);
			return;
		}
		if (!count && blocks(ev))
			steps[count++] = (struct learn_step){ .thread = ev->thread, .op = IROOT_OP_NONE };
		if (count && steps[0].op == IROOT_OP_FRESH)
			sample_fresh(sample, steps[0].addr, steps[0].size);
		for (unsigned i = 0; i < count; i++)
			transaction_step(l, &steps[i], i == 0 && blocks(ev));
	}
}

int lesson_transactions(struct lesson *l, struct reader *trace, unsigned granularity, const uint8_t *cuts,
			struct err *err)
{
	struct sample *sample;
	uint64_t at = 0;
	struct event ev;
	int got;

	lifetx_free(l->lifetx);
	locking_free(l->locking);
	l->lifetx = lifetx_new(granularity);
	l->locking = locking_new();
	for (uint32_t i = 1; i < l->sites.count; i++)
		if (cuts[i])
			lifetx_set_cuts(l->lifetx, i, cuts[i]);
	for (size_t i = 0; i < l->meet.count; i++)
		lifetx_watch(l->lifetx, l->meet.items[i].first);
	if (reader_rewind(trace, err) < 0)
		return -1;
	sample = sample_new(l->seed);
	while ((got = reader_next(trace, &ev, err)) > 0)
		transaction_event(l, sample, &ev, at++);
	sample_free(sample);
	lifetx_finish(l->lifetx);
	return got;
}

void lesson_free(struct lesson *l)
{
	learn_sites_free(&l->sites);
	avio_free(l->avio);
	pset_free(l->pset);
	inside_free(l->inside);
	lifetx_free(l->lifetx);
	locking_free(l->locking);
	apart_free(l->apart);
	learn_pairs_free(&l->expected);
	learn_pairs_free(&l->meet);
	learn_pairs_free(&l->races);
	learn_pairs_free(&l->turns_seen);
	learn_pairs_free(&l->turns_expected);
	learn_pairs_free(&l->first);
	learn_pairs_free(&l->after);
	*l = (struct lesson){ 0 };
}
