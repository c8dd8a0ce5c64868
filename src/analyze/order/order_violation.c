/*
 * Order violations: a passing run had it the right way round by luck.
 *
 * before-init: memory that one thread has to itself until it has written it, then used
 * by another one that nothing makes come later (or a lock, condition, … initialised
 * so). Critical sections order nothing here: they may be entered the other way round.
 * The wanted order is the use before the write.
 *
 * use-free, use-destroy: memory given back (a thread's stack is when it ends), or an object
 * destroyed, by a thread that nothing makes come after another one's last use. Wanted: the
 * use after that.
 *
 * Where times are estimates, a use that seems to come before the write counts as well.
 *
 * Ordered are events by create and join, conditions, semaphores, barriers, annotations
 * and by release and acquire of atomics, and besides:
 * - by what a thread has seen: who reads a flag that another one set (a write that is
 *   no step of a counter) comes after that, and after the section it was set in;
 * - before a free, by the block itself: who lowers a count in it after another one did,
 *   both under a lock or atomically, comes after that one's lowering;
 * - by unpublishing: a section in which the freeing thread wrote what the user reads in
 *   the section of its use. Entered later, the user would find nothing to use.
 *
 * Dropped: of each place all but the last use of each kind of USES_THREADS threads
 * (uses.h); critical sections older than SECTIONS_KEPT.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/order/order_violation.h"
#include "base/mem.h"
#include "trace/read/kinds.h"

static void *order_open(const struct analysis_context *ctx)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->ctx = ctx;
	o->total = reader_info(ctx->reader)->header->flags & TRACE_TOTAL_ORDER;
	o->sections = sections_new();
	o->data = uses_new(USES_PLACES, USES_SITUATIONS);
	o->objects = uses_new(USES_PLACES, USES_SITUATIONS);
	return o;
}

static void order_close(void *state)
{
	struct order *o = state;

	for (size_t i = 0; i < o->thread_count; i++)
		vclock_free(&o->threads[i].seen);
	free(o->threads);
	vclock_free(&o->block);
	uses_free(o->data);
	uses_free(o->objects);
	sections_free(o->sections);
	free(o);
}

static struct order_thread *thread_of(struct order *o, uint32_t id)
{
	if (id >= o->thread_count)
		o->threads = xreach(o->threads, id, &o->thread_count, sizeof(*o->threads));
	return &o->threads[id];
}

uint64_t order_end_of(const struct order *o, uint32_t thread, uint64_t index, uint32_t lockset)
{
	uint64_t end = index;

	for (size_t i = 0; i < locks_count(o->ctx->locks, lockset); i++) {
		struct locks_held held;
		const struct section *s;

		locks_at(o->ctx->locks, lockset, i, &held);
		s = sections_around(o->sections, thread, held.lock, index);
		if (s && !(s->shared && held.shared) && s->last != UINT64_MAX && s->last > end)
			end = s->last;
	}
	return end;
}

void order_tell(struct order *o, enum pattern pattern, const char *note,
		const struct candidate_event *early, const struct candidate_event *late,
		const struct candidate_event *use)
{
	struct candidate c = { .pattern = pattern, .events = 2, .orders = 1,
			       .order = { { 0, 1 } }, .event = { *early, *late },
			       .addr = use->addr, .size = use->size, .count = 1, .note = note };
	const struct section *s = sections_entry(o->sections, o->ctx->locks, late, early);

	memset(c.hold, -1, sizeof(c.hold));
	if (s) {
		c.event[2] = section_begin(s);
		c.events = 3;
		c.hold[1] = 2;
	}
	findings_add(o->out, &c);
}

/* A section of the writer that began strongly before the user came, and that both need. */
static bool entered_first(const struct order *o, const struct use *init)
{
	uint32_t mine = o->view->lockset;

	for (size_t i = 0; i < locks_count(o->ctx->locks, mine); i++) {
		struct locks_held held;
		const struct section *s;

		locks_at(o->ctx->locks, mine, i, &held);
		s = sections_around(o->sections, init->at.thread, held.lock, init->at.index);
		if (s && !(s->shared && held.shared) &&
		    vclock_saw(o->view->strong, s->thread, s->strong_epoch))
			return true;
	}
	return false;
}

/* The thread of the event uses what `init` made. True: it can come first. */
static bool before_init(struct order *o, const struct use *init)
{
	struct candidate_event use = view_event(o->view, o->ev);

	if (vclock_saw(o->view->order, init->at.thread, init->order_epoch)) {
		findings_pruned(o->out, PRUNE_HB, 1);
	} else if (vclock_get(&thread_of(o, use.thread)->seen, init->at.thread) > init->at.index) {
		findings_pruned(o->out, PRUNE_READS_FROM, 1);
	} else if (entered_first(o, init)) {
		findings_pruned(o->out, PRUNE_LOCK, 1);
	} else {
		order_tell(o, PATTERN_BEFORE_INIT,
			   o->uses == o->data ? NULL : "it may be used before it is initialised", &use,
			   &init->at, &use);
		return true;
	}
	return false;
}

