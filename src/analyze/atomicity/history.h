/*
 * The access history of each location, condensed: what each thread did there, without repetitions.
 *
 * Memory is cut into granules of 8 bytes; four of them are a line. A thread has a history
 * block of four cells for each line it accessed, one cell per granule. If it accesses several sets
 * of bytes of a granule, it has a further one for each. A cell keeps
 *
 * - its last access, and the last write if reads follow it;
 * - representatives: one access for each signature (site, kind, lockset) and strong clock;
 * - local pairs: two accesses p and i of the thread in one block of code (view.h), without an
 *   access of the thread to these bytes in between. Pairs that differ only in position and time are
 *   kept once.
 *
 * Example: two threads update `balance`, 4 bytes at 0x1000, in two critical sections of m each. The
 * code, the pcs and the contexts are those at the top of access_context.h.
 *
 *	signature 1: read at 0x402, lockset 1 = { m, acquired at 0x401 }
 *	signature 2: write at 0x404, lockset 2 = { m, acquired at 0x403 }
 *
 *	time thread  access  context           the thread's cell has afterwards
 *	  4   0.1    read    epoch 1, state 1  representative (signature 1, epoch 1)
 *	  7   0.1    write   epoch 1, state 2  and (signature 2, epoch 1); pair of shape 1
 *	 10   0.2    read    epoch 2, state 3  representative (signature 1, epoch 2)
 *	 13   0.2    write   epoch 2, state 4  and (signature 2, epoch 2); pair of shape 1
 *	 16   0.1    read    epoch 1, state 5  no new representative; pair of shape 2
 *
 *	shape 1: p has signature 1, i has signature 2, cut = { empty lockset }, bytes 0x0f
 *	shape 2: p has signature 2, i has signature 1, cut = { empty lockset }, bytes 0x0f
 *
 * Both threads have a cell in line 0x80, granule 0x200, with bytes 0x0f. At time 10 the second
 * thread comes: the two history blocks form a circular list, and the line gets a history_share,
 * which says that thread 0.1 is the only writer. At time 13 the new pair is compared with the
 * representatives of thread 0.1. Its write at time 7 conflicts, no strong happens-before orders it,
 * and the cut lets it in: a candidate RWW (10, 7, 13). Time 16 makes WWR (7, 13, 16). A further
 * deposit of 0.1 adds one pair, the two writes with a read between them (`spans_reads`), and the
 * candidate WRW; after that, nothing about a deposit is new.
 *
 * An access that adds nothing reads one slot of a hash table and one cell, a cache line each, and
 * the keys of what the cell has. The ring of a line's blocks is followed only if something is new.
 * Of most locations only one pair is ever kept: the cell encodes it itself (history_single_pair.h).
 *
 * Memory is bounded. A cell keeps HISTORY_REPS representatives and HISTORY_PAIRS pairs; what does
 * not fit is counted in `dropped`. Of one signature or shape, the first HISTORY_EPOCHS - 1 clocks
 * and the latest are kept. At the limits HISTORY_CELLS, HISTORY_UNITS and HISTORY_EXTENTS all
 * history is dropped, and collected anew.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_H
#define ANALYZE_ATOMICITY_HISTORY_H

#include "analyze/atomicity/access_context.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define GRANULE_BYTES 8u
#define HISTORY_REPS 24u		/* representatives of a cell */
#define HISTORY_PAIRS 32u		/* local pairs of a cell */
#define HISTORY_EPOCHS 4u		/* epochs of one signature or shape in a cell */
#define HISTORY_LINE 4u			/* granules */
#define HISTORY_CELLS (1u << 24)	/* of 64 bytes: 1 GiB */
#define HISTORY_BLOCKS (HISTORY_CELLS / HISTORY_LINE)
#define HISTORY_UNITS (1u << 24)	/* of HISTORY_UNIT bytes: 1 GiB */
#define HISTORY_UNIT 64u		/* bytes: a cache line */
#define HISTORY_EXTENTS (1u << 22)	/* with their hash table 192 MiB */

/*
 * An access signature: what distinguishes accesses, except position, time and address. Signatures
 * are interned: the history refers to them by number.
 */
