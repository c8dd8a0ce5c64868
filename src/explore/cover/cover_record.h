/*
 * Adds the iRoots of runs to the database: names their events by places in the sources instead of
 * addresses, and finds out which iRoots are new.
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

/* An iRoot of the program. */
struct cover_root {
	struct memo_root memo;	/* as in the database, when this process last read or wrote it */
	/* By addresses of this build; idiom 0: no run of this process had it. */
	struct iroot iroot;
	uint64_t seen_predicted, seen_exposed;	/* number of the last run that did so, from 1 */
	/* Number of runs that the database does not have yet. */
	uint32_t new_exposed, new_predicted;
	bool added_here;	/* this process added it to the database */
	bool withdrawn;		/* this process removed it again: learn_flags() in cover_record.c */
};

struct cover {
	struct memo *memo;	/* the database */
	struct places *places;
	int64_t program;	/* id of the program in the database */
	char *input;		/* arguments, and a hash of what is read from stdin */
	struct map events;	/* hash of pc and access to id of the event in the database */
	struct map root_index;	/* hash of idiom and ids of events to index in `roots`, plus 1 */
	struct cover_root *roots;
	size_t count, capacity;
	uint64_t runs;		/* number of runs added by this process */
	struct iroot_flag flags[IROOT_FLAGS];	/* spin flags learnt, by addresses of this build */
	uint32_t flag_count;
	size_t withdrawn;	/* number of `roots` that are withdrawn */
	uint64_t exposed;	/* number of `roots` that were exposed, by any process */
	/* Number of events that did not fit into profiles: iRoots may be missing. */
	uint64_t lost;
	uint64_t damaged;	/* number of runs not counted: the program overwrote the profile */
	uint64_t cut;		/* number of runs not counted: killed before they had a profile */
	double flushed;		/* clock_seconds() at the last complete write */
	bool dirty;		/* the database lacks some new_exposed or new_predicted */
};

/* `path`: the database, which is made if it does not exist. Call cover_close() in any case. */
int cover_open(struct cover *c, const char *path, const struct target *target,
	       struct places *places, struct err *err);

/* Does not write what is not in the database yet: call cover_flush() before. */
void cover_close(struct cover *c);

/* Changes the input for the next runs. */
void cover_input(struct cover *c, const struct target *target);

/* Fills in a server's configuration, so that its runs have profiles for cover_add_run(). */
void cover_config(const struct cover *c, struct server_config *config);

/*
 * Adds a run that has ended. On return, new iRoots are in the database, and *r has the figures of
 * the run. That known iRoots were seen again may be written later.
 */
int cover_add(struct cover *c, struct iroot_profile *p, struct memo_run *r, struct err *err);

/* cover_add() for a run of a search. A run without an intact profile only counts in `c`. */
int cover_add_run(struct cover *c, const struct search_run *run, struct memo_run *r,
		  struct err *err);
int cover_flush(struct cover *c, struct err *err);

/* Records that `runs` runs were directed at an iRoot, and whether one of them exposed it. */
int cover_attempt(struct cover *c, struct cover_root *root, unsigned runs, bool exposed,
		  struct err *err);

/*
 * The next iRoot of this idiom from index *at on that was predicted in this build, not exposed, and
 * had fewer than MEMO_ATTEMPTS failed attempts. NULL: none. *at moves behind it.
 */
struct cover_root *cover_untested(struct cover *c, uint32_t idiom, size_t *at);

/*
 * Appends a name for a place that holds as long as its function is unchanged: "bank.c deposit
 * +3:9".
 */
void cover_key(struct places *places, uint64_t pc, struct buf *out);

#endif
