/*
 * Did a run fail? From how it ended, what the runtime says and what it printed.
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
#define ORACLE_SITES 16

enum oracle_verdict {
	ORACLE_PASSED,
	ORACLE_FAILED,
	ORACLE_CUT,		/* more steps than allowed: nothing is known */
	ORACLE_DIVERGED,	/* did not follow its exact schedule */
	ORACLE_BROKEN,		/* snarl or the machine, not the program: lost, unsupported */
};

enum oracle_failure {
	ORACLE_NONE,
	ORACLE_ASSERT,
	ORACLE_SIGNAL,
	ORACLE_EXIT,
	ORACLE_DEADLOCK,
	ORACLE_HANG,
	ORACLE_TIMEOUT,
	ORACLE_OUTPUT,
	ORACLE_CHECK,
	ORACLE_UAF,
	ORACLE_DOUBLE_FREE,
	ORACLE_BAD_FREE,
	ORACLE_MISUSE,
	ORACLE_BOMB,
};

/* Nobody gets on: all wait, or go round in circles (for a lock that spins). */
static inline bool oracle_is_stuck(enum oracle_failure failure)
{
	return failure == ORACLE_DEADLOCK || failure == ORACLE_HANG;
}

/* What is expected; all zero: exit status 0. */
struct oracle {
	int exit;		/* status of a good run; ORACLE_ANY_EXIT: each is good */
	bool has_output;	/* stdout has to be of this size and hash */
	uint64_t output_size, output_hash;
	bool same_output;	/* … of the first run that passes */
	const char *check;	/* a shell command that gets stdout on stdin; not 0: failed */
};

struct oracle_site {
	uint32_t thread;	/* number; UINT32_MAX: not known */
	uint64_t pc;		/* 0: only the text is known */
	uint64_t object;	/* that the site is about; 0: none */
	const char *op;		/* "lock", "wait", "use", "free", "malloc", … */
};

struct oracle_result {
	enum oracle_verdict verdict;
	enum oracle_failure failure;
	int number;		/* signal or exit status */
	char text[CTL_TEXT];	/* the runtime's, or the assertion's message */
	uint32_t thread;	/* that ran last */
	struct oracle_site sites[ORACLE_SITES];	/* the most telling first */
	size_t site_count;
	size_t telling;		/* the first so many make it this failure and no other */
	uint64_t turn, event;	/* diverged: which turn, from 0; which event, from 1, or 0 */
	uint64_t signature;	/* equal for failures of the same kind at the same places */
};

/* Takes what is expected of stdout from a file. */
int oracle_expect_output(struct oracle *o, const char *path, struct err *err);

/* What was expected, to a schedule and back. The check's text stays the schedule's. */
void oracle_note(const struct oracle *o, struct schedule *s);
void oracle_from(struct oracle *o, const struct schedule *s);

/* May fix o->output_… if same_output. -1 if the check command cannot be run. */
int oracle_judge(struct oracle *o, const struct server *s, struct oracle_result *out,
		 struct err *err);

/* "assert", "signal", …: as in bug.json; and its class: "deadlock", "memory", "misuse", "other". */
const char *oracle_failure_name(enum oracle_failure failure);
const char *oracle_class(enum oracle_failure failure);

/* "signal 11", "exit 3", "assert": what a schedule notes. */
void oracle_brief(const struct oracle_result *r, struct buf *out);

/*
 * The failure in words, a line or several, with places in the sources; lines
 * after the first are indented. `report` is that of the run.
 */
void oracle_describe(const struct oracle_result *r, const struct ctl_report *report,
		     struct places *places, struct buf *out);

/*
 * Once, before it is described: `places` learns of libraries that the run opened, and
 * the place of a crash in a library becomes that of the call in the program.
 */
void oracle_refine(struct oracle_result *r, const struct ctl_report *report, struct places *places);

/* Equal for failures of one class at the same lines; finer than that: the signature. */
uint64_t oracle_identity(const struct oracle_result *r, struct places *places);

/* The same for a run that did not follow `s`: where it left it, and what it did instead. */
void oracle_describe_divergence(const struct oracle_result *r, const struct schedule *s,
				const struct ctl_report *report, struct places *places,
				struct buf *out);

/* Without a server: from the report alone. */
void oracle_divergence(const struct ctl_report *report, struct oracle_result *out);

#endif
