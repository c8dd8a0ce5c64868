/*
 * What the two ways to replay have in common: plainly, and under gdb.
 */
#ifndef CMD_REPLAY_INTERNAL_H
#define CMD_REPLAY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "explore/schedule/schedule.h"
#include "explore/search/replay_schedule.h"
#include "explore/target/target.h"

struct replay_options {
	uint64_t times;
	const char *backend;
	const char *trace;	/* file to record to, or NULL */
	const char *into;	/* of a start by gdb: the file with the block */
	double timeout;
	bool gdb, exec, quiet;
	bool given;		/* … whose words after -- count */
	/* loaded */
	char *path, *folder;	/* of the schedule */
	struct schedule schedule;
	struct target target;
};

/* Reads the schedule of `bug` and its surroundings; `program` may be NULL. */
int replay_load(struct replay_options *o, const char *bug, char **program, struct err *err);

/* Under gdb; the exit code, or -1. */
int replay_gdb(const struct replay_options *o, char **program, struct err *err);

/* As gdb's exec-wrapper: becomes the program under control. Returns only on errors. */
int replay_into(const struct replay_options *o, struct err *err);

#endif
