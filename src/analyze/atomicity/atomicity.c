/*
 * The analysis atomicity: two accesses p and i of one thread to one location, in one block, and an
 * access r of another thread that breaks their atomicity if it comes between them. The patterns
 * p-r-i are R-W-R, W-W-R, W-R-W and R-W-W (AVIO: Lu et al., ASPLOS 2006), and W-W-W, in which r is
 * lost (PENELOPE: Sorrentino et al., FSE 2010). In the trace r may be before p or behind i, as in
 * AVPredictor.
 *
 * r can come between p and i if the thread passes a lockset on the way (a cut-point) that shares no
 * lock with the lockset of r and has a compatible acquisition history. Also, strong happens-before
 * must not put r before p, behind i, or between them in every run. Critical sections and atomics
 * may have another order in another run.
 *
 * If the other thread makes several accesses, any write among them breaks the pairs RR, WR and RW.
 * Two writes are broken by a sequence that begins with a read. So a read of a value that the other
 * thread itself wrote in the same critical section does not count, unless p can come in between.
 * The two accesses of a pair are neighbours among the thread's accesses to the location, except
 * that two writes may have reads of their thread between them.
 *
 * Each new access and pair is compared with the latest accesses and pairs of the other threads, so
 * that the events of a candidate are near to each other in the trace. The work per access does not
 * grow with the trace (history.h). Values are not considered, and of a large access only its first
 * RANGE_MAX granules.
 */
#include <stdlib.h>

#include "analyze/atomicity/atomicity_known.h"
#include "analyze/atomicity/atomicity_match.h"
#include "base/mem.h"

#define PREFETCH_BLOCKS 512u /* prefetch from this many on: fewer blocks fit in the cache */
#define RANGE_MAX 8192u		/* granules of one access that are analysed */

static void *atomicity_open(const struct analysis_context *ctx)
{
	struct atomicity *a = xcalloc(1, sizeof(*a));

	a->locks = ctx->locks;
	a->contexts = contexts_new(ctx->locks);
	history_init(&a->history, a->contexts);
	a->verdicts = xcalloc(1u << VERDICT_BITS, sizeof(*a->verdicts));
	return a;
}

static void atomicity_close(void *state)
{
	struct atomicity *a = state;

	history_free(&a->history);
	dedupe_free(&a->dedupe);
	contexts_free(a->contexts);
	free(a->verdicts);
	free(a);
}

/*
 * A pair with the present access as i. p is the access before it (`adjacent`), or the last write if
 * reads followed that (`spanning`).
 */
struct maybe_pair {
	bool computed, exists;	/* probe_make() was called; its result */
	struct history_probe probe;
};

/* The part of the present access in one granule, and what is known of it. */
struct granule_access {
	const struct event *ev;
	const struct view *view;
	const struct contexts_thread *here;
	struct history_signature signature;
	struct access_context now;
	struct history_lookup at;
	struct maybe_pair adjacent, spanning;
	uint32_t lockset;	/* lockset of the signature in now.tag */
	bool new_signature;	/* result of history_has() */
};

/* Fills in *out. Returns false if the two accesses are not in one block. */
static inline bool probe_make(const struct atomicity *a, const struct granule_access *t,
			      const struct access_context *p, bool spans_reads,
			      struct history_probe *out)
{
	if (!contexts_same_block(p, &t->now, t->view))
		return false;
	out->p = p;
	out->i = &t->now;
	out->spans_reads = spans_reads;
	out->bytes = t->at.cell->bytes & t->at.recent->bytes;
	if (p->sync_state == t->now.sync_state) { /* mostly: no synchronisation since p */
		out->cut[0] = t->lockset;
		out->cuts = 1;
	} else {
		out->cuts = (uint8_t)contexts_cuts_since(a->contexts, t->here, p->index,
							 a->history.signatures[p->tag].lockset,
							 out->cut);
	}
	out->key = history_probe_key(out);
	return true;
}

static void note_pair(struct atomicity *a, const struct granule_access *t,
		      const struct access_context *p, struct maybe_pair *m, bool spans_reads,
		      struct findings *out)
{
	struct local_pair l = { .cell = t->at.cell, .p = p->epoch, .i = t->now.epoch };
	const struct history_cell *const *inside;
	struct history_cell *c = t->at.cell;
	struct other_cells others;
	size_t count;
	bool fresh;

	m->probe.p = p;		/* history_note() may have moved it */
	if (!(m->computed ? m->exists : probe_make(a, t, p, spans_reads, &m->probe)))
		return;
	l.pair = history_note_pair(&a->history, c, &m->probe, &fresh);
	if (!l.pair || t->at.ordered)
		return;
	if (fresh) {
		others.known = false;
		match_pair(a, &l, t->at.undisturbed, &others, out);
	} else if (!t->at.undisturbed && c->inside_checks < INSIDE_CHECKS_MAX &&
		   nothing_new_by_kind(a, c, l.pair->shape, 0, true, out)) {
		c->inside_checks++;
	} else if (!t->at.undisturbed && c->inside_checks < INSIDE_CHECKS_MAX) {
		count = history_inside(&a->history, t->at.recent, c->bytes, &inside);
		c->inside_checks += count > 0;
		match_inside(a, &l, inside, count, out);
	}
}

