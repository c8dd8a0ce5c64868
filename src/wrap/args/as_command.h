/*
 * Splits a command line of GNU as into options and input files.
 */
#ifndef WRAP_ARGS_AS_COMMAND_H
#define WRAP_ARGS_AS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "wrap/args/args.h"

struct as_input {
	const char *path;	/* "-": standard input */
	const char *text;	/* content in memory; NULL: still to be read from `fd` */
	size_t size;		/* bytes of text */
	int fd;			/* -1: not open yet */
};

struct as_command {
	struct args words;	/* options with their values, without inputs */
	struct as_input *inputs;	/* at least one */
	size_t count, room;	/* of inputs */
	bool unsupported;	/* there is an option that only GNU as supports */
};

/*
 * Reads the words after argv[0], with response files expanded, into `c`, which is all zero.
 * Memory of `c` lives until the process ends.
 */
void as_command_read(const struct args *in, struct as_command *c);

#endif
