/*
 * What threads did to each location, condensed.
 *
 * Memory is cut into granules of 8 bytes, four of them are a line. A thread has a block
 * of cells for each line it used: a cell for each granule, and further blocks where it
 * used other bytes of one. A cell has its last access and representatives of all: one for
 * each site, kind, lockset, and for a few strong clocks each; and of its local pairs, two
 * accesses of one block of code with nothing of the thread to the location in between.
 *
 * An access looks at one slot of a table and one cell, a cache line each, and goes
 * through the keys of what the cell has. Blocks of one line know each other by a ring, which
 * is followed only when there is something new. Of most places nothing more is ever kept than one
 * pair: that is in the cell itself (history_young.c).
 *
 * Bounded: a cell keeps HISTORY_REPS representatives and HISTORY_PAIRS pairs; what does
 * not fit is counted in `dropped`. Of one site and lockset the first HISTORY_EPOCHS - 1
 * clocks are kept and the latest. Beyond HISTORY_CELLS cells, HISTORY_UNITS of what they have, or
 * HISTORY_EXTENTS all is forgotten, and begun anew.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_H
#define ANALYZE_ATOMICITY_HISTORY_H

#include "analyze/atomicity/access_context.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define GRANULE_BYTES 8u
#define HISTORY_REPS 24u
#define HISTORY_PAIRS 32u
#define HISTORY_EPOCHS 4u
#define HISTORY_LINE 4u			/* granules of a line */
#define HISTORY_CELLS (1u << 24)	/* 1 GiB */
#define HISTORY_BLOCKS (HISTORY_CELLS / HISTORY_LINE)
#define HISTORY_UNITS (1u << 24)	/* 1 GiB */
#define HISTORY_UNIT 64u
#define HISTORY_EXTENTS (1u << 22)	/* 192 MiB */

/* What tells accesses apart but for place and time; numbers stand for them. */
struct history_signature {
	uint64_t pc;
	uint32_t lockset;
	uint16_t kind;		/* enum trace_kind */
	uint8_t access;		/* enum access */
	bool own_read;		/* reads what the thread wrote since it took its locks */
	uint32_t core;		/* its number with the lockset's core (locks.h); history_what() sets it */
	uint32_t next;		/* the number that was asked for after it the last time */
	uint32_t shape;		/* the last of which it was the second access; 0: none */
	/*
	 * If two locks are held, the inner one not to read: the first number of those of this site and kind of
	 * access that hold the same inner lock, taken at the same place; else 0.
	 */
	uint32_t inner_class;
};

/* Numbers by hash of what they stand for; 0: free. Half of it is, at least. */
struct history_number_table {
	uint32_t *at;
	size_t size;		/* a power of two */
};

/* What tells pairs apart but for place and time; numbers stand for them, too. */
struct history_shape {
	uint32_t p, i;		/* numbers of history_whats */
	uint32_t cut[CONTEXTS_CUTS];	/* locksets in between; 0 beyond `cuts` */
	uint8_t cuts;
	uint8_t bytes;		/* that both touch */
	uint8_t spans_reads;		/* reads of the thread lie between the two writes */
	uint8_t unused;		/* 0 */
	uint32_t core;		/* its number with the cores of its locksets */
};

/*
 * What is asked of all that others have at a place before more of it (atomicity_again.h), apart from the rest:
 * four to a line of the cache, and the ends of locksets need not be asked.
 */
struct history_nesting {
	uint64_t taken;		/* struct locks_ends has this */
	uint32_t inner_class;	/* of the history_what, 0 if it is `own`: then nothing else counts */
	uint32_t outer;		/* the outer lock's bit */
};

/* The same of a shape, both of its accesses together. */
struct history_pair_nesting {
	uint64_t taken, outer;	/* bits */
	uint32_t p, i;		/* `within` of each; p 0: not both have one, or something is held all the time */
#define HISTORY_SPANS_READS (1u << 31)	/* in `i`: the shape is */
};

/* A moment that a cell keeps; history_pack(). */
struct history_packed {
	uint64_t index, time;
	uint32_t sync_state, stack;
};

/* Where an access was, if its cell does not say it. */
struct history_extent {
	uint64_t addr;
	uint32_t size, stack;
};

struct history_pair {
	struct history_packed p, i;	/* one of them */
	uint32_t shape;
	uint8_t bytes;		/* as the shape's */
};

/* A pair that may be new. */
struct history_probe {
	const struct access_context *p, *i;
	uint32_t cut[CONTEXTS_CUTS];
	uint8_t cuts, bytes;
	bool spans_reads;
	uint64_t key;		/* history_like_key() */
};

/* Of a cell's last access, beside its bits of enum access. */
#define HISTORY_OWN_READ 8u
#define HISTORY_NOTED 16u	/* it has a representative */

