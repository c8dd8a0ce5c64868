/*
 * The model of results that every report format shows: a folder that `snarl hunt` or `snarl test`
 * wrote, or one bug of it.
 *
 * The model combines results.json, bug.json, the schedule, the trace, the program's output and its
 * sources. Data that a file lacks is NULL or 0 here, and `notes` has a sentence for the reader.
 * Texts are those of the program, not escaped: each format escapes them for its output.
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
#define REPORT_COLOURS 8u	/* thread colours of the HTML style and the terminal; 0 is main's */

/* A place in the source, as reports name it. */
struct report_place {
	const char *function, *file;	/* NULL: unknown */
	unsigned line;			/* 0: unknown */
	const char *source;		/* that line without indentation; NULL: not available */
	const char *path;		/* path at which the file was found; NULL: not found */
};

/* An event of bug.json: one of the cause, or one at which a thread failed or was blocked. */
struct report_site {
	const char *thread;	/* NULL: unknown */
	const char *op;		/* a kind of event, or "assert", "crash", "wait" and others */
	const char *object, *locks, *value;	/* NULL: unknown */
	const char *display_name;	/* name of the object in reports; NULL: `object` */
	struct report_place at;
	bool cause;		/* of the cause; else a thread failed or was blocked here */
	uint64_t index;		/* event of its thread in trace.snarl (events.h), or REPORT_NONE */
	uint64_t passing_index;	/* event of its thread in passing.snarl, or REPORT_NONE */
	bool pending;		/* not in the trace: its thread blocked or failed in it */
	size_t step;		/* index in `steps` of the bug, or REPORT_NONE */
};

enum report_role {
	REPORT_CONTEXT,		/* neither of the others: shown for orientation */
	REPORT_CAUSE,		/* an event of the cause */
	REPORT_FAILURE,		/* a thread failed or is blocked for ever here */
};

/* A row of the picture: one event of one thread. */
struct report_step {
	size_t thread;		/* index in `threads` */
	const char *op;
	enum report_role role;
	unsigned number;	/* event of the cause: number in the order of the run; else 0 */
	unsigned rank;		/* event of the cause: number in the order of bug.json */
	bool pending;		/* did not happen: the thread blocked, failed or ended before */
	struct report_place at;
	const char *object, *locks, *value;	/* NULL: none or unknown */
	struct report_place *stack;	/* own place, then callers, innermost first; cause only */
	size_t stack_count;
	uint64_t skipped;	/* events since the row before, without calls and returns */
	uint64_t ordinal;	/* events of the trace before it; UINT64_MAX: not in the trace */
	uint64_t event;		/* number in the trace from 1, without calls and returns; 0: none */
	uint64_t addr;		/* 0: unknown */
	uint64_t size;		/* bytes from addr that the event concerns */
	bool writes;		/* writes or frees memory */
};

struct report_thread {
	const char *name;	/* "0.2.1" */
	const char *function;	/* its start routine; NULL: unknown */
};

/* A lock that a thread holds from one row to another, both included; drawn as a bar. */
struct report_bar {
	size_t thread, from, to;	/* indexes in `threads` and `steps` */
	const char *lock;
	bool open;		/* the lock is never released */
};

enum report_arrow_kind {
	REPORT_CONFLICT,	/* from an access to a conflicting one by another thread */
	REPORT_HANDOVER,	/* from the release of a lock to its next acquisition */
	REPORT_WAIT,		/* from a blocked thread to where the holder took the lock */
};

struct report_arrow {
	enum report_arrow_kind kind;
	size_t from, to;	/* indexes in `steps` */
};

/* A variable, block or lock that steps name. */
struct report_object {
	const char *name;	/* as in steps */
	const char *text;	/* its size, and where it was declared or allocated */
};

struct report_turn {
	const char *thread;
	const char *what;	/* what the thread does in it: "12 steps" */
};

struct report_turns {
	struct report_turn *at;
	size_t count;
};

/* An order of events that was proved to make runs fail. */
struct report_interleaving {
	const char *pattern, *schedule;
	struct report_site *events;
	size_t count;
};

/* A failure that this bug can end in: its cause is the same, its text differs. */
struct report_symptom {
	const char *text;	/* several lines */
	const char *schedule;	/* file in the bug's folder */
};

