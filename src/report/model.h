/*
 * Results as plain structs, for all who show them: a folder that snarl hunt or test
 * wrote, or one bug of it, with what the trace tells of the moments that matter.
 *
 * Whatever is missing in the files is NULL or 0 here, and `notes` says what a reader
 * should know about it. Text comes from the program as it is: whoever shows it escapes it.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "report/pool.h"
#include "symbol/symbol.h"

#define REPORT_NONE ((size_t)-1)
#define REPORT_COLOURS 8u

struct report_place {
	const char *function, *file;	/* NULL: unknown */
	unsigned line;			/* 0: unknown */
	const char *source;		/* that line, without blanks around it; NULL: not to be had */
	const char *path;		/* where the file was found; NULL: nowhere */
};

/* An event as bug.json names it. */
struct report_site {
	const char *thread;	/* NULL: unknown */
	const char *op;		/* a kind of event, or "assert", "use", "crash", "wait", … */
	const char *object, *locks, *value;	/* NULL: unknown */
	const char *shown;	/* what to call the object, or NULL: by its name */
	struct report_place at;
	bool cause;		/* of the order that does harm; else of the failure itself */
	uint64_t index, passing_index;	/* which event of the trace it is (events.h), or REPORT_NONE; of passing.snarl */
	bool pending;		/* its thread waits in it for ever, or failed by it: there is no event */
	size_t step;		/* where it is in the picture, or REPORT_NONE */
};

enum report_role {
	REPORT_CONTEXT,
	REPORT_CAUSE,
	REPORT_FAILURE,		/* here it failed, or stands for ever */
};

/* A row of the picture. */
struct report_step {
	size_t thread;		/* index in `threads` */
	const char *op;
	enum report_role role;
	unsigned number;	/* of the cause's events, in the order of the run from 1; 0: none of them */
	unsigned rank;		/* the same in the order of bug.json */
	bool pending;		/* did not happen: a failure stands here, others the run never came to */
	struct report_place at;
	const char *object, *locks, *value;	/* NULL: none, unknown */
	struct report_place *stack;	/* its own place and its callers, innermost first; cause and failure only */
	size_t stack_count;
	uint64_t skipped;	/* events between the row before and this one, calls and returns left out */
	uint64_t ordinal;	/* place among the events of the trace */
	uint64_t event;		/* … from 1, calls and returns left out; 0: not of the trace */
	uint64_t addr;		/* 0: unknown */
	uint64_t size;
	bool writes;
};

struct report_thread {
	const char *name;
	const char *function;	/* that it began in; NULL: unknown */
};

/* A lock that a thread held from one row to another, both included. */
struct report_bar {
	size_t thread, from, to;
	const char *lock;
	bool open;		/* it was never released */
};

enum report_arrow_kind {
	REPORT_CONFLICT,	/* two accesses to the same memory */
	REPORT_HANDOVER,	/* released by one, taken by the other */
	REPORT_WAIT,		/* from who waits to who has it */
};

struct report_arrow {
	enum report_arrow_kind kind;
	size_t from, to;	/* rows */
};

struct report_object {
	const char *name;	/* as in steps */
	const char *text;	/* what it is, where it comes from */
};

struct report_turn {
	const char *thread;
	const char *what;	/* "12 steps", "time-out", … */
};

struct report_turns {
	struct report_turn *at;
	size_t count;
};

/* One of the orders that were proved to do harm. */
struct report_interleaving {
	const char *pattern, *schedule;
	struct report_site *events;
	size_t count;
};

/* A failure that has the same cause. */
struct report_shown {
	const char *text, *schedule;	/* text: several lines */
};

struct report_bug {
	struct pool pool;	/* has all text below */
	struct json_t *json;	/* bug.json as it is, of jansson */
	const char *path;	/* its folder */
	const char *id, *class, *pattern, *failure, *text, *variable, *cause, *strategy;
	const char *program, *command;	/* the executable; as it was called */
	uint64_t runs_to_first, seed, length, switches;	/* length: steps of the run */
	bool has_switches;
	uint64_t replays, good;
	bool current;		/* in results.json, too */
	bool known;		/* in the baseline that the hunt was given */

