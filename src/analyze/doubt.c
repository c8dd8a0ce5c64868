/*
 * Reasons to doubt candidates:
 *
 * handed over  One event has to come after the other, whatever the schedule. Its thread has read a
 *              flag that the other thread set later. Or the event uses a block of memory, and its
 *              thread can only have got the block's address from what the other thread wrote later.
 *              A candidate that wants the opposite is impossible. An atomicity violation of which
 *              one order is fixed says nothing that a race or an order violation does not say.
 * looked again A thread's two accesses are in two critical sections of one lock, which the other
 *              thread takes, too. The second section sees what the other thread did: it reads the
 *              location before it writes it. This is no excuse for a section that only reads,
 *              followed by another kind of section: a check, and an act that rests on it.
 * repeated     The two critical sections are the same operation, done twice.
 * in one       One of the two critical sections accesses both locations.
 * other values In its critical section, the event's thread has read what the other thread wrote in
 *              the section that would have to come later.
 */
#include "analyze/doubt.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_names.h"
#include "analyze/context/access.h"
#include "analyze/context/locksets.h"
#include "analyze/doubt_trace.h"
#include "base/hash.h"
#include "base/mem.h"

#define MAX_WORK (1u << 28)	/* steps along edges, for all candidates: about a second */
#define FRAMES 16		/* inlined functions at a pc, at most */

static const char handed_over[] = "one thread hands its memory over to the other in between";
static const char looked_again[] = "the second critical section looks at the state again";
static const char repeated[] = "the two critical sections are one operation, done twice";
static const char in_one[] = "one critical section accesses both";
static const char other_values[] = "the critical section would have found other values";
static const char waited_for[] = "what is read is a condition that the thread waits for";
static const char both_current[] = "both threads read what the other one has written";
static const char written_before[] = "it was written before";
static const char checks_again[] = "the thread checks the condition again at the same line";

struct doubts {
	struct doubt_trace trace;
	const struct analysis_context *ctx;
	struct names *names;
	uint64_t work;
	struct map races;	/* site_pair() of the races that are not doubted */
	bool knows_races;	/* both analyses of races have run */
};

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool touches(const struct doubt_access *a, const struct candidate_event *e)
{
	return overlap(a->addr, a->size, e->addr, e->size);
}

/*
 * Whether the thread of `b` can know the address of the block at `b`, allocated by another thread,
 * if `a` has not happened: without what the thread of `a` wrote from there on. `a` NULL: in this
 * run.
 */
static bool can_know(struct doubts *d, const struct doubt_block *block,
		     const struct doubt_wanted *a, const struct doubt_wanted *b)
{
	const struct doubt_trace *t = &d->trace;
	uint64_t *known = xcalloc(t->thread_count, sizeof(*known));	/* since which event */
	bool can;

	memset(known, 0xff, t->thread_count * sizeof(*known));
	known[block->thread] = block->index;
	for (size_t i = 0; i < t->edge_count; i++) {
		const struct doubt_edge *e = &t->edges[i];

		if (known[e->from] == UINT64_MAX || known[e->to] <= e->to_index ||
		    (e->to == b->thread && e->to_index >= b->index))
			continue;
		if (!e->certain ||
		    (known[e->from] <= e->from_index &&
		     !(a && e->from == a->thread && e->from_index >= a->index)))
			known[e->to] = e->to_index;
	}
	d->work += t->edge_count;
	can = known[b->thread] <= b->index;
	free(known);
	return can;
}

/*
 * The event up to which the thread of `b` sees the same as in the trace if the orders of `c` come
 * about: the first of its events that is moved, or `b` itself.
 */
static const struct doubt_wanted *unchanged_until(const struct doubts *d,
						  const struct candidate *c,
						  const struct doubt_wanted *b)
{
	const struct doubt_wanted *until = b;

	for (uint8_t i = 0; i < c->orders; i++) {
		const struct doubt_wanted *first =
			doubt_wanted(&d->trace, &c->event[c->order[i].first]);
		const struct doubt_wanted *second =
			doubt_wanted(&d->trace, &c->event[c->order[i].second]);

		if (first && second && first->thread == b->thread &&
		    first->index < until->index && first->position > second->position)
			until = first;
	}
	return until;
}

