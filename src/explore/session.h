/*
 * A program that is run again and again, and what was found: what snarl test, snarl hunt and
 * snarl check-fix have in common. The session makes each failure small, proves it, decides what it
 * is, and saves it; session_events tells the command.
 */
#ifndef EXPLORE_SESSION_H
#define EXPLORE_SESSION_H

#include "explore/bug/verdict.h"
#include "explore/hunt/hunt.h"
#include "explore/search/search.h"
#include "explore/target/target.h"

/* What a session tells while it works. */
struct session_events {
	/* It is known what a failure is. A bug has its folder, but not all of its files. */
	void (*judged)(void *ctx, const struct verdict *v);
	/* All files of a bug are written, or written anew: v->of of a duplicate, else v->bug. */
	void (*saved)(void *ctx, const struct verdict *v);
	/* Between the runs; `confirming`: those that are made for a failure. */
	void (*progress)(void *ctx, const struct search_stats *stats, bool confirming);
	void *ctx;
};

struct session_config {
	char **program;		/* with its arguments */
	const char **environment;	/* to be saved besides: NAME or NAME=VALUE; NULL ends it */
	const char *out;	/* folder of results */
	const char *backend;
	bool exec;		/* a process for every run */
	double timeout;		/* of a run, in seconds */
	struct oracle oracle;
	struct search_plan plan;	/* but for the strategy */
	struct search_budget budget;
	unsigned replays;	/* that prove a bug */
	bool minimise;
	bool separate;		/* every failure is a bug of its own, and kept as it was found */
	struct baseline *baseline;	/* or NULL; not owned */
	const struct suppressions *suppress;	/* or NULL; not owned */
	struct session_events events;
};

struct session {
	struct session_config config;
	struct oracle oracle;	/* the config's, with what it learns from runs */
	struct target target;
	struct places places;
	struct judge judge;	/* with the results */
	struct search_stats stats;
	struct err err;		/* of saving */
	double began;
	bool failed_to_save;
	bool made_out;		/* the folder of results was not there */
	struct hunt *hunter;		/* of snarl hunt, or NULL */
	const struct hunt_stats *hunt;	/* its figures, or NULL */
};

/* Finds the program and its input; -1 if that fails. Close the session in any case. */
int session_open(struct session *s, const struct session_config *config, struct err *err);
void session_close(struct session *s);

/* Makes the folder of results, before hours are spent on a bug. -1 if it cannot be written to. */
int session_make_folder(struct session *s, struct err *err);

/* What a search needs to know from the session. */
void session_search(struct session *s, struct search_config *out);

/* For a search_listener; ctx is the session. */
enum search_answer session_found(void *ctx, struct search_failure *f);
void session_progress(void *ctx, const struct search_stats *stats);

#endif
