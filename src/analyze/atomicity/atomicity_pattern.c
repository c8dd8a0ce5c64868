/*
 * The pattern that a local pair and an access of another thread make, whether locks allow it, and
 * the candidate.
 */
#include <string.h>

#include "analyze/atomicity/atomicity.h"
#include "base/hash.h"

/*
 * The pattern of the local pair p, i and the other thread's access r (bits ACCESS_READ,
 * ACCESS_WRITE). `spans_reads`: p and i are writes, and their thread reads between them. An atomic
 * update both reads and writes: as p, its write counts, and as i, its read.
 */
static enum pattern pattern_of(unsigned p, unsigned r, unsigned i, bool spans_reads)
{
	bool writes = (p & ACCESS_WRITE) && (i & ACCESS_WRITE);

	if (writes && (r & ACCESS_READ) &&
	    (spans_reads || !(i & ACCESS_READ) || !(r & ACCESS_WRITE)))
		return PATTERN_WRW;
	if (spans_reads || !(r & ACCESS_WRITE))
		return PATTERN_NONE;
	if (p & ACCESS_WRITE)
		return i & ACCESS_READ ? PATTERN_WWR : PATTERN_WWW;
	return i & ACCESS_READ ? PATTERN_RWR : PATTERN_RWW;
}

/* Sets the location to the bytes that all three accesses touch. */
static void set_location(struct candidate *c)
{
	uint64_t low = 0, high = UINT64_MAX;

	for (unsigned k = 0; k < 3; k++) {
		const struct candidate_event *e = &c->event[k];

		low = e->addr > low ? e->addr : low;
		high = e->addr + e->size < high ? e->addr + e->size : high;
	}
	c->addr = low;
	c->size = high > low ? high - low : 1;
}

static void hold(struct candidate *c, unsigned which, const struct candidate_event *entry)
{
	c->hold[which] = (int8_t)c->events;
	c->event[c->events++] = *entry;
}

static void emit(struct atomicity *a, enum pattern pattern, uint64_t key, bool seen,
		 const struct dedupe_access accesses[3], struct findings *out)
{
	struct candidate c = {
		.pattern = pattern, .events = 3, .orders = 2, .count = 1, .seen = seen
	};
	const struct access_context *p = accesses[0].at, *r = accesses[1].at, *i = accesses[2].at;
	struct candidate_event entry;

	memset(c.hold, -1, sizeof(c.hold));
	for (unsigned k = 0; k < 3; k++)
		c.event[k] =
			contexts_candidate_event(a->contexts, accesses[k].at, accesses[k].pc,
						 a->history.signatures[accesses[k].at->tag].kind);
	c.order[0] = (struct candidate_order){ 0, 1 };
	c.order[1] = (struct candidate_order){ 1, 2 };
	if (contexts_find_section(a->contexts, r, CONTEXTS_ANY_SECTION, p, &entry))
		hold(&c, 1, &entry);
	if (contexts_find_section(a->contexts, i, p->index, r, &entry))
		hold(&c, 2, &entry);
	set_location(&c);
	dedupe_add(&a->dedupe, key, accesses, 3, &c, out);
}

/* Fills in the accesses of a triple for dedupe.h, without contexts; returns their key. */
static uint64_t make_accesses(const struct atomicity *a, uint32_t shape, uint32_t signature,
			      struct dedupe_access accesses[3])
{
	const struct history_signature *signatures = a->history.signatures,
				       *r = &signatures[signature];
	const struct history_signature *p = &signatures[a->history.shapes[shape].p];
	const struct history_signature *i = &signatures[a->history.shapes[shape].i];

	accesses[0] = (struct dedupe_access){ p->pc, NULL, p->lockset, r->lockset };
	accesses[1] = (struct dedupe_access){ r->pc, NULL, r->lockset, p->lockset };
	accesses[2] = (struct dedupe_access){ i->pc, NULL, i->lockset, r->lockset };
	return dedupe_key(a->locks, accesses, 3);
}

