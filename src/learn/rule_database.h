/*
 * The rule database (SQLite): what was learnt from passing runs, for all inputs and builds.
 *
 * A site is stored by function and line within it (symbol/key.h), so that its rules hold until the
 * function changes, and by its offset in each build. Every change is between store_begin() and
 * store_commit().
 *
 * Example: `snarl learn --parallel --runs 1`. In the run, two threads call deposit() one after the
 * other, without a lock. Line 1 reads `balance`, line 2 writes it. The numbers of sites are
 * simplified, and tables whose rows do not matter here are left out:
 *
 * 	site     1: deposit(); 2: its line 1, a read; 3: its line 2, a write. 2 and 3 have
 * 	         runs 1, broken 0: one passing run reached them, none broke them
 * 	follows  m p  seen expected meet      enum store_pair_kind; 20 is STORE_CONFLICT | 16
 * 	         2 2     0        0   96      the read came first in one thread, not in the other
 * 	         2 3     1        1   20      the second read came after the first write
 * 	         3 2     0        1   20      a write may come after a read of the other thread,
 * 	         3 3     0        1  116      or after its write, but never did: site 3 is open
 * 	local    p 2, i 3, runs 1, breakable 1   two accesses in a row; others may break them
 * 	between  i 3, r 2 and i 3, r 3           by a read or write of the other thread
 * 	near     p 2, i 3, runs 1                no call that blocks lies between them
 * 	visit    p 2, r 2, may 1, inside 0       a read may come after p and before i, but did not;
 * 	         p 2, r 3, may 1, inside 0       nor did a write
 * 	member   (function 1, site 2) (function 1, site 3)   one transaction of deposit()
 * 	sequence p 2, i 3, torn 0                in it 2 came before 3; no lock changed between
 * 	run      sites 2, broken 0, pairs 1, expected 3, cuts 0   counts of what was new
 */
#ifndef LEARN_RULE_DATABASE_H
#define LEARN_RULE_DATABASE_H

#include "base/err.h"
#include "learn/fold/avio.h"
#include "learn/fold/fold_common.h"

#define STORE_FILE "learn.db"	/* in the folder of results */

struct store;

/*
 * NULL: the file is missing (unless `create`), is no rule database, or is of a later version.
 * ":memory:" is a temporary database.
 */
struct store *store_open(const char *path, bool create, struct err *err);
void store_close(struct store *s);

bool store_is_empty(struct store *s);	/* no run was ever added */

int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* Finds or creates a program, and returns its number; -1: error. */
int64_t store_program(struct store *s, const char *name, struct err *err);

struct store_site_info {
	const char *key;
	enum learn_access access;
	const char *function, *file;	/* "" or NULL if unknown */
	unsigned line, column;
	const char *build;	/* hex; "" if unknown */
	uint64_t offset;
};

/* Finds or creates a site. Returns its number, and its cuts (enum lifetx_cut); -1: error. */
int64_t store_site(struct store *s, int64_t program, const struct store_site_info *p,
		   unsigned *cuts, struct err *err);

/* The sites at an offset of a build. A call such as memcpy reads and writes: two sites. */
struct store_at {
	int64_t site[2];
	unsigned count;
};

int store_find(struct store *s, const char *build, uint64_t offset, struct store_at *at,
	       struct err *err);

/* Counts of facts of a run that were not in the database. */
struct store_news {
	uint64_t sites;		/* sites that no run had reached */
	uint64_t broken;	/* invariants that hold no longer */
	uint64_t pairs;		/* predecessors of sites */
	uint64_t expected;	/* pairs expected in other runs */
	uint64_t cuts;
	/* Only counted; not stored with the run. */
	uint64_t triples;	/* ways to break a pair */
	uint64_t others;	/* members and orders of transactions, conflicts, visits */
};

uint64_t store_news_sum(const struct store_news *n);

/*
 * Counts one passing run that reached the site, and whether it broke the site's invariant. An
 * invariant holds as long as at most `threshold` runs broke it. Like the functions below, adds
 * to *news what is new.
 */
int store_passed(struct store *s, int64_t site, bool broken, uint64_t threshold,
		 struct store_news *news, struct err *err);
/* Counts one failing run that reached the site. */
int store_failed(struct store *s, int64_t site, bool broken, struct err *err);
/*
 * Is there an invariant that another thread could break, and that holds or may hold again
 * (learnt_holds())? -1: error.
 */
int store_unbroken(struct store *s, int64_t program, uint64_t threshold, struct err *err);
int store_triple(struct store *s, int64_t p, int64_t r, int64_t i, enum avio_pattern pattern,
		 struct store_news *news, struct err *err);
/* Facts of a run about a pair of sites (P, M). The last two concern pairs (M, M). */
enum store_pair_kind {
	STORE_SEEN = 1,		/* M immediately followed P of another thread */
	STORE_EXPECTED = 2,	/* M may follow P in another run */
	STORE_CONFLICT = 4,	/* P and M conflict, and only locks may order them */
	STORE_RACE = 8,		/* no lock excludes them either */
	/* 16: a run that is not `sure` said so once; the second such run sets STORE_RACE */
	STORE_FIRST = 32,	/* M accessed memory before all other threads' unordered accesses */
	STORE_AFTER = 64,	/* M accessed memory after such an access */
};
/* Not `sure`: STORE_RACE counts only from the second such run on; the first sets bit 16. */
int store_follows(struct store *s, int64_t p, int64_t m, unsigned how, bool sure,
		  struct store_news *news, struct err *err);
/* Local pair (p, i); site r that may come between i and a p (learn/fold/breakable_pairs.h). */
int store_local(struct store *s, int64_t p, int64_t i, bool breakable, struct err *err);
int store_between(struct store *s, int64_t r, int64_t i, struct err *err);
int store_member(struct store *s, int64_t function, int64_t site, struct store_news *news,
		 struct err *err);