/* True if the access writes, and the thread wrote to the cell and then read. */
static inline bool may_span_reads(const struct history_cell *c, unsigned access)
{
	return (access & ACCESS_WRITE) && c->older_write && c->older_write_noted;
}

/*
 * True if `p` and the access are no pair, or one that the cell has under the same epoch and that
 * needs no further comparison. In the latter case the access is noted, too.
 */
static inline bool is_known_pair(const struct atomicity *a, const struct granule_access *t,
				 const struct access_context *p, struct maybe_pair *m,
				 bool spans_reads, bool *noted)
{
	m->computed = true;
	m->exists = probe_make(a, t, p, spans_reads, &m->probe);
	if (!m->exists)
		return true;
	*noted = p->epoch == t->now.epoch &&
		 (t->at.undisturbed || t->at.ordered ||
		  t->at.cell->inside_checks >= INSIDE_CHECKS_MAX) &&
		 history_has_pair(&a->history, t->at.cell, &m->probe);
	return *noted;
}

/* True if nothing about this access is new. */
static inline bool is_known(const struct atomicity *a, struct granule_access *t)
{
	struct history_cell *c = t->at.cell;
	bool noted = false;

	return t->at.recent == c && is_noted(c) &&
	       is_known_pair(a, t, &c->last, &t->adjacent, false, &noted) &&
	       (noted || history_has(&a->history, c, &t->now, &t->new_signature)) &&
	       (!may_span_reads(c, t->signature.access) ||
		is_known_pair(a, t, history_older_write(&a->history, c), &t->spanning, true,
			      &noted));
}

/*
 * Notes the second access of a cell as single pair, if the cell can encode it: most cells never get
 * a third access.
 */
static bool note_single_pair(struct atomicity *a, struct granule_access *t, struct findings *out)
{
	struct history_cell *c = t->at.cell;
	struct local_pair l = { .cell = c, .p = t->now.epoch, .i = t->now.epoch };
	struct other_cells others;
	struct history_pair unpacked;

	if (!t->adjacent.computed || !t->adjacent.exists ||
	    !history_note_single_pair(&a->history, c, &t->adjacent.probe, &t->signature))
		return false;
	if (t->at.ordered)
		return true;
	l.pair = history_pair(&a->history, c, 0, &unpacked);
	others.known = false;
	match_pair(a, &l, t->at.undisturbed, &others, out);
	if (c->rep_count > 1)
		match_access(a, c, &t->now, &others, out);
	return true;
}

static void note(struct atomicity *a, struct granule_access *t, struct findings *out)
{
	const struct history_cell *recent = t->at.recent;
	struct history *h = &a->history;
	bool fresh, noted = history_note(h, t->at.cell, &t->now, t->new_signature, &fresh);

	if (noted && recent) {
		if (is_noted(recent))
			note_pair(a, t, &recent->last, &t->adjacent, false, out);
		if (may_span_reads(recent, t->signature.access))
			note_pair(a, t, history_older_write(h, recent), &t->spanning, true, out);
	}
	history_set_last(h, t->at.cell, &t->now, &t->signature, noted);
	if (fresh && !t->at.ordered)
		match_access(a, t->at.cell, &t->now, &(struct other_cells){ .known = false }, out);
}

/* True if the access reads what the thread wrote since it acquired its locks. */
static inline bool is_own_read(const struct atomicity *a, const struct granule_access *t)
{
	const struct history_cell *p = t->at.recent;

	return t->signature.lockset && p && is_noted(p) && !(t->signature.access & ACCESS_WRITE) &&
	       (p->last_flags & (ACCESS_WRITE | HISTORY_OWN_READ)) &&
	       contexts_same_section(t->here, &p->last) &&
	       a->history.signatures[p->last.tag].lockset;
}

/*
 * True if it does not matter at this granule which locks the thread acquired and released within
 * its outermost lock. Then all accesses so far hold that lock, and comparisons with them yield
 * nothing new. For accesses without that lock, acquisition histories matter only if some thread
 * ever acquired it while it held another lock.
 */
static bool is_history_irrelevant(struct atomicity *a, const struct granule_access *t,
				  uint32_t core, struct findings *out)
{
	struct history_kinds *kinds = history_kinds_here(&a->history, t->at.cell);

	return kinds && kinds->common_lock &&
	       atomicity_nothing_new(a, kinds, 0, core, false, out) &&
	       locks_never_nested(a->locks, locks_ends(a->locks)[t->view->lockset].outer);
}