/*
 * A cache line. Numbers of 24 bits are read with the byte behind them: that must not be one which
 * every access writes, or reading waits until it has reached the cache.
 */
struct history_cell {
	struct access_context last;	/* the latest access, its tag a number of a history_what */
	uint32_t reps : 24;	/* units; history_note.c, and if it is young history_young.h */
	uint8_t bytes;		/* 0: not in use */
	uint32_t pairs : 24;
	uint8_t rep_count : 5;
	uint8_t shared : 1;	/* other threads have cells of the granule too */
	uint8_t wrote : 1;	/* the thread is among the granule's writers */
	uint8_t older_write_unit : 1;	/* its representatives have room for an older write */
	uint32_t next : 24;	/* of the thread and granule, with other bytes; 0: none */
	uint8_t inside_checks : 7;	/* times that something was looked for inside a pair */
	uint8_t single_pair : 1;	/* it has no units: its last access and the one before are its pair */
	uint8_t rep_hint;	/* the representative that was asked for last */
	uint8_t pair_hint;	/* likewise of the pairs */
	uint8_t pair_count : 6;
	uint8_t older_write : 1, older_write_noted : 1;	/* the last access is a read, a write came before it */
	uint8_t last_flags;		/* of the last access: enum access, HISTORY_OWN, HISTORY_NOTED */
};

struct history_block {
	uint64_t line;
	uint32_t thread;
	uint32_t next;		/* of the line, a ring */
	uint32_t share;		/* history_share(); 0: one thread has the line */
	uint32_t leader;		/* the block that has: */
	uint8_t used, shared;	/* bits: granules that have a cell, that several threads have */
	uint8_t write_pairs;		/* bits: granules of which somebody has a pair of two writes */
	uint8_t other_blocks;		/* other blocks of the ring, up to HISTORY_CROWD */
};

/* A granule of a line that several threads have. */
struct history_share {
	uint32_t last_thread;	/* who used it last */
	uint32_t writer;	/* who wrote to it; 0: nobody, HISTORY_MANY */
	/*
	 * If each access to it is ordered after all before it by strong happens-before
	 * then the last one's epoch, else 0. Nothing there can happen in another order.
	 */
	uint32_t ordered_epoch;
	uint32_t kinds;		/* units; 0: none yet */
};

#define HISTORY_MANY UINT32_MAX
#define HISTORY_UNKNOWN UINT8_MAX	/* for a count of history_kinds: more than there is room for */
#define HISTORY_MANY_BLOCKS 3u

/*
 * What was done to a granule, by any thread: `room` cores of history_whats, as many of
 * history_shapes, and for each of them a byte: so many of the other list are known to be of no
 * interest to whoever does this next.
 *
 * If all who came held the same outermost lock, and not to read, and all pairs are either of one critical
 * section of it or had nothing held in between, then it does not matter to any of them which other locks were
 * taken within it before: the guard.
 */
struct history_kinds {
	uint8_t count[2];	/* of accesses and of pairs */
	uint8_t room;
	uint32_t common_lock;		/* a lockset with that lock; 0: it is not so */
	uint32_t core[];
};

static inline uint32_t *history_kinds_list(struct history_kinds *k, bool pairs)
{
	return k->core + (pairs ? k->room : 0);
}

static inline uint8_t *history_kinds_compared(struct history_kinds *k, bool pairs)
{
	return (uint8_t *)(k->core + 2 * k->room) + (pairs ? k->room : 0);
}

/* Where the last access was; all 0: nowhere. */
struct history_current_line {
	uint64_t key;		/* line and thread */
	uint32_t block, share;
};

#define HISTORY_AHEAD 4u		/* granules; twice as many come within ANALYSIS_AHEAD, mostly */

/* An access to come. */
struct history_ahead {
	uint64_t key;		/* line and thread */
	uint64_t start, other;	/* of its slot if it is the line's first, and if not; unless as of the one before */
	uint32_t granule;	/* within its line */
	uint32_t block;		/* once the slot is known; 0: none */
};

#define HISTORY_PREFETCHED 64u		/* a power of two */

/* Where an access to come was found to go, likely; key 0: none. */
struct history_prefetched {
	uint64_t key;		/* line and thread */
	uint32_t block;
};

