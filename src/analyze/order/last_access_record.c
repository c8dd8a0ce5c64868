/*
 * What a place remembers. The few uses of most places are in order; of many, each stays where
 * it is and their order is a number of 4 bits for each.
 */
#include <string.h>

#include "analyze/order/last_access.h"
#include "base/page_array.h"

#define NIBBLES 0x1111111111111111ull

static uint32_t many_new(struct uses *u)
{
	uint32_t n = u->free_many;

	if (n) {
		u->free_many = u->many[n].mark[0].site;
	} else {
		if (u->many_count == u->many_room) {
			u->many = pages_grow(u->many, u->many_room * sizeof(*u->many),
					     2 * u->many_room * sizeof(*u->many));
			u->many_room *= 2;
		}
		n = (uint32_t)u->many_count++;
	}
	memset(&u->many[n], 0, sizeof(u->many[n]));
	return n;
}

static uint32_t some_new(struct uses *u)
{
	uint32_t n = u->free_some;

	if (n) {
		u->free_some = u->some[n].mark[0].site;
	} else {
		if (u->some_count == u->some_room) {
			u->some = pages_grow(u->some, u->some_room * sizeof(*u->some),
					     2 * u->some_room * sizeof(*u->some));
			u->some_room *= 2;
		}
		n = (uint32_t)u->some_count++;
	}
	memset(&u->some[n], 0, sizeof(u->some[n]));
	return n;
}

static void some_free(struct uses *u, uint32_t n)
{
	u->some[n].mark[0].site = u->free_some;
	u->free_some = n;
}

static uint32_t latest_new(struct uses *u)
{
	uint32_t n = u->free_latest;

	if (n) {
		u->free_latest = u->latest[n].site;
		return n;
	}
	if (u->latest_count == u->latest_room) {
		u->latest = pages_grow(u->latest, u->latest_room * sizeof(*u->latest),
				       2 * u->latest_room * sizeof(*u->latest));
		u->latest_room *= 2;
	}
	return (uint32_t)u->latest_count++;
}

static void latest_free(struct uses *u, struct place *p)
{
	if (!p->more)
		return;
	u->latest[p->more].site = u->free_latest;
	u->free_latest = p->more;
	p->more = 0;
}

void uses_widen(struct uses *u, struct place *p)
{
	const struct kept none = { 0 }, *write;
	struct kept last, latest;
	struct some *m;
	uint32_t n, thread = 0;

	if (p->wide)
		return;
	write = uses_last_write(u, p, &thread);
	last = write ? *write : none;
	latest = *uses_latest(u, p);
	latest_free(u, p);
	n = some_new(u);
	m = &u->some[n];
	m->who[0] = p->who0;
	m->who[1] = p->who1;
	m->mark[0] = p->few[0];
	m->mark[1] = p->few[1];
	m->head.order = 0x10;
	p->few[USES_LAST_WRITE] = last;
	p->few[USES_LATEST] = latest;
	p->who0 = write ? 2 * thread + 1 : 0;
	p->who1 = 0;
	p->more = n;
	p->wide = USES_WITH_SOME;
}

/* Some are not enough. */
static void widen_more(struct uses *u, struct place *p)
{
	uint32_t n = many_new(u);
	const struct some *from = &u->some[p->more];
	struct many *m = &u->many[n];

	m->head = from->head;
	memcpy(m->who, from->who, sizeof(from->who));
	memcpy(m->mark, from->mark, sizeof(from->mark));
	some_free(u, p->more);
	p->more = n;
	p->wide = USES_WITH_MANY;
}

static inline unsigned find(const uint32_t *list, unsigned count, uint32_t who)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found |= (unsigned)(list[i] == who) << i;
	return found ? (unsigned)__builtin_ctz(found) : USES_KEPT;
}

/* USES_KEPT if it has none. */
static inline unsigned slot_of(const struct uses *u, const struct place *p, uint32_t who)
{
	return p->wide == USES_WITH_SOME ? find(u->some[p->more].who, USES_SOME, who) :
					   find(u->many[p->more].who, USES_KEPT, who);
}

