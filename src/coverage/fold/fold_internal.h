/*
 * Between the files of coverage/fold/iroot_fold.h.
 *
 * Everything is in one piece of memory and refers to the rest by offset, in units of 8 bytes
 * (`ref`, a uint32_t; 0 is nothing), so that it means the same wherever it is mapped.
 *
 * A program under test may write anywhere, here too. So every reference is checked where it is followed, by
 * iroot_at(); lengths where they are used; that lists do not go in circles; and of how many parts they are,
 * all together. Where something is wrong nothing is followed any more: all the rest is zero.
 */
#ifndef COVERAGE_FOLD_FOLD_INTERNAL_H
#define COVERAGE_FOLD_FOLD_INTERNAL_H

#include "abi/mix.h"
#include "coverage/fold/iroot_fold.h"

#define IROOT_MAGIC 0x544f4f5249524e53ull	/* "SNRIROOT" */
#define IROOT_HELD 8u		/* locks of a thread that are known at a time */
#define IROOT_HISTORY 64u	/* different accesses of a thread to a location that are kept */
#define IROOT_DONE 4096u
#define IROOT_PIECE 2048u	/* bytes; what is of one piece is not larger */
#define IROOT_READS (1ull << 29)	/* parts of lists, in one step or at the end */
#define IROOT_PAIR_PLACES 16u	/* variables that a pair of sites is remembered for */
#define IROOT_NEAR 1024u	/* places and events that are found without a table */
#define IROOT_SEEN 8u		/* events of a history that are */
#define IROOT_EDGE_PLACES 1024u	/* variables for which a dependency between two sites is kept for joining */
#define IROOT_ROOMS 5u		/* sizes of a history: IROOT_FEW << 0 … 4 entries */
#define IROOT_FEW 4u
#define IROOT_EVER UINT32_MAX

/* From 64-bit keys to values; grows. Keys are hashes of what is meant, taken for unique. */
struct iroot_table {
	uint32_t slots;
	uint32_t mask, count;
};

struct iroot_held {
	uint32_t lock;		/* ref of its place */
	uint32_t section;	/* number of the critical section */
	uint32_t depth;		/* taken so often */
	uint32_t shared;
};

/* A strong clock at a moment: component i is thread i's. */
struct iroot_clock {
	uint32_t count, pad;
	uint32_t at[];
};

/*
 * An access as pairs and predicted dependencies know it: a node. Most of them are in neither, so
 * that they have a name, and are made when they are needed.
 */
struct iroot_name {
	uint64_t key;		/* hash of all */
	uint64_t var;
	uint32_t thread, event;
};

/* An instance of a dependency or an access that is remembered for idioms of two variables. */
struct iroot_instance {
	uint64_t var;		/* 0: none */
	uint64_t first, second;	/* its thread's events; an access: its event, the key of its name */
};

/* With its last instance, the last of another variable than that, and the last but one. */
struct iroot_recent {
	uint32_t event[2];	/* numbers of static events; an access has one */
	uint32_t direction, pad;
	uint64_t stamp;		/* when it was last met */
	struct iroot_instance instance[3];
	uint8_t joined[IROOT_RECENT];	/* by place of others: what need not be done again with them */
};

/* A lock that the thread holds: what it did since event `since`. */
struct iroot_section {
	uint64_t since;
	uint64_t state;		/* as below, of these only */
};

/* Without order; the oldest gives way. */
struct iroot_recents {
	uint32_t entries;	/* ref of an array */
	uint32_t count, capacity;
	uint32_t id;
	uint64_t stamp;
	uint64_t state;		/* hash of the instances' names: the same if they are */
	struct iroot_section section[IROOT_HELD];
	uint32_t sections, pad;
	uint8_t where[IROOT_RECENT];	/* by hash: place + 1 of who was met there last */
};

struct iroot_thread {
	uint32_t number;	/* as its user says */
	uint32_t own;		/* index of its component in clocks */
	uint32_t clock;	/* struct iroot_clock; a copy of it is made when it changes */
	bool clock_used;	/* … since somebody keeps it */
	bool ended;		/* somebody joined it */
	uint64_t events;
	struct iroot_held held[IROOT_HELD];
	uint32_t held_count;
	struct iroot_recents recents;	/* its sections are those of `held` */
	uint32_t next;
	/* iroot_flags.c: what it did last, if that was a read, and how often in a row. */
	uint32_t spins;
	uint64_t spin_site, spin_addr;
	uint64_t spin_write;	/* site of another's write to that since; 0: none */
	bool spin_read;		/* … and it has read it */
};

