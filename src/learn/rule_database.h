/*
 * What passing runs have taught, of every input and build: a database (SQLite).
 *
 * A place is known by where it stands in its function (symbol/key.h), so that what is known of a
 * function holds as long as that is not changed; and by its offsets in the builds it was met in.
 * All changes are between store_begin() and store_commit(), which should be near each other.
 */
#ifndef LEARN_RULE_DATABASE_H
#define LEARN_RULE_DATABASE_H

#include "base/err.h"
#include "learn/fold/avio.h"
#include "learn/fold/fold_common.h"

#define STORE_FILE "learn.db"	/* in the folder of results */

struct store;

/* NULL: not there (unless `create`), no database of ours, or of a later version. ":memory:" is one for now. */
struct store *store_open(const char *path, bool create, struct err *err);
void store_close(struct store *s);

bool store_is_empty(struct store *s);	/* no run was ever taken */

int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* Its number, made if it is new; -1: error. */
int64_t store_program(struct store *s, const char *name, struct err *err);

struct store_site_info {
	const char *key;
	enum learn_access access;
	const char *function, *file;	/* "" or NULL if unknown */
	unsigned line, column;
	const char *build;	/* hex; "" if unknown */
	uint64_t offset;
};

/* The number of a site and its cuts (enum lifetx_cut); -1: error. */
int64_t store_site(struct store *s, int64_t program, const struct store_site_info *p, unsigned *cuts,
		   struct err *err);

/* The accesses at an offset of a build; a call may read and write. */
struct store_at {
	int64_t site[2];
	unsigned count;
};

int store_find(struct store *s, const char *build, uint64_t offset, struct store_at *at, struct err *err);

/* What was new in a run: 0 of everything, and it taught nothing. */
struct store_news {
	uint64_t sites;		/* not met before */
	uint64_t broken;	/* invariants that do not hold any more */
	uint64_t pairs;		/* of predecessor sets */
	uint64_t expected;	/* pairs that may come */
	uint64_t cuts;
	/* Not remembered of each run: */
	uint64_t triples;	/* ways to break pairs apart */
	uint64_t others;	/* what transactions are judged by: members, orders, places that meet */
};

uint64_t store_news_sum(const struct store_news *n);

/* Each adds one run to what is known, and to *news what is new. `threshold`: runs that may break an invariant. */
int store_passed(struct store *s, int64_t site, bool broken, uint64_t threshold, struct store_news *news,
	      struct err *err);
/* Of a failing run that came to the site. */
int store_failed(struct store *s, int64_t site, bool broken, struct err *err);
/* 1: there is an invariant that others could break, or one that may be: a run that broke it failed; 0: none. */
int store_unbroken(struct store *s, int64_t program, uint64_t threshold, struct err *err);
int store_triple(struct store *s, int64_t p, int64_t r, int64_t i, enum avio_pattern pattern,
		 struct store_news *news, struct err *err);
/* The last two are of a place and itself: it came first, or after others (learn/fold/unordered_sites.h). */
enum store_pair_kind { STORE_SEEN = 1, STORE_EXPECTED = 2, STORE_CONFLICT = 4, STORE_RACE = 8, STORE_FIRST = 32,
		 STORE_AFTER = 64 };
/* Not `sure`: STORE_RACE counts from the second time on; until then it is the next bit of known_pair.how. */
int store_follows(struct store *s, int64_t p, int64_t m, unsigned how, bool sure, struct store_news *news,
		  struct err *err);
/* A pair p, i of a thread; r, which may come between i and a p (learn/fold/breakable_pairs.h). */
int store_local(struct store *s, int64_t p, int64_t i, bool breakable, struct err *err);
int store_between(struct store *s, int64_t r, int64_t i, struct err *err);
int store_member(struct store *s, int64_t function, int64_t site, struct store_news *news, struct err *err);
/* In a transaction there is P, then I (torn: enum lifetx_torn). */
int store_order(struct store *s, int64_t p, int64_t i, unsigned torn, struct store_news *news, struct err *err);
/* By cuts that came since there is not any more, of I and P in `sites`, as far as is known. */
int store_forget_orders(struct store *s, const struct map *sites, int64_t i, struct err *err);
/* Where mutexes are taken: see locking.h. */
enum store_lock_pair { STORE_OUTERMOST = 1, STORE_CYCLE = 2 };
int store_lock_pair(struct store *s, int64_t a, int64_t b, unsigned how, struct err *err);
/* P, I: interleaved_unblocked(). P, R: R may come before such an I (breakable_visits()), or did (interleaved_visits()). */
int store_unblocked(struct store *s, int64_t p, int64_t i, struct err *err);
int store_visit(struct store *s, int64_t p, int64_t r, bool may, bool inside, struct store_news *news, struct err *err);
/* It counts from the second time on. */
int store_cut(struct store *s, int64_t site, unsigned cuts, struct store_news *news, struct err *err);
int store_run(struct store *s, int64_t program, const char *input, const char *how, uint64_t seed,
	      const struct store_news *news, struct err *err);