static const struct kept *the_use(struct order *o, uint64_t granule)
{
	const struct view *v = o->view;
	const struct event *ev = o->ev;

	if (o->use.situation && (o->use_granule == granule || ev->size > USES_NEAR))
		return &o->use;
	o->use_granule = granule;
	o->use = uses_make(o->uses,
			   &(struct situation){
				   .index = v->index, .time = ev->time, .order_epoch = v->order_epoch,
				   .strong_epoch = v->strong_epoch,
				   .section_reads = v->lockset ? o->threads[v->thread].section_reads : 0,
				   .thread = v->thread, .lockset = v->lockset, .stack = v->stack },
			   &(struct site){
				   .pc = ev->pc, .size = ev->size, .kind = ev->kind, .access = (uint8_t)o->access,
				   .addr = ev->addr - (ev->size <= USES_NEAR ? granule * 8 : 0) });
	return &o->use;
}

static void begin_owner(struct order *o, struct place *p, uint64_t granule)
{
	p->read_first = o->access & ACCESS_READ;
	uses_set_first(o->uses, p, p->read_first ? NULL : the_use(o, granule));
}

/*
 * Times of accesses are estimates unless the order is total: a first write that seems to
 * come after another thread's read may have come before it, so the run had luck.
 */
static void misplaced(struct order *o, const struct place *p, uint32_t owner, uint64_t granule)
{
	const struct candidate_event write = view_event(o->view, o->ev);
	const struct kept *last;
	uint32_t writer;
	struct use read;

	if (o->total || !p->read_first || o->access != ACCESS_WRITE || uses_last_write(o->uses, p, &writer))
		return;
	last = uses_last_of(o->uses, p, 2 * owner);
	if (!last)
		return;
	read = uses_at(o->uses, last, granule);
	if (!(read.access & ACCESS_ATOMIC) && o->threads[o->view->thread].timed < read.at.time)
		order_tell(o, PATTERN_BEFORE_INIT, NULL, &read.at, &write, &write);
}

/* Who comes while it is shared, and was written by its owner first. */
static void meet_first(struct order *o, struct place *p, uint64_t granule)
{
	uint64_t *met = &uses_head(o->uses, p)->met, bit = 1ull << (o->view->thread & 63);
	const struct kept *first = uses_first(p), *latest = uses_latest(o->uses, p);
	struct use init;

	if (*met & bit)
		return;
	*met |= bit;
	init = uses_at(o->uses, first, granule);
	if (before_init(o, &init) || (first->situation == latest->situation && first->index == latest->index))
		return;
	init = uses_at(o->uses, latest, granule);
	before_init(o, &init);
}

/* It was not shared until now; its last use is its owner's. */
static void own_alone(struct order *o, struct place *p, uint64_t granule)
{
	const struct view *v = o->view;
	const struct kept *last;
	uint32_t who = 0;

	last = p->count ? uses_last(o->uses, p, 0, &who) : NULL;
	if (last && who / 2 == v->thread) {
		if (o->access & ACCESS_WRITE && uses_first(p) &&
		    uses_situation(o->uses, uses_latest(o->uses, p))->order_epoch != v->order_epoch)
			uses_set_latest(o->uses, p, the_use(o, granule));
		return;
	}
	if (!last || vclock_saw(v->strong, who / 2, uses_situation(o->uses, last)->strong_epoch)) {
		begin_owner(o, p, granule);
		return;
	}
	misplaced(o, p, who / 2, granule);
	p->shared = 1;
	if (!uses_first(p))
		return;
	uses_widen(o->uses, p);
	p->who1 = who & 0x1fffffu;
	meet_first(o, p, granule);
}

/* Who has it alone, and when that ends. */
static inline void own(struct order *o, struct place *p, uint64_t granule)
{
	if (!p->shared)
		own_alone(o, p, granule);
	else if (uses_first(p) && p->who1 / 2 != o->view->thread)
		meet_first(o, p, granule);
}

static void saw_all(struct order *o)
{
	struct vclock *seen = &thread_of(o, o->view->thread)->seen;

	for (size_t i = 0; i < o->saw_count; i++)
		vclock_raise(seen, o->saw[i].thread, o->saw[i].index);
	o->saw_count = 0;
}

/* What was read says who came before. */
static void see(struct order *o, const struct place *p)
{
	const struct vclock *seen = &o->threads[o->view->thread].seen;
	const struct kept *w;
	uint32_t writer;
	uint64_t index;

	if (!p->blind || !(w = uses_last_write(o->uses, p, &writer)) || writer == o->view->thread)
		return;
	index = uses_number(o->uses, w);
	if (vclock_get(seen, writer) > index)
		return;
	if (o->saw_count == ORDER_SAW)
		saw_all(o);
	o->saw[o->saw_count].thread = writer;
	o->saw[o->saw_count++].index = order_end_of(o, writer, index, o->view->lockset) + 1;
}

