/*
 * Starting other programs, and two helpers for files.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/deadline.h"
#include "base/err.h"

struct proc_start {
	char *const *argv;	/* argv[0] is searched in PATH, as execvp() does */
	const char *name;	/* environment variable to set or remove; NULL: none */
	const char *value;	/* value of that variable; NULL removes it */
	int in, out, error;	/* descriptors for stdin, stdout, stderr; -1: inherited */
	const sigset_t *mask;	/* signal mask of the program; NULL: inherited */
	bool own_group;		/* makes it the leader of a process group, which dies with snarl */
};

/*
 * Starts a program. Returns its pid, or -1 with *err set. After a failure *failure, if not NULL, is
 * the errno of exec, or 0 if exec was not reached.
 */
pid_t proc_spawn(const struct proc_start *start, int *failure, struct err *err);

/* Waits for the process and returns its wait status, or -1. */
int proc_wait(pid_t pid);

/*
 * Waits for the leader of a process group, at most `seconds` (0: no limit) and until `d` is over.
 * Returns its wait status, or -1 after it killed the group.
 */
int proc_wait_group(pid_t pid, double seconds, const struct deadline *d);

/* Converts a wait status to the value of $? in a shell: the exit code, or 128 plus the signal. */
int proc_code(int status);

/*
 * Runs a program with empty stdin and appends its stdout, and its stderr if `both`, to *out.
 * Returns proc_code() of its end, or -1 if it did not start.
 */
int proc_run(char *const argv[], struct buf *out, bool both, struct err *err);

/* Returns the folder of the running executable, to be freed, or NULL if /proc is not readable. */
char *proc_own_folder(void);

/*
 * Removes a folder and its content without crossing into other file systems. Returns 0, or -1 with
 * errno.
 */
int proc_remove_tree(const char *path);

#endif