/* The builds whose modules were in the last runs: rules are for these. */
int store_build(struct store *s, int64_t program, const char *build, struct err *err);
int store_has_build(struct store *s, int64_t program, const char *build, struct err *err);
int store_forget_builds(struct store *s, int64_t program, struct err *err);

/* Adds all of another database. */
int store_merge(struct store *s, const char *path, struct err *err);

/* All that is known of a program. Numbers of sites are places in `sites`. */
struct known_site {
	int64_t id;
	char *key, *function, *file;	/* "" if unknown */
	unsigned line, column, cuts;
	enum learn_access access;
	uint64_t runs, broken;	/* passing runs that met it, and that broke its invariant */
	uint64_t failed, harmed;	/* likewise, failing runs */
};

struct learnt_address {
	uint32_t site;
	char *build;
	uint64_t offset;
	bool current;		/* a build of the last run */
};

struct known_pair {
	uint32_t first, second;
	uint64_t seen, expected;	/* in so many runs */
	unsigned how;		/* STORE_CONFLICT and what follows it there; of orders enum lifetx_torn, of locks enum store_lock_pair */
};

/* Two accesses of one thread in a row, and in how many runs others could have broken them apart. */
struct learnt_local {
	uint32_t p, i;
	uint64_t runs, breakable;
};

struct known_triple {
	uint32_t p, r, i;
	enum avio_pattern pattern;
	uint64_t runs;
};

struct learnt_run {
	char *input, *how;
	struct store_news news;
};

struct known {
	char *program;
	struct known_site *sites;
	size_t count, capacity;
	struct learnt_address *addresses;	/* by build, then offset */
	size_t address_count, address_capacity;
	struct known_pair *pairs;	/* (P, M) by M */
	size_t pair_count, pair_capacity;
	struct learnt_local *locals;
	size_t local_count, local_capacity;
	struct known_pair *between;	/* (r, i) */
	size_t between_count, between_capacity;
	struct known_pair *members;	/* (function, site) */
	size_t member_count, member_capacity;
	struct known_pair *orders;	/* (P, I): P comes before I in a transaction */
	size_t order_count, order_capacity;
	struct known_pair *locks;	/* locking.h */
	size_t lock_count, lock_capacity;
	struct known_pair *unblocked;	/* (P, I) in so many runs */
	size_t unblocked_count, unblocked_capacity;
	struct known_pair *visits;	/* (P, R): expected, seen in between */
	size_t visit_count, visit_capacity;
	struct known_triple *triples;
	size_t triple_count, triple_capacity;
	struct learnt_run *runs;
	size_t run_count, run_capacity;
	struct map at;		/* id to place in `sites`, plus 1 */
};

/* `program` NULL: the only one; -1 if it is not there, or there are several to choose from. */
int store_load(struct store *s, const char *program, struct known *k, struct err *err);
void known_free(struct known *k);

/*
 * Does its invariant hold? What is broken in failing runs far more often than in passing ones is what
 * makes them fail: some had luck. One failure may have other reasons. Likewise what every failing run broke, where by
 * chance so many would not have.
 */
#define LEARNT_HARM 2u
#define LEARNT_BY_CHANCE 5u

static inline bool known_holds(const struct known_site *s, uint64_t threshold)
{
	bool harmful = s->harmed > 1 && (s->harmed * s->runs >= LEARNT_HARM * s->broken * s->failed ||
					 (s->harmed == s->failed &&
					  s->failed * (s->runs - s->broken) >= LEARNT_BY_CHANCE * s->runs));

	return s->access != LEARN_FUNCTION && s->runs && (s->broken <= threshold || harmful);
}

/*
 * Did the two come in a row in enough of the runs that came to the second to say what never comes between? What is
 * rare may well be met broken apart before it was ever met whole.
 */
#define LEARNT_SHARE 10u		/* one in so many, … */
#define LEARNT_ENOUGH 20u	/* … or so many */

static inline bool learnt_often(const struct known *k, const struct learnt_local *l)
{
	return l->runs >= LEARNT_ENOUGH || l->runs * LEARNT_SHARE >= k->sites[l->i].runs;
}

#endif
