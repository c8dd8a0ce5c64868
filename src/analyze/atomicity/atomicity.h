/*
 * The state of the atomicity analysis, and what its files share: verdicts on triples p, r, i, and
 * reporting.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_H
#define ANALYZE_ATOMICITY_ATOMICITY_H

#include "analyze/atomicity/dedupe.h"
#include "analyze/atomicity/history_inline.h"
#include "base/hash.h"

/*
 * A verdict on a triple: the shape of a local pair p, i and the signature of an access r. It does
 * not depend on clocks. Cached, because most comparisons need it.
 */
struct triple_verdict {
	uint64_t key;		/* numbers of the shape and the signature; 0: none */
	/* number of the candidate reported for it (dedupe.h); 0: not looked up, or none */
	uint32_t reported;
	uint8_t pattern;	/* enum pattern; PATTERN_NONE: the triple is serializable */
	uint8_t why; /* enum prune_reason if locks forbid it; PRUNE_REASONS: they do not */
	/* `reported` holds for all shapes and signatures with these cores */
	bool for_all_cores : 1;
	bool same_sites : 1;	/* the reported candidate has the same sites */
};

#define VERDICT_BITS 14		/* direct-mapped cache of 2^14 verdicts */

/* Cached result of dedupe_find(), by the sites at which threads are stopped. */
struct dedupe_memo {
	uint64_t stop_pc[3];	/* where the thread of p, r and i is stopped: locks_entry() */
	uint64_t pc[3];		/* pcs of p, r and i */
	uint32_t reported;	/* number of the candidate; 0: none */
	bool same_sites;
};

#define DEDUPE_MEMO 256u		/* entries of the cache; a power of 2 */

/* Triples that are only to be counted (atomicity_count_memo.h). All zero: none. */
struct count_memo {
	uint32_t inner_class[3];	/* of p, r and i, as in struct history_pair_nesting */
	uint32_t reported;	/* number of the candidate; 0: none */
	bool same_sites;	/* the candidate has the same sites */
	bool always;		/* only counted even if the trace shows the triple */
};

#define COUNT_MEMO 256u		/* entries of the cache; a power of 2 */

struct atomicity {
	struct locks *locks;
	struct contexts *contexts;
	struct history history;
	struct dedupe dedupe;
	struct triple_verdict *verdicts;
	struct dedupe_memo dedupe_memo[DEDUPE_MEMO];
	struct count_memo count_memo[COUNT_MEMO];
	uint64_t pruned[PRUNE_REASONS];
	uint64_t truncated;	/* accesses of which only RANGE_MAX granules were analysed */
};

/* A local pair, its cell, and the epochs of p and i. */
struct local_pair {
	const struct history_cell *cell;
	const struct history_pair *pair;
	uint32_t p, i;		/* epochs */
};

/* Computes the members of the verdict except `key`; `why` only if `pattern` is not PATTERN_NONE. */
void atomicity_judge(const struct atomicity *a, uint32_t shape, uint32_t signature,
		     struct triple_verdict *v);

/* Reports the candidate of the pair and `r`, or counts it if it is known. */
void atomicity_report(struct atomicity *a, const struct local_pair *l,
		      const struct access_context *r, struct triple_verdict *v,
		      struct findings *out);

/* Looks up which candidate was reported for the verdict's triple. */
void atomicity_find_reported(struct atomicity *a, uint32_t shape, uint32_t signature,
			     struct triple_verdict *v);

/*
 * True if the pair `shape`, or if that is 0 the access `signature`, yields nothing new with any
 * kind at the granule: locks forbid it, or its candidate is saturated. Triples that locks forbid
 * are counted once per kind. `maybe_seen`: the trace may show another thread's access inside the
 * pair.
 */
bool atomicity_nothing_new(struct atomicity *a, struct history_kinds *kinds, uint32_t shape,
			   uint32_t signature, bool maybe_seen, struct findings *out);

/*
 * If the triple belongs to a candidate that is already reported and only adds 1 to its count,
 * whether the trace shows it or not: counts it and returns true.
 */
static inline bool atomicity_count_always(struct atomicity *a, const struct local_pair *l,
					  uint32_t signature, struct triple_verdict *v,
					  struct findings *out)
{
	if (!v->reported)
		atomicity_find_reported(a, l->pair->shape, signature, v);
	return v->reported && dedupe_count_always(&a->dedupe, v->reported, v->same_sites, out);
}

/*
 * The same for a triple with an access at `time`, if it only adds 1 to the count of a reported
 * candidate. Else returns false.
 */
static inline bool atomicity_count_early(struct atomicity *a, const struct local_pair *l,
					 uint64_t time, const struct triple_verdict *v,
					 struct findings *out)
{
	bool seen = l->pair->p.time < time && time < l->pair->i.time;

	return v->reported && dedupe_count_early(&a->dedupe, v->reported, v->same_sites, seen, out);
}

static inline struct triple_verdict *atomicity_verdict(struct atomicity *a, uint32_t shape,
						       uint32_t signature)
{
	uint64_t key = (uint64_t)shape << 32 | signature;
	struct triple_verdict *v = &a->verdicts[hash_spread(key) >> (64 - VERDICT_BITS)];

	if (__builtin_expect(v->key != key, 0)) {
		v->key = key;
		atomicity_judge(a, shape, signature, v);
	}
	return v;
}

#endif