struct history_signature {
	uint64_t pc;
	uint32_t lockset;
	uint16_t kind;		/* enum trace_kind */
	uint8_t access;		/* enum access */
	bool own_read; /* a read of what the thread wrote since it acquired the locks it holds */
	uint32_t core;		/* number of the signature with locks_core() of the lockset */
	uint32_t next;		/* prediction: the signature that followed the last time */
	uint32_t shape; /* number of the last pair shape with this signature as i; 0: none */
	/*
	 * Class of signatures with the same site, kind of access, inner lock and acquisition site
	 * of that lock, if exactly two locks are held and the inner one not for reading; else 0.
	 * The number is that of the first such signature.
	 */
	uint32_t inner_class;
};

/* Hash table from a signature or shape to its number; 0: free slot. At most half full. */
struct history_number_table {
	uint32_t *at;
	size_t size;		/* a power of 2 */
};

/*
 * A pair shape: what distinguishes local pairs, except positions, times and addresses. Shapes are
 * interned, too.
 */
struct history_shape {
	uint32_t p, i;		/* numbers of signatures */
	/* locksets between p and i (contexts_cuts_since()); 0 beyond `cuts` */
	uint32_t cut[CONTEXTS_CUTS];
	uint8_t cuts;
	uint8_t bytes;		/* of the granule, touched by both */
	uint8_t spans_reads;	/* p and i are writes; the thread reads between them */
	uint8_t unused;		/* padding, 0: shapes are compared as words */
	uint32_t core;		/* number of the shape with the cores of all locksets */
};

/*
 * Per signature: the nesting of its locks, for atomicity_count_memo.h. An array of its own, because
 * whole lists are scanned: four of these are a cache line.
 */
struct history_nesting {
	uint64_t taken;		/* struct locks_ends.taken of the lockset */
	/* struct history_signature.inner_class; 0 also if own_read: then the rest is unused */
	uint32_t inner_class;
	uint32_t outer;		/* number of the outer lock's bit in masks like `taken` */
};

/* Per shape: struct history_nesting of its two signatures together. */
struct history_pair_nesting {
	uint64_t taken, outer;	/* bit masks of locks */
	/* inner_class of p and i; p 0: one has none, or some lock is held all the time */
	uint32_t p, i;
#define HISTORY_SPANS_READS (1u << 31)	/* flag in `i`: the shape spans reads */
};

/* An access context packed by history_pack(). */
struct history_packed {
	uint64_t index, time;
	uint32_t sync_state, stack;
};

/* Address, size and stack of a packed access that do not fit into the packed form. */
struct history_extent {
	uint64_t addr;
	uint32_t size, stack;
};

struct history_pair {
	struct history_packed p, i;	/* an instance of the pair, not always the latest */
	uint32_t shape;
	uint8_t bytes;		/* shape.bytes */
};

/* A local pair to be looked up, and added if the cell has none like it. */
struct history_probe {
	const struct access_context *p, *i;
	uint32_t cut[CONTEXTS_CUTS];
	uint8_t cuts, bytes;
	bool spans_reads;
	uint64_t key;		/* history_probe_key() */
};

/* Flags of a cell's last access, beside its enum access. */
#define HISTORY_OWN_READ 8u
#define HISTORY_NOTED 16u	/* it has a representative or is one */

/*
 * The accesses of one thread to one set of bytes in one granule; a cache line. The compiler reads
 * 24-bit members together with the byte behind them. That byte must not be one that every access
 * writes: the read would wait for the store to reach the cache.
 */
struct history_cell {
	struct access_context last; /* the latest access; its tag is the number of its signature */
	/* first unit of the representatives (history_cell.c); single_pair: time from p to i */
	uint32_t reps : 24;
	uint8_t bytes;		/* bit set: bytes of the granule; 0: cell not in use */
	uint32_t pairs : 24;	/* first unit of the pairs; single_pair: number of the shape */
	uint8_t rep_count : 5;
	uint8_t shared : 1;	/* other threads have cells of the granule, too */
	uint8_t wrote : 1;	/* the thread wrote to the granule */
	uint8_t older_write_unit : 1; /* the first unit of `reps` is reserved for the older write */
	uint32_t next : 24;	/* cell of the same thread and granule with other bytes; 0: none */
	/* times that other threads' accesses inside a known pair were compared */
	uint8_t inside_checks : 7;
	uint8_t single_pair : 1;	/* the cell encodes its only pair itself and has no units */
	uint8_t rep_hint;	/* number of the representative found last */
	uint8_t pair_hint;	/* number of the pair found last */
	uint8_t pair_count : 6;
	/*
	 * older_write: the last access is a read, and the first unit of `reps` holds the write
	 * before it. older_write_noted: that write has a representative.
	 */
	uint8_t older_write : 1, older_write_noted : 1;
	uint8_t last_flags; /* of the last access: enum access, HISTORY_OWN_READ, HISTORY_NOTED */
};

