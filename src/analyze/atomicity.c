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

enum pattern { RWR, WWR, WRW, RWW, WWW, FITS };

/* On a pair of this shape and an access of this kind, whatever the clocks: asked often. */
struct verdict {
	uint64_t key;		/* numbers of the shape and the history_what; 0: none */
	uint32_t told;		/* told.h; 0: not known */
	uint8_t pattern;	/* enum pattern */
	uint8_t why;		/* enum prune_reason, unless it fits; PRUNE_REASONS: a candidate */
};

#define VERDICT_BITS 14		/* so many are kept, each at its place */

struct atomicity {
	struct locks *locks;
	struct moments *moments;
	struct history history;
	struct told told;
	struct verdict *verdicts;
	uint64_t pruned[PRUNE_REASONS];
	uint64_t cut_ranges;
};

static void *atomicity_open(const struct analysis_context *ctx)
{
	struct atomicity *a = xcalloc(1, sizeof(*a));

	a->locks = ctx->locks;
	a->moments = moments_new(ctx->locks);
	history_init(&a->history, a->moments);
	a->verdicts = xcalloc(1u << VERDICT_BITS, sizeof(*a->verdicts));
	return a;
}

static void atomicity_close(void *state)
{
	struct atomicity *a = state;

	history_free(&a->history);
	told_free(&a->told);
	moments_free(a->moments);
	free(a->verdicts);
	free(a);
}

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

static void emit(struct atomicity *a, const struct history_pair *pair, const struct moment *r,
		 enum pattern pattern, uint64_t key, const struct told_part parts[3],
		 struct findings *out)
{
	struct candidate c = { .class = CANDIDATE_ATOMICITY, .events = 3, .orders = 2, .count = 1 };
	struct candidate_event entry;

	memcpy(c.pattern, patterns[pattern].name, 4);
	c.note = patterns[pattern].note;
	memset(c.hold, -1, sizeof(c.hold));
	for (unsigned k = 0; k < 3; k++)
		c.event[k] = moments_event(a->moments, parts[k].at, parts[k].pc,
					   a->history.whats[parts[k].at->tag].kind);
	c.order[0] = (struct candidate_order){ 0, 1 };
	c.order[1] = (struct candidate_order){ 1, 2 };
	if (moments_hold(a->moments, r, MOMENTS_ANY, &pair->p, &entry))
		hold(&c, 1, &entry);
	if (moments_hold(a->moments, &pair->i, pair->p.index, r, &entry))
		hold(&c, 2, &entry);
	c.seen = pair->p.time < r->time && r->time < pair->i.time;
	set_location(&c);
	told_add(&a->told, key, parts, 3, &c, out);
}

/* Most of what is found was told before: that has to be cheap. */
static void tell(struct atomicity *a, const struct history_pair *pair, const struct moment *r,
		 struct verdict *v, struct findings *out)
{
	const struct history_what *whats = a->history.whats;
	const struct history_what *p = &whats[pair->p.tag], *i = &whats[pair->i.tag];
	const struct history_what *other = &whats[r->tag];
	const struct told_part parts[3] = {
		{ p->pc, &pair->p, p->lockset, other->lockset },
		{ other->pc, r, other->lockset, p->lockset },
		{ i->pc, &pair->i, i->lockset, other->lockset },
	};
	bool seen = pair->p.time < r->time && r->time < pair->i.time;
	uint64_t key;

	if (v->told && told_again(&a->told, v->told, parts, 3, seen, out))
		return;
	key = told_key(a->locks, parts, 3);
	if (!v->told) {
		v->told = told_find(&a->told, key);
		if (told_again(&a->told, v->told, parts, 3, seen, out))
			return;
	}
	emit(a, pair, r, v->pattern, key, parts, out);
}

static void judge(const struct atomicity *a, uint32_t shape, uint32_t what, struct verdict *v)
{
	const struct history_shape *s = &a->history.shapes[shape];
	const struct history_what *p = &a->history.whats[s->p], *i = &a->history.whats[s->i];
	const struct history_what *r = &a->history.whats[what];

	v->told = 0;
	v->pattern = pattern_of(p->access, r->access, i->access, s->wide);
	if (v->pattern == WRW && r->own && locks_exclude(a->locks, p->lockset, r->lockset))
		v->why = PRUNE_LOCK;
	else if (v->pattern != FITS)
		v->why = moments_meet(a->moments, s->cut, s->cuts, r->lockset);
}

static inline struct verdict *verdict_of(struct atomicity *a, uint32_t shape, uint32_t what)
{
	uint64_t key = (uint64_t)shape << 32 | what;
	struct verdict *v = &a->verdicts[key * 0x9e3779b97f4a7c15ull >> (64 - VERDICT_BITS)];

	if (__builtin_expect(v->key != key, 0)) {
		v->key = key;
		judge(a, shape, what, v);
	}
	return v;
}

