/*
 * Candidates as hunt follows them: in terms of the running program (names of threads,
 * places, n-th times) and of its people, independent of the trace they come from.
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

struct lead_event {
	char *thread;		/* "0.2" */
	char *object;		/* "balance" */
	char *locks;		/* "lock, table_lock" held at it; "" if none */
};

/* What came of a run; a higher one says more. */
enum lead_outcome {
	LEAD_UNTRIED,
	LEAD_UNREACHED,		/* the run did not come to all events */
	LEAD_INFEASIBLE,	/* the order could not be kept */
	LEAD_HARMLESS,		/* it came about, and the run passed */
	LEAD_FAILED,		/* … or failed */
};

struct lead {
	struct candidate c;	/* its numbers of threads, locksets and stacks mean nothing any more */
	struct lead_event event[CANDIDATE_EVENTS];
	/*
	 * For the strategy goal: those of c with where to wait, then for who waits before a lock
	 * the event itself, so that the pattern is complete when all are met.
	 */
	struct sched_order order[2 * CANDIDATE_EVENTS];
	uint8_t orders;
	size_t number;		/* in the order found */
	double site_bonus;		/* what is known of its places, to be added to its score: leads_sort() */
	bool in_system_headers;		/* part of it happens in headers of the system */
	enum suppress_extent suppressed;	/* how much of it */
	size_t profile;		/* the watched run it comes from: leads.source when it was added */
	enum lead_outcome outcome;	/* the best of the runs that tried it */
	unsigned tries;		/* ways to prove it that were tried, each once */
	unsigned runs;		/* that tried it, alone or in a group */
	unsigned exposed;	/* … in which its order came about, without harm */
	bool grouped;		/* it was tried in a run with others */
	bool group_failed;		/* … which failed */
	bool guide_failed;		/* the watched run did not lead to where one has to wait */
	uint64_t prefix;	/* steps of the watched run up to there; 0: not known */
	struct sched_order order_after_prefix[2 * CANDIDATE_EVENTS];	/* … and its orders from there on */
};

struct leads {
	struct lead **at;
	size_t count, capacity;
	struct lead **suppressed;	/* not to be tried, but known if they explain a failure */
	size_t suppressed_count, suppressed_capacity;
	const struct suppressions *suppress;	/* set before the first trace is added; or NULL */
	const struct symbols *symbols;	/* of files that need not be read again for names; or NULL */
	uint64_t predicted;	/* by all traces, before pruning */
	uint64_t seen;		/* … of them, happened in a run that passed */
	uint64_t doubtful;	/* … and of those kept, seem impossible */
	size_t profile;		/* of those added next; the caller's */
	struct map known;	/* private */
};

void leads_free(struct leads *l);

/* Adds what a trace made under control predicts and is not there yet. -1 if it cannot be read. */
int leads_add_trace(struct leads *l, const char *path, struct err *err);

/*
 * Likely harmful first: by score, and by what is known of its places by now. Where a lead
 * failed, others may; where an order could be had, others can.
 */
void leads_sort(struct leads *l);

/* Only those stay of which `wanted` says so. */
void leads_keep(struct leads *l, bool (*wanted)(void *ctx, const struct lead *lead), void *ctx);

/*
 * The likeliest cause of a failure by its trace, and by what `l` knows from other runs;
 * NULL if nothing tells. Free it with lead_free().
 */
struct lead *leads_explain(const struct leads *l, const char *path, enum oracle_failure failure);

/* The same by the trace alone; *fitness is how well it fits. */
struct lead *lead_from_failure(const struct leads *l, const char *path, enum oracle_failure failure,
			     double *fitness);

/* The free and the use of a use after free by `user`; NULL if the trace of it does not tell. */
struct lead *lead_from_use_after_free(const struct leads *l, const char *path, const char *user,
			   const struct oracle_result *failure);

/* Copies of those that are wanted and whose orders a trace has, the best first, at most `most`. */
size_t leads_in_trace(const struct leads *l, const char *path, bool (*wanted)(const struct candidate *c),
		 struct lead **out, size_t most);

/* The same of what the trace of a failure itself shows, by how well they fit. */
size_t leads_from_failure(const struct leads *l, const char *path, enum oracle_failure failure,
			bool (*wanted)(const struct candidate *c), struct lead **out, size_t most);

/* Sets `order` from the candidate; false if an event has no name that holds in other runs. */
bool lead_plan(struct lead *lead);

/*
 * The same of the first times that its threads come to these places; false if it is that
 * already. *out borrows from `lead`.
 */
bool lead_first_iteration(const struct lead *lead, struct lead *out);

/*
 * The index (lead_trace.c) of each of its CANDIDATE_EVENTS in a trace of the program, or LEAD_NO_EVENT; a wait that
 * the thread is still in is not there. True if the trace has the orders of the lead, as far as it goes.
 */
#define LEAD_NO_EVENT UINT64_MAX
bool lead_locate(const struct lead *lead, const char *trace, uint64_t *index);

/* Does `is` hold for one of the orders that a trace has? The lead is good during the call only. */
bool leads_any_in_trace(const struct leads *l, const char *path,
		    bool (*is)(void *ctx, const struct lead *lead), void *ctx);

struct lead *lead_copy(const struct lead *lead);
void lead_free(struct lead *lead);

/* What happens in headers of the system counts less by this: the fault is seldom theirs. */
#define LEAD_SYSTEM_PENALTY 4

/* How well a candidate fits a failure, if so many of its orders came about; higher is better. */
double lead_fitness(const struct candidate *c, unsigned orders, enum oracle_failure failure);

/* "proved", "harmless", …; and in words what that means for this one. */
const char *lead_outcome_name(enum lead_outcome outcome);
const char *lead_outcome_text(const struct lead *lead);

/* "atomicity", "race", …: as in bug.json. */
const char *lead_class(const struct lead *lead);

/* The events that tell the story, in the order that does harm; returns how many. */
size_t lead_events(const struct lead *lead, uint8_t *out);

/* Its orders as the goals of a schedule; none if a place has no build-id to name it by. */
void lead_goals(const struct lead *lead, struct places *places, struct schedule *s);

#endif
