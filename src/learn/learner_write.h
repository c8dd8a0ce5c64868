/* Writes the results of a training run to the database; for learner.c alone. */
#ifndef LEARN_LEARNER_WRITE_H
#define LEARN_LEARNER_WRITE_H

#include "learn/learner.h"

/*
 * Writes the results of a passing run. `stored`: by site of the run, its number in the database.
 * `sure`: the order of accesses is exact, as in controlled runs. Call it within a transaction.
 */
int learner_write(struct learner *l, const struct training_run *run,
		  const struct learner_site *stored, bool sure, struct store_news *news,
		  struct err *err);

/* For a probe (`passed`) or a failing run: writes only what concerns invariants. */
int learner_write_probe(struct learner *l, const struct training_run *run,
			const struct learner_site *stored, bool passed, struct store_news *news,
			struct err *err);

#endif