/* A transaction accessed P, and later I (torn: enum lifetx_torn). */
int store_order(struct store *s, int64_t p, int64_t i, unsigned torn, struct store_news *news,
		struct err *err);
/*
 * After new cuts: deletes the orders (P, I) with P in `sites`, since the two may be in different
 * transactions now.
 */
int store_forget_orders(struct store *s, const struct map *sites, int64_t i, struct err *err);
/* Sites that take mutexes (learn/fold/lock_sites.h). */
enum store_lock_pair { STORE_OUTERMOST = 1, STORE_CYCLE = 2 };
int store_lock_pair(struct store *s, int64_t a, int64_t b, unsigned how, struct err *err);
/*
 * store_unblocked: a pair (P, I) of interleaved_unblocked(). store_visit: R may come after P and
 * before I (breakable_visits()), or came there (interleaved_visits()).
 */
int store_unblocked(struct store *s, int64_t p, int64_t i, struct err *err);
int store_visit(struct store *s, int64_t p, int64_t r, bool may, bool inside,
		struct store_news *news, struct err *err);
/* A cut counts from the second run on that finds it. */
int store_cut(struct store *s, int64_t site, unsigned cuts, struct store_news *news,
	      struct err *err);
int store_run(struct store *s, int64_t program, const char *input, const char *how, uint64_t seed,
	      const struct store_news *news, struct err *err);

/* The builds of the last run's modules: rules are compiled for these. */
int store_build(struct store *s, int64_t program, const char *build, struct err *err);
int store_has_build(struct store *s, int64_t program, const char *build, struct err *err);
int store_forget_builds(struct store *s, int64_t program, struct err *err);

/* Adds the contents of another database. */
int store_merge(struct store *s, const char *path, struct err *err);

/* Everything stored for one program. Sites are numbered by their index in `sites`. */
struct known_site {
	int64_t id;
	char *key, *function, *file;	/* "" if unknown */
	unsigned line, column, cuts;
	enum learn_access access;
	/* number of passing runs that reached it, and of those that broke its invariant */
	uint64_t runs, broken;
	/* number of failing runs that reached it, and of those that broke its invariant */
	uint64_t failed, harmed;
};

struct learnt_address {
	uint32_t site;
	char *build;
	uint64_t offset;
	bool current;		/* is it a build of the last run? */
};

struct known_pair {
	uint32_t first, second;
	uint64_t seen, expected;	/* number of runs */
	/*
	 * enum store_pair_kind from STORE_CONFLICT on; of orders enum lifetx_torn; of locks enum
	 * store_lock_pair
	 */
	unsigned how;
};

/*
 * A local pair: two accesses of a thread in a row to the same memory. In `breakable` of `runs`
 * runs, another thread could have come between.
 */
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
	struct learnt_address *addresses;	/* ascending by build, then offset */
	size_t address_count, address_capacity;
	struct known_pair *pairs;	/* (P, M), ascending by M */
	size_t pair_count, pair_capacity;
	struct learnt_local *locals;
	size_t local_count, local_capacity;
	struct known_pair *between;	/* (r, i) */
	size_t between_count, between_capacity;
	/* (function, site): the site is in a transaction of the function */
	struct known_pair *members;
	size_t member_count, member_capacity;
	struct known_pair *orders;	/* (P, I): a transaction accesses P, then I */
	size_t order_count, order_capacity;
	struct known_pair *locks;	/* pairs of learn/fold/lock_sites.h */
	size_t lock_count, lock_capacity;
	/* (P, I) without a blocking call between them; `seen`: number of runs */
	struct known_pair *unblocked;
	size_t unblocked_count, unblocked_capacity;
	/* (P, R): in `expected` runs, R could come after P and before I; in `seen` runs it did */
	struct known_pair *visits;
	size_t visit_count, visit_capacity;
	struct known_triple *triples;
	size_t triple_count, triple_capacity;
	struct learnt_run *runs;
	size_t run_count, run_capacity;
	struct map at;		/* number in the database to index in `sites`, plus 1 */
};

/*
 * `program` NULL: the only program. -1: it is not in the database, or there are several to
 * choose from.
 */
int store_load(struct store *s, const char *program, struct known *k, struct err *err);
void known_free(struct known *k);

/*
 * Does the invariant of the site hold? If failing runs break it far more often than passing ones,
 * it still holds: breaking it does harm, and the passing runs had luck. It also holds if all
 * failing runs broke it, and fewer would have by chance. One failing run is not enough: it may have
 * another cause.
 */
#define LEARNT_HARM 2u		/* times as often as passing runs */
#define LEARNT_BY_CHANCE 5u	/* failing runs that would not have broken it */

static inline bool known_holds(const struct known_site *s, uint64_t threshold)
{
	bool harmful = s->harmed > 1 &&
		       (s->harmed * s->runs >= LEARNT_HARM * s->broken * s->failed ||
			(s->harmed == s->failed &&
			 s->failed * (s->runs - s->broken) >= LEARNT_BY_CHANCE * s->runs));

	return s->access != LEARN_FUNCTION && s->runs && (s->broken <= threshold || harmful);
}

/*
 * Did enough of the runs that reached i have the pair? A rare pair may be seen broken before it is
 * ever seen unbroken.
 */
#define LEARNT_SHARE 10u	/* one run in this many, */
#define LEARNT_ENOUGH 20u	/* or this many runs */

static inline bool learnt_often(const struct known *k, const struct learnt_local *l)
{
	return l->runs >= LEARNT_ENOUGH || l->runs * LEARNT_SHARE >= k->sites[l->i].runs;
}

#endif
