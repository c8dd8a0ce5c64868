/*
 * Order violations: the passing run made two events in the right order by chance.
 *
 * before-init: a thread initialises memory (or a lock, condition and the like) that it owns, and
 * another thread uses it later, but nothing enforces that order. The candidate wants the use before
 * the initialisation. Critical sections order nothing here: they may be entered the other way
 * round.
 *
 * use-free, use-destroy: a thread frees memory or destroys an object, and nothing enforces that
 * another thread's last use comes before. A thread's end frees its stack. The candidate wants the
 * use after the free.
 *
 * What enforces order: view.order (create, join, conditions, semaphores, barriers, annotations,
 * release and acquire of atomics), and three more:
 * - flags: a thread that reads a blind write of another thread comes after it, and after the
 *   critical section around it. A write is blind if its thread did not read the location before in
 *   the same section; the increment of a counter is not.
 * - reference counts in the freed block: if both threads changed a location of the block,
 *   atomically or under one lock, the free comes after the other thread's change.
 * - unpublishing: in a critical section, the freeing thread overwrote what the user reads in the
 *   section of its use. A user that came later would have found no reference to the block.
 *
 * If times are estimates, a use shortly before the initialisation counts as well.
 *
 * Left out: more than the last read and write of LAST_ACCESS_THREADS threads for each location
 * (last_access.h); critical sections older than SECTIONS_KEPT.
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
	o->data = last_access_new(LAST_ACCESS_MAX_LOCATIONS, LAST_ACCESS_MAX_SEGMENTS);
	o->objects = last_access_new(LAST_ACCESS_MAX_LOCATIONS, LAST_ACCESS_MAX_SEGMENTS);
	return o;
}

static void order_close(void *state)
{
	struct order *o = state;

	for (size_t i = 0; i < o->thread_count; i++)
		vclock_free(&o->threads[i].must_follow);
	free(o->threads);
	vclock_free(&o->counted);
	last_access_free(o->data);
	last_access_free(o->objects);
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

void order_emit(struct order *o, enum pattern pattern, const char *note,
		const struct candidate_event *early, const struct candidate_event *late,
		const struct candidate_event *use)
{
	struct candidate c = { .pattern = pattern, .events = 2, .orders = 1,
			       .order = { { 0, 1 } }, .event = { *early, *late },
			       .addr = use->addr, .size = use->size, .count = 1, .note = note };
	const struct section *s = sections_to_stop_before(o->sections, o->ctx->locks, late, early);

	memset(c.hold, -1, sizeof(c.hold));
	if (s) {
		c.event[2] = section_begin(s);
		c.events = 3;
		c.hold[1] = 2;
	}
	findings_add(o->out, &c);
}

/*
 * True if a lock enforces the order: the writer acquired it strongly before the use, initialised
 * under it, and the user holds the same lock.
 */
static bool entered_first(const struct order *o, const struct unpacked_access *init)
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

/* The current event uses what `init` initialised. Returns true if the use can come first. */
static bool before_init(struct order *o, const struct unpacked_access *init)
{
	struct candidate_event use = view_event(o->view, o->ev);

	if (vclock_saw(o->view->order, init->at.thread, init->order_epoch)) {
		findings_pruned(o->out, PRUNE_HB, 1);
	} else if (vclock_get(&thread_of(o, use.thread)->must_follow,
			      init->at.thread) > init->at.index) {
		findings_pruned(o->out, PRUNE_READS_FROM, 1);
	} else if (entered_first(o, init)) {
		findings_pruned(o->out, PRUNE_LOCK, 1);
	} else {
		order_emit(o, PATTERN_BEFORE_INIT,
			   o->accesses == o->data ? NULL :
						    "it may be used before it is initialised",
			   &use, &init->at, &use);
		return true;
	}
	return false;
}

/* The current event, packed for a location of this granule. */
static const struct packed_access *current_access(struct order *o, uint64_t granule)
{
	const struct view *v = o->view;
	const struct event *ev = o->ev;

	if (o->packed.segment && (o->packed_granule == granule || ev->size > LAST_ACCESS_RELATIVE))
		return &o->packed;
	o->packed_granule = granule;
	o->packed = last_access_pack(
		o->accesses,
		&(struct thread_segment){
			.index = v->index, .time = ev->time, .order_epoch = v->order_epoch,
			.strong_epoch = v->strong_epoch,
			.section_reads = v->lockset ? o->threads[v->thread].section_reads : 0,
			.thread = v->thread, .lockset = v->lockset, .stack = v->stack },
		&(struct access_site){
			.pc = ev->pc, .size = ev->size, .kind = ev->kind,
			.access = (uint8_t)o->access,
			.addr = ev->addr - (ev->size <= LAST_ACCESS_RELATIVE ? granule * 8 : 0) });
	return &o->packed;
}

