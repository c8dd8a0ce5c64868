/*
 * Atomicity of one location: two accesses p and i of one thread in one block, and an
 * access r of another that does not fit between them (algorithms.md §1): R-W-R,
 * W-W-R, W-R-W, R-W-W, and W-W-W, in which r is lost (PENELOPE, Sorrentino et al.,
 * FSE 2010; candidates before p and behind i as in AVPredictor).
 *
 * r fits in if the thread of p and i goes through a lockset on its way that shares
 * no lock with that of r and whose acquisition history goes with it, and strong
 * happens-before does not put r before p, behind i, or between them in every run.
 * The order of critical sections and atomics in the trace is not binding: another
 * run may have another.
 *
 * Several accesses of the other thread: pairs RR, WR, RW are broken by any write among
 * them; two writes by a sequence that begins with a read, so a read of what its own
 * thread wrote in the same critical section does not count if p cannot get in there.
 * Pairs are neighbours among the thread's accesses to the location; two writes may
 * have its own reads between them.
 *
 * Everything new is compared with what the other threads did to the location last, so
 * a candidate's events are as near to each other as the trace has them. Work per access
 * does not grow with the trace (history.h says what is kept).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/history.h"
#include "analyze/told.h"
#include "base/mem.h"

#define SEEN_MAX 8u		/* times that something is looked for inside a pair */
#define RANGE_MAX 8192u		/* granules of one access that are looked at */

/*
 * What was told often enough is only counted: most locations are used by the same few
 * sites in the same way.
 */
struct memo {
	uint64_t key;		/* hash of the sites and locksets of a candidate */
	uint32_t hits;
	uint32_t number;	/* of the candidate, plus 1 */
};

#define MEMOS 4096u		/* a power of two */
#define MEMO_ENOUGH 64u

struct atomicity {
	struct locks *locks;
	struct moments *moments;
	struct history history;
	struct told told;
	struct memo *memo;
	uint64_t cut_ranges;
};

static void *atomicity_open(const struct analysis_context *ctx)
{
	struct atomicity *a = xcalloc(1, sizeof(*a));

	a->locks = ctx->locks;
	a->moments = moments_new(ctx->locks);
	history_init(&a->history, a->moments);
	a->memo = xcalloc(MEMOS, sizeof(*a->memo));
	return a;
}

static void atomicity_close(void *state)
{
	struct atomicity *a = state;

	history_free(&a->history);
	told_free(&a->told);
	free(a->memo);
	moments_free(a->moments);
	free(a);
}

/* Never 0. */
static inline uint32_t tag_of(uint64_t a, uint64_t b)
{
	uint64_t hash = (a * 0x9e3779b97f4a7c15ull ^ b) * 0xd6e8feb86659fd93ull;

	return (uint32_t)(hash >> 32) | 1;
}

enum pattern { RWR, WWR, WRW, RWW, WWW, FITS };

static const struct {
	const char *name, *note;
} patterns[] = {
	[RWR] = { "RWR", "the two reads may disagree" },
	[WWR] = { "WWR", "the read may miss what its own thread wrote" },
	[WRW] = { "WRW", "another thread may read a value that is not final" },
	[RWW] = { "RWW", "the write may rest on a value that is out of date" },
	[WWW] = { "WWW", "what another thread wrote may be lost" },
};

/* An atomic update reads and writes: what it leaves counts as p, what it finds as i. */
static enum pattern pattern_of(unsigned p, unsigned r, unsigned i, bool wide)
{
	bool writes = (p & ACCESS_WRITE) && (i & ACCESS_WRITE);

	if (writes && (r & ACCESS_READ) && (wide || !(i & ACCESS_READ) || !(r & ACCESS_WRITE)))
		return WRW;
	if (wide || !(r & ACCESS_WRITE))
		return FITS;
	if (p & ACCESS_WRITE)
		return i & ACCESS_READ ? WWR : WWW;
	return i & ACCESS_READ ? RWR : RWW;
}

/* The bytes that all three touch. */
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

