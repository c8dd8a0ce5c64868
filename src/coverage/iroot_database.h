/*
 * What was tested, in every run and input, of every build: a database of iRoots (SQLite).
 *
 * Several processes may use one at a time, and may be killed at any moment: whatever memo_commit()
 * returned for is there. All changes are between memo_begin() and memo_commit(), which
 * should be near each other, since others wait.
 *
 * An event is named by where it stands in its function, so that what is known of a function
 * holds as long as that is not changed, whatever is changed around it.
 */
#ifndef COVERAGE_IROOT_DATABASE_H
#define COVERAGE_IROOT_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/iroot.h"
#include "base/err.h"

#define MEMO_VERSION 1
#define MEMO_FILE "memo.db"	/* in the folder of results */
#define MEMO_ATTEMPTS 8u	/* runs that were to expose it and failed: an iRoot counts as infeasible */

struct memo;

/* -1 and *err: not there (unless `create`), no database of ours, or of a later version. */
struct memo *memo_open(const char *path, bool create, struct err *err);
void memo_close(struct memo *m);

int memo_begin(struct memo *m, struct err *err);
int memo_commit(struct memo *m, struct err *err);
void memo_rollback(struct memo *m);

/* Its number, made if it is new; -1: error. So for all that return an int64_t. */
int64_t memo_program(struct memo *m, const char *name, const char *build_id, struct err *err);

struct memo_event {
	const char *key;	/* names it within the program */
	enum iroot_access access;
	const char *function, *file;	/* "" if unknown */
	unsigned line, column;	/* … 0; they are brought up to date */
};

int64_t memo_event(struct memo *m, int64_t program, const struct memo_event *e, struct err *err);

struct memo_run {
	const char *input, *strategy;
	uint64_t seed, number;
	bool failed;
	/* Of the iRoots of the program: new ones of this run, all so far. */
	uint64_t new_exposed, new_predicted, exposed, known;
};

/* The run is told before what it found, and again with its figures after that. */
int64_t memo_run(struct memo *m, int64_t program, const struct memo_run *r, struct err *err);
int memo_run_figures(struct memo *m, int64_t run, const struct memo_run *r, struct err *err);

struct memo_root {
	int64_t id;
	uint32_t idiom;
	int64_t event[IROOT_EVENTS];	/* 0: none */
	uint64_t exposed;	/* runs that did */
	uint64_t predicted;	/* runs that let one expect it */
	uint64_t attempts, failed;	/* runs that were to expose it */
	int64_t first_run;	/* that exposed it, or 0 */
};

/* Adds the numbers of *r to those that are there; sets r->id, and the numbers to the sums. */
int memo_root(struct memo *m, int64_t program, struct memo_root *r, int64_t run, struct err *err);

/* Runs were to expose an iRoot. If they did, and no profile has said so, that is one run that did. */
int memo_attempt(struct memo *m, int64_t root, unsigned runs, bool exposed, int64_t by, struct err *err);

/* An iRoot that was only expected, by so many runs, and should not have been; what others know of it stays. */
int memo_forget(struct memo *m, int64_t root, uint64_t predicted, struct err *err);

/* Reading. The strings live during the call. Each stops when the callback does not return 0. */
int memo_each_program(struct memo *m, int (*fn)(void *ctx, int64_t id, const char *name,
						const char *build_id, uint64_t runs), void *ctx,
		      struct err *err);
int memo_each_event(struct memo *m, int64_t program, int (*fn)(void *ctx, int64_t id,
							       const struct memo_event *e), void *ctx,
		    struct err *err);
int memo_each_root(struct memo *m, int64_t program, int (*fn)(void *ctx, const struct memo_root *r),
		   void *ctx, struct err *err);
int memo_each_run(struct memo *m, int64_t program, int (*fn)(void *ctx, const struct memo_run *r),
		  void *ctx, struct err *err);

/* Adds all of another database. */
int memo_merge(struct memo *m, const char *path, struct err *err);

#endif
