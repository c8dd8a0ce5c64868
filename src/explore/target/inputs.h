/*
 * The inputs of a hunt (--input-dir): the files of a folder. The selected file becomes the target's
 * stdin, or its path replaces "@@" in the target's arguments, as in AFL. Schedules of these runs
 * name the input.
 */
#ifndef EXPLORE_TARGET_INPUTS_H
#define EXPLORE_TARGET_INPUTS_H

#include "base/err.h"
#include "explore/target/target.h"

struct inputs {
	struct target *target;
	char **path;		/* absolute paths, sorted by name; NULL: no folder was given */
	size_t count;		/* number of inputs; 1 without a folder */
	char **argv;		/* the target's original arguments */
	int input;		/* the target's original stdin */
	uint64_t input_size, input_hash;	/* of that stdin */
	bool in_arguments;	/* an argument contains "@@" */
	bool selected;		/* the target is changed; inputs_restore() has work to do */
};

/*
 * Lists the files of `folder`. NULL: the unchanged target is the only input. Returns -1 if the
 * folder cannot be read or has no file. Close it in any case.
 */
int inputs_open(struct inputs *in, struct target *target, const char *folder, struct err *err);

/* Changes the target to use input `i`. Returns -1 if the file cannot be read. */
int inputs_select(struct inputs *in, size_t i, struct err *err);

/* Restores the target's own arguments and stdin. */
void inputs_restore(struct inputs *in);
void inputs_close(struct inputs *in);

/* Returns a copy of `text` with each "@@" replaced by `path`, to be freed. */
char *inputs_argument(const char *text, const char *path);

#endif
