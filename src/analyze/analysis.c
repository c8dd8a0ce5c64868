/*
 * The table of analyses and the driver. Prescanes find irrelevant memory (analyze/relevance), a
 * first pass runs all analyses together, and a second pass numbers the events of candidates.
 */
#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/context/track.h"
#include "analyze/relevance/lookahead.h"
#include "analyze/relevance/ordered.h"
#include "analyze/relevance/unshared.h"
#include "analyze/value_flow.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "trace/read/kinds.h"

const struct analysis *const analyses[ANALYSIS_COUNT + 1] = {
#define ANALYSIS(name) &analysis_##name,
#include "analyze/analysis.def"
#undef ANALYSIS
	NULL,
};

const struct analysis *analysis_find(const char *name)
{
	for (size_t i = 0; analyses[i]; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}

unsigned analysis_prescan_find(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum analysis_prescan prescan;
	} table[] = { { "unshared", PRESCAN_UNSHARED }, { "ordered", PRESCAN_ORDERED } };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0)
			return table[i].prescan;
	return 0;
}

void analysis_context_init(struct analysis_context *ctx)
{
	*ctx = (struct analysis_context){ .locks = locks_new(), .stacks = stacks_new() };
}

void analysis_context_free(struct analysis_context *ctx)
{
	locks_free(ctx->locks);
	stacks_free(ctx->stacks);
	*ctx = (struct analysis_context){ 0 };
}

#define OPENMP_LIBRARIES 4u	/* a program has one or two */

/* The code of OpenMP libraries. */
struct openmp_code {
	uint64_t start[OPENMP_LIBRARIES], end[OPENMP_LIBRARIES];
	size_t count;
};

static void openmp_find(struct openmp_code *code, const struct reader *trace)
{
	static const char *const names[] = { "libgomp.", "libomp.", "libomp-", "libiomp5." };
	const struct reader_info *info = reader_info(trace);

	code->count = 0;
	for (size_t i = 0; i < info->module_count && code->count < OPENMP_LIBRARIES; i++) {
		const struct reader_module *m = &info->modules[i];
		const char *slash = strrchr(m->path, '/');

		for (size_t j = 0; slash && j < ARRAY_SIZE(names); j++) {
			if (strncmp(slash + 1, names[j], strlen(names[j])) != 0)
				continue;
			code->start[code->count] = m->start;
			code->end[code->count++] = m->end;
			break;
		}
	}
}

/*
 * Is this the library's own business? Its locks, and its accesses by memset and the like, are not
 * the program's; the order that it makes is in other events.
 */
static bool openmp_own(const struct openmp_code *code, const struct event *ev)
{
	enum trace_class class = kind_class(ev->kind);

	for (size_t i = 0; i < code->count; i++)
		if (ev->pc >= code->start[i] && ev->pc < code->end[i])
			return class == TRACE_CLASS_ACCESS || class == TRACE_CLASS_MUTEX ||
			       class == TRACE_CLASS_COND || class == TRACE_CLASS_SYSTEM;
	return false;
}

static int first_pass(struct reader *trace, const struct unshared *unshared,
		      const struct analysis *const *which, void **states, struct track *track,
		      struct findings *out, struct analysis_stats *stats, struct err *err)
{
	const struct lookahead_mark *mark;
	const struct event *ev;
	const struct view *view;
	struct lookahead ahead;
	struct openmp_code openmp;
	int got = 0;

	openmp_find(&openmp, trace);
	lookahead_open(&ahead, trace, unshared, which, states);
	while ((ev = lookahead_next(&ahead, trace, &mark))) {
		if (mark->skipped)
			track_skip(track, ev->thread, mark->skipped);
		view = track_view(track, ev);
		if (!view) {
			got = err_set(err, "thread %u: more threads than can be analysed (%u)",
				      ev->thread, TRACK_MAX_THREADS);
			break;
		}
		track->view.unshared = mark->unshared;
		track->view.ordered = mark->ordered;
		for (size_t i = 0; which[i] && !openmp_own(&openmp, ev); i++)
			which[i]->event(states[i], ev, view, out);
		track_done(track, ev);
	}
	lookahead_count(&ahead, stats);
	lookahead_close(&ahead);
	/* What was found until the time was up counts. */
	stats->cut = reader_is_late(trace);
	return ahead.got < 0 && !stats->cut ? err_set(err, "%s", ahead.err.text) : got;
}