struct history {
	struct contexts *contexts;
	struct history_cell *cells;	/* history_cell(); block 0 is none */
	struct history_block *blocks;
	size_t block_count, block_capacity, block_limit;
	size_t block_threshold, unit_threshold;	/* beyond, history_make_room() has to help */
	struct history_share *shares;	/* history_share(); 0 is none */
	size_t share_count;		/* never more than blocks */
	uint64_t *slots;		/* history_slots.h */
	size_t slot_count, slot_used;	/* count: a power of two */
	struct history_current_line current;
	uint8_t granules_used;			/* bits: granules of lines that ever were used; others are zero */
	size_t blocks_ever, shares_ever;	/* so many were ever in use: further ones are zero */
	struct map regions;		/* that have a line */
	uint64_t region;		/* the last of them, plus 1; 0: none */
	uint8_t *units;
	size_t unit_count, unit_capacity, unit_limit;
	uint32_t free_units[16];	/* linked, by kind and size */
	struct history_signature *signatures;	/* 0 is none */
	struct history_nesting *nesting;	/* of each */
	uint32_t last_signature;		/* asked for */
	size_t signature_count, signature_capacity, nesting_capacity;
	struct history_number_table signature_table;
	uint32_t *first_of_lockset;		/* by lockset: the number that was asked for first under it the last time */
	size_t first_of_lockset_count;
	uint32_t last_lockset;		/* of the last that was asked for */
	struct history_shape *shapes;	/* 0 is none */
	struct history_pair_nesting *pair_nesting;	/* of each */
	size_t shape_count, shape_capacity, pair_nesting_capacity;
	struct history_number_table shape_table;
	struct map inner_class_at;		/* hash to the first of that hash */
	struct history_extent *extents;	/* 0 is none */
	size_t extent_count, extent_capacity;
	struct map extent_at;		/* hash to the last of that hash */
	const struct history_cell **others;
	size_t other_capacity;
	struct history_ahead ahead[32];	/* a ring */
	uint32_t ahead_count;
	struct history_prefetched prefetched[HISTORY_PREFETCHED];
	uint64_t dropped;
};

/* Where an access of a thread to one granule is at home. */
struct history_lookup {
	struct history_cell *cell;	/* for exactly these bytes */
	struct history_cell *recent;	/* that touched some of the bytes last; NULL: none */
	/*
	 * Words: of two bytes side by side both are asked at once, and that has to wait until what
	 * was written to each has reached the cache, with all that was written before.
	 */
	unsigned undisturbed;			/* no other thread came since `recent` */
	uint64_t ordered;		/* all accesses to the granule are, by strong happens-before */
};

void history_init(struct history *h, struct contexts *contexts);
void history_free(struct history *h);

/*
 * Such an access is to come, ANALYSIS_AHEAD events later: its slot is asked for, of the one
 * HISTORY_AHEAD before its cell, and so on, as each says where the next is.
 */
void history_prefetch(struct history *h, uint64_t granule, uint32_t thread);

/* Numbers of locksets are side by side, and so have to be spread first. Addresses have 48 bits. */
static inline uint64_t history_signature_hash(const struct history_signature *signature)
{
	uint64_t key = signature->pc << 16 | (uint32_t)signature->kind << 1 | signature->own_read;

	return hash_add(key, hash_spread(signature->lockset));
}

/* For history_what() and history_note.c: history_names.c. */
uint32_t history_signature_intern(struct history *h, const struct history_signature *signature);
uint32_t history_shape(struct history *h, const struct history_probe *probe);

/*
 * The number of `what`, of which `kind`, `lockset` and `own` are said again: to read them side by side from
 * where they were just written one by one would wait until that has reached the cache. Where
 * locksets are many the table is large and cold. What a critical section does it mostly does in
 * the same order, under the same numbers, which are side by side as they were given.
 */
static inline uint32_t history_signature_as(struct history *h,
					    const struct history_signature *signature,
					    uint16_t kind, uint32_t lockset, bool own_read)
{
	bool first = lockset != h->last_lockset;
	uint32_t before = h->last_signature, guess;
	const struct history_signature *w;

	if (first && __builtin_expect(lockset >= h->first_of_lockset_count, 0))
		h->first_of_lockset =
			xreach(h->first_of_lockset, lockset, &h->first_of_lockset_count,
			       sizeof(*h->first_of_lockset));
	guess = first ? h->first_of_lockset[lockset] : h->signatures[before].next;
	w = &h->signatures[guess];
	if (__builtin_expect(w->pc != signature->pc || w->lockset != lockset || w->kind != kind ||
				     w->own_read != own_read,
			     0)) {
		guess = history_signature_intern(h, signature);
		*(first ? &h->first_of_lockset[lockset] : &h->signatures[before].next) = guess;
	}
	h->last_lockset = lockset;
	h->last_signature = guess;
	return guess;
}

static inline uint32_t history_signature(struct history *h,
					 const struct history_signature *signature)
{
	return history_signature_as(h, signature, signature->kind, signature->lockset,
				    signature->own_read);
}

/*
 * Other threads' cells of the granule in which `cell` is that share some of its bytes, most
 * recent first (if they are not many); valid until the next call.
 */