static void touch(void *ctx, struct place *p, uint64_t granule)
{
	struct order *o = ctx;
	uint32_t thread = o->view->thread;
	const struct kept *read;

	own(o, p, granule);
	if (o->access & ACCESS_READ && !access_by_chance(o->ev->kind, o->ev->arg))
		see(o, p);
	if (o->access & ACCESS_WRITE) {
		read = o->access & ACCESS_READ ? NULL : uses_last_of(o->uses, p, 2 * thread);
		p->blind = !(o->access & ACCESS_READ) &&
			   (!read || uses_number(o->uses, read) < o->threads[thread].section_first);
	}
	uses_note(o->uses, p, the_use(o, granule), 2 * thread + !!(o->access & ACCESS_WRITE));
}

static void accessed(struct order *o)
{
	o->uses = o->data;
	o->use.situation = 0;
	uses_each(o->data, o->ev->addr, o->ev->size, touch, o);
	saw_all(o);
}

static void note_reads(const struct order *o, struct order_thread *t)
{
	uint64_t end = o->ev->addr + o->ev->size;

	for (uint64_t a = o->ev->addr & ~7ull; a < end && (o->access & ACCESS_READ); a += 8)
		if (!~(t->section_reads |= section_granule(a)))
			break;
}

enum object_use { OBJECT_NONE, OBJECT_INIT, OBJECT_USE, OBJECT_RELEASE, OBJECT_DESTROY };

static enum object_use object_use(unsigned kind)
{
	unsigned roles = trace_roles(kind);

	if (roles & ROLE_INIT)
		return OBJECT_INIT;
	if (roles & ROLE_DESTROY)
		return OBJECT_DESTROY;
	if (roles & ROLE_RELEASE)
		return OBJECT_RELEASE;
	if (roles & (ROLE_ACQUIRE | ROLE_WAIT_BEGIN | ROLE_NOTIFY | ROLE_SEM) || kind == TRACE_BARRIER_ENTER)
		return OBJECT_USE;
	return OBJECT_NONE;
}

static void used(struct order *o, enum object_use how)
{
	o->uses = o->objects;
	o->use.situation = 0;
	/* Releases are kept beside the other uses: both may come too late. */
	o->access = how == OBJECT_INIT || how == OBJECT_RELEASE ? ACCESS_WRITE : ACCESS_READ;
	if (how == OBJECT_INIT)
		uses_forget(o->objects, o->ev->addr, 1);
	if (how == OBJECT_DESTROY) {
		order_destroyed(o);
		uses_forget(o->objects, o->ev->addr, 1);
	} else {
		uses_each(o->objects, o->ev->addr, 1, touch, o);
		o->saw_count = 0;	/* using an object shows nothing of who made it */
	}
}

static void order_event(void *state, const struct event *ev, const struct view *view,
			struct findings *out)
{
	struct order *o = state;
	struct order_thread *t = thread_of(o, view->thread);
	enum section_change change;
	enum object_use how;
	size_t count;

	o->ev = ev;
	o->view = view;
	o->out = out;
	o->access = access_of(ev->kind);
	if (o->access) {
		if (view_ignores(view, o->access))
			return;
		sections_access(o->sections, ev);
		accessed(o);
		note_reads(o, t);
		return;
	}
	if (kind_extra(ev->kind))
		t->timed = ev->time;
	if (view->gone_size) {
		if (trace_roles(ev->kind) & ROLE_FREE || ev->kind == TRACE_THREAD_EXIT)
			order_freed(o);
		uses_forget(o->data, view->gone_addr, view->gone_size);
		uses_forget(o->objects, view->gone_addr, view->gone_size);
	}
	how = object_use(ev->kind);
	if (how && !ev->result && !(view->ignore & 4))
		used(o, how);
	change = sections_event(o->sections, ev, view);
	if (change == SECTION_BEGUN || change == SECTION_ENDED) {
		sections_held(o->sections, view->thread, &count);
		if (count == (change == SECTION_BEGUN)) {
			t->section_first = view->index + (change == SECTION_ENDED);
			t->section_reads = 0;
		}
	}
	if (ev->kind == TRACE_THREAD_JOIN && !ev->result && ev->arg) {
		thread_of(o, (uint32_t)ev->arg);
		vclock_join(&o->threads[view->thread].seen, &o->threads[ev->arg].seen);
	}
}

static void order_soon(void *state, const struct event *ev)
{
	struct order *o = state;
	uint32_t n = o->soon_count++;

	o->soon[n % ORDER_SOON] = ev->addr;
	uses_prefetch(o->data, ev->addr, 0);
	uses_prefetch(o->data, o->soon[(n - ORDER_SOON / 4) % ORDER_SOON], 1);
	uses_prefetch(o->data, o->soon[(n - ORDER_SOON / 2) % ORDER_SOON], 2);
}

static void order_finish(void *state, struct findings *out)
{
	const struct order *o = state;

	findings_dropped(out, uses_dropped(o->data) + uses_dropped(o->objects));
}

const struct analysis analysis_order = {
	.name = "order", .summary = "use before initialisation, after free and after destroy",
	.open = order_open, .event = order_event, .soon = order_soon, .finish = order_finish, .close = order_close,
};
