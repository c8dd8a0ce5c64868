#include "learn/fold/cancellation.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

struct thread {
	uint32_t by;		/* site that cancelled the thread, or 0 */
	bool left;		/* it left a blocking call because of that */
	bool went_on;		/* it accessed memory or took a lock after that */
	unsigned held;		/* number of locks it holds */
};

struct cancellation {
	struct thread *threads;
	size_t count;
	struct learn_pairs went_on, left_call;
};

struct cancellation *cancellation_new(void)
{
	return xcalloc(1, sizeof(struct cancellation));
}

void cancellation_free(struct cancellation *c)
{
	if (!c)
		return;
	free(c->threads);
	learn_pairs_free(&c->went_on);
	learn_pairs_free(&c->left_call);
	free(c);
}

static void hold(struct thread *t, const struct learn_step *s)
{
	if (s->op == IROOT_OP_ACQUIRE || s->op == IROOT_OP_ACQUIRE_SHARED)
		t->held++;
	else if (s->op == IROOT_OP_RELEASE && t->held)
		t->held--;
}

/* Releases do not count: clean-up handlers and the end of a thread make them, too. */
static bool goes_on(const struct learn_step *s)
{
	return s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE || s->op == IROOT_OP_ACQUIRE ||
	       s->op == IROOT_OP_ACQUIRE_SHARED;
}

static bool leaves(const struct event *ev)
{
	return ev->kind == TRACE_CALL_LEAVE ? ev->detail & TRACE_CALL_UNWOUND
					    : ev->result == ECANCELED;
}

void cancellation_event(struct cancellation *c, const struct event *ev,
			const struct learn_step *steps, unsigned count, uint32_t site)
{
	uint64_t most =
		ev->kind == TRACE_THREAD_CANCEL && ev->arg > ev->thread ? ev->arg : ev->thread;
	struct thread *t;

	if (most >= UINT32_MAX)
		return;
	c->threads = xreach(c->threads, most, &c->count, sizeof(*c->threads));
	t = &c->threads[ev->thread];
	t->left |= leaves(ev);
	for (unsigned i = 0; i < count; i++) {
		hold(t, &steps[i]);
		t->went_on |= t->by && !t->left && goes_on(&steps[i]);
	}
	/* A thread that ends with a lock held may have done no harm by luck: it does not count. */
	if (ev->kind == TRACE_THREAD_EXIT && t->by && !t->held)
		learn_pairs_add(t->went_on ? &c->went_on : &c->left_call, t->by, t->by);
	if (ev->kind == TRACE_THREAD_CANCEL && ev->arg && ev->arg != ev->thread &&
	    !c->threads[ev->arg].by)
		c->threads[ev->arg].by = site;
}

void cancellation_add_to(const struct cancellation *c, struct learn_pairs *first,
			 struct learn_pairs *after)
{
	for (size_t i = 0; i < c->went_on.count; i++)
		learn_pairs_add(first, c->went_on.items[i].first, c->went_on.items[i].first);
	for (size_t i = 0; i < c->left_call.count; i++)
		learn_pairs_add(after, c->left_call.items[i].first, c->left_call.items[i].first);
}