size_t history_others(struct history *h, const struct history_cell *cell, uint8_t bytes,
		      const struct history_cell *const **others);

/* Of these, those that were there after `recent`, at most HISTORY_INSIDE. */
#define HISTORY_INSIDE 8u
size_t history_inside(struct history *h, const struct history_cell *recent, uint8_t bytes,
		      const struct history_cell *const **inside);

uint32_t history_thread(const struct history *h, const struct history_cell *cell);

/*
 * Makes a representative of `now` if there is none with its clock (*fresh). False if there
 * is no room. `stranger`: history_has() said so. history_settle() has to follow before the next.
 */
bool history_note(struct history *h, struct history_cell *c, const struct access_context *now,
		  bool new_signature, bool *fresh);

/* The same for a pair. NULL if there is no room. */
const struct history_pair *history_note_pair(struct history *h, struct history_cell *c,
					     const struct history_probe *probe, bool *fresh);

/*
 * Representative n, its latest moment known or the first; pair n, which may be made in `room`. New
 * ones have higher numbers.
 */
struct access_context history_rep(const struct history *h, const struct history_cell *c,
				  unsigned n);
uint64_t history_rep_time(const struct history *h, const struct history_cell *c, unsigned n);
struct access_context history_rep_first(const struct history *h, const struct history_cell *c,
					unsigned n);
const struct history_pair *history_pair(const struct history *h, const struct history_cell *c,
					unsigned n, struct history_pair *room);
/* Those of a cell that has its own units, and their keys: history_like_key(). */
const struct history_pair *history_pairs(const struct history *h, const struct history_cell *c,
					 const uint64_t **keys);
uint32_t history_pair_shape(const struct history *h, const struct history_cell *c, unsigned n);
void history_pair_epochs(const struct history *h, const struct history_cell *c, unsigned n,
			 uint32_t *p, uint32_t *i);

/* A moment of the cell, without its block, as marks keep it. */
struct history_packed history_pack_odd(struct history *h, const struct history_cell *c,
				       const struct access_context *m);

/* The access touches the bytes of the cell and no others. */
static inline bool history_is_even(const struct history_cell *c, const struct access_context *m)
{
	unsigned first = m->addr % GRANULE_BYTES;

	return m->size <= GRANULE_BYTES - first && ((1u << m->size) - 1) << first == c->bytes;
}

static inline struct history_packed history_pack(struct history *h, const struct history_cell *c,
						 const struct access_context *m)
{
	if (!history_is_even(c, m))
		return history_pack_odd(h, c, m);
	return (struct history_packed){ m->index, m->time, m->sync_state, m->stack };
}

struct access_context history_unpack(const struct history *h, const struct history_cell *c,
				     const struct history_packed *packed, uint32_t tag,
				     uint32_t epoch);
uint64_t history_packed_index(const struct history_packed *packed);

/* For history_kinds_here(): of a line that is shared; they are not known yet. */
struct history_kinds *history_kinds(struct history *h, const struct history_cell *c);

/* Memory that is given back or anew. */
void history_forget(struct history *h, uint64_t addr, uint64_t size);

/* For history.c: moments_mark() of all that the cell has; it will be called of it. */
void history_mark_cell(const struct history *h, const struct history_cell *c);
void history_mark_soon(const struct history *h, const struct history_cell *c);

/* For history.c: gives back what the cell has but itself. */
void history_empty(struct history *h, struct history_cell *c);

/* For history.c and history_note.c: to keep the kinds. */
void history_kinds_access(struct history *h, uint32_t *unit, uint32_t signature);
void history_kinds_pair(struct history *h, uint32_t *unit, uint32_t shape);
void history_kinds_forget(struct history *h, const struct history_share *share);

/*
 * Cells of the first granules of all blocks are side by side, and so on. Of a record's fields
 * often few are followed, and the same of all records: what was never touched takes no memory.
 */
static inline struct history_cell *history_cell(const struct history *h, uint32_t block, unsigned granule)
{
	return &h->cells[(size_t)granule * HISTORY_BLOCKS + block];
}

static inline uint32_t history_block_of(const struct history *h, const struct history_cell *c)
{
	return (uint32_t)(c - h->cells) % HISTORY_BLOCKS;
}

/* Within its line. */
static inline unsigned history_granule_of(const struct history *h, const struct history_cell *c)
{
	return (uint32_t)(c - h->cells) / HISTORY_BLOCKS;
}

/* What several threads have of a line, which must be shared; side by side like cells. */
static inline struct history_share *history_share(const struct history *h, uint32_t share,
						  unsigned granule)
{
	return &h->shares[(size_t)granule * HISTORY_BLOCKS + share];
}

/* For history_known.h: the cell's thread writes for the first time. */
void history_wrote(struct history *h, struct history_cell *c);

#endif