/* Whether `b` comes after `a` in every run with the same flow of values, as far as `c` keeps it. */
static bool must_follow(struct doubts *d, const struct candidate *c,
			const struct candidate_event *b, const struct candidate_event *a)
{
	const struct doubt_wanted *x = doubt_wanted(&d->trace, a), *y = doubt_wanted(&d->trace, b);
	const struct doubt_wanted *until;
	const struct doubt_block *block;

	if (!x || !y || x->thread == y->thread)
		return false;
	until = unchanged_until(d, c, y);
	if (vclock_get(&until->seen, x->thread) > x->index)
		return true;
	block = doubt_block(&d->trace, y);
	return block && block->thread != y->thread && d->work < MAX_WORK &&
	       can_know(d, block, NULL, until) && !can_know(d, block, x, until);
}

/*
 * Whether the thread of `b` got an address from what the thread of `a` wrote after `a`, and both
 * use a block of memory. In another run it may get the block earlier; that is not likely.
 */
static bool was_passed(const struct doubts *d, const struct candidate_event *a,
		       const struct candidate_event *b)
{
	const struct doubt_wanted *x = doubt_wanted(&d->trace, a), *y = doubt_wanted(&d->trace, b);

	if (!x || !y || !doubt_block(&d->trace, y))
		return false;
	for (size_t i = 0; i < d->trace.edge_count; i++) {
		const struct doubt_edge *e = &d->trace.edges[i];

		if (e->certain && e->from == x->thread && e->to == y->thread &&
		    e->from_index > x->index && e->to_index < y->index)
			return true;
	}
	return false;
}

/* Whether an order is impossible, or fixed although only one of several. */
static bool is_handed_over(struct doubts *d, const struct candidate *c)
{
	for (uint8_t i = 0; i < c->orders; i++) {
		const struct candidate_event *first = &c->event[c->order[i].first];
		const struct candidate_event *second = &c->event[c->order[i].second];

		if (must_follow(d, c, first, second) ||
		    (candidate_breaks_atomicity(c) && must_follow(d, c, second, first)))
			return true;
	}
	return false;
}

/* The critical section of a lock at an event that is no acquisition itself. */
static const struct doubt_section *section_at(const struct doubts *d,
					      const struct candidate_event *e, uint64_t lock)
{
	return doubt_section(&d->trace, e->thread, lock, e->index);
}

/* Whether the thread accessed the event's memory in one of the ways `access` in [from, to). */
static bool has_access(const struct doubts *d, uint32_t thread, uint64_t from, uint64_t to,
		       const struct candidate_event *e, unsigned access)
{
	const struct doubt_access *end, *a = doubt_accesses(&d->trace, thread, from, &end);

	for (; a < end && a->index < to; a++)
		if (a->access & access && touches(a, e))
			return true;
	return false;
}

/*
 * Whether the thread, in the section `mine` before its event `e`, has read something apart from
 * the event's memory that the section `others` of another thread wrote.
 */
static bool notices(const struct doubts *d, const struct doubt_section *mine,
		    const struct candidate_event *e, const struct doubt_section *others,
		    uint32_t other)
{
	const struct doubt_access *end;
	const struct doubt_access *r = doubt_accesses(&d->trace, e->thread, mine->first, &end);
	const struct doubt_access *others_end, *w;

	for (; r < end && r->index < e->index; r++) {
		if (!(r->access & ACCESS_READ) || touches(r, e))
			continue;
		w = doubt_accesses(&d->trace, other, others->first, &others_end);
		for (; w < others_end && w->index <= others->last; w++)
			if (w->access & ACCESS_WRITE &&
			    overlap(r->addr, r->size, w->addr, w->size))
				return true;
	}
	return false;
}

static bool is_same_operation(const struct doubt_section *a, const struct doubt_section *b)
{
	return a->pc == b->pc && a->stack == b->stack;
}

/* Whether the section updates the event's memory from its own value: reads it, then writes it. */
static bool updates(const struct doubts *d, const struct doubt_section *s,
		    const struct candidate_event *e)
{
	const struct doubt_access *end, *a = doubt_accesses(&d->trace, e->thread, s->first, &end);
	bool read = doubt_owns(&d->trace, e);

	for (; a < end && a->index < s->last; a++) {
		if (!touches(a, e))
			continue;
		read |= (a->access & ACCESS_READ) != 0;
		if (a->access & ACCESS_WRITE)
			return read;
	}
	return false;
}

