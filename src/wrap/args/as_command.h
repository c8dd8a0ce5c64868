/*
 * The command line of GNU as: which of its words are inputs.
 */
#ifndef WRAP_ARGS_AS_COMMAND_H
#define WRAP_ARGS_AS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "wrap/args/args.h"

struct input {
	const char *path;	/* "-": standard input */
	const char *text;	/* mapped; NULL: to be read */
	size_t size;
	int fd;
};

struct command {
	struct args words;	/* options, without inputs once they are known */
	struct input *inputs;
	size_t count, room;
	bool unsupported;		/* other syntax or word size, only a question, or unclear */
};

/* The words without argv[0] and without response files. `c` is all zero, and nothing of it is freed. */
void command_read(const struct args *in, struct command *c);

#endif
