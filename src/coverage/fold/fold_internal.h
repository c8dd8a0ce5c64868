/*
 * Data structures that the files of coverage/fold share: one struct iroot_profile and everything it
 * refers to, in one piece of memory.
 *
 * References (`ref`, uint32_t) are offsets from the start of the profile in units of 8 bytes, so
 * that the memory may be mapped at another address in another process. Ref 0 is "none".
 *
 * The program under test may write anywhere, and so into this memory. Therefore every reference is
 * checked where it is followed (iroot_at()), and every count where it is used. Most lists are
 * followed with iroot_next_older(), which refuses cycles and, in one step, more elements than the
 * budget. Lists whose elements are reused (iroot_location.last, iroot_history.pending) are not
 * checked for cycles. After the first error the profile is damaged: every reference then leads to
 * zeroed memory.
 */
#ifndef COVERAGE_FOLD_FOLD_INTERNAL_H
#define COVERAGE_FOLD_FOLD_INTERNAL_H

#include "abi/mix.h"
#include "coverage/fold/iroot_fold.h"

#define IROOT_MAGIC 0x544f4f5249524e53ull	/* "SNRIROOT" */
#define IROOT_HELD 8u		/* locks of a thread that are tracked at a time */
#define IROOT_HISTORY 64u	/* entries in a thread's history of a location */
#define IROOT_DONE 4096u	/* slots of the cache of pair combinations that add nothing */
#define IROOT_MAX_PIECE 2048u	/* bytes; no object except tables and clocks is larger */
#define IROOT_LIST_BUDGET (1ull << 29)	/* list elements visited in one step, or at the end */
#define IROOT_PAIR_VARIABLES 16u	/* variables, or pairs of variables, kept for two sites */
#define IROOT_CACHE_SLOTS 1024u	/* slots of the caches of locations and of events */
#define IROOT_SEEN 8u		/* node ids of a history with remembered signatures */
#define IROOT_EDGE_VARIABLES 1024u	/* variables for which edges between two sites are kept */
#define IROOT_HISTORY_SIZES 5u	/* capacities of a history: IROOT_HISTORY_MIN << 0 to 4 */
#define IROOT_HISTORY_MIN 4u
#define IROOT_ANY_CLOCK UINT32_MAX

/* Hash table from 64-bit keys to values; grows. Keys are hashes, assumed to be unique. */
struct iroot_table {
	uint32_t slots;		/* ref of an array */
	uint32_t mask, count;
};

/* A lock that a thread holds. */
struct iroot_held {
	uint32_t lock;		/* ref of its location */
	uint32_t section;	/* number of the critical section among those of the lock */
	uint32_t depth;		/* acquisitions that are not released yet */
	uint32_t shared;
};

/* A vector clock of strong order. Immutable once a ref to it was kept. */
struct iroot_clock {
	uint32_t count, pad;
	uint32_t at[];		/* by iroot_thread.own */
};

/*
 * Identity of a node: a static event of a thread at a variable. Nodes are what pairs and predicted
 * dependencies connect; one is made when the first pair or dependency needs it.
 */
struct iroot_node_id {
	uint64_t key;		/* hash of the other members */
	uint64_t var;		/* iroot_var() */
	uint32_t thread, event;
};

/* One occurrence of a recent dependency or access. */
struct iroot_instance {
	uint64_t var;		/* 0: none */
	/*
	 * Dependency: its two events, each an index in its thread. Access: its event, and the key
	 * of its node id.
	 */
	uint64_t first, second;
};

/* A recent dependency between two threads, or a recent access of one thread; by static events. */
struct iroot_recent {
	uint32_t event[2];	/* numbers of static events; an access has one */
	uint32_t direction, pad;	/* 1: from the thread with the lower number */
	uint64_t stamp;		/* list.stamp when it last occurred */
	/* The last instance, the last of another variable than that, and the last but one. */
	struct iroot_instance instance[3];
	/*
	 * By position of another entry. Dependencies: idioms found with it, a bit each. Accesses:
	 * 1 if their sites have enough pairs.
	 */
	uint8_t joined[IROOT_RECENT];
};

/* A critical section that the thread is in; parallel to iroot_thread.held. */
struct iroot_section {
	uint64_t since;		/* the thread's event that began it */
	uint64_t hash;		/* like iroot_recent_list.hash, of instances since then */
};