/*
 * If the cell has the core of the access's signature, and the acquisition history does not matter,
 * the access counts as one with that core. Returns the signature to be noted.
 */
static uint32_t drop_irrelevant_history(struct atomicity *a, struct granule_access *t, uint32_t tag,
					struct findings *out)
{
	uint32_t core = a->history.signatures[tag].core;
	uint64_t epoch = (uint64_t)t->here->epoch << 32;
	struct history_cell *c = t->at.cell;
	bool unused;

	if (!c->rep_count || c->single_pair ||
	    !history_has_key(&a->history, c, epoch | core, &unused) ||
	    history_has_key(&a->history, c, epoch | tag, &unused) ||
	    !is_history_irrelevant(a, t, core, out))
		return tag;
	t->lockset = a->history.signatures[core].lockset;
	return core;
}

static void access_granule(struct atomicity *a, struct granule_access *t, uint64_t granule,
			   uint8_t bytes, struct findings *out)
{
	struct history_cell *c;
	uint32_t tag;

	history_lookup(&a->history, granule, t->view->thread, t->here->epoch, bytes, &t->at);
	t->signature.own_read = is_own_read(a, t);
	tag = history_signature_as(&a->history, &t->signature, t->ev->kind, t->view->lockset,
				   t->signature.own_read);
	t->lockset = t->view->lockset;
	if (__builtin_expect(a->history.signatures[tag].core != tag, 0))
		tag = drop_irrelevant_history(a, t, tag, out);
	contexts_fill(t->here, t->ev, t->view, tag, &t->now);
	c = t->at.cell;
	t->adjacent.computed = t->spanning.computed = t->new_signature = false;
	if (!t->at.recent) {
		history_note_first(&a->history, c, &t->now);
		history_set_last(&a->history, c, &t->now, &t->signature, true);
		if (!t->at.ordered)
			match_access(a, c, &t->now, &(struct other_cells){ .known = false }, out);
	} else if (is_known(a, t)) {
		history_set_last_flags(&a->history, c, &t->signature, true);
		/* Filled in again: copying `now` would wait for its stores. */
		contexts_fill(t->here, t->ev, t->view, t->now.tag, &c->last);
	} else if (!note_single_pair(a, t, out)) {
		note(a, t, out);
	}
}

/* The slow path: something about the access may be new. */
static __attribute__((noinline)) void access_slow(struct atomicity *a, const struct event *ev,
						  const struct view *view,
						  const struct contexts_thread *here,
						  unsigned access, struct findings *out)
{
	uint64_t granule = ev->addr / GRANULE_BYTES, first = ev->addr % GRANULE_BYTES;
	uint64_t left = ev->size, take;
	struct granule_access t;

	t.ev = ev;
	t.view = view;
	t.signature = (struct history_signature){
		.pc = ev->pc, .lockset = view->lockset, .kind = ev->kind, .access = (uint8_t)access
	};
	t.here = here;
	for (unsigned n = 0; left > 0; n++) {
		if (n == RANGE_MAX) {
			a->truncated++;
			break;
		}
		take = left < GRANULE_BYTES - first ? left : GRANULE_BYTES - first;
		access_granule(a, &t, granule++, (uint8_t)(((1u << take) - 1) << first), out);
		left -= take;
		first = 0;
	}
}

static inline void atomicity_access(struct atomicity *a, const struct event *ev,
				    const struct view *view, unsigned access, struct findings *out)
{
	const struct contexts_thread *here = contexts_current(a->contexts, view);

	if (!atomicity_access_fast(a, ev, view, here, access))
		access_slow(a, ev, view, here, access, out);
}

static void atomicity_event(void *state, const struct event *ev, const struct view *view,
			    struct findings *out)
{
	struct atomicity *a = state;
	unsigned access = access_of(ev->kind);

	if (!access)
		contexts_sync(a->contexts, ev, view);
	else if (!view->ordered && !view_ignores(view, access))
		atomicity_access(a, ev, view, access, out);
	if (view->gone_size)
		history_forget(&a->history, view->gone_addr, view->gone_size);
}

static void atomicity_soon(void *state, const struct event *ev)
{
	struct atomicity *a = state;

	if (a->history.block_count > PREFETCH_BLOCKS)
		history_prefetch(&a->history, ev->addr / GRANULE_BYTES, ev->thread);
}

static void atomicity_finish(void *state, struct findings *out)
{
	struct atomicity *a = state;

	for (unsigned i = 0; i < PRUNE_REASONS; i++)
		findings_pruned(out, i, a->pruned[i]);
	findings_dropped(out, a->history.dropped + a->truncated);
}

const struct analysis analysis_atomicity = {
	.name = "atomicity",
	.summary = "two accesses of a block that another thread's access can come between",
	.open = atomicity_open,
	.event = atomicity_event,
	.skips_ordered = true,
	.soon = atomicity_soon,
	.finish = atomicity_finish,
	.close = atomicity_close,
};