struct report_bug {
	struct pool pool;	/* owns all texts below */
	struct json_t *json;	/* bug.json as read by jansson */
	const char *path;	/* the bug's folder */
	const char *id, *class, *pattern, *failure, *text, *variable, *cause, *strategy;
	const char *program, *command;	/* path of the executable; the command line */
	uint64_t runs_to_first, seed, length, switches;	/* length: steps of the failing run */
	bool has_switches;	/* `switches` is known */
	uint64_t replays, replays_failed;	/* replays made, and those that failed again */
	bool current;		/* results.json lists it */
	bool known;		/* the baseline of the hunt has it */

	struct report_site *sites;
	size_t site_count;
	bool has_indexes;	/* sites have `index`, so that they can be found in the trace */
	struct report_interleaving *interleavings;
	size_t interleaving_count;

	struct report_symptom *symptoms;	/* the failure of this report among them */
	size_t symptom_count;

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

	/* This run compared with the nearest run that passes. */
	struct report_turns failing, passing;
	size_t first_different_turn;		/* index, or REPORT_NONE */
	const char *passing_schedule;		/* its file; NULL: none */
	struct report_bug *passing_run;		/* its threads and steps; NULL: unknown */
	uint64_t difference_event;	/* number of the first event that differs; 0: unknown */
	struct report_site difference_failing;	/* that event; op NULL: the run had ended */
	struct report_site difference_passing;	/* that event; op NULL: the run had ended */

	const char *output, *errors;	/* stdout and stderr of the run; NULL: empty */

	const char **notes;	/* sentences about data that is missing */
	size_t note_count, note_capacity;
};

/* A failure that did not replay, or runs that exceeded a limit: no bug. */
struct report_finding {
	const char *title, *text;	/* one line; several lines */
	const char *fingerprint;	/* of the failure; NULL: none */
	bool inconclusive;		/* runs that exceeded a limit */
};

struct report {
	struct pool pool;
	struct json_t *json;		/* results.json; NULL: none, or one bug was asked for */
	const char *path;
	bool single;		/* `path` is the folder of one bug */
	const char *program, *command;	/* executable; command line; NULL: unknown */
	struct report_bug *bugs;	/* in the order of their numbers */
	size_t bug_count, bug_capacity;
	struct report_finding *findings;	/* of results.json */
	size_t finding_count, finding_capacity;
};

/*
 * Reads `path`, a folder of results or of one bug. Fails if a bug.json or results.json cannot be
 * read, and names the file. Without `details`, reads only these two kinds of files. `loaded`, if
 * not NULL, has debug information that need not be read again (symbols_share()). The caller closes
 * the report even after a failure.
 */
int report_open(struct report *r, const char *path, bool details, const struct symbols *loaded,
		struct err *err);
void report_close(struct report *r);

/* Does results.json list the bug? Other bugs in the folder were found by earlier hunts. */
bool report_is_current(const struct report *r, const struct report_bug *b);

/* Returns the thread's colour, below REPORT_COLOURS. Colour 0 is reserved for main. */
size_t report_colour(const struct report_bug *b, size_t thread);

/* Returns the index of the thread of that name, or 0 if there is none. */
size_t report_find_thread(const struct report_bug *b, const char *name);

/* Returns the index of the thread of that name, adding it if it is new. */
size_t report_add_thread(struct report_bug *b, const char *name);

/* Adds a sentence to `notes`. */
void report_note(struct report_bug *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a zeroed step. The pointer is valid until the next call. */
struct report_step *report_add_step(struct report_bug *b);
void report_add_arrow(struct report_bug *b, enum report_arrow_kind kind, size_t from, size_t to);

/*
 * Completes the steps after those of the trace (`traced`: there is one) were added: adds the sites
 * that the trace lacks, numbers the cause, adds arrows and sorts the threads.
 */
void report_link_steps(struct report_bug *b, bool traced);

/* Gives the steps of the run that passes the numbers that their sites have in the failing run. */
void report_link_passing(const struct report_bug *b, struct report_bug *passing);

/* Reads an event of bug.json. If `from` is NULL, all its data is missing. */
void report_read_site(struct report_bug *b, struct json_t *from, struct report_site *out);

/* Joins the words of a JSON list to a shell command; NULL if the list is empty. */
const char *report_command(struct pool *p, const struct json_t *list);

/* Read the files of a folder; report_open() calls them. */
int report_read_bug(struct report_bug *b, const char *folder, struct err *err);
void report_read_findings(struct report *r);
void report_read_schedule(struct report_bug *b, const struct symbols *loaded);
void report_read_trace(struct report_bug *b, const struct symbols *loaded);
void report_read_passing(struct report_bug *b, const char *trace, const struct symbols *loaded);
void report_read_output(struct report_bug *b);
void report_read_sources(struct report_bug *b);

#endif
