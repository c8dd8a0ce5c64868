/*
 * Threads and strong order between them: order that holds in every schedule. Locks and atomics
 * order nothing here.
 */
#include "coverage/fold/fold_internal.h"

/* An object with SIGNAL and WAIT, or a barrier. */
struct sync {
	uint32_t clock;		/* joined clocks of all SIGNALs, or of this round of the barrier */
	uint32_t round_clock;	/* barrier: joined clocks of the last complete round */
	uint32_t party, arrived;	/* barrier: threads of a round; those that entered so far */
};

/* In this file, ref 0 of a clock means the zero clock. */
static uint32_t clock_new(struct iroot_profile *p, uint32_t count)
{
	uint32_t ref = iroot_alloc(p, sizeof(struct iroot_clock) + count * sizeof(uint32_t));

	if (ref)
		((struct iroot_clock *)iroot_at(p, ref))->count = count;
	return ref;
}

static bool clock_has(const struct iroot_profile *p, const struct iroot_clock *c,
		      const struct iroot_clock *other)
{
	for (uint32_t i = 0; i < other->count; i++)
		if (other->at[i] > iroot_clock_get(p, c, i))
			return false;
	return true;
}

/* *to becomes the maximum of both clocks. A clock that is `kept`, or too small, is copied first. */
static void clock_join(struct iroot_profile *p, uint32_t *to, uint32_t from, bool kept)
{
	struct iroot_clock *a = iroot_at(p, *to), *c;
	const struct iroot_clock *b = iroot_at(p, from);
	uint32_t ref = *to, old = *to ? a->count : 0, count;

	if (!from || (*to && clock_has(p, a, b)))
		return;
	count = old > b->count ? old : b->count;
	if (kept || !*to || old < count)
		ref = clock_new(p, count);
	if (!ref)
		return;
	c = iroot_at(p, ref);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t x = i < old ? a->at[i] : 0, y = iroot_clock_get(p, b, i);

		c->at[i] = x > y ? x : y;
	}
	*to = ref;
}

uint32_t iroot_clock_keep(struct iroot_profile *p, struct iroot_thread *t)
{
	(void)p;
	t->clock_kept = true;
	return t->clock;
}

static void thread_join(struct iroot_profile *p, struct iroot_thread *t, uint32_t clock)
{
	uint32_t before = t->clock;

	clock_join(p, &t->clock, clock, t->clock_kept);
	if (t->clock != before)
		t->clock_kept = false;
}

/* Begins a new epoch of the thread: clocks copied from it so far do not cover its next events. */
static void thread_tick(struct iroot_profile *p, struct iroot_thread *t)
{
	struct iroot_clock *c = iroot_at(p, t->clock), *new;
	uint32_t ref = t->clock;

	if (t->clock_kept) {
		ref = clock_new(p, c->count);
		if (!ref)
			return;
		new = iroot_at(p, ref);
		for (uint32_t i = 0; i < c->count; i++)
			new->at[i] = c->at[i];
		t->clock = ref;
		t->clock_kept = false;
	}
	((struct iroot_clock *)iroot_at(p, ref))->at[t->own]++;
}

struct iroot_thread *iroot_thread(struct iroot_profile *p, uint32_t number, bool created)
{
	uint32_t *cached = &p->thread_cache[number % IROOT_RECENT], *ref;
	struct iroot_thread *t = *cached ? iroot_at(p, *cached) : NULL;
	bool added;

	if (t && t->number == number)
		return t;
	ref = iroot_table_put(p, &p->threads, number, &added);
	if (ref && !*ref) {
		*ref = iroot_alloc(p, sizeof(*t));
		if (!*ref)
			return NULL;
		t = iroot_at(p, *ref);
		t->number = number;
		t->own = p->thread_count++;
		p->uncreated_threads += t->own > 0 && !created;
		t->clock = clock_new(p, t->own + 1);
		if (!t->clock) {
			*ref = 0;
			return NULL;
		}
		((struct iroot_clock *)iroot_at(p, t->clock))->at[t->own] = 1;
		t->next = p->all_threads;
		p->all_threads = *ref;
	}
	if (!ref)
		return NULL;
	*cached = *ref;
	return iroot_at(p, *ref);
}

static struct sync *sync_at(struct iroot_profile *p, uint64_t addr)
{
	bool added;
	uint32_t *ref = iroot_table_put(p, &p->syncs, addr, &added);

	if (ref && !*ref)
		*ref = iroot_alloc(p, sizeof(struct sync));
	return ref && *ref ? iroot_at(p, *ref) : NULL;
}

/* The joins copy the clock, so that a later round does not change that of a complete one. */
static void barrier_enter(struct iroot_profile *p, struct sync *s, struct iroot_thread *t)
{
	clock_join(p, &s->clock, t->clock, true);
	if (s->party == 0 || ++s->arrived < s->party)
		return;
	s->arrived = 0;
	s->round_clock = s->clock;
	s->clock = 0;
}

static void threads_step(struct iroot_profile *p, struct iroot_thread *t,
			 const struct iroot_step *step)
{
	struct iroot_thread *other = iroot_thread(p, (uint32_t)step->addr, true);

	if (!other || other == t)
		return;
	if (step->op == IROOT_OP_JOIN) {
		thread_join(p, t, other->clock);
		other->ended = true;
		return;
	}
	thread_join(p, other, t->clock);
	thread_tick(p, t);
}

void iroot_order_step(struct iroot_profile *p, struct iroot_thread *t,
		      const struct iroot_step *step)
{
	struct sync *s;

	if (step->op == IROOT_OP_CREATE || step->op == IROOT_OP_JOIN) {
		threads_step(p, t, step);
		return;
	}
	s = sync_at(p, step->addr);
	if (!s)
		return;
	switch (step->op) {
	case IROOT_OP_SIGNAL:
		clock_join(p, &s->clock, t->clock, true);
		thread_tick(p, t);
		break;
	case IROOT_OP_WAIT:
		thread_join(p, t, s->clock);
		break;
	case IROOT_OP_BARRIER_INIT:
		s->party = (uint32_t)step->size;
		s->arrived = 0;
		s->clock = s->round_clock = 0;
		break;
	case IROOT_OP_BARRIER_ENTER:
		barrier_enter(p, s, t);
		thread_tick(p, t);
		break;
	case IROOT_OP_BARRIER_LEAVE:
		thread_join(p, t, s->party ? s->round_clock : s->clock);
		break;
	}
}