/* The last IROOT_RECENT different entries, in no order; a new one replaces the oldest. */
struct iroot_recent_list {
	uint32_t entries;	/* ref of an array of struct iroot_recent */
	uint32_t count, capacity;
	uint32_t id;
	uint64_t stamp;		/* occurrences so far */
	uint64_t hash;		/* sum over the instances' `second`: equal for equal lists */
	struct iroot_section section[IROOT_HELD];
	uint32_t sections, pad;
	uint8_t position[IROOT_RECENT];	/* cache, by hash: 1 + position of an entry */
};

struct iroot_thread {
	uint32_t number;	/* iroot_step.thread */
	uint32_t own;		/* index of its component in clocks */
	uint32_t clock;		/* ref of struct iroot_clock */
	bool clock_kept;	/* other structs refer to `clock`: copy it before a change */
	bool ended;		/* it was joined */
	uint64_t events;	/* accesses and lock operations so far */
	struct iroot_held held[IROOT_HELD];	/* in order of acquisition */
	uint32_t held_count;
	struct iroot_recent_list recents;	/* recent accesses */
	uint32_t next;		/* list of all threads, newest first */
	/* spin_flags.c: the last step, if it was a read. spins 0: it was not. */
	uint32_t spins;		/* number of equal reads in a row */
	uint64_t spin_site, spin_addr;
	uint64_t spin_write;	/* site of another thread's write to spin_addr since; 0: none */
	bool spin_read;		/* the thread has read spin_addr since spin_write */
};

/*
 * A thread's last access to some bytes of a location, and the first access to these bytes after it
 * by another thread. The masks of one thread's accesses do not overlap.
 */
struct iroot_last {
	uint8_t mask;		/* bytes for which it is this thread's last access */
	uint8_t last;		/* bytes for which it is the last access of all threads */
	uint8_t conflict;	/* the next access depends on it */
	uint8_t shared;		/* it is of a shared lock */
	uint32_t thread, event;	/* iroot_thread.own, static event */
	uint32_t next_thread, next_event;	/* of the next access; thread 0: none yet */
	uint32_t next;		/* list of the location */
	uint64_t index, next_index;	/* of both accesses, each among the events of its thread */
};

/* A granule (8 aligned bytes), or a lock. */
struct iroot_location {
	uint64_t addr;
	uint32_t number;	/* unique; a new one when the memory is allocated again */
	uint32_t is_lock;
	uint32_t last;		/* list of struct iroot_last */
	uint32_t histories;	/* list of struct iroot_history, one for each thread */
	uint32_t sections;	/* lock: critical sections so far */
	uint32_t history;	/* the history that was used last */
	uint32_t next;		/* list of all locations, newest first */
	uint32_t used;		/* accessed since it got its number */
};

/* An access in a history. What it predicts depends on these members only. */
struct iroot_entry {
	uint8_t mask, access, shared, pad;
	uint32_t event;
	uint32_t epoch;		/* the thread's own component of `clock` */
	uint32_t clock;		/* strong clock at the access */
	uint32_t before;	/* strong clock at the thread's previous access; 0: none */
	uint32_t after;		/* own component at the thread's next access; 0: none */
	uint32_t locks;		/* ref of struct iroot_lockset */
	uint32_t pad2;
};

/*
 * An access whose thread has not accessed the same bytes again: `after` and `last` are not known.
 */
struct iroot_pending {
	struct iroot_entry entry;
	uint64_t index, key;	/* event of its thread, key of its node id */
	uint32_t next, pad2;
	uint32_t held_count, pad;
	struct {
		uint32_t lock, section, shared, first;
	} held[];		/* no room, or room for IROOT_HELD */
};

/* Locks held at an access, annotated. Interned: equal sets are one. */
struct iroot_lockset {
	uint32_t count, pad;
	struct {
		uint32_t lock;
		uint8_t shared;
		uint8_t first, last;	/* access to the location in the critical section */
		uint8_t pad;
	} at[];
};

/* What distinguishes entries of one node id: with equal signatures they predict the same. */
struct iroot_signature {
	uint32_t clock, before, after, mask;	/* as in struct iroot_entry; clock 0: none */
	uint64_t locks;		/* hash of the annotated lockset */
};

/* The last signatures of one node id, and its last predecessors in IROOT_PAIR_NEXT. */
struct iroot_seen {
	uint64_t key, before_key[2];	/* of the node id, of the predecessors' */
	uint32_t number;	/* iroot_location.number when the struct was made */
	uint32_t in_table;	/* signatures of this clock are also in iroot_profile.known */
	struct iroot_signature signature[2];	/* of one clock, the newest first */
};

