/*
 * Something is given back: who used it last, and could that use have come later?
 */
#include "analyze/order/order_violation.h"

/* What a use of the block by who gives it back says: it came after who wrote there before. */
static void count_use(struct order *o, const struct place *p, const struct use *mine, uint64_t granule)
{
	for (unsigned i = 0; i < p->count; i++) {
		uint32_t who;
		const struct kept *last = uses_last(o->uses, p, i, &who);
		struct use theirs;

		if (who / 2 == o->view->thread || !(who & 1))
			continue;
		theirs = uses_at(o->uses, last, granule);
		if (theirs.at.time > mine->at.time)
			continue;
		if ((mine->access & theirs.access & ACCESS_ATOMIC) ||
		    locks_exclude(o->ctx->locks, mine->at.lockset, theirs.at.lockset))
			vclock_raise(&o->block, theirs.at.thread,
				     order_end_of(o, theirs.at.thread, theirs.at.index, mine->at.lockset) + 1);
	}
}

static void count_block(void *ctx, struct place *p, uint64_t granule)
{
	struct order *o = ctx;

	for (unsigned i = 0; i < p->count && p->count > 1; i++) {
		uint32_t who;
		const struct kept *last = uses_last(o->uses, p, i, &who);
		struct use mine;

		if (who / 2 != o->view->thread)
			continue;
		mine = uses_at(o->uses, last, granule);
		count_use(o, p, &mine, granule);
	}
}

/* What the user read in its section, the giver wrote later in one that excludes it. */
static bool unpublishes(const struct order *o, const struct section *s, const struct use *use)
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

/* Had the user entered its section later, it would have found something else. */
static bool unpublished(const struct order *o, const struct use *use)
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

static void tell_gone(struct order *o, const struct use *use)
{
	struct candidate_event end = view_event(o->view, o->ev);
	bool freed = o->view->gone_size != 0;

	order_tell(o, freed ? PATTERN_USE_FREE : PATTERN_USE_DESTROY,
		   o->ev->kind == TRACE_THREAD_EXIT ?
			   "the thread on whose stack it is may end before its last use" : NULL,
		   &end, &use->at, &use->at);
}

static void gone(void *ctx, struct place *p, uint64_t granule)
{
	struct order *o = ctx;
	const struct vclock *seen = &o->threads[o->view->thread].seen;

	for (unsigned i = 0; i < p->count; i++) {
		uint32_t who, thread;
		const struct kept *last = uses_last(o->uses, p, i, &who);
		struct use use;

		thread = who / 2;
		if (thread == o->view->thread)
			continue;
		if (vclock_saw(o->view->order, thread, uses_situation(o->uses, last)->order_epoch)) {
			findings_pruned(o->out, PRUNE_HB, 1);
			continue;
		}
		use = uses_at(o->uses, last, granule);
		if (vclock_get(seen, thread) > use.at.index || vclock_get(&o->block, thread) > use.at.index)
			findings_pruned(o->out, PRUNE_READS_FROM, 1);
		else if (unpublished(o, &use))
			findings_pruned(o->out, PRUNE_LOCK, 1);
		else
			tell_gone(o, &use);
	}
}

void order_freed(struct order *o)
{
	const struct view *v = o->view;

	for (uint32_t i = 0; i < o->block.count; i++)
		o->block.at[i] = 0;
	o->uses = o->data;
	uses_known(o->data, v->gone_addr, v->gone_size, count_block, o);
	uses_known(o->data, v->gone_addr, v->gone_size, gone, o);
	o->uses = o->objects;
	uses_known(o->objects, v->gone_addr, v->gone_size, gone, o);
}

void order_destroyed(struct order *o)
{
	for (uint32_t i = 0; i < o->block.count; i++)
		o->block.at[i] = 0;
	o->uses = o->objects;
	uses_known(o->objects, o->ev->addr, 1, gone, o);
}
