/*
 * What threads did to each location, condensed.
 *
 * Memory is cut into granules of 8 bytes. A granule has a cell for each thread and
 * set of bytes it used there, most recent first. A cell has representatives of its
 * accesses: one for each site, kind, lockset, and for a few strong clocks each; and of
 * its local pairs, two accesses of one block with nothing of the thread to the location
 * in between.
 *
 * Bounded: a cell keeps HISTORY_REPS representatives and HISTORY_PAIRS pairs; what
 * does not fit is counted in `dropped`. Of one site and lockset the first
 * HISTORY_EPOCHS - 1 clocks are kept and the latest.
 */
#ifndef ANALYZE_HISTORY_H
#define ANALYZE_HISTORY_H

#include "analyze/granules.h"
#include "analyze/moments.h"

#define HISTORY_REPS 24u
#define HISTORY_PAIRS 32u
#define HISTORY_EPOCHS 4u

struct history_rep {
	struct moment at;	/* one of them; history_latest() may know a later one */
	uint64_t pc;
	uint32_t lockset;
	uint32_t next;		/* of the cell; 0: the last */
	uint16_t kind;		/* enum trace_kind */
	uint8_t access;		/* enum access */
	bool own;		/* reads what the thread wrote since it took its locks */
};

struct history_pair {
	struct moment p, i;	/* one of them */
	uint32_t p_rep, i_rep;	/* their sites and kinds */
	uint32_t next;		/* of the cell; 0: the last */
	uint32_t cut[MOMENTS_CUTS];	/* locksets in between */
	uint8_t cuts;
	uint8_t bytes;		/* that both touch */
	bool wide;		/* reads of the thread lie between the two writes */
};

/* What one of the thread's last accesses was. */
struct history_last {
	struct moment at;
	uint32_t rep;		/* 0: none, or there was no room for it */
	uint32_t tag;
	uint8_t access;
	bool own;
};

#define HISTORY_TAGS 6u

/*
 * The tags are hashes of what has been noted under the present strong clock, so that
 * the same again needs no look at the lists.
 */
struct history_cell {
	uint32_t thread;
	uint32_t next;		/* of the granule, less recent; 0: the last */
	uint8_t bytes;
	uint8_t rep_count, pair_count;
	uint8_t rep_tags, pair_tags;	/* how many there are */
	uint8_t seen;		/* times that something was looked for inside a pair */
	uint32_t rep_tag[HISTORY_TAGS], tagged_rep[HISTORY_TAGS], pair_tag[HISTORY_TAGS];
	struct history_last last, last_write;
	uint32_t reps, pairs;	/* lists; 0: empty */
};

struct history {
	struct moments *moments;
	struct history_rep *reps;	/* 0 of each pool is none */
	struct history_pair *pairs;
	struct history_cell *cells;
	size_t rep_count, rep_capacity, pair_count, pair_capacity, cell_count, cell_capacity;
	uint32_t free_rep, free_pair, free_cell;	/* linked by `next` */
	struct granules granules;	/* to the first cell of each */
	uint64_t dropped;
};

void history_init(struct history *h, struct moments *moments);
void history_free(struct history *h);

/*
 * The thread's cell for exactly these bytes, made if need be; it is moved to the front
 * of the granule's list, which is a number of h->granules. *recent is the thread's cell
 * that touched some of the bytes last (0: none), and inside[0..*insiders) are other
 * threads' cells that touched them since.
 */
#define HISTORY_INSIDE 8u
uint32_t history_cell(struct history *h, uint32_t *granule, uint32_t thread, uint8_t bytes,
		      uint32_t *recent, uint32_t inside[HISTORY_INSIDE], unsigned *insiders);

/*
 * The cell's representative of `like` (pc, kind, access, lockset, own). *fresh if there
 * was none with the clock of `now`, which is then its moment. 0 if there is no room.
 */
uint32_t history_note(struct history *h, uint32_t cell, const struct history_rep *like,
		      const struct moment *now, bool *fresh);

/* The same for a pair of the cell; `like` has p_rep, i_rep, cut, cuts, bytes, wide. */
uint32_t history_note_pair(struct history *h, uint32_t cell, const struct history_pair *like,
			   const struct moment *p, const struct moment *i, bool *fresh);

/* The access is over: it was the cell's last one. */
void history_settle(struct history *h, struct history_cell *c,
		    const struct history_last *now);

/* The latest moment known of a representative of the cell. */
static inline const struct moment *history_latest(const struct history *h,
						  const struct history_cell *c, uint32_t rep)
{
	if (c->last.rep == rep)
		return &c->last.at;
	if (c->last_write.rep == rep)
		return &c->last_write.at;
	return &h->reps[rep].at;
}

/* Memory that is given back or anew. */
void history_forget(struct history *h, uint64_t addr, uint64_t size);

#endif
