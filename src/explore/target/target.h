/*
 * The program that is run again and again, and all of its surroundings that a
 * later replay must make the same: arguments, environment, folder, stdin.
 */
#ifndef EXPLORE_TARGET_TARGET_H
#define EXPLORE_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define TARGET_SERVER_FD 199	/* the server's socket; high, so that the program's numbers stay */

struct target {
	char *program;		/* absolute */
	char build_id[64];	/* hex; "" if the file has none */
	char **argv;		/* NULL-terminated, argv[0] as typed */
	char **env;		/* NULL-terminated, "NAME=value", without SNARL_OPTIONS */
	size_t env_count;
	size_t env_saved;	/* the first so many go into schedules; the rest comes from whoever runs it */
	char *directory;
	int input;		/* a regular file, read from its start in every run; -1: /dev/null */
	uint64_t input_size, input_hash;
};

/*
 * Finds argv[0] as execvp() does and takes the environment of this process. Part of
 * it is saved in schedules: what matters wherever the program runs (language, time
 * zone, the loader's, malloc's), and `keep` (NULL-terminated, may be NULL): names, or
 * NAME=value to set one. -1 if it is no ELF executable.
 */
int target_init(struct target *t, char *const *argv, const char *const *keep, struct err *err);

/* Only the program's file: path and build-id. */
int target_program(struct target *t, const char *name, struct err *err);

/* Copies `fd` to a temporary file unless it is a terminal; nothing to read is /dev/null. */
int target_input(struct target *t, int fd, struct err *err);
void target_set_env(struct target *t, const char *text);	/* "NAME=value" */

/* What is set now is what is saved; the rest is added from this process. Needs `directory`. */
void target_take_rest(struct target *t);
void target_free(struct target *t);

/* How one process of it is started. */
struct target_start {
	const char *control;	/* path of the block */
	int server;		/* socket; -1: none */
	int input, output, error;	/* -1: inherited */
	const char *backend;	/* NULL: the runtime's default */
	const char *extra;	/* more of SNARL_OPTIONS, "k=v:k=v", or NULL */
};

/*
 * In the child: becomes the program, with address randomisation off and an
 * environment whose size does not depend on the start's details. Returns errno
 * if that failed.
 */
int target_exec(const struct target *t, const struct target_start *s);

/* Forks and execs as leader of a new process group; the pid or -1. */
pid_t target_spawn(const struct target *t, const struct target_start *s, struct err *err);

#endif
