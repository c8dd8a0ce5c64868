#include "analyze/context/spin_locks.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/access.h"
#include "base/hash.h"
#include "base/mem.h"

#define FILTER_BITS 16u

enum use { USE_LOOK, USE_TAKE, USE_GIVE, USE_WRONG };

/* A place that somebody took. */
struct place {
	uint64_t addr;
	uint32_t holder;	/* 0: nobody */
	uint32_t first;		/* who took it first */
	bool by_two, given, wrong;
};

struct search {
	struct map at;		/* address to number, plus 1 */
	struct place *places;
	size_t count, capacity;
	uint64_t filter[(1u << FILTER_BITS) / 64];	/* most writes are to none of them */
};

void spins_init(struct spins *s, const char *path)
{
	*s = (struct spins){ .path = path };
}

void spins_free(struct spins *s)
{
	map_free(&s->locks);
}

static bool is_atomic(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_ATOMIC;
}

static unsigned order_of(const struct event *ev)
{
	return ev->detail >> TRACE_ORDER_SHIFT & TRACE_ORDER_MASK;
}

static bool takes(const struct event *ev)
{
	return (ev->kind == TRACE_ATOMIC_XCHG || ev->kind == TRACE_ATOMIC_CAS) && ev->arg == 0 &&
	       access_acquires(order_of(ev));
}

/* By its holder. What an update leaves there is not known: the next taking has to find 0. */
static enum use use_by_holder(const struct event *ev)
{
	bool given = ev->arg != 0;

	switch (ev->kind) {
	case TRACE_ATOMIC_LOAD: case TRACE_ATOMIC_CAS_FAIL:
		return USE_LOOK;
	case TRACE_ATOMIC_STORE:
		given = ev->arg == 0;
		break;
	}
	return given && access_releases(order_of(ev)) ? USE_GIVE : USE_WRONG;
}

static enum use use_of(const struct event *ev, uint32_t holder)
{
	if (holder == ev->thread)
		return use_by_holder(ev);
	switch (ev->kind) {
	case TRACE_ATOMIC_CAS_FAIL:	/* also a weak one that could have done it */
		return USE_LOOK;
	case TRACE_ATOMIC_LOAD:
		return holder || ev->arg == 0 ? USE_LOOK : USE_WRONG;
	case TRACE_ATOMIC_STORE:	/* made ready before the first taking, and again */
		return !holder && ev->arg == 0 ? USE_LOOK : USE_WRONG;
	case TRACE_ATOMIC_XCHG:
		if (holder && ev->arg != 0)
			return USE_LOOK;
		break;
	}
	return !holder && takes(ev) ? USE_TAKE : USE_WRONG;
}

static bool in_filter(struct search *f, uint64_t addr, bool add)
{
	uint64_t hash = hash_spread(addr) >> (64 - FILTER_BITS);
	uint64_t bit = 1ull << (hash & 63);

	if (add)
		f->filter[hash >> 6] |= bit;
	return (f->filter[hash >> 6] & bit) != 0;
}

static struct place *place_of(struct search *f, const struct event *ev)
{
	uint64_t *number;

	if (!in_filter(f, ev->addr, false) && !takes(ev))
		return NULL;
	number = map_find(&f->at, ev->addr);
	if (!number && takes(ev)) {
		number = map_put(&f->at, ev->addr, NULL);
		f->places = xgrow(f->places, f->count, &f->capacity, sizeof(*f->places));
		f->places[f->count++] = (struct place){ .addr = ev->addr, .first = ev->thread };
		*number = f->count;
		in_filter(f, ev->addr, true);
	}
	return number ? &f->places[*number - 1] : NULL;
}

static void look(struct search *f, const struct event *ev)
{
	struct place *p;

	if (!is_atomic(ev) && !(access_of(ev->kind) & ACCESS_WRITE))
		return;
	p = place_of(f, ev);
	if (!p || p->wrong)
		return;
	if (!is_atomic(ev)) {
		p->wrong = p->holder != 0;	/* else it is made ready, or is another's memory by now */
		return;
	}
	switch (use_of(ev, p->holder)) {
	case USE_TAKE:
		p->holder = ev->thread;
		p->by_two |= ev->thread != p->first;
		break;
	case USE_GIVE:
		p->holder = 0;
		p->given = true;
		break;
	case USE_WRONG:
		p->wrong = true;
		break;
	case USE_LOOK:
		break;
	}
}

/* Of a trace that cannot be read to its end, the rest says what is wrong: no locks. */
static void find(struct spins *s)
{
	struct search *f = xcalloc(1, sizeof(*f));
	struct err err;
	struct reader *r = s->path ? reader_open(s->path, &err) : NULL;
	struct event ev;
	int got = -1;

	while (r && (got = reader_next(r, &ev, &err)) > 0)
		look(f, &ev);
	for (size_t i = 0; got == 0 && i < f->count; i++)
		if (f->places[i].by_two && f->places[i].given && !f->places[i].wrong)
			map_put(&s->locks, f->places[i].addr, NULL);
	reader_close(r);
	map_free(&f->at);
	free(f->places);
	free(f);
}

static void become(struct event *ev, uint16_t kind)
{
	ev->kind = kind;
	ev->size = 0;
	ev->arg = 0;
	ev->detail = 0;
	ev->result = 0;
}

void spins_translate_atomic(struct spins *s, struct event *ev)
{
	uint64_t *holder;

	if (!s->searched && takes(ev)) {
		s->searched = true;
		find(s);
	}
	holder = map_count(&s->locks) ? map_find(&s->locks, ev->addr) : NULL;
	if (!holder)
		return;
	switch (use_of(ev, (uint32_t)*holder)) {
	case USE_TAKE:
		*holder = ev->thread;
		become(ev, TRACE_SPIN_LOCK);
		break;
	case USE_GIVE:
		*holder = 0;
		become(ev, TRACE_SPIN_UNLOCK);
		break;
	default:
		if (ev->kind == TRACE_ATOMIC_XCHG)
			ev->kind = TRACE_ATOMIC_LOAD;
		break;
	}
}
