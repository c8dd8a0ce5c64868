/*
 * Replays a schedule on a worker of its own.
 */
#ifndef EXPLORE_SEARCH_REPLAY_SCHEDULE_H
#define EXPLORE_SEARCH_REPLAY_SCHEDULE_H

#include "explore/schedule/schedule.h"
#include "explore/search/oracle.h"
#include "explore/target/worker.h"
#include "symbol/program_sites.h"

#define REPLAY_TASK 128u	/* bytes of a task */
#define REPLAY_LEAST 3u		/* replays without which a failure is not proved */

struct replay_config {
	const struct target *target;
	const char *backend;	/* NULL: the runtime's default */
	bool exec;		/* a process for every run, no fork server */
	const char *options;	/* further SNARL_OPTIONS, or NULL */
	double timeout;		/* seconds per run; 0: no limit */
	uint64_t max_steps;	/* 0: no limit */
	struct ignore *ignore;	/* failures that count as passing in variations of a run; or NULL */
	const struct deadline *deadline;	/* abandon the run that comes to it; NULL: none */
	double patience;	/* seconds for replay_prove(), after REPLAY_LEAST; 0: no limit */
	char *task; /* REPLAY_TASK bytes: what is going on, for the progress line; or NULL */
};

struct replay {
	struct server server;
	uint64_t max_steps;
};

/* Starts the worker, with room for the plan of `s` and its output. Close it in any case. */
int replay_open(struct replay *r, const struct replay_config *config, const struct schedule *s,
		struct err *err);
void replay_close(struct replay *r);

/*
 * Fills in the control block for a run of schedule `s`: by strategy `exact` if it has turns, else
 * by strategy `goal`. The block may also belong to a process without a worker, as under gdb.
 */
int replay_prepare(struct ctl_block *b, const struct schedule *s, const struct places *places,
		   uint64_t max_steps, struct err *err);

/* Makes one run and judges it. Returns -1 if it could not be made. */
int replay_once(struct replay *r, const struct schedule *s, const struct places *places,
		struct oracle *oracle, struct oracle_result *out, struct err *err);

/*
 * Replays `s` up to `times` times, until a replay does not end in s->failure. Returns how many did.
 * The first of these adds its event checks to `s`, which the following replays have to match.
 *
 * *made: replays made, fewer than `times` if the program could no longer be run, or if they last so
 * long that config->patience or config->deadline is over. *other: the result of the replay that
 * ended in another way; untouched if there is none.
 */
unsigned replay_prove(struct schedule *s, const struct replay_config *config, unsigned times,
		      const struct places *places, unsigned *made, struct oracle_result *other,
		      struct err *err);

/* Whether a replay ended in s->failure. If `s` names none: whether it followed the schedule. */
bool replay_same(const struct schedule *s, const struct oracle_result *result);

#endif