/* Whether the two go together but for time, and how; NULL if not, which was counted. */
static inline struct verdict *compare(struct atomicity *a, const struct history_pair *pair,
				      uint32_t what, uint32_t epoch, bool fixed)
{
	struct verdict *v = verdict_of(a, pair->shape, what);

	if (v->pattern == FITS)
		return NULL;
	if (fixed || moments_fixed(a->moments, pair->p.epoch, epoch, epoch, pair->i.epoch))
		a->pruned[PRUNE_HB]++;
	else if (v->why != PRUNE_REASONS)
		a->pruned[v->why]++;
	else
		return v;
	return NULL;
}

/* `fixed`: that strong happens-before leaves no choice is known already. */
static inline void match(struct atomicity *a, const struct history_pair *pair,
			 const struct moment *r, bool fixed, struct findings *out)
{
	struct verdict *v = compare(a, pair, r->tag, r->epoch, fixed);

	if (v)
		tell(a, pair, r, v, out);
}

/*
 * Nothing at the location goes with the pair, or with the access, whoever did it, that was
 * not told often enough: then what is pruned counts by kind. An access comes after the
 * others' pairs, so that the trace does not show it within.
 */
static bool none_meets(struct atomicity *a, const struct history_cell *c, uint32_t shape,
		       uint32_t what, struct findings *out)
{
	const struct history_kinds *kinds = history_kinds(&a->history, c);
	unsigned count = !kinds ? 0 : shape ? kinds->reps : kinds->pairs;
	uint64_t pruned[PRUNE_REASONS] = { 0 };
	const struct verdict *v;

	for (unsigned i = 0; i < count; i++) {
		v = shape ? verdict_of(a, shape, kinds->rep[i]) : verdict_of(a, kinds->pair[i], what);
		if (v->pattern == FITS)
			continue;
		if (v->why != PRUNE_REASONS)
			pruned[v->why]++;
		else if (!told_enough(&a->told, v->told, shape != 0, out))
			return false;
	}
	for (unsigned i = 0; i < PRUNE_REASONS; i++)
		a->pruned[i] += pruned[i];
	return kinds != NULL;
}

/* With all that other threads did to the location. */
static void match_pair(struct atomicity *a, const struct history_cell *c,
		       const struct history_pair *pair, struct findings *out)
{
	const struct history_what *whats = a->history.whats;
	const struct history_cell *const *others;
	uint32_t what, epoch;
	struct verdict *v;
	size_t count;

	/* Reads alone do not harm but between two writes. */
	if (!(whats[pair->p.tag].access & whats[pair->i.tag].access & ACCESS_WRITE) &&
	    !history_written(&a->history, c))
		return;
	if (none_meets(a, c, pair->shape, 0, out))
		return;
	count = history_others(&a->history, c, pair->bytes, &others);
	for (size_t n = 0; n < count; n++) {
		bool before = moments_ordered(a->moments, others[n]->last.epoch, pair->p.epoch);

		for (unsigned k = others[n]->rep_count; k-- > 0;) {
			what = history_rep_what(&a->history, others[n], k, &epoch);
			v = compare(a, pair, what, epoch, before);
			if (v)
				tell(a, pair, history_rep(&a->history, others[n], k), v, out);
		}
	}
}

static void match_rep(struct atomicity *a, const struct history_cell *c, const struct moment *now,
		      struct findings *out)
{
	const struct history_cell *const *others;
	const struct history_pair *pair;
	size_t count;

	if (!(a->history.whats[now->tag].access & ACCESS_WRITE) && !history_written(&a->history, c))
		return;
	if (none_meets(a, c, 0, now->tag, out))
		return;
	count = history_others(&a->history, c, c->bytes, &others);
	for (size_t n = 0; n < count; n++) {
		bool before = moments_ordered(a->moments, others[n]->last.epoch, now->epoch);

		for (unsigned k = others[n]->pair_count; k-- > 0;) {
			pair = history_pair(&a->history, others[n], k);
			if (pair->bytes & c->bytes)
				match(a, pair, now, before, out);
		}
	}
}

/* The other threads' accesses within the pair in the trace itself. */
static void match_inside(struct atomicity *a, const struct history_cell *const *inside, size_t count,
			 const struct history_pair *pair, struct findings *out)
{
	const struct history *h = &a->history;
	const struct moment *write, *last;

	for (size_t k = 0; k < count; k++) {
		const struct history_cell *c = inside[k];

		if (!(c->bytes & pair->bytes))
			continue;
		last = c->noted ? &c->last : NULL;
		write = c->older && c->older_noted ? history_older(h, c) : NULL;
		if (write && write->time > pair->p.time)
			match(a, pair, write, false, out);
		if (last && last->time > pair->p.time)
			match(a, pair, last, false, out);
	}
}

/* One granule of the present access, and what is known of it. */
struct touch {
	const struct view *view;
	struct history_what what;
	struct moment now;
	struct history_place at;
};

/* False if the two are not of one block. */
static bool make_pair(const struct atomicity *a, const struct touch *t, const struct moment *p,
		      bool wide, struct history_like *out)
{
	if (!moments_together(p, &t->now, t->view))
		return false;
	out->p = p;
	out->i = &t->now;
	out->wide = wide;
	out->bytes = t->at.cell->bytes & t->at.recent->bytes;
	out->cuts = (uint8_t)moments_cuts(a->moments, p, out->cut);
	return true;
}

