/*
 * Schedules (docs/schedule-format.md): how to start a program, and in which order its threads take
 * their steps. A schedule is made from a run, written to a file, read back, and turned into a plan
 * that the runtime follows. It owns all of its strings.
 */
#ifndef EXPLORE_SCHEDULE_SCHEDULE_H
#define EXPLORE_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/control_block.h"
#include "abi/plan.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "explore/target/target.h"
#include "symbol/program_sites.h"

#define SCHEDULE_MAX_PATH 255u	/* characters of a thread's path, such as "0.1.2" */
#define SCHEDULE_EVENTS_MAX CTL_CHECKS_MAX	/* event checks, one byte each */

struct schedule_list {
	char **items;
	size_t count, capacity;
};

struct schedule_range {
	uint64_t start, size;	/* bytes; multiples of 8, the size of a granule */
};

struct schedule_turn {
	uint32_t thread;	/* index in schedule.threads */
	uint32_t kind;		/* enum sched_turn_kind */
	uint64_t steps;		/* SCHED_NO_LIMIT: to the end; SCHED_TURN_SIGNAL: the signal */
	uint32_t check;		/* hash of the turn's events; 0: not known */
};

/* An event, named in a way that holds in other runs. Unknown parts are NULL or 0. */
struct schedule_event {
	char *thread;		/* path; NULL: any thread ("*") */
	char *file, *function;	/* of the source */
	char *build_id;		/* of the module that contains the instruction */
	uint64_t offset;	/* of the instruction in that module */
	uint32_t line;		/* in `file` */
	uint64_t nth;		/* n-th execution of the instruction by the thread, from 1 */
	char *op, *object;	/* kind of event and its object: "read", "balance"; both or none */
};

struct schedule_goal {
	struct schedule_event second, first;	/* `second` must not happen before `first` */
	bool is_held;		/* `held` is set */
	/* Where the thread of `second` waits: before it takes a lock that `first` needs. */
	struct schedule_event held;
};

struct schedule {
	char *program, *build_id, *directory;	/* as in struct target */
	struct schedule_list arguments, environment;
	char *input;		/* file for stdin, relative to the schedule's folder; NULL: none */
	uint64_t input_size, input_hash;	/* of that file; FNV-1a */
	uint64_t seed, run;	/* run number `run` of a search with `seed` found it */
	char *strategy;		/* strategy of that search; NULL: written by hand */
	uint32_t depth;		/* parameter of that strategy */
	/* CTL_SPURIOUS | CTL_TIMEOUTS | CTL_IGNORE_MISUSE | CTL_REAL_TIME */
	uint32_t flags;
	uint64_t steps;		/* of the run, without the last turn of a killed run; 0: unknown */
	char *failure;		/* how the run ends: "assert", "signal 11"; NULL: not known */
	/* Class, pattern and variable of the goals: "atomicity", "RWW", "balance"; all or none. */
	char *cause, *pattern, *variable;
	/* The oracle's expectations (struct oracle), by which a replay is judged. */
	int expect_exit;	/* exit status; -1: any */
	bool expect_output;	/* output_size and output_hash are set */
	uint64_t output_size, output_hash;
	char *check;		/* shell command; NULL: none */
	char *seal;		/* of the file it was read from (trust.h); NULL: none */
	struct schedule_range *shared;	/* granules known to be shared at the start; ascending */
	size_t shared_count, shared_capacity;
	struct schedule_list threads;	/* distinct thread paths */
	struct schedule_turn *turns;
	size_t turn_count, turn_capacity;
	struct buf events;	/* event checks: one hash byte for each of the first events */
	struct schedule_goal *goals;
	size_t goal_count, goal_capacity;
	struct strmap thread_index;	/* private: thread path -> index in `threads` + 1 */
};

/* An all-zero struct is an empty schedule. */
void schedule_free(struct schedule *s);
void schedule_free_goals(struct schedule *s);
void schedule_free_goal(struct schedule_goal *g);	/* frees its members, not `g` */

void schedule_list_add(struct schedule_list *l, const char *text);

/* Returns the index of a thread in s->threads; adds it if needed. */
uint32_t schedule_thread(struct schedule *s, const char *path);

/*
 * Hashes a thread path ("0", "0.2.1") as sched_child_name() does. "@" and 16 hex digits stand for
 * the hash itself. Returns false if `path` is neither.
 */
bool schedule_path_hash(const char *path, uint64_t *hash);

/* Appends the path of thread `number` of a run. */
void schedule_path(const struct ctl_report *r, uint32_t number, struct buf *out);

/* Copies the target to a schedule, and back. `folder` is the folder of the schedule file. */
void schedule_set_target(struct schedule *s, const struct target *t);
int schedule_get_target(const struct schedule *s, const char *folder, struct target *t,
			struct err *err);

/* Copies everything but turns, threads, events, steps, failure and goals. */
void schedule_copy_header(struct schedule *to, const struct schedule *from);

/* Copies turns, threads, steps and failure. */
void schedule_copy_run(struct schedule *to, const struct schedule *from);

/* Sets turns, steps and event checks to those of a run that ended. */
void schedule_set_turns(struct schedule *s, const struct ctl_block *b);

/* Sets the granules that were known to be shared when the run began, in any order. */
void schedule_set_shared(struct schedule *s, const uint64_t *granules, size_t count);

/*
 * Builds the plan (abi/plan.h) in the empty buffer `plan`. Returns -1 if the site of a goal is not
 * in the program.
 */
int schedule_plan(const struct schedule *s, const struct places *places, struct buf *plan,
		  struct err *err);
uint64_t schedule_plan_size(const struct schedule *s);	/* in bytes */

/* Appends the shared granules as the control block has them: uint64_t[]. */
void schedule_granules(const struct schedule *s, struct buf *out);

/* Appends the text form. The parser reads it back unchanged. */
void schedule_text(const struct schedule *s, struct buf *out);
int schedule_write(const struct schedule *s, const char *path, struct err *err);

/* Parses the text form. Errors read "NAME:LINE: reason" and leave *s empty. */
int schedule_parse(struct schedule *s, const char *text, size_t size, const char *name,
		   struct err *err);
int schedule_read(struct schedule *s, const char *path, struct err *err);

#endif