struct history_block {
	uint64_t line;
	uint32_t thread;
	uint32_t next;		/* next block of the line, circular */
	uint32_t share; /* number for history_share(); 0: only one thread accessed the line */
	uint32_t leader; /* the line's first block; the members below are set only there */
	/* bit sets of granules: some cell is in use; several threads have cells */
	uint8_t used, shared;
	uint8_t write_pairs; /* bit set of granules: some thread has a pair of two writes */
	uint8_t other_blocks; /* number of other blocks in the line, at most HISTORY_MANY_BLOCKS */
};

/* What the threads that share a granule have in common. */
struct history_share {
	uint32_t last_thread;	/* thread of the latest access */
	uint32_t writer;	/* the only thread that wrote; 0: none; HISTORY_MANY: several */
	/*
	 * The epoch of the latest access, as long as strong happens-before orders each access to
	 * the granule after all earlier ones; else 0. Such accesses cannot happen in another order,
	 * so there is nothing to compare.
	 */
	uint32_t ordered_epoch;
	uint32_t kinds;		/* first unit of struct history_kinds; 0: not made yet */
};

#define HISTORY_MANY UINT32_MAX
#define HISTORY_UNKNOWN UINT8_MAX /* a count in history_kinds: there are more kinds than fit */
/* further blocks of a line from which on its granules get kinds */
#define HISTORY_MANY_BLOCKS 3u

/*
 * The kinds of accesses and pairs of all threads at a granule: `room` cores of signatures, `room`
 * cores of shapes, and for each of them a byte. The byte is the number of kinds in the other list
 * that are known to yield nothing new with this kind.
 *
 * common_lock is set if all accesses held the same outermost lock, not for reading, and each pair
 * either held it all the time or passed a point without any lock. Then it makes no difference to
 * any of them which other locks were acquired and released within that lock before.
 */
