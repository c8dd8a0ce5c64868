#include "learn/fold/interleaved.h"

#include <stdlib.h>

#include "base/mem.h"

#define VISITORS 16u	/* per pair; further ones are dropped, as if they had not come */

/* A thread's last access, and the sites of other threads that came since. */
struct last_access {
	uint32_t thread, site;	/* site 0: not known */
	/* number of blocking calls of the thread before the access */
	uint32_t blocked_calls;
	uint32_t count;
	uint32_t visitors[VISITORS];
};

struct cell {
	struct last_access *accesses;
	size_t count, capacity;
};

struct interleaved {
	struct cells memory, locks;
	uint32_t *blocked_calls;	/* by thread: number of blocking calls so far */
	size_t thread_count;
	struct learn_pairs unblocked, visits;
};

static void clear(void *item)
{
	free(((struct cell *)item)->accesses);
}

struct interleaved *interleaved_new(unsigned granularity)
{
	struct interleaved *in = xcalloc(1, sizeof(*in));

	cells_init(&in->memory, granularity, sizeof(struct cell));
	cells_init(&in->locks, LEARN_GRANULARITY, sizeof(struct cell));
	return in;
}

void interleaved_free(struct interleaved *in)
{
	if (!in)
		return;
	cells_free(&in->memory, clear);
	cells_free(&in->locks, clear);
	free(in->blocked_calls);
	learn_pairs_free(&in->unblocked);
	learn_pairs_free(&in->visits);
	free(in);
}

static void visit(struct last_access *o, uint32_t site)
{
	for (uint32_t i = 0; i < o->count; i++)
		if (o->visitors[i] == site)
			return;
	if (o->count < VISITORS)
		o->visitors[o->count++] = site;
}

static void close_pair(struct interleaved *in, const struct last_access *o, uint32_t site)
{
	learn_pairs_add(&in->unblocked, o->site, site);
	for (uint32_t i = 0; i < o->count; i++)
		learn_pairs_add(&in->visits, o->site, o->visitors[i]);
}

static void step(struct interleaved *in, struct cell *c, const struct learn_step *s)
{
	struct last_access *own = NULL;

	for (size_t i = 0; i < c->count; i++)
		if (c->accesses[i].thread == s->thread)
			own = &c->accesses[i];
		else if (s->site)
			visit(&c->accesses[i], s->site);
	if (!own) {
		c->accesses = xgrow(c->accesses, c->count, &c->capacity, sizeof(*c->accesses));
		own = &c->accesses[c->count++];
	} else if (own->site && s->site && own->blocked_calls == in->blocked_calls[s->thread]) {
		close_pair(in, own, s->site);
	}
	own->thread = s->thread;
	own->site = s->site;
	own->blocked_calls = in->blocked_calls[s->thread];
	own->count = 0;
}

void interleaved_step(struct interleaved *in, const struct learn_step *s)
{
	bool lock = s->op == IROOT_OP_ACQUIRE,
	     access = s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE;
	struct cells *cells = lock ? &in->locks : &in->memory;

	if (s->op == IROOT_OP_FRESH) {
		cells_forget(&in->memory, s->addr, s->size, clear);
		cells_forget(&in->locks, s->addr, s->size, clear);
	}
	if (!lock && !(access && s->size))
		return;
	in->blocked_calls =
		xreach(in->blocked_calls, s->thread, &in->thread_count, sizeof(*in->blocked_calls));
	for (uint64_t i = cells_first(cells, s->addr);
	     i <= cells_last(cells, s->addr, lock ? 1 : s->size); i++)
		step(in, cells_get(cells, i), s);
}

void interleaved_blocked(struct interleaved *in, uint32_t thread)
{
	in->blocked_calls =
		xreach(in->blocked_calls, thread, &in->thread_count, sizeof(*in->blocked_calls));
	in->blocked_calls[thread]++;
}

const struct learn_pairs *interleaved_unblocked(const struct interleaved *in)
{
	return &in->unblocked;
}

const struct learn_pairs *interleaved_visits(const struct interleaved *in)
{
	return &in->visits;
}