#define MAX_FLOW_EVENTS 65536u	/* events of candidates; with more, value flow is not followed */
#define BATCH 64u		/* events per call of the reader */

/* State of the second pass, which counts events by thread and pc from the start of the trace. */
struct counting {
	struct map at;		/* pc_key() to index in `counts`, plus 1 */
	uint64_t *counts;	/* events so far of a thread at a pc */
	size_t count, capacity;
	struct map wanted;	/* index_key() to index in `events`, plus 1 */
	struct candidate_event *events;	/* that candidates name */
	size_t event_count, event_capacity;
	size_t left;		/* number of `events` that the pass has not reached yet */
	uint64_t *indexes;	/* by thread: index of its next event */
	size_t threads;		/* length of `indexes` */
	uint64_t sites[READER_SITES];	/* bits by reader_site(): a filter for `at` */
	struct flow *flow;	/* NULL: no candidate needs it */
	uint64_t flow_end;	/* position in the trace of the last event that needs `flow` */
	struct vclock *seen;	/* flow_seen() right before each of `events` */
};

/* Thread ids are below 2^20, and no thread has 2^44 events. */
static uint64_t index_key(uint32_t thread, uint64_t index)
{
	return (uint64_t)thread << 44 | index;
}

/* A hash of 64 bits: collisions between pcs of one program are too unlikely to handle. */
static uint64_t pc_key(uint32_t thread, uint64_t pc)
{
	return hash_scatter(hash_spread(pc) + thread);
}

static void counting_want(struct counting *c, const struct candidate_event *e)
{
	bool added;
	uint64_t *number = map_put(&c->at, pc_key(e->thread, e->pc), &added);

	if (added) {
		c->counts = xgrow(c->counts, c->count, &c->capacity, sizeof(*c->counts));
		c->counts[c->count++] = 0;
		*number = c->count;
	}
	number = map_put(&c->wanted, index_key(e->thread, e->index), &added);
	if (added) {
		c->events = xgrow(c->events, c->event_count, &c->event_capacity,
				  sizeof(*c->events));
		c->events[c->event_count++] = *e;
		*number = c->event_count;
	}
	c->sites[reader_site(e->pc) / 64] |= 1ull << reader_site(e->pc) % 64;
	if (e->thread >= c->threads)
		c->threads = e->thread + 1;
}

static void counting_event(struct counting *c, const struct event *ev, uint64_t index)
{
	struct candidate_event *e;
	const uint64_t *number;
	uint64_t nth;

	if (!reader_has_site(c->sites, ev->pc))
		return;
	number = map_find(&c->at, pc_key(ev->thread, ev->pc));
	if (!number)
		return;
	c->counts[*number - 1]++;
	nth = c->counts[*number - 1];
	number = map_find(&c->wanted, index_key(ev->thread, index));
	if (!number)
		return;
	e = &c->events[*number - 1];
	if (c->flow)
		vclock_copy(&c->seen[*number - 1], flow_seen(c->flow, ev->thread));
	e->nth = nth;
	e->time = ev->time;
	e->kind = ev->kind;
	e->addr = ev->addr;
	e->size = ev->size;
	c->left--;
}

static void counting_fill(const struct counting *c, struct candidate_event *e)
{
	const uint64_t *number = map_find(&c->wanted, index_key(e->thread, e->index));
	const struct candidate_event *seen = &c->events[*number - 1];

	e->nth = seen->nth;
	if (access_of(seen->kind) & ACCESS_ATOMIC)
		e->kind = seen->kind;	/* undoes the translation of spin_locks.h */
	if (e->time == 0 && seen->nth > 0) {
		e->time = seen->time;
		e->kind = seen->kind;
		e->addr = seen->addr;
		e->size = seen->size;
	}
}

