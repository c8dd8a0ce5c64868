/*
 * For the files of the atomicity analysis: what it knows, and what it tells.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_H
#define ANALYZE_ATOMICITY_ATOMICITY_H

#include "analyze/atomicity/dedupe.h"
#include "analyze/atomicity/history_inline.h"
#include "base/hash.h"

/* On a pair of this shape and an access of this kind, whatever the clocks: asked often. */
struct triple_verdict {
	uint64_t key;		/* numbers of the shape and the history_what; 0: none */
	uint32_t reported;		/* told.h; 0: not known */
	uint8_t pattern;	/* enum pattern; PATTERN_NONE: atomicity is not broken */
	uint8_t why;		/* enum prune_reason, unless it fits; PRUNE_REASONS: a candidate */
	bool for_all_cores : 1;		/* `told` holds for all of these cores */
	bool same_sites : 1;		/* the candidate told is of the same sites */
};

#define VERDICT_BITS 14		/* so many are kept, each at its place */

/* What was told of such sites that are to be held back at such places: asked often, too. */
struct dedupe_memo {
	uint64_t entry[3];	/* where p, r and i are to be held back */
	uint64_t pc[3];		/* where they are */
	uint32_t reported;		/* 0: none */
	bool same_sites;
};

#define DEDUPE_MEMO 256u		/* a power of two */

/* What only counts, for atomicity_again.h; all 0: none. */
struct count_memo {
	uint32_t inner_class[3];	/* of p, r and i, as struct history_alikes has them */
	uint32_t reported;		/* the candidate; 0: none */
	bool same_sites;		/* it is of the same sites */
	bool always;		/* whether the trace shows it or not */
};

#define COUNT_MEMO 256u		/* a power of two */

struct atomicity {
	struct locks *locks;
	struct contexts *contexts;
	struct history history;
	struct dedupe dedupe;
	struct triple_verdict *verdicts;
	struct dedupe_memo dedupe_memo[DEDUPE_MEMO];
	struct count_memo count_memo[COUNT_MEMO];
	uint64_t pruned[PRUNE_REASONS];
	uint64_t cut_ranges;
};

/* A pair, of which cell it is, and its clocks. */
struct local_pair {
	const struct history_cell *cell;
	const struct history_pair *pair;
	uint32_t p, i;		/* epochs */
};

/* Fills in all but the key. */
void atomicity_judge(const struct atomicity *a, uint32_t shape, uint32_t signature,
		     struct triple_verdict *v);

/* The pair and `r` make a candidate, as the verdict says. */
void atomicity_report(struct atomicity *a, const struct local_pair *l,
		      const struct access_context *r, struct triple_verdict *v,
		      struct findings *out);

/* Looks for what a verdict that found none yet would tell. */
void atomicity_find_reported(struct atomicity *a, uint32_t shape, uint32_t signature,
			     struct triple_verdict *v);

/*
 * Nothing at the location goes with the pair, or with the access, whoever did it, that was
 * not told often enough: then what is pruned counts by kind, once. `shown`: the trace may
 * show another thread within the pair.
 */
bool atomicity_nothing_new(struct atomicity *a, struct history_kinds *kinds, uint32_t shape,
			   uint32_t signature, bool maybe_seen, struct findings *out);

/* atomicity_tell(), if it was told so often that it only counts, whenever it was. */
static inline bool atomicity_count_always(struct atomicity *a, const struct local_pair *l,
					  uint32_t signature, struct triple_verdict *v,
					  struct findings *out)
{
	if (!v->reported)
		atomicity_find_reported(a, l->pair->shape, signature, v);
	return v->reported && dedupe_count_always(&a->dedupe, v->reported, v->same_sites, out);
}

/* The same of an access at `time`. */
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
