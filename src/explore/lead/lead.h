/*
 * Leads: candidates of the analyses as orders of events that a controlled run can be made to have.
 *
 * A candidate (analyze/candidate.h) names its events by their place in one trace. A lead names them
 * by thread path, site and n-th visit of the thread to the site. These names hold in every run of
 * the program, so that a lead can be tried, found again in other traces and written into a
 * schedule.
 *
 * Example: a lost update. The trace that predicts it has, each access inside lock m:
 *
 *	0.1 lock m   bank.c:30
 *	0.1 read x   bank.c:31   event 0
 *	0.1 lock m   bank.c:35   event 3
 *	0.1 write x  bank.c:36   event 2
 *	0.2 lock m   bank.c:50   event 4
 *	0.2 write x  bank.c:51   event 1
 *
 * Candidate: pattern RWW, events 0 to 2 are the accesses, order = { 0 before 1, 1 before 2 }. In
 * this trace 0.2 writes last, so the run passed. A thread cannot wait right before its write: it
 * would hold m, which the other thread needs. Hence hold[1] = 4 and hold[2] = 3, the lock
 * operations. The lead's orders, all of first visits (nth 1):
 *
 *	order[0]   0.1 at bank.c:31 before 0.2 at bank.c:50   0.2 waits before it takes m
 *	order[1]   0.2 at bank.c:51 before 0.1 at bank.c:35   0.1 waits before it takes m
 *	order[2]   0.1 at bank.c:31 before 0.2 at bank.c:51   first order of the candidate
 *	order[3]   0.2 at bank.c:51 before 0.1 at bank.c:36   second order of the candidate
 *
 * A run has the pattern when all four came about. lead_run.h prepares a run that tries a lead;
 * hunt/prove.c tries all leads.
 */
#ifndef EXPLORE_LEAD_LEAD_H
#define EXPLORE_LEAD_LEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/plan.h"
#include "analyze/candidate.h"
#include "analyze/suppress.h"
#include "base/err.h"
#include "base/map.h"
#include "explore/search/oracle.h"

/* Names of an event that hold in every run, and names for people. */
struct lead_event {
	char *thread;		/* path of its thread: "0.2" */
	char *object;		/* variable or lock that it accesses: "balance" */
	char *locks;		/* locks held at it: "lock, table_lock"; "" if none */
};

/* Outcome of a run that tried a lead. Of several runs the highest value counts. */
enum lead_outcome {
	LEAD_UNTRIED,
	LEAD_UNREACHED,		/* the run did not reach all events of the orders */
	LEAD_INFEASIBLE,	/* only held threads could run, so the run gave up an order */
	LEAD_HARMLESS,		/* all orders came about, and the run passed */
	LEAD_FAILED,		/* the orders came about, and the run failed: the lead is proved */
};

struct lead {
	/* Its ids of threads, locksets and stacks are those of a trace that is gone: do not use. */
	struct candidate c;
	struct lead_event event[CANDIDATE_EVENTS];	/* names of c.event */
	/*
	 * Orders for the strategy `goal`, as in the example at the top of this file. The first
	 * c.orders of them have as second event the point where its thread waits. For each that
	 * waits at a lock operation, one more order has the second event itself.
	 */
	struct sched_order order[2 * CANDIDATE_EVENTS];
	uint8_t orders;
	size_t number;		/* index in the order of addition */
	double site_bonus;	/* added to c.score for outcomes at its sites: leads_sort() */
	bool in_system_headers;	/* one of its events is in a system header */
	enum suppress_extent suppressed;	/* share of its events that suppressions cover */
	size_t profile;		/* index of the profile run that predicted it: leads.profile */
	enum lead_outcome outcome;	/* highest outcome of the runs that tried it */
	unsigned tries;		/* number of ways to prove it that were used, each once */
	unsigned runs;		/* number of runs that tried it, alone or in a group */
	unsigned exposed;	/* number of these runs that had its orders and passed */
	bool grouped;		/* some run tried it together with other leads */
	bool group_failed;	/* the last run that tried it did so in a group, and failed */
	bool guide_failed;	/* a run by the profile run's turns did not reach the first wait */
	uint64_t prefix;	/* steps of the profile run before the first wait; 0: unknown */
	/* `order` for a run that begins after `prefix` steps: n-th visits count from there. */
	struct sched_order order_after_prefix[2 * CANDIDATE_EVENTS];
};

struct leads {
	struct lead **at;	/* leads to be tried */
	size_t count, capacity;
	/* Leads with a suppressed event: not tried, but leads_explain() may name them. */
	struct lead **suppressed;
	size_t suppressed_count, suppressed_capacity;
	const struct suppressions *suppress;	/* set before the first trace is added; or NULL */
	const struct symbols *symbols;	/* debug information that is already loaded; or NULL */
	uint64_t predicted;	/* number of candidates of all traces, before pruning */
	uint64_t seen;		/* number of these that happened in a run that passed */
	uint64_t doubtful;	/* number of leads that seem impossible by the values read */
	const struct deadline *deadline;	/* of analyses, which it cuts short; or NULL */
	size_t cut;		/* number of traces whose analysis was cut short */
	size_t profile;		/* the caller sets it: `profile` of the leads added next */
	struct map known_orders;	/* private: hashes of the orders of all leads */
};