struct history_kinds {
	uint8_t count[2]; /* of accesses [0] and of pairs [1]; count[0] may be HISTORY_UNKNOWN */
	uint8_t room;
	uint32_t common_lock;	/* a lockset with this outermost lock; 0: there is none */
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

/* Block of the latest access; all 0: none. Most accesses are to the line of the one before. */
struct history_current_line {
	uint64_t key;		/* key_of(line, thread) */
	uint32_t block, share;
};

/* prefetch distance in granules; twice as many usually fit in ANALYSIS_AHEAD events */
#define HISTORY_AHEAD 4u

/* An access to come, between the stages of history_prefetch(). */
struct history_ahead {
	uint64_t key;		/* key_of(line, thread) */
	/* slots of the line's first and of other threads; unset if the entry before has this key */
	uint64_t start, other;
	uint32_t granule;
	uint32_t block;		/* set by the second stage; 0: none */
};

#define HISTORY_PREFETCHED 64u		/* entries of the cache; a power of 2 */

/* A block that history_prefetch() found. Only a guess; key 0: none. */
struct history_prefetched {
	uint64_t key;
	uint32_t block;
};

struct history {
	struct contexts *contexts;
	struct history_cell *cells;	/* history_cell(); block 0 is unused */
	struct history_block *blocks;
	size_t block_count, block_capacity, block_limit;
	/* above these, history_make_room() is needed before the next access */
	size_t block_threshold, unit_threshold;
	struct history_share *shares;	/* history_share(); number 0 is unused */
	size_t share_count;	/* at most the number of blocks */
	uint64_t *slots;	/* hash table of blocks: history_slots.h */
	size_t slot_count, slot_used;	/* slot_count is a power of 2 */
	struct history_current_line current;
	/* bit set: granules of a line that were ever accessed; cells of the others are zero */
	uint8_t granules_used;
	/* highest numbers ever in use; memory beyond is still zero */
	size_t blocks_ever, shares_ever;
	struct map regions;	/* regions of memory that have a line: keys */
	uint64_t region;	/* the region added last, plus 1; 0: none */
	uint8_t *units;
	size_t unit_count, unit_capacity, unit_limit;
	/* free lists by size class of runs, linked through their first word */
	uint32_t free_units[16];
	struct history_signature *signatures;	/* number 0 is unused */
	struct history_nesting *nesting;	/* by signature */
	uint32_t last_signature;	/* looked up last */
	size_t signature_count, signature_capacity, nesting_capacity;
	struct history_number_table signature_table;
	/* prediction, by lockset: the signature looked up first after the last change to it */
	uint32_t *first_of_lockset;
	size_t first_of_lockset_count;
	uint32_t last_lockset;	/* lockset of last_signature */
	struct history_shape *shapes;	/* number 0 is unused */
	struct history_pair_nesting *pair_nesting;	/* by shape */
	size_t shape_count, shape_capacity, pair_nesting_capacity;
	struct history_number_table shape_table;
	struct map inner_class_at; /* hash of an inner_class's properties to its number */
	struct history_extent *extents;	/* number 0 is unused */
	size_t extent_count, extent_capacity;
	struct map extent_at;	/* hash to the latest extent with that hash */
	const struct history_cell **others;
	size_t other_capacity;
	struct history_ahead ahead[32];	/* circular buffer */
	uint32_t ahead_count;
	struct history_prefetched prefetched[HISTORY_PREFETCHED];
	uint64_t dropped;	/* accesses and pairs that there was no room for */
};

/* Result of history_lookup(): the cell for an access of a thread to one granule. */
struct history_lookup {
	struct history_cell *cell;	/* has exactly these bytes */
	/* latest cell of the thread that shares some of these bytes; NULL: none */
	struct history_cell *recent;
	/*
	 * Both are words: two adjacent bytes would be read by one load, which waits until the
	 * stores to both of them reached the cache.
	 */
	unsigned undisturbed; /* no other thread accessed the granule since `recent` */
	uint64_t ordered; /* strong happens-before orders all accesses to the granule */
};

void history_init(struct history *h, struct contexts *contexts);
void history_free(struct history *h);

/*
 * Prefetches for an access that comes ANALYSIS_AHEAD events later. Each call prefetches the hash
 * slot of its own granule, the cell of the granule HISTORY_AHEAD calls ago, and the units of the
 * granule 2 * HISTORY_AHEAD calls ago: each stage reads what the stage before has fetched.
 */
void history_prefetch(struct history *h, uint64_t granule, uint32_t thread);

/* Lockset numbers are small and consecutive, so they are spread first. Addresses have 48 bits. */
static inline uint64_t history_signature_hash(const struct history_signature *signature)
{
	uint64_t key = signature->pc << 16 | (uint32_t)signature->kind << 1 | signature->own_read;

	return hash_add(key, hash_spread(signature->lockset));
}

/*
 * Intern a signature (the slow path of history_signature()) and the shape of a pair, and return
 * their numbers (history_signatures.c).
 */
uint32_t history_signature_intern(struct history *h, const struct history_signature *signature);
uint32_t history_shape(struct history *h, const struct history_probe *probe);

/*
 * Returns the number of `signature`. Its kind, lockset and own_read are passed again, because
 * reading members together that were just written one by one would stall on the stores. With many
 * locksets the hash table is large and not in the cache. So the signature that followed last time
 * is tried first: a critical section mostly does the same in the same order.
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
 * Fills *others with the other threads' cells that share bytes with `cell`, most recent first
 * unless there are more than 32; returns their number. Valid until the next call.
 */
size_t history_others(struct history *h, const struct history_cell *cell, uint8_t bytes,
		      const struct history_cell *const **others);

/* history_others(), limited to cells accessed since `recent`, at most HISTORY_INSIDE. */
#define HISTORY_INSIDE 8u
size_t history_inside(struct history *h, const struct history_cell *recent, uint8_t bytes,
		      const struct history_cell *const **inside);

uint32_t history_thread(const struct history *h, const struct history_cell *cell);

/*
 * Makes a representative of `now`, unless the cell has one with its signature and epoch. *fresh is
 * true if it was made. Returns false if there is no room. `new_signature` is the result of
 * history_has(). The caller has to call history_set_last() before the next access.
 */
bool history_note(struct history *h, struct history_cell *c, const struct access_context *now,
		  bool new_signature, bool *fresh);

/*
 * Adds the pair of the probe (*fresh is true), or updates the one with its key to this instance.
 * Returns NULL if there is no room.
 */
const struct history_pair *history_note_pair(struct history *h, struct history_cell *c,
					     const struct history_probe *probe, bool *fresh);

/*
 * Representatives and pairs by number `n`, in the order in which they were added. history_rep()
 * returns the representative's latest access if the cell still has that, else its first access.
 * history_pair() may unpack the pair into `unpacked`.
 */
struct access_context history_rep(const struct history *h, const struct history_cell *c,
				  unsigned n);
uint64_t history_rep_time(const struct history *h, const struct history_cell *c, unsigned n);
struct access_context history_rep_first(const struct history *h, const struct history_cell *c,
					unsigned n);
const struct history_pair *history_pair(const struct history *h, const struct history_cell *c,
					unsigned n, struct history_pair *unpacked);
/* The pairs and their keys (history_probe_key()) of a cell that is not a single_pair. */
const struct history_pair *history_pairs(const struct history *h, const struct history_cell *c,
					 const uint64_t **keys);
uint32_t history_pair_shape(const struct history *h, const struct history_cell *c, unsigned n);
void history_pair_epochs(const struct history *h, const struct history_cell *c, unsigned n,
			 uint32_t *p, uint32_t *i);

/* Packs an access whose bytes are not exactly those of the cell. Its block is not kept. */
struct history_packed history_pack_inexact(struct history *h, const struct history_cell *c,
				       const struct access_context *m);

/* True if the access touches exactly the bytes of the cell. */
static inline bool history_is_exact(const struct history_cell *c, const struct access_context *m)
{
	unsigned first = m->addr % GRANULE_BYTES;

	return m->size <= GRANULE_BYTES - first && ((1u << m->size) - 1) << first == c->bytes;
}

static inline struct history_packed history_pack(struct history *h, const struct history_cell *c,
						 const struct access_context *m)
{
	if (!history_is_exact(c, m))
		return history_pack_inexact(h, c, m);
	return (struct history_packed){ m->index, m->time, m->sync_state, m->stack };
}

struct access_context history_unpack(const struct history *h, const struct history_cell *c,
				     const struct history_packed *packed, uint32_t tag,
				     uint32_t epoch);
uint64_t history_packed_index(const struct history_packed *packed);

/* Makes the kinds of the cell's granule, which must be shared and have none yet. */
struct history_kinds *history_kinds_make(struct history *h, const struct history_cell *c);

/* Drops the history of memory that is freed or allocated again. */
void history_forget(struct history *h, uint64_t addr, uint64_t size);

/*
 * For history.c: marks all access contexts of the cell (contexts_mark()); history_mark_prefetch()
 * prefetches for that.
 */
void history_mark_cell(const struct history *h, const struct history_cell *c);
void history_mark_prefetch(const struct history *h, const struct history_cell *c);

/* For history.c: frees the units of the cell. */
void history_free_units(struct history *h, struct history_cell *c);

/* For history.c and history_cell.c: keep the kinds of a granule up to date. */
void history_kinds_access(struct history *h, uint32_t *unit, uint32_t signature);
void history_kinds_pair(struct history *h, uint32_t *unit, uint32_t shape);
void history_kinds_forget(struct history *h, const struct history_share *share);

/*
 * Returns a cell. The cells of all blocks' first granules are adjacent, then those of the second
 * ones, and so on: often only one field of a record is accessed, and pages of unused granules take
 * no memory.
 */
static inline struct history_cell *history_cell(const struct history *h, uint32_t block,
						unsigned granule)
{
	return &h->cells[(size_t)granule * HISTORY_BLOCKS + block];
}

static inline uint32_t history_block_of(const struct history *h, const struct history_cell *c)
{
	return (uint32_t)(c - h->cells) % HISTORY_BLOCKS;
}

static inline unsigned history_granule_of(const struct history *h, const struct history_cell *c)
{
	return (uint32_t)(c - h->cells) / HISTORY_BLOCKS;
}

/* Returns the state of a granule that threads share; laid out as cells are. */
static inline struct history_share *history_share(const struct history *h, uint32_t share,
						  unsigned granule)
{
	return &h->shares[(size_t)granule * HISTORY_BLOCKS + share];
}

/* For atomicity_known.h: records the first write of the cell's thread to the granule. */
void history_wrote(struct history *h, struct history_cell *c);

#endif