static uint32_t emit(struct atomicity *a, const struct history_pair *pair, const struct history_rep *r,
		 const struct moment *r_at, enum pattern pattern, struct findings *out)
{
	const struct history_rep *p = &a->history.reps[pair->p_rep];
	const struct history_rep *i = &a->history.reps[pair->i_rep];
	struct candidate c = { .class = CANDIDATE_ATOMICITY, .events = 3, .orders = 2, .count = 1 };
	const struct moment *at[3] = { &pair->p, r_at, &pair->i };
	const struct moment *meets[3] = { r_at, &pair->p, r_at };
	struct candidate_event entry;

	memcpy(c.pattern, patterns[pattern].name, 4);
	c.note = patterns[pattern].note;
	memset(c.hold, -1, sizeof(c.hold));
	c.event[0] = moments_event(a->moments, &pair->p, p->pc, p->kind);
	c.event[1] = moments_event(a->moments, r_at, r->pc, r->kind);
	c.event[2] = moments_event(a->moments, &pair->i, i->pc, i->kind);
	c.order[0] = (struct candidate_order){ 0, 1 };
	c.order[1] = (struct candidate_order){ 1, 2 };
	if (moments_hold(a->moments, r_at, MOMENTS_ANY, &pair->p, &entry))
		hold(&c, 1, &entry);
	if (moments_hold(a->moments, &pair->i, pair->p.index, r_at, &entry))
		hold(&c, 2, &entry);
	c.seen = pair->p.time < r_at->time && r_at->time < pair->i.time;
	set_location(&c);
	return told_add(&a->told, a->moments, &c, at, meets, 3, out);
}

static struct memo *memo_of(const struct atomicity *a, const struct history_pair *pair,
			    const struct history_rep *p, const struct history_rep *r,
			    const struct history_rep *i)
{
	uint64_t key = tag_of(p->pc, (uint64_t)p->lockset << 32 | i->lockset);
	struct memo *memo;

	key = key << 32 | tag_of(i->pc, (uint64_t)r->lockset << 32 | pair->cut[0] << 2 |
						(uint32_t)pair->wide << 1 | r->own);
	key = (key ^ r->pc) * 0xd6e8feb86659fd93ull;
	memo = &a->memo[key >> 52 & (MEMOS - 1)];
	if (memo->key != key)
		*memo = (struct memo){ .key = key };
	return memo;
}

static void match(struct atomicity *a, const struct history_pair *pair, const struct history_rep *r,
		  const struct moment *r_at, struct findings *out)
{
	const struct history_rep *p = &a->history.reps[pair->p_rep];
	const struct history_rep *i = &a->history.reps[pair->i_rep];
	enum pattern pattern = pattern_of(p->access, r->access, i->access, pair->wide);
	enum prune_reason why;
	struct memo *memo;

	if (pattern == FITS)
		return;
	memo = memo_of(a, pair, p, r, i);
	if (memo->hits >= MEMO_ENOUGH && memo->number) {
		struct candidate *known = findings_at(out, memo->number - 1);

		if (known->seen || !(pair->p.time < r_at->time && r_at->time < pair->i.time)) {
			known->count++;
			return;
		}
	}
	if (moments_fixed(a->moments, &pair->p, r_at, r_at, &pair->i))
		why = PRUNE_HB;
	else if (pattern == WRW && r->own && locks_exclude(a->locks, p->lockset, r->lockset))
		why = PRUNE_LOCK;
	else
		why = moments_meet(a->moments, pair->cut, pair->cuts, r->lockset);
	if (why == PRUNE_REASONS) {
		memo->number = emit(a, pair, r, r_at, pattern, out);
		memo->hits++;
	} else {
		findings_pruned(out, why, 1);
	}
}

/* With all that other threads did to the location; own cells have been moved to the front. */
static void match_pair(struct atomicity *a, uint32_t granule, const struct history_pair *pair,
		       uint32_t thread, struct findings *out)
{
	const struct history *h = &a->history;

	for (uint32_t n = granule; n; n = h->cells[n].next) {
		if (h->cells[n].thread == thread || !(h->cells[n].bytes & pair->bytes))
			continue;
		for (uint32_t r = h->cells[n].reps; r; r = h->reps[r].next)
			match(a, pair, &h->reps[r], history_latest(h, &h->cells[n], r), out);
	}
}

static void match_rep(struct atomicity *a, uint32_t granule, const struct history_rep *r,
		      const struct moment *now, uint32_t thread, uint8_t bytes,
		      struct findings *out)
{
	const struct history *h = &a->history;

	for (uint32_t n = granule; n; n = h->cells[n].next) {
		if (h->cells[n].thread == thread)
			continue;
		for (uint32_t k = h->cells[n].pairs; k; k = h->pairs[k].next)
			if (h->pairs[k].bytes & bytes)
				match(a, &h->pairs[k], r, now, out);
	}
}