/*
 * Bytes of a place that a thread touched last with one access; and who came next after that, if
 * anybody of another thread did.
 */
struct iroot_mark {
	uint8_t mask;		/* of no other mark of this thread */
	uint8_t last;		/* … nobody touched since */
	uint8_t conflict;	/* the next one depends on it */
	uint8_t shared;		/* a shared lock */
	uint32_t thread, event;
	uint32_t next_thread, next_event;	/* thread 0: nobody yet */
	uint32_t next;
	uint64_t index, next_index;
};

/* A granule of 8 bytes, or a lock. */
struct iroot_place {
	uint64_t addr;
	uint32_t number;
	uint32_t is_lock;
	uint32_t marks;
	uint32_t histories;	/* of threads */
	uint32_t sections;	/* lock */
	uint32_t history;	/* the one that was used last */
	uint32_t next;		/* all that are alive or were */
	uint32_t used;		/* since it has this number */
};

/* An access of a history, whole. */
struct iroot_entry {
	uint8_t mask, access, shared, pad;
	uint32_t event;
	uint32_t epoch;		/* its thread's component of `clock` */
	uint32_t clock, before;	/* its own; of the access before, or 0 */
	uint32_t after;			/* the thread's component at the access after, or 0 */
	uint32_t locks;		/* struct iroot_lockset */
	uint32_t pad2;
};

/* … and one of which it is not known what comes after it. */
struct iroot_pending {
	struct iroot_entry entry;
	uint64_t index, key;
	uint32_t next, pad2;
	uint32_t held_count, pad;
	struct {
		uint32_t lock, section, shared, first;
	} held[];		/* none, or room for IROOT_HELD */
};

struct iroot_lockset {
	uint32_t count, pad;
	struct {
		uint32_t lock;
		uint8_t shared, first, last, pad;
	} at[];
};

/* What makes an entry a new one, but for its name. */
struct iroot_sign {
	uint32_t clock, before, after, mask;	/* clock 0: none */
	uint64_t locks;		/* hash of them */
};

/* The entries that an access of this name made last, and accesses that are known to be next before. */
struct iroot_seen {
	uint64_t key, before_key[2];
	uint32_t number;	/* of the place then */
	uint32_t listed;	/* those of that clock are in `known`, too */
	struct iroot_sign sign[2];	/* of one clock, the last first */
};

/* By age; what room there is, see iroot_predict.c. */
struct iroot_history {
	uint32_t thread;
	uint32_t pending, entries;	/* the latter an array */
	uint32_t count, room;
	uint32_t next;
	uint32_t crowded;	/* clock when somebody had to leave `seen`; IROOT_EVER: it may be any */
	uint32_t seen[IROOT_SEEN];
	uint16_t tag[IROOT_SEEN];	/* of their keys */
	uint32_t leaves, pad;		/* who goes next */
};

struct iroot_node {
	struct iroot_name name;
	uint32_t after, before;	/* struct iroot_edge */
};

struct iroot_edge {
	uint32_t node;
	uint32_t next;
};

#define IROOT_PAIR_NEXT 1u	/* one variable, and the thread did not touch it in between */
#define IROOT_PAIR_SAME 2u	/* one variable */
#define IROOT_PAIR_OTHER 4u	/* two variables */

/* Locks that the thread kept from the first to the second in all instances of two variables. */
struct iroot_over {
	uint32_t count, pad;
	struct {
		uint32_t lock, shared;
	} at[IROOT_HELD];
};

struct iroot_pair {
	uint32_t first, second;	/* nodes */
	uint32_t kinds;
	uint32_t over;		/* struct iroot_over, or 0: none */
	uint32_t next, pad;
};

/* An iRoot, by static events. */
struct iroot_found {
	uint32_t idiom, flags;
	uint32_t event[IROOT_EVENTS];
	uint32_t next, pad;
};

struct iroot_flags {
	uint32_t count;
	uint32_t spinners;	/* threads that may spin, at most */
	uint64_t bits;		/* iroot_flags.c */
	struct iroot_flag at[IROOT_FLAGS];
	uint64_t readers[IROOT_FLAGS], writers[IROOT_FLAGS];	/* threads, a bit each; crowds share them */
};

struct iroot_near {
	uint64_t key;		/* 0: none */
	uint32_t ref, pad;
};