/* The order with `slot`, which is in it, as the newest. */
static inline uint64_t to_front(uint64_t order, unsigned slot)
{
	uint64_t other = order ^ slot * NIBBLES;
	unsigned shift = (unsigned)__builtin_ctzll((other - NIBBLES) & ~other & 8 * NIBBLES) & ~3u;
	uint64_t newer = order & ((1ull << shift) - 1), older = order & ~(0xfull << shift) & ~((1ull << shift) - 1);

	return older | newer << 4 | slot;
}

static void note_wide(struct uses *u, struct place *p, const struct kept *use, uint32_t who)
{
	struct uses_head *h = uses_head(u, p);
	unsigned slot = h->order & 15;

	if (who & 1) {
		p->few[USES_LAST_WRITE] = *use;
		p->who0 = who & 0x1fffff;
	}
	if (uses_who(u, p)[slot] == who) {
		uses_marks(u, p)[slot] = *use;
		return;
	}
	slot = slot_of(u, p, who);
	if (slot == USES_KEPT && p->count == USES_SOME && p->wide == USES_WITH_SOME) {
		widen_more(u, p);
		h = uses_head(u, p);
	}
	if (slot < USES_KEPT) {
		h->order = to_front(h->order, slot);
	} else if (p->count < USES_KEPT) {
		slot = p->count++;
		h->order = h->order << 4 | slot;
	} else {
		u->dropped++;
		slot = (unsigned)(h->order >> 60);
		h->order = h->order << 4 | slot;
	}
	uses_who(u, p)[slot] = who;
	uses_marks(u, p)[slot] = *use;
}

void uses_note(struct uses *u, struct place *p, const struct kept *use, uint32_t who)
{
	if (!p->wide && p->count && p->who0 == who) {
		p->few[0] = *use;
		return;
	}
	if (!p->wide && p->count == USES_FEW && p->who1 != who)
		uses_widen(u, p);
	if (p->wide) {
		note_wide(u, p, use, who);
		return;
	}
	if (p->count < USES_FEW)
		p->count++;
	p->few[1] = p->few[0];
	p->who1 = p->who0;
	p->few[0] = *use;
	p->who0 = who & 0x1fffff;
}

const struct kept *uses_last_of(const struct uses *u, const struct place *p, uint32_t who)
{
	unsigned slot;

	if (p->wide) {
		slot = slot_of(u, p, who);
		return slot < USES_KEPT ? &uses_marks(u, p)[slot] : NULL;
	}
	if (p->count > 0 && p->who0 == who)
		return &p->few[0];
	return p->count > 1 && p->who1 == who ? &p->few[1] : NULL;
}

/* While there are few, none gave way: it is among them. */
const struct kept *uses_last_write(const struct uses *u, const struct place *p, uint32_t *thread)
{
	(void)u;
	if (p->wide || (p->who0 & 1)) {
		*thread = p->who0 / 2;
		return p->who0 ? &p->few[0] : NULL;
	}
	*thread = p->who1 / 2;
	return p->who1 & 1 ? &p->few[1] : NULL;
}

void uses_set_first(struct uses *u, struct place *p, const struct kept *use)
{
	p->few[USES_FIRST] = use ? *use : (struct kept){ 0 };
	if (p->wide)
		p->few[USES_LATEST] = p->few[USES_FIRST];
	else
		latest_free(u, p);
}

void uses_set_latest(struct uses *u, struct place *p, const struct kept *use)
{
	if (p->wide) {
		p->few[USES_LATEST] = *use;
		return;
	}
	if (!p->more)
		p->more = latest_new(u);
	u->latest[p->more] = *use;
}

void uses_copied(struct uses *u, struct place *copy)
{
	uint32_t from = copy->more;

	if (!from)
		return;
	if (copy->wide == USES_WITH_SOME) {
		copy->more = some_new(u);
		u->some[copy->more] = u->some[from];
	} else if (copy->wide) {
		copy->more = many_new(u);
		u->many[copy->more] = u->many[from];
	} else {
		copy->more = latest_new(u);
		u->latest[copy->more] = u->latest[from];
	}
}

void uses_dropped_place(struct uses *u, struct place *p)
{
	if (p->wide == USES_WITH_SOME) {
		some_free(u, p->more);
	} else if (p->wide) {
		u->many[p->more].mark[0].site = u->free_many;
		u->free_many = p->more;
	} else {
		latest_free(u, p);
	}
	memset(p, 0, sizeof(*p));
}