static void note_pair(struct atomicity *a, const struct touch *t, const struct moment *p, bool wide,
		      struct findings *out)
{
	const struct history_cell *const *inside;
	struct history_cell *c = t->at.cell;
	const struct history_pair *pair;
	struct history_like like;
	size_t count;
	bool fresh;

	if (!make_pair(a, t, p, wide, &like))
		return;
	pair = history_note_pair(&a->history, c, &like, &fresh);
	if (!pair)
		return;
	if (fresh) {
		match_pair(a, c, pair, out);
	} else if (!t->at.quiet && c->seen < SEEN_MAX && none_meets(a, c, pair->shape, 0, out)) {
		c->seen++;
	} else if (!t->at.quiet && c->seen < SEEN_MAX) {
		count = history_inside(&a->history, t->at.recent, c->bytes, &inside);
		c->seen += count > 0;
		match_inside(a, inside, count, pair, out);
	}
}

/* The thread wrote here, but read last. */
static inline bool is_wide(const struct history_cell *c, unsigned access)
{
	return (access & ACCESS_WRITE) && c->older && c->older_noted;
}

static inline bool is_known_pair(const struct atomicity *a, const struct touch *t,
				 const struct moment *p, bool wide)
{
	struct history_like like;

	return !make_pair(a, t, p, wide, &like) ||
	       (p->epoch == t->now.epoch && (t->at.quiet || t->at.cell->seen >= SEEN_MAX) &&
		history_has_pair(&a->history, t->at.cell, &like));
}

/* Nothing about this access is new. */
static inline bool is_known(const struct atomicity *a, const struct touch *t)
{
	const struct history_cell *c = t->at.cell;

	return t->at.recent == c && c->noted && history_has(&a->history, c, &t->now) &&
	       is_known_pair(a, t, &c->last, false) &&
	       (!is_wide(c, t->what.access) ||
		is_known_pair(a, t, history_older(&a->history, c), true));
}

static void note(struct atomicity *a, const struct touch *t, struct findings *out)
{
	const struct history_cell *recent = t->at.recent;
	struct history *h = &a->history;
	bool fresh, noted = history_note(h, t->at.cell, &t->now, &fresh);

	if (noted && recent) {
		if (recent->noted)
			note_pair(a, t, &recent->last, false, out);
		if (is_wide(recent, t->what.access))
			note_pair(a, t, history_older(h, recent), true, out);
	}
	history_settle(h, t->at.cell, &t->now, &t->what, noted);
	if (fresh)
		match_rep(a, t->at.cell, &t->now, out);
}

static void touch(struct atomicity *a, struct touch *t, uint64_t granule, uint8_t bytes,
		  struct findings *out)
{
	const struct history_cell *p;

	history_place(&a->history, granule, t->view->thread, bytes, &t->at);
	p = t->at.recent;
	t->what.own = t->what.lockset && p && p->noted && !(t->what.access & ACCESS_WRITE) &&
		      ((p->access & ACCESS_WRITE) || p->own) &&
		      a->history.whats[p->last.tag].lockset &&
		      moments_same_section(a->moments, &p->last, t->view->thread);
	t->now.tag = history_what(&a->history, &t->what);
	if (is_known(a, t))
		history_settle(&a->history, t->at.cell, &t->now, &t->what, true);
	else
		note(a, t, out);
}

static void atomicity_access(struct atomicity *a, const struct event *ev, const struct view *view,
			     unsigned access, struct findings *out)
{
	uint64_t granule = ev->addr / GRANULE_BYTES, first = ev->addr % GRANULE_BYTES;
	uint64_t left = ev->size, take;
	struct touch t;

	t.view = view;
	t.what = (struct history_what){ .pc = ev->pc, .lockset = view->lockset, .kind = ev->kind,
					.access = (uint8_t)access };
	moments_now(a->moments, ev, view, &t.now);
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
		atomicity_access(a, ev, view, access, out);
	if (view->gone_size)
		history_forget(&a->history, view->gone_addr, view->gone_size);
}

static void atomicity_soon(void *state, const struct event *ev)
{
	struct atomicity *a = state;

	history_prefetch(&a->history, ev->addr / GRANULE_BYTES, ev->thread);
}

static void atomicity_finish(void *state, struct findings *out)
{
	struct atomicity *a = state;

	for (unsigned i = 0; i < PRUNE_REASONS; i++)
		findings_pruned(out, i, a->pruned[i]);
	findings_dropped(out, a->history.dropped + a->cut_ranges);
}

const struct analysis analysis_atomicity = {
	.name = "atomicity",
	.summary = "two accesses of a block that another thread's access can come between",
	.open = atomicity_open,
	.event = atomicity_event,
	.soon = atomicity_soon,
	.finish = atomicity_finish,
	.close = atomicity_close,
};
