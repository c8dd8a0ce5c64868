/*
 * The table of analyses, and the driver: one pass for all of them, a second one
 * to number the events that candidates name.
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

static int first_pass(struct reader *trace, const struct alone *alone,
		      const struct analysis *const *which, void **states, struct track *track,
		      struct findings *out, struct analysis_stats *stats, struct err *err)
{
	const struct lookahead_mark *mark;
	const struct event *ev;
	const struct view *view;
	struct lookahead ahead;
	int got = 0;

	lookahead_open(&ahead, trace, alone, which, states);
	while ((ev = lookahead_next(&ahead, trace, &mark))) {
		if (mark->skipped)
			track_pass(track, ev->thread, mark->skipped);
		view = track_view(track, ev);
		if (!view) {
			got = err_set(err, "thread %u: more threads than can be analysed (%u)",
				      ev->thread, TRACK_MAX_THREADS);
			break;
		}
		track->view.alone = mark->unshared;
		track->view.settled = mark->ordered;
		for (size_t i = 0; which[i]; i++)
			which[i]->event(states[i], ev, view, out);
		track_done(track, ev);
	}
	lookahead_count(&ahead, stats);
	lookahead_close(&ahead);
	return ahead.got < 0 ? err_set(err, "%s", ahead.err.text) : got;
}

/* The events of candidates, by thread and pc, are counted from the start of the trace. */
struct counting {
	struct map at;		/* hash of (thread, pc) to number in `counts`, plus 1 */
	uint64_t *counts;
	size_t count, capacity;
	struct map wanted;	/* (thread, index) to number in `events`, plus 1 */
	struct candidate_event *events;
	size_t event_count, event_capacity, left;
	uint64_t *indexes;	/* by thread */
	size_t threads;
	uint64_t sites[READER_SITES];	/* bits by pc: most events are of no candidate */
	struct flow *flow;	/* NULL: nobody asks */
	uint64_t flow_end;	/* the last time that it is asked for */
	struct vclock *seen;	/* of each in `events`, right before it */
};

#define SEEN_MOST 65536u	/* events of candidates; of more, what was read is not looked at */
#define SOME 64u		/* events that are read at once */

/* Ids are below 2^20, threads have less than 2^44 events. */
static uint64_t index_key(uint32_t thread, uint64_t index)
{
	return (uint64_t)thread << 44 | index;
}

/* Not unique, but two pcs of one program that collide are not to be met. */
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

static void counting_see(struct counting *c, const struct event *ev, uint64_t index)
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

static void counting_tell(const struct counting *c, struct candidate_event *e)
{
	const uint64_t *number = map_find(&c->wanted, index_key(e->thread, e->index));
	const struct candidate_event *seen = &c->events[*number - 1];

	e->nth = seen->nth;
	if (access_of(seen->kind) & ACCESS_ATOMIC)
		e->kind = seen->kind;	/* of a lock made of it: as the program says it */
	if (e->time == 0 && seen->nth > 0) {
		e->time = seen->time;
		e->kind = seen->kind;
		e->addr = seen->addr;
		e->size = seen->size;
	}
}

/*
 * The last time until which what was read can tell something of the candidate: only an order
 * that the trace does not have can be forbidden by it. 0: at none.
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

/* What was read on the way to its events seems to forbid it: as race_predict.c says of races. */
static void counting_doubt(const struct counting *c, struct candidate *k)
{
	const struct vclock *seen[CANDIDATE_EVENTS];

	for (uint8_t e = 0; e < k->events; e++) {
		const uint64_t *number = map_find(&c->wanted, index_key(k->event[e].thread, k->event[e].index));

		seen[e] = &c->seen[*number - 1];
	}
	k->doubtful = flow_forbids(k, seen);
}

