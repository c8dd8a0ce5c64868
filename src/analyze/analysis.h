/*
 * Analyses: folds over the events of a trace.
 *
 * The driver reads the trace once for all analyses. It passes each event with the state of the
 * event's thread (struct view): clocks, locks held, block of code, call stack. The view shows an
 * acquisition as done and a release as not yet done: in both cases the lockset has the lock.
 *
 * To add one: a file with a `struct analysis`, a line in analysis.def, rows in pattern.def for
 * what it finds, a paragraph in docs/analyze.md, tests with text traces.
 */
#ifndef ANALYZE_ANALYSIS_H
#define ANALYZE_ANALYSIS_H

#include "analyze/candidate.h"
#include "analyze/context/access.h"
#include "analyze/context/call_stacks.h"
#include "analyze/context/locksets.h"
#include "analyze/context/vclock.h"
#include "analyze/context/view.h"
#include "base/err.h"
#include "trace/read/reader.h"

/* The current event, as candidates name events. */
static inline struct candidate_event view_event(const struct view *view, const struct event *ev)
{
	return (struct candidate_event){
		.thread = ev->thread, .kind = ev->kind, .index = view->index, .time = ev->time,
		.addr = ev->addr, .size = ev->size, .pc = ev->pc, .lockset = view->lockset,
		.stack = view->stack,
	};
}

/* The context that analysis_run() and users of its findings share. */
void analysis_context_init(struct analysis_context *ctx);
void analysis_context_free(struct analysis_context *ctx);

#define ANALYSIS_AHEAD 40u	/* events from `soon` to `event` of an access: time to prefetch */

struct unshared;

struct analysis {
	const char *name;	/* as typed after --analysis */
	const char *summary;	/* one line of --help */
	/* Returns the state that the other functions get. */
	void *(*open)(const struct analysis_context *ctx);
	/*
	 * NULL, or called before the first event for a prescan over the trace, which has to leave
	 * it at the first event. The unshared memory stays valid until `close`.
	 */
	void (*prescan)(void *state, struct reader *trace, const struct unshared *unshared);
	/* Called for every event that is not skipped, in the order of the trace. */
	void (*event)(void *state, const struct event *ev, const struct view *view,
		      struct findings *out);
	/*
	 * Which accesses the analysis can do without. Skipping is left to the driver: it skips only
	 * plain accesses, and only those that all analyses of the run can do without.
	 */
	bool asks_unshared;	/* needs view.unshared, which is false otherwise */
	bool skips_unshared;	/* with asks_unshared: ignores accesses to unshared memory */
	bool skips_ordered;	/* ignores accesses to ordered memory; view.ordered says which */
	bool asks_full;		/* needs the order that locks make in view.full */
	/*
	 * NULL, or called for an access ANALYSIS_AHEAD events before `event`, to prefetch records
	 * of its memory. No finding may depend on it. It is not called for ordered memory with
	 * skips_ordered, nor for unshared memory with asks_unshared.
	 */
	void (*soon)(void *state, const struct event *ev);
	/* NULL, or called after the last event, also of a damaged trace. */
	void (*finish)(void *state, struct findings *out);
	void (*close)(void *state);	/* frees the state */
};

#define ANALYSIS(name) extern const struct analysis analysis_##name;
#include "analyze/analysis.def"
#undef ANALYSIS

enum {
#define ANALYSIS(name) ANALYSIS_NUMBER_##name,
#include "analyze/analysis.def"
#undef ANALYSIS
	ANALYSIS_COUNT
};

/* All analyses, in the order of analysis.def; NULL ends the table. */
extern const struct analysis *const analyses[ANALYSIS_COUNT + 1];
const struct analysis *analysis_find(const char *name);	/* NULL: no such analysis */

/* The enum analysis_prescan of a name: unshared, ordered. 0: there is none. */
unsigned analysis_prescan_find(const char *name, size_t length);

struct analysis_stats {
	uint64_t events, accesses, threads;	/* in the trace */
	uint64_t dropped[ANALYSIS_COUNT];	/* findings_dropped() by number of the analysis */
	double seconds;		/* of wall-clock time that the analyses took */
	bool cut;		/* ctx->deadline ended them before the end of the trace */
};

/*
 * Runs the analyses in `which` (NULL-terminated; NULL: all) over the trace and adds candidates to
 * `out`. A second pass fills candidate_event.nth of every event that a candidate names, and time,
 * kind, address and size of those that have no time. `stats` may be NULL. -1: the trace is damaged;
 * `out` has what was found before the damage.
 */
int analysis_run(struct reader *trace, const struct analysis *const *which,
		 struct analysis_context *ctx, struct findings *out, struct analysis_stats *stats,
		 struct err *err);

#endif
