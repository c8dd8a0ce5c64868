/*
 * A saved schedule again, on a server of its own.
 */
#ifndef EXPLORE_SEARCH_REPLAY_SCHEDULE_H
#define EXPLORE_SEARCH_REPLAY_SCHEDULE_H

#include "explore/schedule/schedule.h"
#include "explore/search/oracle.h"
#include "explore/target/worker.h"
#include "symbol/program_sites.h"

struct replay_config {
	const struct target *target;
	const char *backend;	/* NULL: the runtime's default */
	bool exec;
	const char *options;	/* more of SNARL_OPTIONS, or NULL */
	double timeout;
	uint64_t max_steps;
};

struct replay {
	struct server server;
	uint64_t max_steps;
};

/* Starts the server; `s` only says how much room its plan takes. */
int replay_open(struct replay *r, const struct replay_config *config, const struct schedule *s,
		struct err *err);
void replay_close(struct replay *r);

/*
 * Fills in block and request from a schedule: exact if it has turns, else by its
 * goals. Also for runs that are started in another way.
 */
int replay_prepare(struct ctl_block *b, const struct schedule *s, const struct places *places,
		   uint64_t max_steps, struct err *err);

/* One run; judged by `oracle`. -1 if it could not be made. */
int replay_once(struct replay *r, const struct schedule *s, const struct places *places,
		struct oracle *oracle, struct oracle_result *out, struct err *err);

/*
 * So many times in fresh processes, as it promises. The first time that it does gives the
 * schedule its checks. Returns how often it did; *made: how many there were, which is
 * fewer if the program could not be run any more; *other: the last that was different.
 */
unsigned replay_prove(struct schedule *s, const struct replay_config *config, unsigned times,
		      const struct places *places, unsigned *made, struct oracle_result *other,
		      struct err *err);

/* Is this the failure the schedule promises? True if it promises none. */
bool replay_same(const struct schedule *s, const struct oracle_result *result);

#endif