static inline void second_look(struct counting *c, struct event *ev, const struct alone *alone, bool total,
			       uint64_t position)
{
	uint64_t index = ev->thread < c->threads ? c->indexes[ev->thread]++ : 0;

	if (total)
		ev->time = position;
	if (ev->thread < c->threads)
		counting_see(c, ev, index);
	/* Nobody sees what another wrote there. */
	if (c->flow && position < c->flow_end && !(alone && access_of(ev->kind) && alone_has(alone, ev)))
		flow_event(c->flow, ev, index);
}

/* Plain accesses at other sites than candidates name are only counted, unless somebody asks who read what. */
static int second_read(struct counting *c, struct reader *trace, const struct alone *alone, struct err *err)
{
	struct reader_wanted wanted = { .sites = c->sites };
	bool total = lookahead_is_total(trace);
	uint64_t position = 0, count;
	struct event some[SOME];
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
		got = reader_some(trace, some, SOME, all ? NULL : &wanted, err);
		for (int i = 0; i < got && c->left > 0; i++)
			second_look(c, &some[i], alone, total, ++position);
	}
	return got;
}

/* Ends with the last event that is asked for: mostly they are the first of their kind. */
static int second_pass(struct reader *trace, const struct alone *alone, struct findings *out,
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
	/* Where the order is not total, who read what is a guess. */
	if (c->flow_end && lookahead_is_total(trace) && c->event_count <= SEEN_MOST) {
		c->flow = flow_new();
		c->seen = xcalloc(c->event_count, sizeof(*c->seen));
	}
	c->indexes = xcalloc(c->threads + 1, sizeof(*c->indexes));
	c->left = c->event_count;
	got = second_read(c, trace, alone, err);
	for (size_t i = 0; i < findings_count(out); i++) {
		for (uint8_t e = 0; e < findings_at(out, i)->events; e++)
			counting_tell(c, &findings_at(out, i)->event[e]);
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
	return got < 0 ? got : 0;
}

/* What the set holds, for those who have only the candidate. */
static void count_locks(const struct analysis_context *ctx, struct findings *out)
{
	for (size_t i = 0; i < findings_count(out); i++)
		for (uint8_t e = 0; e < findings_at(out, i)->events; e++) {
			struct candidate_event *event = &findings_at(out, i)->event[e];

			event->lockset_size = (uint16_t)locks_count(ctx->locks, event->lockset);
		}
}

int analysis_run(struct reader *trace, const struct analysis *const *which,
		 struct analysis_context *ctx, struct findings *out, struct analysis_stats *stats,
		 struct err *err)
{
	struct analysis_stats unused;
	double start = clock_seconds();
	bool asks_alone = false, asks_settled = false, looks = false;
	struct alone *alone;
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
	if (reader_rewind(trace, err) < 0)
		return -1;
	states = xcalloc(count + 1, sizeof(*states));
	track_init(&track, ctx);
	track.no_full = true;
	for (size_t i = 0; i < count; i++) {
		states[i] = which[i]->open(ctx);
		asks_alone |= which[i]->asks_alone;
		asks_settled |= which[i]->skips_settled;
		looks |= which[i]->look != NULL;
		track.no_full &= !which[i]->asks_full;
	}
	alone = asks_alone || asks_settled || looks ? alone_new(trace) : NULL;
	for (size_t i = 0; i < count; i++)
		if (which[i]->look)
			which[i]->look(states[i], trace, alone);
	if (asks_settled)
		handed_look(alone, trace);
	got = first_pass(trace, asks_alone || asks_settled ? alone : NULL, which, states, &track, out, stats, err);
	for (size_t i = 0; i < count; i++) {
		which[i]->finish(states[i], out);
		which[i]->close(states[i]);
	}
	free(states);
	track_free(&track);
	count_locks(ctx, out);
	again = second_pass(trace, alone, out, got < 0 ? NULL : err);
	alone_free(alone);
	stats->threads = reader_info(trace)->thread_count;
	stats->seconds = clock_seconds() - start;
	return got < 0 ? got : again;
}
