/*
 * Analyses: folds over the events of a trace.
 *
 * The driver reads the trace once for all of them and keeps, for each thread, what
 * they share (struct view): clocks, locks held, the block of code it is in. A
 * view is of the moment *before* the event takes effect for releases and *after*
 * it for acquisitions, so that the lockset of a lock event contains the lock.
 *
 * Adding one: a file with a `struct analysis`, a line in analysis.def, rows in pattern.def for
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

/* The event as candidates name it. */
static inline struct candidate_event view_event(const struct view *view, const struct event *ev)
{
	return (struct candidate_event){
		.thread = ev->thread, .kind = ev->kind, .index = view->index, .time = ev->time,
		.addr = ev->addr, .size = ev->size, .pc = ev->pc, .lockset = view->lockset,
		.stack = view->stack,
	};
}

/* Before a run. */
void analysis_context_init(struct analysis_context *ctx);
void analysis_context_free(struct analysis_context *ctx);

#define ANALYSIS_AHEAD 40u	/* events */

struct alone;

struct analysis {
	const char *name;	/* as typed after --analysis */
	const char *summary;	/* one line of --help */
	void *(*open)(const struct analysis_context *ctx);
	/*
	 * NULL, or is called before the first event, with what is alone, which stays until the end. It may
	 * read the trace, and leaves it at the first event.
	 */
	void (*look)(void *state, struct reader *trace, const struct alone *alone);
	void (*event)(void *state, const struct event *ev, const struct view *view,
		      struct findings *out);
	bool asks_alone;	/* view.alone is to be known; else it is false */
	bool skips_alone;	/* … and such accesses need not be told of */
	bool skips_settled;	/* view.settled is to be known, and neither of the two told of */
	bool asks_full;		/* view.full has the order that locks make; else it lacks that */
	/*
	 * NULL, or is told of each access ANALYSIS_AHEAD events before it comes, to ask the
	 * processor for memory that it will need. Nothing that is found may depend on it.
	 * Who skips what is settled is not told of it here either; of what is alone, who asks for
	 * that is not.
	 */
	void (*soon)(void *state, const struct event *ev);
	void (*finish)(void *state, struct findings *out);
	void (*close)(void *state);
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

/* The table; NULL ends it. */
extern const struct analysis *const analyses[ANALYSIS_COUNT + 1];
const struct analysis *analysis_find(const char *name);

struct analysis_stats {
	uint64_t events, accesses, threads;
	double seconds;
};

/*
 * Runs those in `which` (NULL-terminated; NULL: all) over the trace, then counts
 * the n-th of every event named by a candidate in a second pass, which also fills
 * in time, kind, address and size of events that have no time. -1 if the trace is
 * damaged; what was found until then is in `out`.
 */
int analysis_run(struct reader *trace, const struct analysis *const *which,
		 struct analysis_context *ctx, struct findings *out, struct analysis_stats *stats,
		 struct err *err);

#endif
