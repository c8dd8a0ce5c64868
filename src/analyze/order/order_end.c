/*
 * Use after free and after destroy: when memory is freed or an object destroyed, could another
 * thread's last access have come later? order_violation.c says what counts as order.
 */
#include "analyze/order/order_violation.h"

/*
 * Collects order by reference counts. `mine` is an access of the freeing thread to a location of
 * the block. If both threads changed the location atomically or under a common lock, the free comes
 * after the other thread's change, and after the section it is in.
 */
static void count_access(struct order *o, const struct location *p,
			 const struct unpacked_access *mine, uint64_t granule)
{
	for (unsigned i = 0; i < p->count; i++) {
		uint32_t key;
		const struct packed_access *last = last_access_nth(o->accesses, p, i, &key);
		struct unpacked_access theirs;

		if (key / 2 == o->view->thread || !(key & 1))
			continue;
		theirs = last_access_unpack(o->accesses, last, granule);
		if (theirs.at.time > mine->at.time)
			continue;
		if ((mine->access & theirs.access & ACCESS_ATOMIC) ||
		    locks_exclude(o->ctx->locks, mine->at.lockset, theirs.at.lockset))
			vclock_raise(&o->counted, theirs.at.thread,
				     order_end_of(o, theirs.at.thread, theirs.at.index,
						  mine->at.lockset) + 1);
	}
}

/* Calls count_access() for the accesses of the freeing thread. */
static void count_block(void *ctx, struct location *p, uint64_t granule)
{
	struct order *o = ctx;

	for (unsigned i = 0; i < p->count && p->count > 1; i++) {
		uint32_t key;
		const struct packed_access *last = last_access_nth(o->accesses, p, i, &key);
		struct unpacked_access mine;

		if (key / 2 != o->view->thread)
			continue;
		mine = last_access_unpack(o->accesses, last, granule);
		count_access(o, p, &mine, granule);
	}
}

/*
 * True if the freeing thread overwrote in section `s` what the other thread had read in the section
 * of its access, and a lock excludes the two sections.
 */
static bool unpublishes(const struct order *o, const struct section *s,
			const struct unpacked_access *use)
{
	struct locks_held held;
	size_t i;

	if (s->time <= use->at.time || !(s->writes & use->section_reads))
		return false;
	i = locks_index(o->ctx->locks, use->at.lockset, s->lock);
	if (i == LOCKS_ABSENT)
		return false;
	locks_at(o->ctx->locks, use->at.lockset, i, &held);
	return !(s->shared && held.shared);
}

/* True if the other thread, had it entered its section later, would have read other values. */
static bool unpublished(const struct order *o, const struct unpacked_access *use)
{
	const struct section *mine, *s;
	size_t count;

	if (!use->at.lockset)
		return false;
	mine = sections_held(o->sections, o->view->thread, &count);
	for (size_t i = 0; i < count; i++)
		if (unpublishes(o, &mine[i], use))
			return true;
	for (size_t back = 0; back < SECTIONS_KEPT; back++) {
		s = sections_left(o->sections, o->view->thread, 0, back);
		if (!s || s->end_time <= use->at.time)
			return false;
		if (unpublishes(o, s, use))
			return true;
	}
	return false;
}

static void emit_end(struct order *o, const struct unpacked_access *use)
{
	struct candidate_event end = view_event(o->view, o->ev);
	bool freed = o->view->gone_size != 0;

	order_emit(o, freed ? PATTERN_USE_FREE : PATTERN_USE_DESTROY,
		   o->ev->kind == TRACE_THREAD_EXIT ?
		   "the thread whose stack it is on may end before its last use" : NULL,
		   &end, &use->at, &use->at);
}

/* Judges the last accesses of other threads to a location that is freed or destroyed. */
static void check_end(void *ctx, struct location *p, uint64_t granule)
{
	struct order *o = ctx;
	const struct vclock *seen = &o->threads[o->view->thread].must_follow;

	for (unsigned i = 0; i < p->count; i++) {
		uint32_t key, thread;
		const struct packed_access *last = last_access_nth(o->accesses, p, i, &key);
		struct unpacked_access use;

		thread = key / 2;
		if (thread == o->view->thread)
			continue;
		if (vclock_saw(o->view->order, thread,
			       last_access_segment(o->accesses, last)->order_epoch)) {
			findings_pruned(o->out, PRUNE_HB, 1);
			continue;
		}
		use = last_access_unpack(o->accesses, last, granule);
		if (vclock_get(seen, thread) > use.at.index ||
		    vclock_get(&o->counted, thread) > use.at.index)
			findings_pruned(o->out, PRUNE_READS_FROM, 1);
		else if (unpublished(o, &use))
			findings_pruned(o->out, PRUNE_LOCK, 1);
		else
			emit_end(o, &use);
	}
}

void order_freed(struct order *o)
{
	const struct view *v = o->view;

	for (uint32_t i = 0; i < o->counted.count; i++)
		o->counted.at[i] = 0;
	o->accesses = o->data;
	last_access_each_known(o->data, v->gone_addr, v->gone_size, count_block, o);
	last_access_each_known(o->data, v->gone_addr, v->gone_size, check_end, o);
	o->accesses = o->objects;
	last_access_each_known(o->objects, v->gone_addr, v->gone_size, check_end, o);
}

void order_destroyed(struct order *o)
{
	for (uint32_t i = 0; i < o->counted.count; i++)
		o->counted.at[i] = 0;
	o->accesses = o->objects;
	last_access_each_known(o->objects, o->ev->addr, 1, check_end, o);
}