/*
 * The position up to which value flow can show that the candidate is doubtful; 0: it cannot. Only
 * an order that the trace does not have can be doubtful.
 */
static uint64_t doubt_end(const struct candidate *k)
{
	uint64_t end = 0;

	for (uint8_t i = 0; i < k->orders && candidate_breaks_atomicity(k); i++) {
		const struct candidate_event *first = &k->event[k->order[i].first];
		const struct candidate_event *second = &k->event[k->order[i].second];

		if (!first->time)
			return UINT64_MAX;
		if (second->time < first->time && first->time > end)
			end = first->time;
	}
	return end;
}

/* Marks an atomicity candidate as doubtful if values read on the way to its events forbid it. */
static void counting_doubt(const struct counting *c, struct candidate *k)
{
	const struct vclock *seen[CANDIDATE_EVENTS];

	for (uint8_t e = 0; e < k->events; e++) {
		uint64_t key = index_key(k->event[e].thread, k->event[e].index);
		const uint64_t *number = map_find(&c->wanted, key);

		seen[e] = &c->seen[*number - 1];
	}
	k->doubtful = flow_forbids(k, seen);
}

static inline void second_event(struct counting *c, struct event *ev,
				const struct unshared *unshared, bool total, uint64_t position)
{
	uint64_t index = ev->thread < c->threads ? c->indexes[ev->thread]++ : 0;

	if (total)
		ev->time = position;
	if (ev->thread < c->threads)
		counting_event(c, ev, index);
	/* Values do not flow between threads through unshared memory. */
	if (c->flow && position < c->flow_end &&
	    !(unshared && access_of(ev->kind) && unshared_has(unshared, ev)))
		flow_event(c->flow, ev, index);
}

/*
 * Reads the trace up to the last event that a candidate names. Plain accesses at other sites are
 * counted without being decoded, except as long as value flow needs them.
 */
static int second_read(struct counting *c, struct reader *trace, const struct unshared *unshared,
		       struct err *err)
{
	struct reader_wanted wanted = { .sites = c->sites };
	bool total = lookahead_is_total(trace);
	uint64_t position = 0, count;
	struct event batch[BATCH];
	uint32_t thread;
	int got = c->left > 0 ? 1 : 0;

	if (got && reader_rewind(trace, err) < 0)
		return -1;
	while (c->left > 0 && got > 0) {
		bool all = c->flow && position < c->flow_end;

		while (!all && (count = reader_pass(trace, &wanted, UINT64_MAX, &thread)) > 0) {
			position += count;
			if (thread < c->threads)
				c->indexes[thread] += count;
		}
		got = reader_some(trace, batch, BATCH, all ? NULL : &wanted, err);
		for (int i = 0; i < got && c->left > 0; i++)
			second_event(c, &batch[i], unshared, total, ++position);
	}
	return got;
}

/*
 * Numbers the events of all candidates. It often ends early, because most candidates name events
 * near the first occurrence of their sites.
 */
static int second_pass(struct reader *trace, const struct unshared *unshared, struct findings *out,
		       struct err *err)
{
	struct counting *c = xcalloc(1, sizeof(*c));
	int got;

	for (size_t i = 0; i < findings_count(out); i++) {
		uint64_t end = doubt_end(findings_at(out, i));

		c->flow_end = end > c->flow_end ? end : c->flow_end;
		for (uint8_t e = 0; e < findings_at(out, i)->events; e++)
			counting_want(c, &findings_at(out, i)->event[e]);
	}
	/* Without a total order it is not known which write a read got its value from. */
	if (c->flow_end && lookahead_is_total(trace) && c->event_count <= MAX_FLOW_EVENTS) {
		c->flow = flow_new();
		c->seen = xcalloc(c->event_count, sizeof(*c->seen));
	}
	c->indexes = xcalloc(c->threads + 1, sizeof(*c->indexes));
	c->left = c->event_count;
	got = second_read(c, trace, unshared, err);
	for (size_t i = 0; i < findings_count(out); i++) {
		for (uint8_t e = 0; e < findings_at(out, i)->events; e++)
			counting_fill(c, &findings_at(out, i)->event[e]);
		if (c->flow && candidate_breaks_atomicity(findings_at(out, i)))
			counting_doubt(c, findings_at(out, i));
	}
	for (size_t i = 0; c->flow && i < c->event_count; i++)
		vclock_free(&c->seen[i]);
	if (c->flow)
		flow_free(c->flow);
	free(c->seen);
	map_free(&c->at);
	map_free(&c->wanted);
	free(c->counts);
	free(c->events);
	free(c->indexes);
	free(c);
	return got < 0 && !reader_is_late(trace) ? got : 0;
}

