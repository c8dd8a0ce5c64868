/*
 * The coverage of a program as a database has it, or as report/cover.h wrote it once: to be
 * shown, and to be compared.
 */
#ifndef COVERAGE_COVERAGE_STATE_H
#define COVERAGE_COVERAGE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "coverage/iroot_database.h"

enum cover_verdict { COVER_EXPOSED, COVER_UNTESTED, COVER_INFEASIBLE, COVER_VERDICTS };

struct cover_event {
	char *key, *function, *file;	/* "" if unknown */
	unsigned line, column;
	enum iroot_access access;
};

struct cover_item {
	uint32_t idiom;
	uint32_t event[IROOT_EVENTS];	/* of the state's events, plus 1; 0: none */
	uint64_t exposed, predicted, attempts, failed;
	enum cover_verdict verdict;
};

struct cover_point {
	uint64_t run, exposed, known;	/* after the run-th of all runs */
	char *strategy;
};

/* How many of each verdict. */
struct cover_figures {
	uint64_t at[COVER_VERDICTS];
};

struct cover_file {
	const char *name;
	struct cover_figures figures;	/* of iRoots with an event in it */
};

struct cover_state {
	char *program;
	uint64_t runs, failed_runs;
	struct cover_event *events;
	size_t event_count, event_capacity;
	struct cover_item *items;
	size_t count, capacity;
	struct cover_point *points;
	size_t point_count, point_capacity;
	/* cover_state_sum() */
	struct cover_figures idioms[IROOT_IDIOMS + 1], all;	/* [0]: unused */
	struct cover_file *files;	/* by name */
	size_t file_count, file_capacity;
	struct map numbers;		/* while reading: of events, plus 1 */
};

/*
 * `program` NULL: the only one; else by name. -1 if it is not there, or if there are several to
 * choose from.
 */
int cover_state_load(struct cover_state *s, struct memo *m, const char *program, struct err *err);

void cover_state_free(struct cover_state *s);

/* For who fills it: sets an item's verdict; sums all up. */
void cover_state_judge(struct cover_item *item);
void cover_state_sum(struct cover_state *s);

/* Exposed ones of those that are not infeasible; 100 if there are none. */
double cover_percent(const struct cover_figures *f);
uint64_t cover_total(const struct cover_figures *f);

const char *cover_access_name(enum iroot_access access);	/* "read", "write", "lock", "unlock" */
const char *cover_verdict_name(enum cover_verdict verdict);

/* The same iRoot in another state, or NULL. */
struct cover_index;
struct cover_index *cover_index_new(const struct cover_state *s);
void cover_index_free(struct cover_index *x);
const struct cover_item *cover_index_find(const struct cover_index *x, const struct cover_state *of,
					  const struct cover_item *item);

/* "1  bank.c:21 write → bank.c:33 read", "4  a.c:5 write → a.c:9 read … a.c:11 write → a.c:7 read" */
struct buf;
void cover_describe(const struct cover_state *s, const struct cover_item *item, struct buf *out);
void cover_place(const struct cover_state *s, uint32_t event, struct buf *out);	/* one of its events */

#endif
