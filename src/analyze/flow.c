#include "analyze/flow.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/access.h"
#include "base/map.h"
#include "base/mem.h"

#define FORGET_MOST 65536u	/* bytes given out anew, beyond which all is forgotten */

/* Eight bytes. */
struct granule {
	uint64_t written;	/* index of the last write */
	uint64_t readers;	/* threads that read it since they wrote it, one bit each, by number */
	uint32_t writer;	/* 0: unknown */
	uint8_t mask;		/* bytes of that write */
	bool flag;
};

struct flow {
	struct map at;		/* address / 8 to number in `granules`, plus 1 */
	struct granule *granules;
	size_t count, capacity;
	struct vclock *seen;	/* by thread */
	size_t threads;
};

struct flow *flow_new(void)
{
	return xcalloc(1, sizeof(struct flow));
}

void flow_free(struct flow *f)
{
	for (size_t i = 0; i < f->threads; i++)
		vclock_free(&f->seen[i]);
	free(f->seen);
	free(f->granules);
	map_free(&f->at);
	free(f);
}

const struct vclock *flow_seen(struct flow *f, uint32_t thread)
{
	f->seen = xreach(f->seen, thread, &f->threads, sizeof(*f->seen));
	return &f->seen[thread];
}

static struct granule *granule_at(struct flow *f, uint64_t number)
{
	uint64_t *at = map_put(&f->at, number, NULL);

	if (!*at) {
		f->granules = xgrow(f->granules, f->count, &f->capacity, sizeof(*f->granules));
		f->granules[f->count] = (struct granule){ 0 };
		*at = ++f->count;
	}
	return &f->granules[*at - 1];
}

static void forget(struct flow *f, uint64_t addr, uint64_t size)
{
	if (size > FORGET_MOST) {
		map_free(&f->at);
		f->count = 0;
		return;
	}
	for (uint64_t n = addr / 8; n * 8 < addr + size; n++) {
		const uint64_t *at = map_find(&f->at, n);

		if (at)
			f->granules[*at - 1].writer = 0;
	}
}

static void touch(struct flow *f, const struct event *ev, uint64_t index, uint64_t number)
{
	struct granule *g = granule_at(f, number);
	uint64_t from = ev->addr > number * 8 ? ev->addr - number * 8 : 0, bit = 1ull << (ev->thread & 63);
	uint64_t to = ev->addr + ev->size < number * 8 + 8 ? ev->addr + ev->size - number * 8 : 8;
	uint8_t mask = (uint8_t)((0xffu << from) & (0xffu >> (8 - to)));
	unsigned access = access_of(ev->kind);

	if (access & ACCESS_READ) {
		/* All that is read was written at once, so that nobody else can have been needed. */
		if (g->flag && g->writer && g->writer != ev->thread && (mask & ~g->mask) == 0) {
			flow_seen(f, ev->thread);
			vclock_raise(&f->seen[ev->thread], g->writer, g->written + 1);
		}
		g->readers |= bit;
	}
	if (access & ACCESS_WRITE) {
		g->flag = !(g->readers & bit);
		/* Who exchanged it knows what is there: giving a lock back sets no flag. */
		if (!(access & ACCESS_READ))
			g->readers &= ~bit;
		g->writer = ev->thread;
		g->written = index;
		g->mask = mask;
	}
}

void flow_event(struct flow *f, const struct event *ev, uint64_t index)
{
	if ((ev->kind == TRACE_MALLOC || ev->kind == TRACE_MMAP) && ev->result == 0)
		forget(f, ev->addr, ev->arg);
	if (!access_of(ev->kind) || ev->size == 0)
		return;
	for (uint64_t n = ev->addr / 8; n * 8 < ev->addr + ev->size; n++)
		touch(f, ev, index, n);
}

bool flow_forbids(const struct candidate *c, const struct vclock *const *seen)
{
	for (unsigned i = 0; i < c->orders; i++) {
		unsigned first = c->order[i].first, second = c->order[i].second;

		if (c->event[first].thread != c->event[second].thread && seen[first] &&
		    vclock_get(seen[first], c->event[second].thread) > c->event[second].index)
			return true;
	}
	return false;
}