/*
 * Needs no access contexts, to be cheap: most triples belong to a candidate that is reported
 * already.
 */
void atomicity_find_reported(struct atomicity *a, uint32_t shape, uint32_t signature,
			     struct triple_verdict *v)
{
	const struct history_signature *signatures = a->history.signatures,
				       *r = &signatures[signature];
	const struct history_signature *p = &signatures[a->history.shapes[shape].p];
	const struct history_signature *i = &signatures[a->history.shapes[shape].i];
	const struct locks_ends *ends = locks_ends(a->locks);
	struct dedupe_memo *memo;
	struct dedupe_access accesses[3];
	uint64_t stop_pc[3], hash;

	stop_pc[0] = locks_entry(a->locks, ends, p->lockset, r->lockset, p->pc);
	stop_pc[1] = locks_entry(a->locks, ends, r->lockset, p->lockset, r->pc);
	stop_pc[2] = i->lockset == p->lockset && stop_pc[0] != p->pc ? stop_pc[0] :
		     locks_entry(a->locks, ends, i->lockset, r->lockset, i->pc);
	hash = (stop_pc[0] ^ p->pc * 3) + (stop_pc[1] ^ r->pc * 5) * 7 +
	       (stop_pc[2] ^ i->pc * 9) * 11;
	memo = &a->dedupe_memo[hash_spread(hash) >> 40 & (DEDUPE_MEMO - 1)];
	if (!memo->reported || memo->stop_pc[0] != stop_pc[0] || memo->stop_pc[1] != stop_pc[1] ||
	    memo->stop_pc[2] != stop_pc[2] || memo->pc[0] != p->pc || memo->pc[1] != r->pc ||
	    memo->pc[2] != i->pc) {
		*memo = (struct dedupe_memo){ .stop_pc = { stop_pc[0], stop_pc[1], stop_pc[2] },
					      .pc = { p->pc, r->pc, i->pc } };
		memo->reported =
			dedupe_find(&a->dedupe, make_accesses(a, shape, signature, accesses));
		memo->same_sites = dedupe_same_sites(&a->dedupe, memo->reported, accesses, 3);
	}
	v->reported = memo->reported;
	v->same_sites = memo->same_sites;
}

void atomicity_report(struct atomicity *a, const struct local_pair *l,
		      const struct access_context *r, struct triple_verdict *v,
		      struct findings *out)
{
	const struct history_shape *shape = &a->history.shapes[l->pair->shape];
	struct access_context p = history_unpack(&a->history, l->cell, &l->pair->p, shape->p, l->p);
	struct access_context i = history_unpack(&a->history, l->cell, &l->pair->i, shape->i, l->i);
	bool seen = p.time < r->time && r->time < i.time;
	struct dedupe_access accesses[3];
	uint64_t key = make_accesses(a, l->pair->shape, r->tag, accesses);

	accesses[0].at = &p;
	accesses[1].at = r;
	accesses[2].at = &i;
	if (!dedupe_count_repeat(&a->dedupe, v->reported, accesses, 3, seen, out))
		emit(a, v->pattern, key, seen, accesses, out);
}

void atomicity_judge(const struct atomicity *a, uint32_t shape, uint32_t signature,
		     struct triple_verdict *v)
{
	const struct history_shape *s = &a->history.shapes[shape];
	const struct history_signature *p = &a->history.signatures[s->p],
				       *i = &a->history.signatures[s->i];
	const struct history_signature *r = &a->history.signatures[signature];

	v->reported = 0;
	v->for_all_cores = v->same_sites = false;
	v->pattern = pattern_of(p->access, r->access, i->access, s->spans_reads);
	if (v->pattern == PATTERN_WRW && r->own_read &&
	    locks_exclude(a->locks, p->lockset, r->lockset))
		v->why = PRUNE_LOCK;
	else if (!s->cut[0])		/* the thread passes a point without locks */
		v->why = PRUNE_REASONS;
	else if (v->pattern != PATTERN_NONE)
		v->why = contexts_check_locks(a->contexts, s->cut, s->cuts, r->lockset);
}
