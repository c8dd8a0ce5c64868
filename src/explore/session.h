/*
 * A session of snarl test, hunt or check-fix: a program that is run many times, and its failures.
 * The session gets each failure, minimises and proves it (bug/confirm.h), decides whether it is a
 * new bug (bug/verdict.h) and saves it. It reports to its command through struct session_events.
 */
#ifndef EXPLORE_SESSION_H
#define EXPLORE_SESSION_H

#include "explore/bug/verdict.h"
#include "explore/hunt/hunt.h"
#include "explore/search/ignore.h"
#include "explore/search/search.h"
#include "explore/target/target.h"

/* Callbacks by which a session reports to its command. */
struct session_events {
	/* A verdict is reached. A bug has its folder, but not yet all of its files. */
	void (*judged)(void *ctx, const struct verdict *v);
	/* All files of a bug are written. The bug is v->of for a duplicate, else v->bug. */
	void (*saved)(void *ctx, const struct verdict *v);
	/* The first run exceeded a limit; s->inconclusive describes it. */
	void (*inconclusive)(void *ctx);
	/* Called often. `task`: what is done about a failure; "": runs are made. */
	void (*progress)(void *ctx, const struct search_stats *stats, const char *task);
	void *ctx;
};

struct session_config {
	char **program;		/* path and arguments */
	const char **environment;	/* variables to save: NAME or NAME=VALUE; ends with NULL */
	const char *out;	/* folder of results */
	const char *backend;	/* how threads are switched; NULL: the default */
	bool exec;		/* start a process for every run instead of a fork server */
	double timeout;		/* limit of one run, in seconds */
	struct oracle oracle;
	struct search_plan plan;	/* for all searches; hunt sets the strategy itself */
	struct search_budget budget;	/* session_open() sets the deadline */
	double seconds;		/* --time; 0: no limit */
	const struct deadline_stop *stop;	/* set by signal handlers; or NULL */
	unsigned replays;	/* number of replays that prove a bug */
	bool minimise;
	bool separate;		/* every failure is a bug of its own, and is not minimised */
	struct baseline *baseline;	/* or NULL; not owned */
	const struct suppressions *suppress;	/* or NULL; not owned */
	const char **ignore; /* fingerprints of failures that count as passing; ends with NULL; or
				NULL */
	struct session_events events;
};

struct session {
	struct session_config config;
	struct oracle oracle;	/* copy of config.oracle, with what it learns from runs */
	struct target target;
	struct places places;
	struct ignore ignore;	/* config.ignore, and failures that every run shows */
	struct judge judge;	/* judge.results are the results of the session */
	struct search_stats stats;	/* statistics of all searches */
	struct {
		char *text;	/* where its threads were; NULL: no run exceeded a limit */
		uint64_t run;	/* its number, from 0 */
		bool timed_out;	/* the limit was that of time, not of steps */
	} inconclusive;		/* the first run that exceeded a limit */
	struct err err;		/* why a bug could not be saved */
	double began;		/* clock_seconds() at the start */
	char task[REPLAY_TASK];	/* what is done about a failure; "": nothing */
	bool failed_to_save;
	bool made_folder;	/* the session made the folder of results */
	struct hunt *hunter;	/* NULL in snarl test */
	const struct hunt_stats *hunt;	/* statistics of the hunt; NULL in snarl test */
};

/* Finds the program and copies its stdin; -1 if that fails. Close the session in any case. */
int session_open(struct session *s, const struct session_config *config, struct err *err);
void session_close(struct session *s);

/* Makes the folder of results before the first run. -1 if it cannot be written to. */
int session_make_folder(struct session *s, struct err *err);

/* Fills in the config of a search: program, plan, budget and statistics of the session. */
void session_search(struct session *s, struct search_config *out);

/* Whether a hunt ended before it had tried all candidates, other than by a bug. */
bool session_is_incomplete(const struct session *s);

/* Callbacks for struct search_listener; ctx is the session. */
enum search_answer session_found(void *ctx, struct search_failure *f);
void session_progress(void *ctx, const struct search_stats *stats);
void session_inconclusive(void *ctx, const struct search_failure *f);

#endif
