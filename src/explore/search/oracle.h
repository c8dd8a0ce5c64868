/*
 * The oracle: decides whether a run failed, and describes the failure. It uses the wait status, the
 * runtime's report (deadlock, use after free, …) and the program's output.
 *
 * Two hashes compare failures. The signature hashes addresses: cheap, computed for every run. The
 * identity hashes source lines: needs symbols, computed for failures only.
 */
#ifndef EXPLORE_SEARCH_ORACLE_H
#define EXPLORE_SEARCH_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/control_block.h"
#include "base/buf.h"
#include "base/err.h"
#include "explore/schedule/schedule.h"
#include "explore/target/capture.h"
#include "explore/target/worker.h"
#include "sched/strategy.h"
#include "symbol/program_sites.h"

#define ORACLE_ANY_EXIT (-1)
#define ORACLE_SITES 16	/* sites kept per failure; a deadlock has one per blocked thread */

enum oracle_verdict {
	ORACLE_PASSED,
	ORACLE_FAILED,
	ORACLE_INCONCLUSIVE,	/* stopped at a limit: neither passed nor failed */
	ORACLE_DIVERGED,	/* could not follow its exact schedule */
	ORACLE_DAMAGED,		/* the program overwrote memory shared with snarl: not judged */
	ORACLE_BROKEN,		/* no run: fork server died, program cannot be controlled */
};

enum oracle_failure {
	ORACLE_NONE,
	ORACLE_ASSERT,		/* SIGABRT with an assertion's message on stderr */
	ORACLE_SIGNAL,		/* killed by a signal */
	ORACLE_EXIT,		/* unexpected exit status */
	ORACLE_DEADLOCK,
	ORACLE_HANG,		/* livelock: threads run without making progress */
	ORACLE_OUTPUT,		/* unexpected stdout */
	ORACLE_CHECK,		/* the --check command exited with non-zero status */
	ORACLE_UAF,		/* use after free */
	ORACLE_DOUBLE_FREE,
	ORACLE_BAD_FREE,	/* free of an address that malloc never returned */
	ORACLE_MISUSE,		/* a lock, condition or thread used against its rules */
	ORACLE_OVERFLOW,	/* access beside a heap block, or past a buffer on the stack */
	ORACLE_BOMB,		/* fork bomb: too many processes */
	/* Limits that make a run inconclusive; no failures. */
	ORACLE_TIMEOUT,		/* longer than the time limit of a run */
	ORACLE_STEPS,		/* more than max_steps */
};

/* Deadlock, or the livelock that a deadlock of spinning locks becomes. */
static inline bool oracle_is_stuck(enum oracle_failure failure)
{
	return failure == ORACLE_DEADLOCK || failure == ORACLE_HANG;
}

struct ignore;

/* What a passing run has to do; all zero: exit with status 0. */
struct oracle {
	int exit;		/* expected exit status; ORACLE_ANY_EXIT: any */
	bool has_output;	/* compare stdout with output_size and output_hash */
	uint64_t output_size, output_hash;	/* of the expected stdout; FNV-1a */
	bool same_output;	/* expect the stdout of the first run that passes */
	const char *check;	/* shell command that reads stdout of the run; status 0: passed */
	struct ignore *ignore;	/* failures that count as passing; NULL: none; not owned */
	bool check_slow;	/* a check exceeded the run's time limit; the user was told */
};

struct oracle_site {
	uint32_t thread;	/* thread number; UINT32_MAX: not known */
	uint64_t pc;		/* 0: not known */
	uint64_t object;	/* address of the lock or memory that the site uses; 0: none */
	const char *op;		/* "lock", "wait", "use", "free", "malloc", … */
};

struct oracle_result {
	enum oracle_verdict verdict;
	enum oracle_failure failure;
	int number;		/* signal number or exit status */
	char text[CTL_TEXT];	/* message of the runtime or of the assertion */
	uint32_t thread;	/* number of the thread that ran last */
	struct oracle_site sites[ORACLE_SITES];	/* the sites that identify the failure come first */
	size_t site_count;
	bool outlives_exit;	/* another thread had called exit() or returned from main */
	size_t key_site_count;	/* number of leading sites that identify the failure */
	bool ignored;		/* passed: it failed in a way that counts as passing */
	uint64_t turn;		/* diverged: index of the turn */
	uint64_t event;		/* diverged: number of the event, from 1; 0: not known */
	uint64_t signature;	/* hash of the kind of failure and the pcs of its key sites */
};

/* Expects the content of a file on stdout. */
int oracle_expect_output(struct oracle *o, const char *path, struct err *err);

/* Stores the expectations in a schedule. */
void oracle_to_schedule(const struct oracle *o, struct schedule *s);
/* Loads the expectations of a schedule; o->check points into `s`. */
void oracle_from(struct oracle *o, const struct schedule *s);

/*
 * Judges the run that just ended on `s`. With same_output the first run that passes sets the
 * expected output. A failure that o->ignore has becomes ORACLE_PASSED. Returns -1 if the check
 * command cannot be run.
 */
int oracle_judge(struct oracle *o, const struct server *s, struct oracle_result *out,
		 struct err *err);

/*
 * The name of a failure in bug.json ("assert", "signal", …), and its class ("memory", "other", …).
 */
const char *oracle_failure_name(enum oracle_failure failure);
const char *oracle_class(enum oracle_failure failure);

/* Appends the failure as schedule files name it: "signal 11", "exit 3", "assert". */
void oracle_brief(const struct oracle_result *r, struct buf *out);

/*
 * Appends a description of the failure for users, with source lines. It has one or more lines; all
 * but the first are indented. `report` is the report of the failing run.
 */
void oracle_describe(const struct oracle_result *r, const struct ctl_report *report,
		     struct places *places, struct buf *out);

/*
 * Call once per failure, before describing it or computing its identity. Adds the libraries that
 * the run opened to `places`, and replaces the site of a crash in a library by its caller in the
 * program.
 */
void oracle_refine(struct oracle_result *r, const struct ctl_report *report, struct places *places);

/* Hash of the failure's class and the source lines of its key sites; coarser than the signature. */
uint64_t oracle_identity(const struct oracle_result *r, struct places *places);

/* Appends a description of where a run left its schedule `s`, and what it did instead. */
void oracle_describe_divergence(const struct oracle_result *r, const struct schedule *s,
				const struct ctl_report *report, struct places *places,
				struct buf *out);

/* Fills in the result of a run that took too many steps: the sites of all its threads. */
void oracle_threads(const struct ctl_report *report, struct oracle_result *out);

/* Fills in the result of a run that diverged; needs its report only, not a worker. */
void oracle_divergence(const struct ctl_report *report, struct oracle_result *out);

#endif
