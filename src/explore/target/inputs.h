/*
 * The inputs a program is hunted with: the files of a folder, each as the program's stdin
 * or, where an argument has "@@", by its path in the place of that. One of them is selected:
 * the target is then run with it, and schedules made from it name it.
 */
#ifndef EXPLORE_TARGET_INPUTS_H
#define EXPLORE_TARGET_INPUTS_H

#include "base/err.h"
#include "explore/target/target.h"

struct inputs {
	struct target *target;
	char **path;		/* absolute, by name; none: the target as it is */
	size_t count;		/* at least 1 */
	char **argv;		/* of the target, as typed */
	int input;
	uint64_t input_size, input_hash;
	bool in_arguments;	/* … and "@@" is among them */
	bool selected;
};

/* `folder` NULL: the target as it is, the only input. -1 if there is no file. Close it in any case. */
int inputs_open(struct inputs *in, struct target *target, const char *folder, struct err *err);

/* -1 if the file cannot be read. */
int inputs_select(struct inputs *in, size_t i, struct err *err);

/* The target is again as it was. */
void inputs_restore(struct inputs *in);
void inputs_close(struct inputs *in);

/* "@@" in `text` replaced; to be freed. */
char *inputs_argument(const char *text, const char *path);

#endif