/* A thread's accesses to a location, oldest first; predicted_expect.c says which are kept. */
struct iroot_history {
	uint32_t thread;	/* ref */
	uint32_t pending;	/* list of struct iroot_pending */
	uint32_t entries;	/* ref of an array of struct iroot_entry */
	uint32_t count, capacity;
	uint32_t next;		/* list of the location */
	/* Clock of signatures that left `seen` for the table; IROOT_ANY_CLOCK: several. */
	uint32_t evicted_clock;
	uint32_t seen[IROOT_SEEN];	/* refs of struct iroot_seen */
	uint16_t tag[IROOT_SEEN];	/* low bits of their keys */
	uint32_t next_victim, pad;	/* index (modulo IROOT_SEEN) of the one to replace next */
};

struct iroot_node {
	struct iroot_node_id name;
	uint32_t successors, predecessors;	/* lists of struct iroot_edge */
};

/* A predicted dependency, in the list of one of its two nodes. */
struct iroot_edge {
	uint32_t node;		/* the other one */
	uint32_t next;
};

#define IROOT_PAIR_NEXT 1u	/* one variable, which the thread did not access in between */
#define IROOT_PAIR_SAME 2u	/* one variable */
#define IROOT_PAIR_OTHER 4u	/* two variables */

/* Locks that the thread kept from the first to the second access, in all instances so far. */
struct iroot_common_locks {
	uint32_t count, pad;
	struct {
		uint32_t lock, shared;
	} at[IROOT_HELD];
};

/* Two accesses of one thread within the window. */
struct iroot_pair {
	uint32_t first, second;	/* refs of nodes */
	uint32_t kinds;		/* IROOT_PAIR_… */
	uint32_t common_locks;	/* of IROOT_PAIR_OTHER: ref, or 0: none */
	uint32_t next, pad;	/* list of all pairs, oldest first */
};

/* An iRoot, by numbers of static events. */
struct iroot_found {
	uint32_t idiom, flags;	/* flags: IROOT_EXPOSED, IROOT_PREDICTED */
	uint32_t event[IROOT_EVENTS];
	uint32_t next, pad;	/* list of all iRoots, oldest first */
};

struct iroot_flags {
	uint32_t count;
	uint32_t spinners;	/* upper bound of the number of threads that spin */
	uint64_t bits;		/* Bloom filter of the flags' sites, to skip most steps */
	struct iroot_flag at[IROOT_FLAGS];
	/* By flag: threads (bit number % 64) that waited for it, that set it. */
	uint64_t readers[IROOT_FLAGS], writers[IROOT_FLAGS];
};

struct iroot_cache_slot {
	uint64_t key;		/* 0: empty */
	uint32_t ref, pad;
};

struct iroot_profile {
	uint64_t magic;
	uint32_t version, window;
	uint64_t size, used;	/* bytes */
	uint64_t lost;		/* objects that did not fit */
	uint32_t finished, no_locks;	/* no_locks: ref of the empty lockset */
	uint64_t steps, dependencies, location_count, entry_count, pair_count;
	/* By hash of identity; granule_blocks by number of the block. known: keys, no values. */
	struct iroot_table events, granule_blocks, locks, threads, syncs, pairs_of, found, known,
		sets, nodes, edges, edge_sites, pairs, pair_sites, recents;
	uint32_t event_count, found_count, thread_count, recents_count;
	uint32_t busy;			/* a step is in progress */
	uint32_t thread_cache[IROOT_RECENT];	/* direct-mapped, by number */
	uint64_t last_two;		/* the two threads of the last dependency */
	uint32_t uncreated_threads;	/* threads without a CREATE step, but for the first */
	uint32_t last_recents;		/* ref of the recent dependencies of `last_two` */
	uint32_t all_threads, all_locations, all_pairs, all_found, last_pair, last_found;
	uint32_t free_last, free_entries[IROOT_HISTORY_SIZES];
	uint32_t free_pending[2];	/* [0]: without, [1]: with room for locks */
	struct iroot_flags flags;
	uint64_t damaged;		/* a check failed: limit is 0 */
	uint64_t limit;			/* bytes behind this struct that references may lead to */
	uint64_t list_budget;		/* list elements that may still be visited */
	uint64_t zero_piece[IROOT_MAX_PIECE / 8];	/* where bad references lead */
	uint64_t done[IROOT_DONE];	/* compound_pairs.c: hashes of steps that add nothing */
	struct iroot_cache_slot location_cache[IROOT_CACHE_SLOTS], event_cache[IROOT_CACHE_SLOTS];
};

_Static_assert(IROOT_HISTORY_MIN << (IROOT_HISTORY_SIZES - 1) == IROOT_HISTORY,
	       "the largest capacity of a history is IROOT_HISTORY");