/* Whether the event knows the state: it reads, or its thread has read in the same section. */
static bool is_fresh(const struct doubts *d, const struct doubt_section *s,
		     const struct candidate_event *e)
{
	return access_of(e->kind) & ACCESS_READ ||
	       has_access(d, e->thread, s->first, e->index, e, ACCESS_READ);
}

static bool writes_any(const struct doubts *d, uint32_t thread, const struct doubt_section *s)
{
	const struct doubt_access *end, *a = doubt_accesses(&d->trace, thread, s->first, &end);

	while (a < end && a->index < s->last && !(a->access & ACCESS_WRITE))
		a++;
	return a < end && a->index < s->last;
}

/* Of one location: `p` and `i` of one thread, in the sections `first` and `second`. */
static const char *doubt_one(const struct doubts *d, const struct candidate *c,
			     const struct doubt_section *first, const struct doubt_section *others,
			     const struct doubt_section *second)
{
	const struct candidate_event *p = &c->event[0], *r = &c->event[1], *i = &c->event[2];
	bool fresh = is_fresh(d, second, i);

	if (fresh && (first->to_wait ||
		      has_access(d, p->thread, first->first, first->last, p, ACCESS_WRITE)))
		return looked_again;
	if (fresh && writes_any(d, p->thread, first) && doubt_waits(&d->trace, first))
		return looked_again;
	if (writes_any(d, p->thread, first) && notices(d, second, i, others, r->thread))
		return looked_again;
	/* A value that was read and is written back later is what this is about. */
	if (is_same_operation(first, second) && (fresh || access_of(p->kind) & ACCESS_WRITE))
		return repeated;
	return NULL;
}

/* Two accesses of a thread to two locations, and their critical sections of one lock. */
struct pair {
	const struct candidate_event *early, *late;
	const struct doubt_section *first, *second;
};

/* Of two locations: whether the other thread's pair, between those of `a`, does no harm. */
static const char *doubt_two(const struct doubts *d, const struct pair *a, const struct pair *o)
{
	unsigned any = ACCESS_READ | ACCESS_WRITE;
	uint32_t thread = a->early->thread;

	if (has_access(d, thread, a->first->first, a->first->last, a->late, any) ||
	    has_access(d, thread, a->second->first, a->late->index, a->early, any))
		return in_one;
	if (is_same_operation(a->first, a->second))
		return repeated;
	if (notices(d, a->second, a->late, o->first, o->early->thread) ||
	    notices(d, a->second, a->late, o->second, o->early->thread))
		return looked_again;
	return NULL;
}

/*
 * Whether the section makes sense by itself: it updates the location, or looks at it again after a
 * wait, or reads it as a condition to be waited for.
 */
static bool is_complete(const struct doubts *d, const struct doubt_section *s,
			const struct candidate_event *e)
{
	return s->to_wait || updates(d, s, e) ||
	       (!(access_of(e->kind) & ACCESS_WRITE) && doubt_waits(&d->trace, s));
}

static bool is_independent(const struct doubts *d, const struct pair *a)
{
	return is_complete(d, a->first, a->early) && is_complete(d, a->second, a->late);
}

static bool only_reads(const struct pair *a)
{
	return !((access_of(a->early->kind) | access_of(a->late->kind)) & ACCESS_WRITE);
}

/* The doubt about what `a` does in one or two sections while `o` does its part. */
static const char *doubt_pair(const struct doubts *d, const struct pair *a, const struct pair *o)
{
	const char *doubt = doubt_two(d, a, o);

	/* A thread that only reads may see what is complete in parts only. */
	if (!doubt && is_independent(d, a) && (o->first != o->second || !only_reads(o)))
		return looked_again;
	return doubt;
}

static const char *doubt_pairs(const struct doubts *d, const struct pair *a, const struct pair *b)
{
	const char *doubt = NULL, *other = NULL;

	if (is_independent(d, a) && is_independent(d, b))
		return looked_again;
	if (a->first != a->second && !(doubt = doubt_pair(d, a, b)))
		return NULL;
	if (b->first != b->second && !(other = doubt_pair(d, b, a)))
		return NULL;
	return doubt ? doubt : other;
}