/* One granule of the present access, and what is known of it. */
struct touch {
	const struct view *view;
	struct history_rep like;
	struct history_last now;	/* its tag is a hash of what `like` is about */
	uint32_t *granule;
	uint32_t cell, recent;
	uint32_t inside[HISTORY_INSIDE];
	unsigned insiders;
};

/* Its place, or how many there are. */
static inline unsigned find_tag(const uint32_t *tags, unsigned count, uint32_t tag)
{
	unsigned i = 0;

	while (i < count && tags[i] != tag)
		i++;
	return i;
}

/* A place for it; the first ones stay if there is no room. */
static inline unsigned add_tag(uint32_t *tags, uint8_t *count, uint32_t tag)
{
	unsigned i = find_tag(tags, *count, tag);

	if (i == *count && *count < HISTORY_TAGS)
		(*count)++;
	i = i < HISTORY_TAGS ? i : HISTORY_TAGS - 1;
	tags[i] = tag;
	return i;
}

/* The other threads' accesses within the pair in the trace itself. */
static void match_inside(struct atomicity *a, const struct touch *t, const struct history_pair *pair,
			 struct findings *out)
{
	const struct history *h = &a->history;

	for (unsigned k = 0; k < t->insiders; k++) {
		const struct history_cell *c = &h->cells[t->inside[k]];
		const struct history_last *last[2] = { &c->last_write, &c->last };

		for (unsigned j = 0; j < 2; j++)
			if (last[j]->rep && last[j]->at.time > pair->p.time &&
			    (c->bytes & pair->bytes) && !(j == 1 && last[0]->rep == last[1]->rep))
				match(a, pair, &h->reps[last[j]->rep], &last[j]->at, out);
	}
}

/* What tells pairs of one cell apart: the two accesses, and where the thread was between. */
static uint32_t pair_tag(const struct atomicity *a, const struct history_last *p,
			 const struct history_last *i, bool wide)
{
	uint32_t cut[MOMENTS_CUTS];
	uint64_t between = 0;
	unsigned cuts;

	if (p->at.situation != i->at.situation) {
		cuts = moments_cuts(a->moments, &p->at, cut);
		for (unsigned k = 0; k < cuts; k++)
			between = between * 31 + cut[k] + 1;
	}
	return tag_of((uint64_t)p->tag << 32 | i->tag, between << 1 | wide);
}

static void note_pair(struct atomicity *a, const struct touch *t, const struct history_last *p,
		      bool wide, struct findings *out)
{
	struct history *h = &a->history;
	struct history_cell *c = &h->cells[t->cell];
	struct history_pair like = { .p_rep = p->rep, .i_rep = t->now.rep, .wide = wide };
	bool fresh;
	uint32_t n;

	if (!p->rep || !moments_together(&p->at, &t->now.at, t->view))
		return;
	like.bytes = c->bytes & h->cells[t->recent].bytes;
	like.cuts = (uint8_t)moments_cuts(a->moments, &p->at, like.cut);
	n = history_note_pair(h, t->cell, &like, &p->at, &t->now.at, &fresh);
	if (!n)
		return;
	if (t->recent == t->cell)
		add_tag(c->pair_tag, &c->pair_tags, pair_tag(a, p, &t->now, wide));
	if (fresh) {
		match_pair(a, *t->granule, &h->pairs[n], t->view->thread, out);
	} else if (t->insiders && c->seen < SEEN_MAX) {
		c->seen++;
		match_inside(a, t, &h->pairs[n], out);
	}
}

/* The thread wrote here, but read last. */
static inline bool is_wide(const struct history_cell *c, unsigned access)
{
	return (access & ACCESS_WRITE) && c->last_write.rep &&
	       c->last_write.at.index != c->last.at.index;
}

static bool is_known_pair(const struct atomicity *a, const struct touch *t,
			  const struct history_cell *c, const struct history_last *p, bool wide)
{
	if (p->at.epoch != t->now.at.epoch)
		return false;
	return find_tag(c->pair_tag, c->pair_tags, pair_tag(a, p, &t->now, wide)) < c->pair_tags ||
	       !moments_together(&p->at, &t->now.at, t->view);
}

