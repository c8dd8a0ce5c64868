/*
 * What a run says into the database; for learner.c alone.
 */
#ifndef LEARN_LEARNER_WRITE_H
#define LEARN_LEARNER_WRITE_H

#include "learn/learner.h"

/* `stored`: by site of the run. Within a transaction. `sure`: of the order of accesses. */
int learner_write(struct learner *l, const struct training_run *run, const struct learner_site *stored, bool sure,
		  struct store_news *news, struct err *err);

/* learner_take_probe(). */
int learner_write_probe(struct learner *l, const struct training_run *run, const struct learner_site *stored, bool passed,
			struct store_news *news, struct err *err);

#endif