/* Whether one of the first `count` events only reads. */
static bool has_read(const struct candidate *c, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!(access_of(c->event[i].kind) & ACCESS_WRITE))
			return true;
	return false;
}

/*
 * Whether both threads write one location and then read the other's, under locks: that both read
 * the new value is no anomaly.
 */
static bool is_both_current(const struct doubts *d, const struct candidate *c)
{
	struct locks *locks = d->ctx->locks;

	return c->pattern == PATTERN_WxWyRxRy &&
	       locks_exclude(locks, c->event[0].lockset, c->event[2].lockset) &&
	       locks_exclude(locks, c->event[1].lockset, c->event[3].lockset);
}

/* The doubt about an atomicity violation all of whose accesses are under `lock`. */
static const char *doubt_under(const struct doubts *d, const struct candidate *c, uint64_t lock)
{
	unsigned count = c->class == CANDIDATE_ATOMICITY ? 3 : 4;
	const struct doubt_section *s[4];

	for (unsigned i = 0; i < count; i++) {
		s[i] = section_at(d, &c->event[i], lock);
		if (!s[i])
			return NULL;
	}
	if (c->class == CANDIDATE_ATOMICITY2 || c->pattern == PATTERN_WRW) {
		bool waits = true;

		for (unsigned i = 0; i < count; i++)
			waits &= access_of(c->event[i].kind) & ACCESS_WRITE ||
				 doubt_waits(&d->trace, s[i]);
		if (waits && has_read(c, count))
			return waited_for;
	}
	if (count == 4)
		return doubt_pairs(d,
				   &(struct pair){ &c->event[0], &c->event[3], s[0], s[3] },
				   &(struct pair){ &c->event[1], &c->event[2], s[1], s[2] });
	return s[0] == s[2] ? NULL : doubt_one(d, c, s[0], s[1], s[2]);
}

static const char *doubt_atomicity(const struct doubts *d, const struct candidate *c)
{
	const struct locks *locks = d->ctx->locks;
	struct locks_held held;
	const char *doubt;

	if (is_both_current(d, c))
		return both_current;
	for (size_t i = 0; i < locks_count(locks, c->event[0].lockset); i++) {
		locks_at(locks, c->event[0].lockset, i, &held);
		doubt = doubt_under(d, c, held.lock);
		if (doubt)
			return doubt;
	}
	return NULL;
}

static uint64_t site_pair(uint64_t a, uint64_t b)
{
	return hash_spread(a) + hash_spread(b);
}

/*
 * Whether the order of two accesses is fixed: nothing excludes that they happen at once, but the
 * analyses of races say that they cannot.
 */
static bool is_fixed(const struct doubts *d, const struct candidate_event *a,
		     const struct candidate_event *b)
{
	unsigned x = access_of(a->kind), y = access_of(b->kind);

	return d->knows_races && x && y && (x | y) & ACCESS_WRITE && !(x & y & ACCESS_ATOMIC) &&
	       overlap(a->addr, a->size, b->addr, b->size) &&
	       !locks_exclude(d->ctx->locks, a->lockset, b->lockset) &&
	       !map_find(&d->races, site_pair(a->pc, b->pc));
}

static bool has_fixed_order(const struct doubts *d, const struct candidate *c)
{
	for (uint8_t i = 0; i < c->orders; i++)
		if (is_fixed(d, &c->event[c->order[i].first], &c->event[c->order[i].second]))
			return true;
	return false;
}