static void begin_ownership(struct order *o, struct location *p, uint64_t granule)
{
	p->read_first = o->access & ACCESS_READ;
	last_access_set_first_write(o->accesses, p,
				    p->read_first ? NULL : current_access(o, granule));
}

/*
 * If times are estimates, this first write may have come before another thread's read, although the
 * trace has the read first. Emits the order of the trace, since the run may have had the other one.
 */
static void check_misplaced_read(struct order *o, const struct location *p, uint32_t owner,
				 uint64_t granule)
{
	const struct candidate_event write = view_event(o->view, o->ev);
	const struct packed_access *last;
	uint32_t writer;
	struct unpacked_access read;

	if (o->total || !p->read_first || o->access != ACCESS_WRITE ||
	    last_access_write(o->accesses, p, &writer))
		return;
	last = last_access_of(o->accesses, p, 2 * owner);
	if (!last)
		return;
	read = last_access_unpack(o->accesses, last, granule);
	if (!(read.access & ACCESS_ATOMIC) && o->threads[o->view->thread].last_timed < read.at.time)
		order_emit(o, PATTERN_BEFORE_INIT, NULL, &read.at, &write, &write);
}

/*
 * Judges a thread's first access to a shared location against its owner's first and latest write.
 */
static void check_first_write(struct order *o, struct location *p, uint64_t granule)
{
	uint64_t *checked = &last_access_head(o->accesses, p)->checked;
	uint64_t bit = 1ull << (o->view->thread & 63);
	const struct packed_access *first = last_access_first_write(p);
	const struct packed_access *latest = last_access_latest_write(o->accesses, p);
	struct unpacked_access init;

	if (*checked & bit)
		return;
	*checked |= bit;
	init = last_access_unpack(o->accesses, first, granule);
	if (before_init(o, &init) ||
	    (first->segment == latest->segment && first->index == latest->index))
		return;
	init = last_access_unpack(o->accesses, latest, granule);
	before_init(o, &init);
}

/* update_owner() for a location that is not shared so far: its last access is the owner's. */
static void update_unshared(struct order *o, struct location *p, uint64_t granule)
{
	const struct view *v = o->view;
	const struct packed_access *last;
	uint32_t key = 0;

	last = p->count ? last_access_nth(o->accesses, p, 0, &key) : NULL;
	if (last && key / 2 == v->thread) {
		if (o->access & ACCESS_WRITE && last_access_first_write(p) &&
		    last_access_segment(o->accesses,
					last_access_latest_write(o->accesses, p))->order_epoch !=
			    v->order_epoch)
			last_access_set_latest_write(o->accesses, p, current_access(o, granule));
		return;
	}
	if (!last || vclock_saw(v->strong, key / 2,
				last_access_segment(o->accesses, last)->strong_epoch)) {
		begin_ownership(o, p, granule);
		return;
	}
	check_misplaced_read(o, p, key / 2, granule);
	p->shared = 1;
	if (!last_access_first_write(p))
		return;
	last_access_make_overflow(o->accesses, p);
	p->key1 = key & 0x1fffffu;
	check_first_write(o, p, granule);
}

/* Brings the owner of the location up to date, or notes that it is shared now. */
static inline void update_owner(struct order *o, struct location *p, uint64_t granule)
{
	if (!p->shared)
		update_unshared(o, p, granule);
	else if (last_access_first_write(p) && p->key1 / 2 != o->view->thread)
		check_first_write(o, p, granule);
}

static void apply_reads_from(struct order *o)
{
	struct vclock *seen = &thread_of(o, o->view->thread)->must_follow;

	for (size_t i = 0; i < o->reads_from_count; i++)
		vclock_raise(seen, o->reads_from[i].thread, o->reads_from[i].index);
	o->reads_from_count = 0;
}

