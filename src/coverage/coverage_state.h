/*
 * The coverage of one program in memory, to be shown or compared. It comes from a database
 * (cover_state_load()), or from a JSON file that an earlier run wrote (report/cover_json.c).
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
	char *key;			/* iroot_database.h: names the event within the program */
	char *function, *file;		/* "" if unknown */
	unsigned line, column;
	enum iroot_access access;
};

/* An iRoot. */
struct cover_item {
	uint32_t idiom;
	uint32_t event[IROOT_EVENTS];	/* 1 + index in cover_state.events; 0: none */
	uint64_t exposed, predicted, attempts, failed;	/* runs: see struct memo_root */
	enum cover_verdict verdict;
};

/* A point of the coverage curve. */
struct cover_point {
	uint64_t run;			/* runs so far, from 1 */
	uint64_t exposed, known;	/* iRoots after that run: exposed; exposed or predicted */
	char *strategy;			/* of that run */
};

/* Number of iRoots with each verdict. */
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
	/* Set by cover_state_sum(). */
	struct cover_figures idioms[IROOT_IDIOMS + 1], all;	/* idioms[0] is not used */
	struct cover_file *files;	/* sorted by name */
	size_t file_count, file_capacity;
	struct map numbers;		/* while loading: database id -> 1 + index in events */
};

/*
 * Loads the program of this name; NULL: the only program of the database. -1 and *err: the database
 * has no such program, or cannot be read, or `program` is NULL and there are several.
 */
int cover_state_load(struct cover_state *s, struct memo *m, const char *program, struct err *err);

void cover_state_free(struct cover_state *s);

/*
 * For code that fills a state itself. cover_state_judge() sets the verdict of an item;
 * cover_state_sum() computes the figures when all items are added.
 */
void cover_state_judge(struct cover_item *item);
void cover_state_sum(struct cover_state *s);

/* Exposed iRoots in percent of the feasible ones; 100 if there are none. */
double cover_percent(const struct cover_figures *f);
uint64_t cover_total(const struct cover_figures *f);

/* "read", "write", "lock", "unlock" */
const char *cover_access_name(enum iroot_access access);
const char *cover_verdict_name(enum cover_verdict verdict);

/* Finds the iRoot of one state that equals an item of the state `of`; NULL: there is none. */
struct cover_index;
struct cover_index *cover_index_new(const struct cover_state *s);
void cover_index_free(struct cover_index *x);
const struct cover_item *cover_index_find(const struct cover_index *x, const struct cover_state *of,
					  const struct cover_item *item);

/*
 * "1  bank.c:21 write → bank.c:33 read", "4  a.c:5 write → a.c:9 read … a.c:11 write → a.c:7 read"
 */
struct buf;
void cover_describe(const struct cover_state *s, const struct cover_item *item, struct buf *out);

/* One event: "bank.c:21 write". `event` is 1 + its index. */
void cover_place(const struct cover_state *s, uint32_t event, struct buf *out);

#endif