	struct report_site *sites;
	size_t site_count;
	bool identified;	/* bug.json says which events of its traces the sites are */
	struct report_interleaving *interleavings;
	size_t interleaving_count;

	struct report_shown *shown;	/* the ways it shows, this one among them */
	size_t shown_count;

	struct report_thread *threads;
	size_t thread_count, thread_capacity;
	struct report_step *steps;
	size_t step_count, step_capacity;
	struct report_bar *bars;
	size_t bar_count, bar_capacity;
	struct report_arrow *arrows;
	size_t arrow_count, arrow_capacity;
	struct report_object *objects;
	size_t object_count, object_capacity;

	struct report_turns failing, passing;	/* passing: of the nearest run that passed */
	size_t first_difference;		/* between the two, or REPORT_NONE */
	const char *passing_schedule;		/* its file; NULL: none */
	struct report_bug *beside;		/* threads and steps of that run; NULL: unknown */
	uint64_t parts_at;			/* number of the first event in which it differs; 0: unknown */
	struct report_site parts_failing, parts_passing;	/* … in this run, in that one; op NULL: it had ended */
	const char *output, *errors;		/* what the run printed; NULL: nothing */

	const char **notes;
	size_t note_count, note_capacity;
};

struct report {
	struct pool pool;
	struct json_t *json;		/* results.json; NULL: none, or one bug was asked for */
	const char *path;
	bool single;		/* `path` is a bug's folder */
	const char *program, *command;	/* command: as it was called; NULL: unknown */
	struct report_bug *bugs;	/* by their numbers */
	size_t bug_count, bug_capacity;
};

/*
 * `path` is a folder of results or of one bug. A bug that cannot be read is an error
 * that names the file. Without `whole`, what only bug.json and results.json say. `known`
 * has files that need not be read again (symbols_share()), or is NULL. Close it in any case.
 */
int report_open(struct report *r, const char *path, bool whole, const struct symbols *known,
		struct err *err);
void report_close(struct report *r);

/* Is it of the hunt that results.json tells of? Others are left from earlier ones. */
bool report_is_current(const struct report *r, const struct report_bug *b);

/* A number for its colour, below REPORT_COLOURS; main has a colour of its own. */
size_t report_colour(const struct report_bug *b, size_t thread);

/* The index of a thread; 0 if there is none of that name. */
size_t report_find_thread(const struct report_bug *b, const char *name);

/* The index of a thread, which is added if it is new. */
size_t report_thread(struct report_bug *b, const char *name);
void report_note(struct report_bug *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For what makes steps; the first is all zero and good until the next one. */
struct report_step *report_add_step(struct report_bug *b);
void report_add_arrow(struct report_bug *b, enum report_arrow_kind kind, size_t from, size_t to);

/* After the steps of the trace, if there is one: those it does not have, numbers and arrows. */
void report_link_steps(struct report_bug *b, bool traced);

/* The same for the run beside it: numbers are those of the failing one. */
void report_link_passing(const struct report_bug *b, struct report_bug *beside);

/* An event of bug.json; NULL: all zero. */
void report_read_site(struct report_bug *b, struct json_t *from, struct report_site *out);

/* The words of a command as typed, of a list of JSON; NULL if there are none. */
const char *report_command(struct pool *p, const struct json_t *list);

/* The parts of a bug, each by its file; called by report_open(). */
int report_read_bug(struct report_bug *b, const char *folder, struct err *err);
void report_read_schedule(struct report_bug *b, const struct symbols *known);
void report_read_trace(struct report_bug *b, const struct symbols *known);
void report_read_passing(struct report_bug *b, const char *trace, const struct symbols *known);
void report_read_output(struct report_bug *b);
void report_read_sources(struct report_bug *b);

#endif