_Static_assert(IROOT_HISTORY * sizeof(struct iroot_entry) <= IROOT_MAX_PIECE &&
	       sizeof(struct iroot_thread) <= IROOT_MAX_PIECE &&
	       sizeof(struct iroot_recent) <= IROOT_MAX_PIECE &&
	       sizeof(struct iroot_pending) + IROOT_HELD * 16 <= IROOT_MAX_PIECE,
	       "each object fits into IROOT_MAX_PIECE");

/* fold_memory.c: marks the profile as damaged (unless ref is 0) and returns zeroed memory. */
void *iroot_bad_ref(const struct iroot_profile *p, uint32_t ref);

/* The object of `ref`. Whatever `ref` is, IROOT_MAX_PIECE bytes there may be read and written. */
static inline void *iroot_at(const struct iroot_profile *p, uint32_t ref)
{
	uint64_t at = (uint64_t)ref * 8;

	if (__builtin_expect(at - sizeof(*p) >= p->limit, 0))
		return iroot_bad_ref(p, ref);
	return (char *)(uintptr_t)p + at;
}

/* Follows a list to which elements are added in front, so that refs decrease. */
static inline uint32_t iroot_next_older(const struct iroot_profile *p, uint32_t ref, uint32_t next)
{
	uint64_t *budget = (uint64_t *)(uintptr_t)&p->list_budget;

	if (__builtin_expect(next < ref && (*budget)-- > 0, 1))
		return next;
	iroot_bad_ref(p, next);
	return 0;
}

static inline struct iroot_cache_slot *
iroot_cache_slot(struct iroot_cache_slot all[IROOT_CACHE_SLOTS], uint64_t key)
{
	return &all[(mix_spread(key) >> 32) % IROOT_CACHE_SLOTS];
}

/* fold_memory.c: ref of zeroed memory; 0: no memory is left. */
uint32_t iroot_alloc(struct iroot_profile *p, uint64_t bytes);

/* Pointer to the value of the key, added as 0 if it is new. NULL: no memory is left. */
uint32_t *iroot_table_put(struct iroot_profile *p, struct iroot_table *t, uint64_t key,
			  bool *added);

/* The value of the key; 0: it is not in the table. */
uint32_t iroot_table_get(const struct iroot_profile *p, const struct iroot_table *t, uint64_t key);

/* fold_location.c: ref of a granule (addr >> 3) or lock, made if needed; 0: no memory is left. */
uint32_t iroot_location_granule(struct iroot_profile *p, uint64_t granule);
uint32_t iroot_location_lock(struct iroot_profile *p, uint64_t addr);

/* Ends the history of all granules within the range, whose memory was allocated again. */
void iroot_location_forget(struct iroot_profile *p, uint64_t addr, uint64_t size);

/* fold_order.c: a thread, made if needed. `created`: a CREATE or JOIN step names it. */
struct iroot_thread *iroot_thread(struct iroot_profile *p, uint32_t number, bool created);
void iroot_order_step(struct iroot_profile *p, struct iroot_thread *t,
		      const struct iroot_step *step);

/* Ref of the thread's present strong clock, which is not changed from now on. */
uint32_t iroot_clock_keep(struct iroot_profile *p, struct iroot_thread *t);

static inline uint32_t iroot_clock_get(const struct iroot_profile *p, const struct iroot_clock *c,
				       uint32_t i)
{
	return i < c->count && (uint64_t)((const char *)&c->at[i] - (const char *)p) < p->size ?
		       c->at[i] : 0;
}

static inline uint32_t iroot_epoch(const struct iroot_profile *p, const struct iroot_thread *t)
{
	return iroot_clock_get(p, iroot_at(p, t->clock), t->own);
}

/* spin_flags.c: called before and after each step of the thread. */
void iroot_flags_before(struct iroot_profile *p, struct iroot_thread *t,
			const struct iroot_step *step);
void iroot_flags_after(struct iroot_profile *p, struct iroot_thread *t,
		       const struct iroot_step *step);

/* The part of a step that is at one location. */
struct iroot_location_step {
	struct iroot_location *loc;
	struct iroot_thread *thread;
	uint32_t event;		/* number of the static event */
	uint8_t access;		/* enum iroot_access */
	uint8_t mask;		/* bytes of the granule; a lock: 1 */
	uint8_t shared;		/* of a shared lock */
	uint64_t index;		/* of the thread's events */
};

/* exposed_found.c: the number of a static event, added if it is new; 0: no memory is left. */
uint32_t iroot_event_number(struct iroot_profile *p, uint64_t site, uint32_t access);
const struct iroot_event *iroot_event_at(const struct iroot_profile *p, uint32_t number);

