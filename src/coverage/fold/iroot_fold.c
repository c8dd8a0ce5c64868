/*
 * The interface of the fold: splits each step by locations, passes the parts to the other files,
 * and returns the iRoots that they found.
 */
#include "coverage/fold/iroot_fold.h"

#include "coverage/fold/fold_internal.h"

#define MIN_MEMORY (256u << 10)	/* bytes */
#define MAX_ACCESS (1u << 20)	/* bytes of one access; the rest is ignored and counted as lost */

struct iroot_profile *iroot_profile_init(void *memory, uint64_t size, uint32_t window)
{
	struct iroot_profile *p = memory;

	if (size < MIN_MEMORY)
		return NULL;
	p->size = size;
	p->used = (sizeof(*p) + 7) & ~7ull;
	p->list_budget = IROOT_LIST_BUDGET;
	p->limit = size - sizeof(*p) - IROOT_MAX_PIECE;
	p->window = window;
	p->version = IROOT_PROFILE_VERSION;
	p->magic = IROOT_MAGIC;
	return p;
}

struct iroot_profile *iroot_profile_open(void *memory, uint64_t size)
{
	struct iroot_profile *p = memory;

	if (size < MIN_MEMORY || p->magic != IROOT_MAGIC || p->version != IROOT_PROFILE_VERSION ||
	    p->busy)
		return NULL;
	p->damaged |= p->size < MIN_MEMORY || p->size > size || p->used < sizeof(*p) ||
		p->used > p->size;
	p->limit = p->damaged ? 0 : p->size - sizeof(*p) - IROOT_MAX_PIECE;
	return p;
}

uint64_t iroot_profile_used(const void *memory, uint64_t size)
{
	const struct iroot_profile *p = memory;
	uint64_t used;

	if (size < MIN_MEMORY || p->magic != IROOT_MAGIC)
		return 0;
	used = *(const volatile uint64_t *)&p->used;	/* read once: the program may change it */
	return used >= sizeof(*p) && used <= size ? used : sizeof(*p);
}

static void step_at_location(struct iroot_profile *p, struct iroot_location_step *t, uint32_t loc)
{
	if (!loc)
		return;
	t->loc = iroot_at(p, loc);
	t->loc->used = 1;
	if (p->window)
		iroot_exposed_step(p, t);
	iroot_predicted_step(p, t);
}

static void access_step(struct iroot_profile *p, struct iroot_thread *thread,
			const struct iroot_step *step)
{
	struct iroot_location_step t = { .thread = thread, .index = ++thread->events };
	uint64_t addr = step->addr, size = step->size;

	t.access = step->op == IROOT_OP_READ ? IROOT_READ : IROOT_WRITE;
	t.event = iroot_event_number(p, step->site, t.access);
	p->lost += size > MAX_ACCESS;
	if (size > MAX_ACCESS)
		size = MAX_ACCESS;
	while (t.event && size > 0) {
		uint64_t part = 8 - (addr & 7);

		if (part > size)
			part = size;
		t.mask = (uint8_t)(((1u << part) - 1) << (addr & 7));
		step_at_location(p, &t, iroot_location_granule(p, addr / 8));
		addr += part;
		size -= part;
	}
}

static struct iroot_held *held_find(struct iroot_thread *t, uint32_t lock)
{
	for (uint32_t i = t->held_count; i-- > 0;)
		if (t->held[i].lock == lock)
			return &t->held[i];
	return NULL;
}

static void held_drop(struct iroot_thread *t, struct iroot_held *h)
{
	iroot_recent_end(&t->recents, (uint32_t)(h - t->held));
	for (t->held_count--; h < t->held + t->held_count; h++)
		*h = h[1];
}