/* The doubt about moving the critical section of `early` before that of `late`. */
static const char *doubt_order(const struct doubts *d, const struct candidate *c,
			       const struct candidate_event *early,
			       const struct candidate_event *late)
{
	const struct locks *locks = d->ctx->locks;
	const struct doubt_wanted *use = doubt_wanted(&d->trace, early);
	const struct doubt_wanted *init = doubt_wanted(&d->trace, late);
	struct locks_held held;

	if (c->pattern == PATTERN_BEFORE_INIT && use && init && access_of(early->kind) &&
	    (use->wrote ||
	     (init->wrote && locks_exclude(d->ctx->locks, early->lockset, late->lockset))))
		return written_before;
	for (size_t i = 0; i < locks_count(locks, early->lockset); i++) {
		const struct doubt_section *mine, *others;

		locks_at(locks, early->lockset, i, &held);
		mine = section_at(d, early, held.lock);
		others = section_at(d, late, held.lock);
		if (mine && others && c->pattern == PATTERN_BEFORE_INIT &&
		    access_of(early->kind) == ACCESS_READ && doubt_waits(&d->trace, mine))
			return waited_for;
		if (mine && others && notices(d, mine, early, others, late->thread))
			return other_values;
	}
	return NULL;
}

/* Whether two pcs are of one expression: the compiler has copied it. */
static bool is_same_place(struct names *names, uint64_t a, uint64_t b)
{
	struct symbol_frame x[FRAMES], y[FRAMES];

	if (a == b)
		return true;
	if (!names_frames(names, a, x, FRAMES) || !names_frames(names, b, y, FRAMES))
		return false;
	return x[0].file && y[0].file && x[0].line && x[0].line == y[0].line &&
	       x[0].column == y[0].column && strcmp(x[0].file, y[0].file) == 0;
}

/* A wait whose thread reads the same at the same place before and after it. */
static const char *doubt_recheck(const struct doubts *d, const struct candidate *c)
{
	const struct candidate_event *wait = &c->event[0];
	const struct doubt_thread *t = &d->trace.threads[wait->thread];
	const struct doubt_access *before, *after, *end;
	size_t n = 0;

	while (n < t->section_count &&
	       !(t->sections[n].to_wait && t->sections[n].last == wait->index))
		n++;
	if (n + 1 >= t->section_count || !t->sections[n + 1].from_wait ||
	    t->sections[n + 1].lock != t->sections[n].lock)
		return NULL;
	before = doubt_accesses(&d->trace, wait->thread, t->sections[n].first, &end);
	for (; before < end && before->index < wait->index; before++) {
		after = doubt_accesses(&d->trace, wait->thread, t->sections[n + 1].first, &end);
		for (; after < end && after->index < t->sections[n + 1].last; after++)
			if (after->addr == before->addr && after->access & ACCESS_READ &&
			    is_same_place(d->names, before->pc, after->pc))
				return checks_again;
	}
	return NULL;
}

static const char *doubt_of(struct doubts *d, const struct candidate *c)
{
	const struct candidate_event *early = &c->event[c->order[0].first];
	const struct candidate_event *late = &c->event[c->order[0].second];

	if (c->pattern == PATTERN_NO_RECHECK)
		return doubt_recheck(d, c);
	if (c->evidence == EVIDENCE_UNORDERED || c->orders == 0 ||
	    (c->class != CANDIDATE_RACE && c->class != CANDIDATE_ORDER &&
	     !candidate_breaks_atomicity(c)))
		return NULL;
	if (is_handed_over(d, c) || (c->class != CANDIDATE_RACE && has_fixed_order(d, c)))
		return handed_over;
	if (c->class == CANDIDATE_RACE && c->doubtful && was_passed(d, late, early))
		return handed_over;
	if (candidate_breaks_atomicity(c))
		return doubt_atomicity(d, c);
	return doubt_order(d, c, early, late);
}

static void doubt_class(struct doubts *d, struct findings *f, bool race)
{
	for (size_t i = 0; i < findings_count(f); i++) {
		struct candidate *c = findings_at(f, i);

		if ((c->class == CANDIDATE_RACE) != race)
			continue;
		c->doubt = doubt_of(d, c);
		if (race && !c->doubt && !c->doubtful)
			map_put(&d->races, site_pair(c->event[0].pc, c->event[1].pc), NULL);
	}
}

void doubt_find(struct reader *trace, const struct analysis_context *ctx, struct names *names,
		bool knows_races, struct findings *f)
{
	struct doubts d = { .ctx = ctx, .names = names, .knows_races = knows_races };
	struct err err;

	if (doubt_trace_read(&d.trace, trace, f, &err) == 0) {
		doubt_class(&d, f, true);
		doubt_class(&d, f, false);
	}
	map_free(&d.races);
	doubt_trace_free(&d.trace);
}