/* Adds `flag` to the iRoot of these static events, which is made if it is new. */
void iroot_found_add(struct iroot_profile *p, uint32_t flag, uint32_t idiom, uint32_t a, uint32_t b,
		     uint32_t c, uint32_t d);

/*
 * exposed_recent.c: the entry for these events, which becomes the newest. It is added with zeroed
 * `joined` if it is new (*added); then other entries may move. NULL: no memory is left.
 */
struct iroot_recent *iroot_recent_put(struct iroot_profile *p, struct iroot_recent_list *list,
				      uint32_t first, uint32_t second, uint32_t direction,
				      bool *added);

/* Adds an instance to the entry. */
void iroot_recent_set(struct iroot_recent_list *list, struct iroot_recent *r,
		      const struct iroot_instance *instance);

/* Begins a critical section with the thread's event `since`; ends the section at this position. */
void iroot_recent_section(struct iroot_recent_list *list, uint64_t since);
void iroot_recent_end(struct iroot_recent_list *list, uint32_t section);

/* Can `second` depend on `first`? One writes, or a release comes before an acquisition. */
static inline bool iroot_conflict(uint32_t first, uint32_t second)
{
	if (first == IROOT_RELEASE || second == IROOT_ACQUIRE)
		return first == IROOT_RELEASE && second == IROOT_ACQUIRE;
	return (first == IROOT_WRITE && second <= IROOT_WRITE) ||
	       (second == IROOT_WRITE && first <= IROOT_WRITE);
}

/* predicted_expect.c: adds the entry to a history, and the dependencies that it predicts. */
void iroot_history_add(struct iroot_profile *p, const struct iroot_location *loc,
		       struct iroot_history *h, const struct iroot_entry *entry);
void iroot_history_clear(struct iroot_profile *p, struct iroot_history *h);

/*
 * predicted_seen.c: what is remembered of a node id; NULL: nothing. iroot_seen_make() adds it,
 * perhaps in place of another node id's; NULL: no memory is left.
 */
struct iroot_seen *iroot_seen_find(const struct iroot_profile *p, const struct iroot_location *loc,
				   const struct iroot_history *h, uint64_t key);
struct iroot_seen *iroot_seen_make(struct iroot_profile *p, const struct iroot_location *loc,
				   struct iroot_history *h, uint64_t key);

/*
 * Has there been an access with the signature of `w`? Remembers this one. `locks`: hash of the
 * annotated lockset of `w`; `s`: from iroot_seen_make(), may be NULL.
 */
bool iroot_seen_known(struct iroot_profile *p, const struct iroot_history *h,
		      const struct iroot_pending *w, uint64_t locks, struct iroot_seen *s);

/* The variable of an access: its first byte in the location. */
static inline uint64_t iroot_var(const struct iroot_location *loc, uint8_t mask)
{
	return loc->number * 8ull + (unsigned)__builtin_ctz(mask);
}

/* exposed.c: finds the iRoots that this step exposes. */
void iroot_exposed_step(struct iroot_profile *p, const struct iroot_location_step *t);

/* predicted.c: adds the step to its thread's history; finds predicted dependencies and pairs. */
void iroot_predicted_step(struct iroot_profile *p, const struct iroot_location_step *t);

/* Ends the location's histories: finishes pending accesses, then clears the entries. */
void iroot_predicted_forget(struct iroot_profile *p, struct iroot_location *loc);

static inline struct iroot_node_id iroot_node_id(uint64_t var, uint32_t thread, uint32_t event)
{
	return (struct iroot_node_id){ mix_add_small(var, (uint64_t)thread << 32 | event), var,
				       thread,
				       event };
}

/* compound_pairs.c: ref of the node, made if needed; 0: no memory is left. */
uint32_t iroot_node(struct iroot_profile *p, const struct iroot_node_id *name);

/*
 * Adds a pair. `common` is used for IROOT_PAIR_OTHER. False: the pair is new, and its two sites
 * have IROOT_PAIR_VARIABLES pairs already.
 */
bool iroot_pair_add(struct iroot_profile *p, const struct iroot_node_id *first,
		    const struct iroot_node_id *second, uint32_t kind,
		    const struct iroot_common_locks *common);

static inline uint64_t iroot_pair_key(uint64_t first, uint64_t second)
{
	return mix_add_small(first, second);
}

/* Pairs the step with recent accesses of its thread. */
void iroot_pairs_step(struct iroot_profile *p, const struct iroot_location_step *t,
		      const struct iroot_node_id *name);

/* compound.c: joins pairs and predicted dependencies to predicted compound iRoots. */
void iroot_compound_finish(struct iroot_profile *p);

#endif