/* A lock's acquisition and release are steps at its location. The lock does not count as held. */
static void lock_step(struct iroot_profile *p, struct iroot_thread *thread,
		      const struct iroot_step *step)
{
	struct iroot_location_step t = { .thread = thread, .mask = 1 };
	uint32_t loc = iroot_location_lock(p, step->addr);
	struct iroot_held *h = held_find(thread, loc);
	bool release = step->op == IROOT_OP_RELEASE;

	if (!loc || (release ? h && --h->depth > 0 : h && h->depth++ > 0))
		return;		/* recursive: no other thread can notice */
	t.index = ++thread->events;
	t.access = release ? IROOT_RELEASE : IROOT_ACQUIRE;
	t.shared = release ? h && h->shared : step->op == IROOT_OP_ACQUIRE_SHARED;
	t.event = iroot_event_number(p, step->site, t.access);
	if (release && h)
		held_drop(thread, h);
	if (t.event)
		step_at_location(p, &t, loc);
	if (release)
		return;
	if (thread->held_count == IROOT_HELD) {
		p->lost++;
		return;
	}
	thread->held[thread->held_count++] = (struct iroot_held){
		.lock = loc, .depth = 1, .shared = t.shared,
		.section = ++((struct iroot_location *)iroot_at(p, loc))->sections };
	iroot_recent_section(&thread->recents, t.index);
}

static void do_step(struct iroot_profile *p, const struct iroot_step *step)
{
	struct iroot_thread *t;

	if (step->op == IROOT_OP_FRESH) {
		iroot_location_forget(p, step->addr, step->size);
		return;
	}
	t = step->op != IROOT_OP_NONE ? iroot_thread(p, step->thread, false) : NULL;
	if (!t)
		return;
	iroot_flags_before(p, t, step);
	switch (step->op) {
	case IROOT_OP_READ: case IROOT_OP_WRITE:
		p->steps++;
		access_step(p, t, step);
		break;
	case IROOT_OP_ACQUIRE: case IROOT_OP_ACQUIRE_SHARED: case IROOT_OP_RELEASE:
		p->steps++;
		lock_step(p, t, step);
		break;
	default:
		iroot_order_step(p, t, step);
	}
	iroot_flags_after(p, t, step);
}

void iroot_profile_step(struct iroot_profile *p, const struct iroot_step *step)
{
	p->busy = 1;
	p->list_budget = IROOT_LIST_BUDGET;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* a killed process leaves `busy` set */
	do_step(p, step);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	p->busy = 0;
}

void iroot_profile_finish(struct iroot_profile *p)
{
	p->list_budget = IROOT_LIST_BUDGET;
	if (!p->finished)
		iroot_compound_finish(p);
	p->finished = 1;
}

/* Marks the profile as damaged. Returns 0, which ends a loop over iRoots. */
static uint32_t damaged(const struct iroot_profile *p)
{
	iroot_bad_ref(p, 1);
	return 0;
}

bool iroot_profile_damaged(const struct iroot_profile *p)
{
	return p->damaged;
}

uint32_t iroot_profile_next(const struct iroot_profile *p, uint32_t *cursor, struct iroot *out)
{
	const struct iroot_found *f;
	uint32_t before = *cursor;

	*cursor = before ? ((const struct iroot_found *)iroot_at(p, before))->next : p->all_found;
	if (!*cursor)
		return 0;
	f = iroot_at(p, *cursor);
	if (*cursor <= before || f->idiom < 1 || f->idiom > IROOT_IDIOMS ||
	    !(f->flags & (IROOT_EXPOSED | IROOT_PREDICTED)))
		return damaged(p);
	out->idiom = f->idiom;
	for (unsigned i = 0; i < IROOT_EVENTS; i++) {
		const struct iroot_event none = { 0 };
		const struct iroot_event *e = f->event[i] ? iroot_at(p, f->event[i]) : &none;

		if (e->access > IROOT_RELEASE)
			return damaged(p);
		out->event[i].site = e->site;
		out->event[i].access = e->access;
	}
	return f->flags;
}

void iroot_profile_stats(const struct iroot_profile *p, struct iroot_profile_stats *out)
{
	*out = (struct iroot_profile_stats){
		.steps = p->steps,
		.dependencies = p->dependencies,
		.locations = p->location_count,
		.entries = p->entry_count,
		.pairs = p->pair_count,
		.lost = p->lost,
		.bytes = p->used,
	};
}