struct iroot_profile {
	uint64_t magic;
	uint32_t version, window;
	uint64_t size, used, lost;	/* bytes */
	uint32_t finished, no_locks;	/* ref of the empty lockset */
	uint64_t steps, dependencies, place_count, entry_count, pair_count;
	struct iroot_table events, places, locks, threads, syncs, pairs_of, found, known, sets,
		nodes, edges, edge_sites, pairs, pair_sites, recents;
	uint32_t event_count, found_count, thread_count, recents_count;
	uint32_t busy;			/* in the middle of a step */
	uint32_t near_threads[IROOT_RECENT];	/* by number */
	uint64_t last_two;		/* threads of the last dependency, and */
	uint32_t foreign;		/* threads that nobody created, but for the first */
	uint32_t last_recents;		/* … what is between them */
	uint32_t all_threads, all_places, all_pairs, all_found, last_pair, last_found;
	uint32_t free_marks, free_rooms[IROOT_ROOMS];
	uint32_t free_pending[2];	/* … [1]: with room for locks */
	struct iroot_flags flags;
	uint64_t damaged;		/* something was wrong */
	uint64_t limit;			/* of references, behind this struct; bytes */
	uint64_t reads;			/* so many more parts of lists may be */
	uint64_t nothing[IROOT_PIECE / 8];	/* what a bad one refers to */
	uint64_t done[IROOT_DONE];	/* what iroot_pairs.c need not do again */
	struct iroot_near places_near[IROOT_NEAR], events_near[IROOT_NEAR];
};

_Static_assert(IROOT_FEW << (IROOT_ROOMS - 1) == IROOT_HISTORY, "rooms");
_Static_assert(IROOT_HISTORY * sizeof(struct iroot_entry) <= IROOT_PIECE &&
	       sizeof(struct iroot_thread) <= IROOT_PIECE && sizeof(struct iroot_recent) <= IROOT_PIECE &&
	       sizeof(struct iroot_pending) + IROOT_HELD * 16 <= IROOT_PIECE, "pieces");

/* iroot_memory.c */
void *iroot_nothing(const struct iroot_profile *p, uint32_t ref);

/* A piece of IROOT_PIECE bytes that may be read and written, whatever `ref` is. */
static inline void *iroot_at(const struct iroot_profile *p, uint32_t ref)
{
	uint64_t at = (uint64_t)ref * 8;

	if (__builtin_expect(at - sizeof(*p) >= p->limit, 0))
		return iroot_nothing(p, ref);
	return (char *)(uintptr_t)p + at;
}

/* The next one of a list that each new one is put in front of: it is older. */
static inline uint32_t iroot_older(const struct iroot_profile *p, uint32_t ref, uint32_t next)
{
	uint64_t *reads = (uint64_t *)(uintptr_t)&p->reads;

	if (__builtin_expect(next < ref && (*reads)-- > 0, 1))
		return next;
	iroot_nothing(p, next);
	return 0;
}

static inline struct iroot_near *iroot_near(struct iroot_near all[IROOT_NEAR], uint64_t key)
{
	return &all[(mix_spread(key) >> 32) % IROOT_NEAR];
}

/* iroot_memory.c. 0 if nothing is left; zeroed. */
uint32_t iroot_alloc(struct iroot_profile *p, uint64_t bytes);
uint32_t *iroot_table_put(struct iroot_profile *p, struct iroot_table *t, uint64_t key, bool *added);
uint32_t iroot_table_get(const struct iroot_profile *p, const struct iroot_table *t, uint64_t key);

/* iroot_place.c: a granule (addr >> 3) or a lock; 0 if nothing is left. */
uint32_t iroot_place_granule(struct iroot_profile *p, uint64_t granule);
uint32_t iroot_place_lock(struct iroot_profile *p, uint64_t addr);
void iroot_place_forget(struct iroot_profile *p, uint64_t addr, uint64_t size);

/* iroot_order.c */
struct iroot_thread *iroot_thread(struct iroot_profile *p, uint32_t number, bool created);
void iroot_order_step(struct iroot_profile *p, struct iroot_thread *t, const struct iroot_step *step);
uint32_t iroot_clock_keep(struct iroot_profile *p, struct iroot_thread *t);
static inline uint32_t iroot_clock_get(const struct iroot_profile *p, const struct iroot_clock *c, uint32_t i)
{
	return i < c->count && (uint64_t)((const char *)&c->at[i] - (const char *)p) < p->size ? c->at[i] : 0;
}

static inline uint32_t iroot_epoch(const struct iroot_profile *p, const struct iroot_thread *t)
{
	return iroot_clock_get(p, iroot_at(p, t->clock), t->own);
}

