/*
 * Starting other programs.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct proc_start {
	char *const *argv;	/* argv[0] is looked for as execvp() does */
	const char *name;	/* set this variable … NULL: none */
	const char *value;	/* … to this value, NULL: remove it */
	int in, out, error;	/* become stdin, stdout, stderr; -1: inherited */
	const sigset_t *mask;	/* signal mask of the program; NULL: inherited */
};

/*
 * The pid, or -1 with *err if it cannot be started; then *failure, which may
 * be NULL, is the errno of exec (0 if it never came to that).
 */
pid_t proc_spawn(const struct proc_start *start, int *failure, struct err *err);

/* Waits for that one. Its wait status, or -1. */
int proc_wait(pid_t pid);

/* What a shell would put in $?: the exit code, or 128 and the signal's number. */
int proc_code(int status);

/*
 * Runs it with empty stdin and puts what it prints (stdout; stderr too if
 * `both`) in *out. Returns its exit code as proc_code(), -1 if it did not start.
 */
int proc_run(char *const argv[], struct buf *out, bool both, struct err *err);

/* The folder of the running executable, to be freed; NULL if /proc does not tell. */
char *proc_own_folder(void);

/* Removes a folder and all in it, within one file system. 0, or -1 with errno. */
int proc_remove_tree(const char *path);

#endif