/* Nothing about this access is new: no list needs to be looked at. */
static bool is_known(const struct atomicity *a, struct touch *t, const struct history_cell *c)
{
	unsigned i = find_tag(c->rep_tag, c->rep_tags, t->now.tag);

	if (i == c->rep_tags || t->recent != t->cell || !c->last.rep ||
	    (t->insiders && c->seen < SEEN_MAX) || !is_known_pair(a, t, c, &c->last, false))
		return false;
	t->now.rep = c->tagged_rep[i];
	return !is_wide(c, t->now.access) || is_known_pair(a, t, c, &c->last_write, true);
}

static void note(struct atomicity *a, struct touch *t, struct findings *out)
{
	struct history *h = &a->history;
	struct history_cell *c = &h->cells[t->cell], *recent = &h->cells[t->recent];
	bool fresh = false;

	if (c->last.at.epoch != t->now.at.epoch)
		c->rep_tags = c->pair_tags = 0;
	t->now.rep = history_note(h, t->cell, &t->like, &t->now.at, &fresh);
	if (t->now.rep) {
		c->tagged_rep[add_tag(c->rep_tag, &c->rep_tags, t->now.tag)] = t->now.rep;
		note_pair(a, t, &recent->last, false, out);
		if (is_wide(recent, t->now.access))
			note_pair(a, t, &recent->last_write, true, out);
	}
	history_settle(h, c, &t->now);
	if (fresh)
		match_rep(a, *t->granule, &h->reps[t->now.rep], &t->now.at, t->view->thread, c->bytes,
			  out);
}

static void touch(struct atomicity *a, struct touch *t, uint64_t granule, uint8_t bytes,
		  struct findings *out)
{
	struct history *h = &a->history;
	const struct history_last *p;
	struct history_cell *c;

	t->granule = granules_at(&h->granules, granule);
	t->cell = history_cell(h, t->granule, t->view->thread, bytes, &t->recent, t->inside,
			       &t->insiders);
	c = &h->cells[t->cell];
	p = &h->cells[t->recent].last;
	t->now.own = t->like.lockset && p->rep && !(t->now.access & ACCESS_WRITE) &&
		     ((p->access & ACCESS_WRITE) || p->own) &&
		     moments_same_section(a->moments, &p->at, &t->now.at);
	t->like.own = t->now.own;
	t->now.tag = tag_of(t->like.pc, (uint64_t)t->like.lockset << 32 |
					(uint64_t)t->like.kind << 1 | t->now.own);
	if (is_known(a, t, c))
		history_settle(h, c, &t->now);
	else
		note(a, t, out);
}

static void atomicity_access(struct atomicity *a, const struct event *ev, const struct view *view,
			     struct findings *out)
{
	uint64_t granule = ev->addr / GRANULE_BYTES, first = ev->addr % GRANULE_BYTES;
	uint8_t access = (uint8_t)access_of(ev->kind);
	struct touch t = { .view = view, .now.access = access,
			   .like = { .pc = ev->pc, .lockset = view->lockset, .kind = ev->kind,
				     .access = access } };
	uint64_t left = ev->size, take;

	moments_now(a->moments, ev, view, &t.now.at);
	for (unsigned n = 0; left > 0; n++) {
		if (n == RANGE_MAX) {
			a->cut_ranges++;
			break;
		}
		take = left < GRANULE_BYTES - first ? left : GRANULE_BYTES - first;
		touch(a, &t, granule++, (uint8_t)(((1u << take) - 1) << first), out);
		left -= take;
		first = 0;
	}
}

static void atomicity_event(void *state, const struct event *ev, const struct view *view,
			    struct findings *out)
{
	struct atomicity *a = state;
	unsigned access = access_of(ev->kind);

	if (!access)
		moments_sync(a->moments, ev, view);
	else if (!view_ignores(view, access))
		atomicity_access(a, ev, view, out);
	if (view->gone_size)
		history_forget(&a->history, view->gone_addr, view->gone_size);
}

static void atomicity_finish(void *state, struct findings *out)
{
	struct atomicity *a = state;

	findings_dropped(out, a->history.dropped + a->cut_ranges);
}

const struct analysis analysis_atomicity = {
	.name = "atomicity",
	.summary = "two accesses of a block that another thread's access can come between",
	.open = atomicity_open,
	.event = atomicity_event,
	.finish = atomicity_finish,
	.close = atomicity_close,
};