/* iroot_flags.c: before and after each step of the thread */
void iroot_flags_before(struct iroot_profile *p, struct iroot_thread *t, const struct iroot_step *step);
void iroot_flags_after(struct iroot_profile *p, struct iroot_thread *t, const struct iroot_step *step);

/* An access to a place, split by granules; `mask` of its bytes. */
struct iroot_touch {
	struct iroot_place *place;
	struct iroot_thread *thread;
	uint32_t event;		/* static */
	uint8_t access, mask, shared;	/* enum iroot_access; a shared lock */
	uint64_t index;		/* of the thread's events */
};

/* iroot_found.c: numbers of static events, iRoots. */
uint32_t iroot_event_number(struct iroot_profile *p, uint64_t site, uint32_t access);
const struct iroot_event *iroot_event_at(const struct iroot_profile *p, uint32_t number);
void iroot_found_add(struct iroot_profile *p, uint32_t flag, uint32_t idiom, uint32_t a, uint32_t b,
		     uint32_t c, uint32_t d);

/* iroot_recent.c: the entry, made if it is new (then `joined` is zero); NULL if nothing is left. Others may move. */
struct iroot_recent *iroot_recent_meet(struct iroot_profile *p, struct iroot_recents *list,
				       uint32_t first, uint32_t second, uint32_t direction, bool *made);
void iroot_recent_set(struct iroot_recents *list, struct iroot_recent *r,
		      const struct iroot_instance *instance);
void iroot_recent_section(struct iroot_recents *list, uint64_t since);	/* one more begins */
void iroot_recent_end(struct iroot_recents *list, uint32_t section);

/* One writes; of locks, the first gives back what the second takes. */
static inline bool iroot_conflict(uint32_t first, uint32_t second)
{
	if (first == IROOT_RELEASE || second == IROOT_ACQUIRE)
		return first == IROOT_RELEASE && second == IROOT_ACQUIRE;
	return (first == IROOT_WRITE && second <= IROOT_WRITE) ||
	       (second == IROOT_WRITE && first <= IROOT_WRITE);
}

/* iroot_expect.c: into the history of its thread; it may predict something. */
void iroot_history_add(struct iroot_profile *p, const struct iroot_place *place, struct iroot_history *h,
		       const struct iroot_entry *entry);
void iroot_history_clear(struct iroot_profile *p, struct iroot_history *h);

/* iroot_seen.c: what is remembered of an access; NULL: nothing, or (make) nothing is left. */
struct iroot_seen *iroot_seen_find(const struct iroot_profile *p, const struct iroot_place *place,
				   const struct iroot_history *h, uint64_t key);
struct iroot_seen *iroot_seen_make(struct iroot_profile *p, const struct iroot_place *place,
				   struct iroot_history *h, uint64_t key);
/* Was there one like it? From now on there was. `locks`: hash of them; `s` may be NULL. */
bool iroot_seen_known(struct iroot_profile *p, const struct iroot_history *h, const struct iroot_pending *w,
		      uint64_t locks, struct iroot_seen *s);

/* The variable of an access. */
static inline uint64_t iroot_var(const struct iroot_place *place, uint8_t mask)
{
	return place->number * 8ull + (unsigned)__builtin_ctz(mask);
}

/* iroot_observe.c, iroot_predict.c, iroot_pairs.c, iroot_join.c */
void iroot_observe(struct iroot_profile *p, const struct iroot_touch *t);
void iroot_predict(struct iroot_profile *p, const struct iroot_touch *t);
void iroot_predict_forget(struct iroot_profile *p, struct iroot_place *place);
static inline struct iroot_name iroot_name(uint64_t var, uint32_t thread, uint32_t event)
{
	return (struct iroot_name){ mix_add_small(var, (uint64_t)thread << 32 | event), var, thread, event };
}
uint32_t iroot_node(struct iroot_profile *p, const struct iroot_name *name);	/* 0 if nothing is left */
/* False: it is a new one, and there are enough of these two sites. `over`: of IROOT_PAIR_OTHER. */
bool iroot_pair_add(struct iroot_profile *p, const struct iroot_name *first, const struct iroot_name *second,
		    uint32_t kind, const struct iroot_over *over);
static inline uint64_t iroot_pair_key(uint64_t first, uint64_t second)
{
	return mix_add_small(first, second);
}
void iroot_pairs_see(struct iroot_profile *p, const struct iroot_touch *t, const struct iroot_name *name);
void iroot_join(struct iroot_profile *p);

#endif
