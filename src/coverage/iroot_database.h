/*
 * Database of iRoots (SQLite) over all runs, inputs and builds of a program: which were exposed or
 * predicted, and which could not be exposed. Maple calls this memoization, hence the prefix memo_.
 *
 * Several processes may use one database at the same time, and may be killed at any moment: changes
 * are durable when memo_commit() has returned. All changes have to be made between memo_begin() and
 * memo_commit(). Keep the time between them short: other processes wait.
 *
 * An event is named by its position in its function. So the results for a function stay valid until
 * that function changes.
 */
#ifndef COVERAGE_IROOT_DATABASE_H
#define COVERAGE_IROOT_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/iroot.h"
#include "base/err.h"

#define MEMO_VERSION 1
#define MEMO_FILE "memo.db"	/* in the folder of results */
#define MEMO_ATTEMPTS 8u	/* failed attempts after which an iRoot counts as infeasible */

struct memo;

/*
 * NULL and *err: the file does not exist (and `create` is false), is not a coverage database, or is
 * of a later version.
 */
struct memo *memo_open(const char *path, bool create, struct err *err);
void memo_close(struct memo *m);

int memo_begin(struct memo *m, struct err *err);
int memo_commit(struct memo *m, struct err *err);
void memo_rollback(struct memo *m);

/*
 * The functions that return an int64_t return the id of the row, which is made if it is new; -1:
 * error.
 */
int64_t memo_program(struct memo *m, const char *name, const char *build_id, struct err *err);

struct memo_event {
	const char *key;	/* names it within the program */
	enum iroot_access access;
	const char *function, *file;	/* "" if unknown */
	unsigned line, column;	/* 0 if unknown; updated if the event is there already */
};

int64_t memo_event(struct memo *m, int64_t program, const struct memo_event *e, struct err *err);

struct memo_run {
	const char *input, *strategy;
	uint64_t seed, number;
	bool failed;
	uint64_t new_exposed, new_predicted;	/* iRoots that no earlier run had */
	uint64_t exposed, known;	/* iRoots after this run: exposed; exposed or predicted */
};

/* Call memo_run() before the run's iRoots are added, and memo_run_figures() afterwards. */
int64_t memo_run(struct memo *m, int64_t program, const struct memo_run *r, struct err *err);
int memo_run_figures(struct memo *m, int64_t run, const struct memo_run *r, struct err *err);

struct memo_root {
	int64_t id;
	uint32_t idiom;
	int64_t event[IROOT_EVENTS];	/* 0: none */
	uint64_t exposed;	/* runs that exposed it */
	uint64_t predicted;	/* runs that predicted it */
	uint64_t attempts, failed;	/* runs directed at it, and those that did not expose it */
	int64_t first_run;	/* id of the first run that exposed it, or 0 */
};

/*
 * Adds the counts of *r to those of the iRoot, which is added if it is new. Sets r->id, and the
 * counts of *r to the sums. If r->exposed is not 0 and the iRoot has no first_run, it becomes
 * `run`.
 */
int memo_root(struct memo *m, int64_t program, struct memo_root *r, int64_t run, struct err *err);

/*
 * Counts `runs` attempts at the iRoot. With `exposed`, the iRoot's `exposed` becomes 1 if it was 0,
 * and first_run becomes `by` if there was none. Else the attempts count as failed.
 */
int memo_attempt(struct memo *m, int64_t root, unsigned runs, bool exposed, int64_t by,
		 struct err *err);

/*
 * Deletes an iRoot that was predicted wrongly. It stays if more than `predicted` runs predicted it,
 * or if a run exposed or attempted it.
 */
int memo_forget(struct memo *m, int64_t root, uint64_t predicted, struct err *err);

/*
 * Calls back for each row. Strings are valid during the callback. A callback that does not return 0
 * ends the loop.
 */
int memo_each_program(struct memo *m, int (*fn)(void *ctx, int64_t id, const char *name,
						const char *build_id, uint64_t runs), void *ctx,
		      struct err *err);
int memo_each_event(struct memo *m, int64_t program, int (*fn)(void *ctx, int64_t id,
							       const struct memo_event *e),
		    void *ctx,
		    struct err *err);
int memo_each_root(struct memo *m, int64_t program, int (*fn)(void *ctx, const struct memo_root *r),
		   void *ctx, struct err *err);
int memo_each_run(struct memo *m, int64_t program, int (*fn)(void *ctx, const struct memo_run *r),
		  void *ctx, struct err *err);

/* Adds all rows of the database at `path`; counts of the same iRoot are added up. */
int memo_merge(struct memo *m, const char *path, struct err *err);

#endif
