/*
 * The iRoots of a program's runs, on their way into the database: addresses become places in
 * the sources, and what is new is told from what is known.
 */
#ifndef EXPLORE_COVER_COVER_RECORD_H
#define EXPLORE_COVER_COVER_RECORD_H

#include "base/map.h"
#include "coverage/fold/iroot_fold.h"
#include "coverage/iroot_database.h"
#include "explore/search/search.h"
#include "explore/target/target.h"
#include "explore/target/worker.h"
#include "symbol/program_sites.h"

struct cover_root {
	struct memo_root memo;	/* as the database knows it, as far as this process saw */
	struct iroot here;	/* by addresses of this build; idiom 0: not met in this process */
	uint64_t seen_predicted, seen_exposed;	/* in which run last, counted from 1 */
	uint32_t new_exposed, new_predicted;	/* not in the database yet */
	bool ours;		/* it is there since this process was */
	bool gone;		/* … and taken back */
};

struct cover {
	struct memo *memo;
	struct places *places;
	int64_t program;
	char *input;		/* arguments, and a hash of what is read from stdin */
	struct map events;	/* hash of pc and access to number in the database */
	struct map at;		/* hash of an iRoot by these to its place in `roots`, plus 1 */
	struct cover_root *roots;
	size_t count, capacity;
	uint64_t runs;		/* of this process */
	struct iroot_flag flags[IROOT_FLAGS];	/* by addresses of this build */
	uint32_t flag_count;
	size_t gone;		/* of the roots */
	uint64_t exposed;	/* … */
	uint64_t lost;		/* what did not fit into profiles: iRoots may be missing */
	uint64_t damaged, cut;	/* runs not counted: the program wrote into the profile; killed in the middle of it */
	double flushed;		/* when all was last written */
	bool dirty;
};

/* `path`: the database, made if it is not there. Close it in any case. */
int cover_open(struct cover *c, const char *path, const struct target *target, struct places *places,
	       struct err *err);
void cover_close(struct cover *c);	/* what was not written is lost: cover_flush() */

/* Another input from now on. */
void cover_input(struct cover *c, const struct target *target);

/* For servers of runs that are to be added. */
void cover_config(const struct cover *c, struct server_config *config);

/*
 * A run has ended. What is new is in the database when this returns, and r has the run's
 * figures; that known ones were seen again may come later.
 */
int cover_add(struct cover *c, struct iroot_profile *p, struct memo_run *r, struct err *err);

/* The same of a run of a search that has ended; one without a whole profile is only counted in `c`. */
int cover_add_run(struct cover *c, const struct search_run *run, struct memo_run *r, struct err *err);
int cover_flush(struct cover *c, struct err *err);

/* Was an iRoot exposed, when that was the aim of these runs? */
int cover_attempt(struct cover *c, struct cover_root *root, unsigned runs, bool exposed, struct err *err);

/* Expected but neither exposed nor given up; by idiom, the next after *at, which is 0 at first. NULL: none. */
struct cover_root *cover_untested(struct cover *c, uint32_t idiom, size_t *at);

/* Names the place of an event whatever is changed around its function, "bank.c deposit +3:9". */
void cover_key(struct places *places, uint64_t pc, struct buf *out);

#endif
