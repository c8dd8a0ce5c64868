/* Adds traces of passing runs to the rule database. */
#ifndef LEARN_LEARNER_H
#define LEARN_LEARNER_H

#include "learn/rule_database.h"
#include "learn/training_run.h"

struct learner {
	struct store *store;
	int64_t program;
	unsigned granularity;
	uint64_t threshold;
	uint64_t traces;	/* number of traces taken */
	/* items that folds dropped for lack of room, in all traces: pairs may be missing */
	uint64_t lost;
	/* Cache of sites that are in the database. */
	struct map at;		/* hash of build, offset and access to index in `items`, plus 1 */
	struct learner_site {
		int64_t id;
		unsigned cuts;
	} *items;
	size_t count, capacity;
};

/* The caller keeps `store`, and closes it after learner_close(). */
int learner_open(struct learner *l, struct store *store, const char *program, unsigned granularity,
		 uint64_t threshold, struct err *err);
void learner_close(struct learner *l);

/* The run of a trace. Several threads may read traces; learner_take() adds them one by one. */
enum learner_run {
	LEARNER_PASSED,
	/*
	 * A passing run with an unusual schedule. Only the invariants that it broke are stored:
	 * guard must not take its rare orders for normal ones.
	 */
	LEARNER_PROBE,
	LEARNER_FAILED,
};

struct learner_reading {
	enum learner_run kind;
	struct reader *trace;
	struct training_run training;
	uint64_t seed;
	int result;		/* -1: the trace cannot be read, see `err` */
	struct err err;
};

/*
 * Reads a trace, as long as `d` is not over; NULL: no limit. Pauses while `pause` is active; NULL:
 * never. The caller frees *r in any case.
 */
void learner_read(struct learner_reading *r, const char *path, enum learner_run kind,
		  unsigned granularity, uint64_t seed, struct pause *pause,
		  const struct deadline *d);
void learner_reading_free(struct learner_reading *r);

/*
 * Adds a reading to the database, in one transaction. `how`: "parallel", "controlled", "probe",
 * "trace".
 */
int learner_take(struct learner *l, struct learner_reading *r, const char *input, const char *how,
		 struct store_news *news, struct err *err);

/* Reads a trace of a run that passed, and adds it. */
int learner_trace(struct learner *l, const char *path, const char *input, const char *how,
		  uint64_t seed, struct store_news *news, struct err *err);

/*
 * Finds or creates the database's numbers of all sites of a run: items[i] for site i of
 * run->sites. Call it within a transaction.
 */
struct reader;
int learner_sites(struct learner *l, const struct training_run *run, struct reader *trace,
		  struct learner_site *items, struct err *err);

#endif
