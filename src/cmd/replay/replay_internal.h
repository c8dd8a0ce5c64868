/*
 * What the files of snarl replay share: options, and the two ways to replay (plain, and under gdb).
 */
#ifndef CMD_REPLAY_REPLAY_INTERNAL_H
#define CMD_REPLAY_REPLAY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "explore/schedule/schedule.h"
#include "explore/search/replay_schedule.h"
#include "explore/target/target.h"

struct replay_options {
	uint64_t times;		/* number of replays */
	const char *backend;	/* "user", "kernel" or NULL */
	const char *trace;	/* file to record to, or NULL */
	const char *into;	/* started by gdb: file with the control block; else NULL */
	double timeout;		/* of a run, in seconds */
	bool gdb, exec, quiet;
	bool trust;		/* run what the schedule names, whoever wrote it */
	bool given;		/* started by gdb: arguments after -- replace the schedule's */
	/* filled by replay_load() */
	char *path, *folder;	/* of the schedule file */
	struct schedule schedule;
	struct target target;
};

/*
 * Reads the schedule of `bug`, a folder or a file, and opens the program with its folder and stdin.
 * `program`: replaces program and arguments; may be NULL. Returns 0, or -1 and *err.
 */
int replay_load(struct replay_options *o, const char *bug, char **program, struct err *err);

/* Replays under gdb. Returns the exit code, or -1 and *err. */
int replay_gdb(const struct replay_options *o, char **program, struct err *err);

/*
 * As gdb's exec-wrapper: becomes the program, under control. Returns only on errors, with -1 and
 * *err.
 */
int replay_into(const struct replay_options *o, struct err *err);

#endif