/* The event reads the last write of another thread: if that was blind, the event comes after it. */
static void note_reads_from(struct order *o, const struct location *p)
{
	const struct vclock *seen = &o->threads[o->view->thread].must_follow;
	const struct packed_access *w;
	uint32_t writer;
	uint64_t index;

	if (!p->blind_write || !(w = last_access_write(o->accesses, p, &writer)) ||
	    writer == o->view->thread)
		return;
	index = last_access_index(o->accesses, w);
	if (vclock_get(seen, writer) > index)
		return;
	if (o->reads_from_count == ORDER_READS_FROM)
		apply_reads_from(o);
	o->reads_from[o->reads_from_count].thread = writer;
	o->reads_from[o->reads_from_count++].index =
		order_end_of(o, writer, index, o->view->lockset) + 1;
}

static void visit_location(void *ctx, struct location *p, uint64_t granule)
{
	struct order *o = ctx;
	uint32_t thread = o->view->thread;
	const struct packed_access *read;

	update_owner(o, p, granule);
	if (o->access & ACCESS_READ && !access_by_chance(o->ev->kind, o->ev->arg))
		note_reads_from(o, p);
	if (o->access & ACCESS_WRITE) {
		read = o->access & ACCESS_READ ? NULL : last_access_of(o->accesses, p, 2 * thread);
		p->blind_write =
			!(o->access & ACCESS_READ) &&
			(!read ||
			 last_access_index(o->accesses, read) < o->threads[thread].section_first);
	}
	last_access_set(o->accesses, p, current_access(o, granule),
			2 * thread + !!(o->access & ACCESS_WRITE));
}

static void on_access(struct order *o)
{
	o->accesses = o->data;
	o->packed.segment = 0;
	last_access_each(o->data, o->ev->addr, o->ev->size, visit_location, o);
	apply_reads_from(o);
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
	if (roles & (ROLE_ACQUIRE | ROLE_WAIT_BEGIN | ROLE_NOTIFY | ROLE_SEM) ||
	    kind == TRACE_BARRIER_ENTER)
		return OBJECT_USE;
	return OBJECT_NONE;
}

static void on_object(struct order *o, enum object_use how)
{
	o->accesses = o->objects;
	o->packed.segment = 0;
	/* Releases count as writes, to be remembered beside other uses: both may come too late. */
	o->access = how == OBJECT_INIT || how == OBJECT_RELEASE ? ACCESS_WRITE : ACCESS_READ;
	if (how == OBJECT_INIT)
		last_access_forget(o->objects, o->ev->addr, 1);
	if (how == OBJECT_DESTROY) {
		order_destroyed(o);
		last_access_forget(o->objects, o->ev->addr, 1);
	} else {
		last_access_each(o->objects, o->ev->addr, 1, visit_location, o);
		o->reads_from_count = 0;	/* using an object reads nothing */
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
		on_access(o);
		note_reads(o, t);
		return;
	}
	if (kind_extra(ev->kind))
		t->last_timed = ev->time;
	if (view->gone_size) {
		if (trace_roles(ev->kind) & ROLE_FREE || ev->kind == TRACE_THREAD_EXIT)
			order_freed(o);
		last_access_forget(o->data, view->gone_addr, view->gone_size);
		last_access_forget(o->objects, view->gone_addr, view->gone_size);
	}
	how = object_use(ev->kind);
	if (how && !ev->result && !(view->ignore & 4))
		on_object(o, how);
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
		vclock_join(&o->threads[view->thread].must_follow,
			    &o->threads[ev->arg].must_follow);
	}
}

static void order_prefetch(void *state, const struct event *ev)
{
	struct order *o = state;
	uint32_t n = o->prefetch_count++;

	o->prefetch[n % ORDER_PREFETCH] = ev->addr;
	last_access_prefetch(o->data, ev->addr, 0);
	last_access_prefetch(o->data, o->prefetch[(n - ORDER_PREFETCH / 4) % ORDER_PREFETCH], 1);
	last_access_prefetch(o->data, o->prefetch[(n - ORDER_PREFETCH / 2) % ORDER_PREFETCH], 2);
}

static void order_finish(void *state, struct findings *out)
{
	const struct order *o = state;

	findings_dropped(out, last_access_dropped(o->data) + last_access_dropped(o->objects));
}

const struct analysis analysis_order = {
	.name = "order", .summary = "use before initialisation, after free and after destroy",
	.open = order_open, .event = order_event, .soon = order_prefetch, .finish = order_finish,
	.close = order_close,
};
