/*
 * For the files of the atomicity analysis: what it knows, and what it tells.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_H
#define ANALYZE_ATOMICITY_ATOMICITY_H

#include "analyze/atomicity/dedupe.h"
#include "analyze/atomicity/history_inline.h"
#include "base/hash.h"

/* On a pair of this shape and an access of this kind, whatever the clocks: asked often. */
struct verdict {
	uint64_t key;		/* numbers of the shape and the history_what; 0: none */
	uint32_t told;		/* told.h; 0: not known */
	uint8_t pattern;	/* enum pattern; PATTERN_NONE: atomicity is not broken */
	uint8_t why;		/* enum prune_reason, unless it fits; PRUNE_REASONS: a candidate */
	bool sure : 1;		/* `told` holds for all of these cores */
	bool same : 1;		/* the candidate told is of the same sites */
};

#define VERDICT_BITS 14		/* so many are kept, each at its place */

/* What was told of such sites that are to be held back at such places: asked often, too. */
struct looked {
	uint64_t entry[3];	/* where p, r and i are to be held back */
	uint64_t pc[3];		/* where they are */
	uint32_t told;		/* 0: none */
	bool same;
};

#define LOOKED 256u		/* a power of two */

/* What only counts, for atomicity_again.h; all 0: none. */
struct again {
	uint32_t within[3];	/* of p, r and i, as struct history_alikes has them */
	uint32_t told;		/* the candidate; 0: none */
	bool same;		/* it is of the same sites */
	bool always;		/* whether the trace shows it or not */
};

#define AGAIN 256u		/* a power of two */

struct atomicity {
	struct locks *locks;
	struct moments *moments;
	struct history history;
	struct told told;
	struct verdict *verdicts;
	struct looked looked[LOOKED];
	struct again again[AGAIN];
	uint64_t pruned[PRUNE_REASONS];
	uint64_t cut_ranges;
};

/* A pair, of which cell it is, and its clocks. */
struct local {
	const struct history_cell *cell;
	const struct history_pair *pair;
	uint32_t p, i;		/* epochs */
};

/* Fills in all but the key. */
void atomicity_judge(const struct atomicity *a, uint32_t shape, uint32_t what, struct verdict *v);

/* The pair and `r` make a candidate, as the verdict says. */
void atomicity_tell(struct atomicity *a, const struct local *l, const struct moment *r,
		    struct verdict *v, struct findings *out);

/* Looks for what a verdict that found none yet would tell. */
void atomicity_look(struct atomicity *a, uint32_t shape, uint32_t what, struct verdict *v);

/*
 * Nothing at the location goes with the pair, or with the access, whoever did it, that was
 * not told often enough: then what is pruned counts by kind, once. `shown`: the trace may
 * show another thread within the pair.
 */
bool atomicity_none_among(struct atomicity *a, struct history_kinds *kinds, uint32_t shape, uint32_t what,
			  bool shown, struct findings *out);

/* atomicity_tell(), if it was told so often that it only counts, whenever it was. */
static inline bool atomicity_counts(struct atomicity *a, const struct local *l, uint32_t what,
				    struct verdict *v, struct findings *out)
{
	if (!v->told)
		atomicity_look(a, l->pair->shape, what, v);
	return v->told && told_always(&a->told, v->told, v->same, out);
}

/* The same of an access at `time`. */
static inline bool atomicity_told(struct atomicity *a, const struct local *l, uint64_t time,
				  const struct verdict *v, struct findings *out)
{
	bool seen = l->pair->p.time < time && time < l->pair->i.time;

	return v->told && told_often(&a->told, v->told, v->same, seen, out);
}

static inline struct verdict *verdict_of(struct atomicity *a, uint32_t shape, uint32_t what)
{
	uint64_t key = (uint64_t)shape << 32 | what;
	struct verdict *v = &a->verdicts[hash_spread(key) >> (64 - VERDICT_BITS)];

	if (__builtin_expect(v->key != key, 0)) {
		v->key = key;
		atomicity_judge(a, shape, what, v);
	}
	return v;
}

#endif