/* Sets lockset_size for users of candidates that have no table of locksets. */
static void count_locks(const struct analysis_context *ctx, struct findings *out)
{
	for (size_t i = 0; i < findings_count(out); i++)
		for (uint8_t e = 0; e < findings_at(out, i)->events; e++) {
			struct candidate_event *event = &findings_at(out, i)->event[e];

			event->lockset_size = (uint16_t)locks_count(ctx->locks, event->lockset);
		}
}

static void finish(const struct analysis *a, void *state, struct findings *out,
		   struct analysis_stats *stats)
{
	uint64_t before = findings_dropped_count(out);

	a->finish(state, out);
	for (size_t i = 0; analyses[i]; i++)
		if (analyses[i] == a)
			stats->dropped[i] += findings_dropped_count(out) - before;
}

#define FIRST_SHARE 0.7	/* of the time: for the first pass, the rest is for the second one */

int analysis_run(struct reader *trace, const struct analysis *const *which,
		 struct analysis_context *ctx, struct findings *out, struct analysis_stats *stats,
		 struct err *err)
{
	struct analysis_stats unused;
	double start = clock_seconds();
	bool asks_unshared = false, asks_ordered = false, has_prescan = false, skips;
	struct deadline early = { 0 };
	struct unshared *unshared;
	struct track track;
	size_t count = 0;
	void **states;
	int got, again;

	if (!stats)
		stats = &unused;
	*stats = (struct analysis_stats){ 0 };
	if (!which)
		which = analyses;
	while (which[count])
		count++;
	ctx->reader = trace;
	reader_leave_out_values(trace);
	if (ctx->deadline) {
		early = deadline_share(ctx->deadline, FIRST_SHARE);
		reader_until(trace, &early);
	}
	if (reader_rewind(trace, err) < 0)
		return -1;
	states = xcalloc(count + 1, sizeof(*states));
	track_init(&track, ctx);
	track.no_full = true;
	for (size_t i = 0; i < count; i++) {
		states[i] = which[i]->open(ctx);
		asks_unshared |= which[i]->asks_unshared;
		asks_ordered |= which[i]->skips_ordered;
		has_prescan |= which[i]->prescan != NULL;
		track.no_full &= !which[i]->asks_full;
	}
	unshared = asks_unshared || asks_ordered || has_prescan ? unshared_new(trace) : NULL;
	for (size_t i = 0; i < count; i++)
		if (which[i]->prescan)
			which[i]->prescan(states[i], trace, unshared);
	if (asks_ordered && !(ctx->without & PRESCAN_ORDERED))
		ordered_prescan(unshared, trace);
	skips = (asks_unshared || asks_ordered) && !(ctx->without & PRESCAN_UNSHARED);
	got = first_pass(trace, skips ? unshared : NULL, which, states, &track, out, stats, err);
	for (size_t i = 0; i < count; i++) {
		if (which[i]->finish)
			finish(which[i], states[i], out, stats);
		which[i]->close(states[i]);
	}
	free(states);
	track_free(&track);
	count_locks(ctx, out);
	if (ctx->deadline)
		reader_until(trace, ctx->deadline);
	again = second_pass(trace, skips ? unshared : NULL, out, got < 0 ? NULL : err);
	unshared_free(unshared);
	stats->threads = reader_info(trace)->thread_count;
	stats->seconds = clock_seconds() - start;
	return got < 0 ? got : again;
}
