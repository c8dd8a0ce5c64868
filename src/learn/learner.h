/*
 * Traces of passing runs into the database.
 */
#ifndef LEARN_LEARNER_H
#define LEARN_LEARNER_H

#include "learn/rule_database.h"
#include "learn/training_run.h"

struct learner {
	struct store *store;
	int64_t program;
	unsigned granularity;
	uint64_t threshold;
	uint64_t traces;	/* so far */
	uint64_t lost;		/* of all traces: pairs may be missing */
	/* Sites that this process has looked up. */
	struct map at;		/* hash of build, offset and access to place in `items`, plus 1 */
	struct learner_site {
		int64_t id;
		unsigned cuts;
	} *items;
	size_t count, capacity;
};

/* `store` stays the caller's. */
int learner_open(struct learner *l, struct store *store, const char *program, unsigned granularity,
		 uint64_t threshold, struct err *err);
void learner_close(struct learner *l);

/*
 * A trace and what it says: read by any thread, several at a time, and then taken to the database one
 * after the other.
 */
enum learner_run {
	LEARNER_PASSED,
	/*
	 * One that went where others hardly go: it teaches no more than which invariants it broke. If it
	 * failed, that these do harm.
	 */
	LEARNER_PROBE,
	LEARNER_FAILED,
};

struct learner_reading {
	enum learner_run kind;
	struct reader *trace;
	struct training_run training;
	uint64_t seed;
	int result;		/* -1: it cannot be read, `err` says why */
	struct err err;
};

/* Rests while `pause`, which may be NULL, is active. The caller frees the result in any case. */
void learner_read(struct learner_reading *r, const char *path, enum learner_run kind, unsigned granularity,
		  uint64_t seed, struct pause *pause);
void learner_reading_free(struct learner_reading *r);

/* What it taught is in the database when this returns. `how`: "parallel", "controlled", "probe", … */
int learner_take(struct learner *l, struct learner_reading *r, const char *input, const char *how,
		 struct store_news *news, struct err *err);

/* Read and taken; it passed. */
int learner_trace(struct learner *l, const char *path, const char *input, const char *how, uint64_t seed,
		  struct store_news *news, struct err *err);

/*
 * The numbers in the database of all sites of a lesson, made if they are new; `items` has l->sites.count.
 * Within a transaction.
 */
struct reader;
int learner_sites(struct learner *l, const struct training_run *run, struct reader *trace,
		  struct learner_site *items, struct err *err);

#endif
