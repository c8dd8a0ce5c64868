#include "analyze/context/spin_locks.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/access.h"
#include "base/hash.h"
#include "base/mem.h"

#define FILTER_BITS 16u

/* What an atomic does to a location that may be a lock. */
enum op {
	OP_NEUTRAL,	/* leaves it as it is, or initialises it */
	OP_ACQUIRE,
	OP_RELEASE,
	OP_NO_LOCK,	/* shows that the location is no lock */
};

/* A location that an atomic may have acquired as a lock. */
struct location {
	uint64_t addr;
	uint32_t holder;	/* id of the thread; 0: free */
	uint32_t first_thread;	/* the one that acquired it first */
	bool two_threads;	/* another one acquired it, too */
	bool released;		/* at least once */
	bool no_lock;		/* an event shows that it is no lock */
};

struct search {
	struct map at;		/* address to index in `locations`, plus 1 */
	struct location *locations;
	size_t count, capacity;
	uint64_t filter[(1u << FILTER_BITS) / 64];	/* bits by hash of their addresses */
};

void spin_locks_init(struct spin_locks *s, const char *path)
{
	*s = (struct spin_locks){ .path = path };
}

void spin_locks_free(struct spin_locks *s)
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

/* Whether the event would acquire a free lock. */
static bool can_acquire(const struct event *ev)
{
	return (ev->kind == TRACE_ATOMIC_XCHG || ev->kind == TRACE_ATOMIC_CAS) && ev->arg == 0 &&
	       access_acquires(order_of(ev));
}

/*
 * The operation of the thread that holds the lock. The trace does not have the new value of an
 * update; if it was not 0, the next acquisition shows that.
 */
static enum op op_of_holder(const struct event *ev)
{
	bool released = ev->arg != 0;

	switch (ev->kind) {
	case TRACE_ATOMIC_LOAD: case TRACE_ATOMIC_CAS_FAIL:
		return OP_NEUTRAL;
	case TRACE_ATOMIC_STORE:
		released = ev->arg == 0;
		break;
	}
	return released && access_releases(order_of(ev)) ? OP_RELEASE : OP_NO_LOCK;
}

/* The operation of any thread, while `holder` holds the lock (0: no thread). */
static enum op op_of(const struct event *ev, uint32_t holder)
{
	if (holder == ev->thread)
		return op_of_holder(ev);
	switch (ev->kind) {
	case TRACE_ATOMIC_CAS_FAIL:	/* also a weak one that failed although it found 0 */
		return OP_NEUTRAL;
	case TRACE_ATOMIC_LOAD:
		return holder || ev->arg == 0 ? OP_NEUTRAL : OP_NO_LOCK;
	case TRACE_ATOMIC_STORE:	/* initialises the lock, perhaps once more */
		return !holder && ev->arg == 0 ? OP_NEUTRAL : OP_NO_LOCK;
	case TRACE_ATOMIC_XCHG:
		if (holder && ev->arg != 0)
			return OP_NEUTRAL;
		break;
	}
	return !holder && can_acquire(ev) ? OP_ACQUIRE : OP_NO_LOCK;
}

static bool in_filter(struct search *f, uint64_t addr, bool add)
{
	uint64_t hash = hash_spread(addr) >> (64 - FILTER_BITS);
	uint64_t bit = 1ull << (hash & 63);

	if (add)
		f->filter[hash >> 6] |= bit;
	return (f->filter[hash >> 6] & bit) != 0;
}

/* The location of the event, added if the event acquires it; NULL: no lock so far. */
static struct location *location_of(struct search *f, const struct event *ev)
{
	uint64_t *number;

	if (!in_filter(f, ev->addr, false) && !can_acquire(ev))
		return NULL;
	number = map_find(&f->at, ev->addr);
	if (!number && can_acquire(ev)) {
		number = map_put(&f->at, ev->addr, NULL);
		f->locations = xgrow(f->locations, f->count, &f->capacity, sizeof(*f->locations));
		f->locations[f->count++] =
			(struct location){ .addr = ev->addr, .first_thread = ev->thread };
		*number = f->count;
		in_filter(f, ev->addr, true);
	}
	return number ? &f->locations[*number - 1] : NULL;
}

static void observe(struct search *f, const struct event *ev)
{
	struct location *p;

	if (!is_atomic(ev) && !(access_of(ev->kind) & ACCESS_WRITE))
		return;
	p = location_of(f, ev);
	if (!p || p->no_lock)
		return;
	if (!is_atomic(ev)) {
		/* A plain write to a free lock initialises it, or the memory has another use. */
		p->no_lock = p->holder != 0;
		return;
	}
	switch (op_of(ev, p->holder)) {
	case OP_ACQUIRE:
		p->holder = ev->thread;
		p->two_threads |= ev->thread != p->first_thread;
		break;
	case OP_RELEASE:
		p->holder = 0;
		p->released = true;
		break;
	case OP_NO_LOCK:
		p->no_lock = true;
		break;
	case OP_NEUTRAL:
		break;
	}
}

/* Reads the trace and fills s->locks; if it is damaged, no location counts as a lock. */
static void search(struct spin_locks *s)
{
	struct search *f = xcalloc(1, sizeof(*f));
	struct err err;
	struct reader *r = s->path ? reader_open(s->path, &err) : NULL;
	struct event ev;
	int got = -1;

	while (r && (got = reader_next(r, &ev, &err)) > 0)
		observe(f, &ev);
	for (size_t i = 0; got == 0 && i < f->count; i++)
		if (f->locations[i].two_threads && f->locations[i].released &&
		    !f->locations[i].no_lock)
			map_put(&s->locks, f->locations[i].addr, NULL);
	reader_close(r);
	map_free(&f->at);
	free(f->locations);
	free(f);
}

static void turn_into(struct event *ev, uint16_t kind)
{
	ev->kind = kind;
	ev->size = 0;
	ev->arg = 0;
	ev->detail = 0;
	ev->result = 0;
}

void spin_locks_translate_atomic(struct spin_locks *s, struct event *ev)
{
	uint64_t *holder;

	if (!s->searched && can_acquire(ev)) {
		s->searched = true;
		search(s);
	}
	holder = map_count(&s->locks) ? map_find(&s->locks, ev->addr) : NULL;
	if (!holder)
		return;
	switch (op_of(ev, (uint32_t)*holder)) {
	case OP_ACQUIRE:
		*holder = ev->thread;
		turn_into(ev, TRACE_SPIN_LOCK);
		break;
	case OP_RELEASE:
		*holder = 0;
		turn_into(ev, TRACE_SPIN_UNLOCK);
		break;
	default:
		if (ev->kind == TRACE_ATOMIC_XCHG)
			ev->kind = TRACE_ATOMIC_LOAD;
		break;
	}
}
