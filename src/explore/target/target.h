/*
 * The target: the program under test, with everything that a replay has to reproduce: arguments,
 * environment, working directory, stdin.
 */
#ifndef EXPLORE_TARGET_TARGET_H
#define EXPLORE_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define TARGET_SERVER_FD 199	/* fork server's socket; above the fds that programs use */

struct target {
	char *program;		/* absolute path */
	char build_id[64];	/* GNU build-id in hex; "" if the file has none */
	char **argv;		/* NULL-terminated, argv[0] as typed */
	char **env;		/* NULL-terminated, "NAME=value", without SNARL_* and "_" */
	size_t env_count;
	size_t env_saved;	/* the first env_saved variables go into schedules */
	char *directory;	/* working directory */
	int input;		/* regular file, read from its start by each run; -1: /dev/null */
	uint64_t input_size, input_hash;	/* of that file; FNV-1a */
};

/*
 * Finds argv[0] as execvp() does and copies the environment of this process. Schedules save the
 * variables that change the program's behaviour (LANG, TZ, LD_*, MALLOC_*, ...) and those of
 * `keep`: a NULL-terminated list of NAME or NAME=value, or NULL. Returns -1 if argv[0] is not found
 * or is no program that contains the runtime. Nothing is run to find out.
 */
int target_init(struct target *t, char *const *argv, const char *const *keep, struct err *err);

/* Finds the program `name` and sets only `program` and `build_id`. */
int target_program(struct target *t, const char *name, struct err *err);

/*
 * Copies `fd` to a temporary file that becomes the target's stdin. A terminal, a closed or an empty
 * `fd` leaves /dev/null.
 */
int target_input(struct target *t, int fd, struct err *err);
void target_set_env(struct target *t, const char *text);	/* "NAME=value" */

/*
 * Marks the variables set so far as those that schedules save, then adds the rest of this process's
 * environment. PWD becomes `directory`, which has to be set.
 */
void target_take_rest(struct target *t);
void target_free(struct target *t);

/* How to start one process of the target. */
struct target_start {
	const char *control;	/* path of the control block */
	int server;		/* fork server's socket; -1: a single run */
	int input, output, error;	/* fds of stdin, stdout, stderr; -1: inherited */
	const char *backend;	/* NULL: the runtime's default */
	const char *extra;	/* further SNARL_OPTIONS, "key=value:key=value", or NULL */
};

/*
 * Replaces the calling process, a forked child, by the program. Address randomisation is off, and
 * the size of the environment does not depend on `s`. Returns errno if exec fails.
 */
int target_exec(const struct target *t, const struct target_start *s);

/* Forks and execs the program as leader of a new process group. Returns its pid, or -1. */
pid_t target_spawn(const struct target *t, const struct target_start *s, struct err *err);

#endif