void leads_free(struct leads *l);

/*
 * Analyses the trace of a controlled run and adds a lead for each candidate whose orders name
 * other threads or sites than those of the leads in `l`. -1 if the trace cannot be read.
 */
int leads_add_trace(struct leads *l, const char *path, struct err *err);

/*
 * Sorts by score, likely harmful first. A lead gets a bonus if another lead with one of its sites
 * was proved (2), or had its order in a run (0.5): runs reach this site, and its order matters.
 */
void leads_sort(struct leads *l);

/* Removes and frees the leads for which `wanted` returns false. */
void leads_keep(struct leads *l, bool (*wanted)(void *ctx, const struct lead *lead), void *ctx);

/*
 * The likeliest cause of a failure with trace `path`: a copy of a lead of `l`, or an order that the
 * analyses find in this trace. NULL if there is none. Free it with lead_free().
 */
struct lead *leads_explain(const struct leads *l, const char *path, enum oracle_failure failure);

/*
 * The likeliest cause that the analyses find in the trace of a failure alone; NULL: none. *fitness
 * becomes its lead_fitness(), less the penalty for system headers.
 */
struct lead *lead_from_failure(const struct leads *l, const char *path, enum oracle_failure failure,
			       double *fitness);

/*
 * The order "free before use" behind a use after free by thread `user`. NULL if the trace does not
 * show the free, or if `user` freed the block itself.
 */
struct lead *lead_from_use_after_free(const struct leads *l, const char *path, const char *user,
				      const struct oracle_result *failure);

/*
 * Fills `out` with copies of up to `most` leads of which the trace has all orders and for which
 * `wanted` returns true, the best first. Returns how many.
 */
size_t leads_in_trace(const struct leads *l, const char *path,
		      bool (*wanted)(const struct candidate *c), struct lead **out, size_t most);

/*
 * Fills `out` with up to `most` orders that the analyses find in the trace of a failure and for
 * which `wanted` returns true, by decreasing lead_fitness(). Returns how many.
 */
size_t leads_from_failure(const struct leads *l, const char *path, enum oracle_failure failure,
			  bool (*wanted)(const struct candidate *c), struct lead **out,
			  size_t most);

/* Sets lead->order from the candidate; false if an event has no name that holds in other runs. */
bool lead_plan(struct lead *lead);

/*
 * Copies the lead with lower n-th visits: of each thread the smallest becomes 1, which means the
 * first iteration of a loop. False if that changes nothing. *out shares the names of `lead`.
 */
bool lead_first_iteration(const struct lead *lead, struct lead *out);

#define LEAD_NO_EVENT UINT64_MAX	/* the trace does not have the event */

/*
 * Finds the events of a lead in a trace. Sets index[CANDIDATE_EVENTS] to the index of each event
 * (lead_trace.c) or LEAD_NO_EVENT. A wait that did not return by the end of the trace counts as
 * LEAD_NO_EVENT. True if the trace has the orders of the lead, as far as the run went.
 */
bool lead_locate(const struct lead *lead, const char *trace, uint64_t *index);

/*
 * True if `is` returns true for one of the candidates that happened in a trace. The lead that `is`
 * gets is valid during the call only.
 */
bool leads_any_in_trace(const struct leads *l, const char *path,
		    bool (*is)(void *ctx, const struct lead *lead), void *ctx);

struct lead *lead_copy(const struct lead *lead);
void lead_free(struct lead *lead);

/* Subtracted from the fitness of orders in system headers: the fault is seldom there. */
#define LEAD_SYSTEM_PENALTY 4

/*
 * How well a candidate explains a failure of this kind; higher is better. `orders`: the number of
 * its orders that came about.
 */
double lead_fitness(const struct candidate *c, unsigned orders, enum oracle_failure failure);

/* The outcome as in JSON ("proved", "harmless", ...), and a sentence that says what it means. */
const char *lead_outcome_name(enum lead_outcome outcome);
const char *lead_outcome_text(const struct lead *lead);

/* The class as in bug.json: "atomicity", "race", ... */
const char *lead_class(const struct lead *lead);

/*
 * Fills `out` with the indexes of the events in the order that does harm. Leaves out lock
 * operations at which a thread only waits (candidate.hold). Returns how many.
 */
size_t lead_events(const struct lead *lead, uint8_t *out);

/*
 * Adds its orders to the goals of a schedule. If the module of a site has no build-id, the schedule
 * gets no goals at all.
 */
void lead_goals(const struct lead *lead, struct places *places, struct schedule *s);

#endif
