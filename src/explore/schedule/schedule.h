/*
 * A schedule file (docs/schedule-format.md): how to run a program, and in which
 * order its threads take their steps. In memory all text is owned by it.
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

#define SCHEDULE_MAX_PATH 255u	/* of a thread: "0.1.2" */
#define SCHEDULE_EVENTS_MAX CTL_CHECKS_MAX	/* checks of events that are kept */

struct schedule_list {
	char **items;
	size_t count, capacity;
};

struct schedule_range {
	uint64_t start, size;	/* multiples of a granule: 8 bytes */
};

struct schedule_turn {
	uint32_t thread;	/* index of `threads`; choose: 0 */
	uint32_t kind;		/* enum sched_turn_kind */
	uint64_t steps;
	uint32_t check;		/* 0: not known */
};

/* An event by name. Empty parts are NULL or 0. */
struct schedule_event {
	char *thread;		/* NULL: any ("*") */
	char *file, *function;
	char *build_id;
	uint64_t offset;	/* of the pc in the file with that build-id */
	uint32_t line;
	uint64_t nth;		/* from 1 */
	char *op, *object;	/* what it does, and to what: "read", "balance"; both or none */
};

struct schedule_goal {
	struct schedule_event second, first;	/* in the order of the text: second after first */
	bool is_held;
	struct schedule_event held;	/* … if so: where the thread of `second` waits, on the way to it */
};

struct schedule {
	char *program, *build_id, *directory;
	struct schedule_list arguments, environment;
	char *input;		/* file, relative to the schedule's folder; NULL: none */
	uint64_t input_size, input_hash;
	uint64_t seed, run;
	char *strategy;		/* that found it; NULL: hand-made */
	uint32_t depth;
	uint32_t flags;		/* CTL_SPURIOUS | CTL_TIMEOUTS | CTL_IGNORE_MISUSE | CTL_REAL_TIME */
	uint64_t steps;		/* the run took so many, but for a last turn cut short; 0: not known */
	char *failure;		/* what it ends in: "assert", "signal 11"; NULL: not known */
	char *cause, *pattern, *variable;	/* of the goals: "atomicity", "RWW", "balance"; all or none */
	/* What was expected, to judge a replay by; see oracle.h. */
	int expect_exit;	/* -1: any */
	bool expect_output;
	uint64_t output_size, output_hash;
	char *check;		/* NULL: none */
	struct schedule_range *shared;
	size_t shared_count, shared_capacity;
	struct schedule_list threads;	/* paths, each once */
	struct schedule_turn *turns;
	size_t turn_count, turn_capacity;
	struct buf events;	/* a byte for each of the first events; may be empty */
	struct schedule_goal *goals;
	size_t goal_count, goal_capacity;
	/* private */
	struct strmap thread_index;	/* path to index + 1 */
};

/* All zero is an empty schedule. */
void schedule_free(struct schedule *s);
void schedule_free_goals(struct schedule *s);
void schedule_free_goal(struct schedule_goal *g);	/* what it holds */

void schedule_list_add(struct schedule_list *l, const char *text);
uint32_t schedule_thread(struct schedule *s, const char *path);	/* finds or adds */

/* "0", "0.2.1", or "@" and 16 hex digits for a name whose path is not known. */
bool schedule_path_hash(const char *path, uint64_t *hash);

/* Appends the path of thread `number` of a run. */
void schedule_path(const struct ctl_report *r, uint32_t number, struct buf *out);

/* The surroundings: to the schedule, and back. `folder`: of the schedule file. */
void schedule_set_target(struct schedule *s, const struct target *t);
int schedule_get_target(const struct schedule *s, const char *folder, struct target *t,
			struct err *err);

/* All but what a run of it did: turns, threads, events, steps, failure, goals. */
void schedule_copy_header(struct schedule *to, const struct schedule *from);

/* … and that, but for the events and goals. */
void schedule_copy_run(struct schedule *to, const struct schedule *from);

/* From a run that has ended: its turns and events, and what was known to be shared when it began. */
void schedule_set_turns(struct schedule *s, const struct ctl_block *b);
void schedule_set_shared(struct schedule *s, const uint64_t *granules, size_t count);

/*
 * The plan and the shared granules as the runtime wants them; both are appended
 * to empty buffers. -1 if a goal's place is not in the program.
 */
int schedule_plan(const struct schedule *s, const struct places *places, struct buf *plan,
		  struct err *err);
uint64_t schedule_plan_size(const struct schedule *s);
void schedule_granules(const struct schedule *s, struct buf *out);

/* The text form; what it writes, the parser reads back unchanged. */
void schedule_text(const struct schedule *s, struct buf *out);
int schedule_write(const struct schedule *s, const char *path, struct err *err);

/* Errors are "NAME:LINE: reason". On an error *s is empty. */
int schedule_parse(struct schedule *s, const char *text, size_t size, const char *name,
		   struct err *err);
int schedule_read(struct schedule *s, const char *path, struct err *err);

#endif
