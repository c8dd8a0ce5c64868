/*
 * The accesses that a location remembers. Direct ones are sorted, newest first. In an overflow each
 * key keeps its slot, and `recency` lists the slots in 4 bits each, the newest lowest.
 */
#include <string.h>

#include "analyze/order/last_access.h"
#include "base/page_array.h"

#define NIBBLES 0x1111111111111111ull	/* 1 in each of the 16 entries of `recency` */

static uint32_t large_new(struct last_accesses *u)
{
	uint32_t n = u->free_large;

	if (n) {
		u->free_large = u->large[n].access[0].site;
	} else {
		if (u->large_count == u->large_room) {
			u->large = pages_grow(u->large, u->large_room * sizeof(*u->large),
					      2 * u->large_room * sizeof(*u->large));
			u->large_room *= 2;
		}
		n = (uint32_t)u->large_count++;
	}
	memset(&u->large[n], 0, sizeof(u->large[n]));
	return n;
}

static uint32_t small_new(struct last_accesses *u)
{
	uint32_t n = u->free_small;

	if (n) {
		u->free_small = u->small[n].access[0].site;
	} else {
		if (u->small_count == u->small_room) {
			u->small = pages_grow(u->small, u->small_room * sizeof(*u->small),
					      2 * u->small_room * sizeof(*u->small));
			u->small_room *= 2;
		}
		n = (uint32_t)u->small_count++;
	}
	memset(&u->small[n], 0, sizeof(u->small[n]));
	return n;
}

static void small_free(struct last_accesses *u, uint32_t n)
{
	u->small[n].access[0].site = u->free_small;
	u->free_small = n;
}

static uint32_t latest_new(struct last_accesses *u)
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

static void latest_free(struct last_accesses *u, struct location *p)
{
	if (!p->extra)
		return;
	u->latest[p->extra].site = u->free_latest;
	u->free_latest = p->extra;
	p->extra = 0;
}

void last_access_make_overflow(struct last_accesses *u, struct location *p)
{
	const struct packed_access none = { 0 }, *write;
	struct packed_access last, latest;
	struct overflow_small *m;
	uint32_t n, thread = 0;

	if (p->overflow)
		return;
	write = last_access_write(u, p, &thread);
	last = write ? *write : none;
	latest = *last_access_latest_write(u, p);
	latest_free(u, p);
	n = small_new(u);
	m = &u->small[n];
	m->key[0] = p->key0;
	m->key[1] = p->key1;
	m->access[0] = p->direct[0];
	m->access[1] = p->direct[1];
	m->head.recency = 0x10;
	p->direct[DIRECT_LAST_WRITE] = last;
	p->direct[DIRECT_LATEST_WRITE] = latest;
	p->key0 = write ? 2 * thread + 1 : 0;
	p->key1 = 0;
	p->extra = n;
	p->overflow = OVERFLOW_SMALL;
}

/* From a small to a large overflow. */
static void grow_overflow(struct last_accesses *u, struct location *p)
{
	uint32_t n = large_new(u);
	const struct overflow_small *from = &u->small[p->extra];
	struct overflow_large *m = &u->large[n];

	m->head = from->head;
	memcpy(m->key, from->key, sizeof(from->key));
	memcpy(m->access, from->access, sizeof(from->access));
	small_free(u, p->extra);
	p->extra = n;
	p->overflow = OVERFLOW_LARGE;
}

static inline unsigned find(const uint32_t *list, unsigned count, uint32_t key)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found |= (unsigned)(list[i] == key) << i;
	return found ? (unsigned)__builtin_ctz(found) : LAST_ACCESS_LARGE;
}

/* The slot of the key; LAST_ACCESS_LARGE if it has none. */
static inline unsigned slot_of(const struct last_accesses *u, const struct location *p,
			       uint32_t key)
{
	return p->overflow == OVERFLOW_SMALL ? find(u->small[p->extra].key, LAST_ACCESS_SMALL,
						    key) :
					   find(u->large[p->extra].key, LAST_ACCESS_LARGE, key);
}

/* Returns `recency` with `slot`, which is in it, moved to the front. */
static inline uint64_t to_front(uint64_t order, unsigned slot)
{
	uint64_t other = order ^ slot * NIBBLES;	/* lowest nibble 0: the slot */
	unsigned shift = (unsigned)__builtin_ctzll((other - NIBBLES) & ~other & 8 * NIBBLES) & ~3u;
	uint64_t newer = order & ((1ull << shift) - 1),
			 older = order & ~(0xfull << shift) & ~((1ull << shift) - 1);

	return older | newer << 4 | slot;
}

static void set_in_overflow(struct last_accesses *u, struct location *p,
			    const struct packed_access *access, uint32_t key)
{
	struct overflow_head *h = last_access_head(u, p);
	unsigned slot = h->recency & 15;

	if (key & 1) {
		p->direct[DIRECT_LAST_WRITE] = *access;
		p->key0 = key & 0x1fffff;
	}
	if (last_access_keys(u, p)[slot] == key) {
		last_access_list(u, p)[slot] = *access;
		return;
	}
	slot = slot_of(u, p, key);
	if (slot == LAST_ACCESS_LARGE && p->count == LAST_ACCESS_SMALL &&
	    p->overflow == OVERFLOW_SMALL) {
		grow_overflow(u, p);
		h = last_access_head(u, p);
	}
	if (slot < LAST_ACCESS_LARGE) {
		h->recency = to_front(h->recency, slot);
	} else if (p->count < LAST_ACCESS_LARGE) {
		slot = p->count++;
		h->recency = h->recency << 4 | slot;
	} else {
		u->dropped++;
		slot = (unsigned)(h->recency >> 60);
		h->recency = h->recency << 4 | slot;
	}
	last_access_keys(u, p)[slot] = key;
	last_access_list(u, p)[slot] = *access;
}

void last_access_set(struct last_accesses *u, struct location *p,
		     const struct packed_access *access, uint32_t key)
{
	if (!p->overflow && p->count && p->key0 == key) {
		p->direct[0] = *access;
		return;
	}
	if (!p->overflow && p->count == LAST_ACCESS_DIRECT && p->key1 != key)
		last_access_make_overflow(u, p);
	if (p->overflow) {
		set_in_overflow(u, p, access, key);
		return;
	}
	if (p->count < LAST_ACCESS_DIRECT)
		p->count++;
	p->direct[1] = p->direct[0];
	p->key1 = p->key0;
	p->direct[0] = *access;
	p->key0 = key & 0x1fffff;
}

const struct packed_access *last_access_of(const struct last_accesses *u, const struct location *p,
					   uint32_t key)
{
	unsigned slot;

	if (p->overflow) {
		slot = slot_of(u, p, key);
		return slot < LAST_ACCESS_LARGE ? &last_access_list(u, p)[slot] : NULL;
	}
	if (p->count > 0 && p->key0 == key)
		return &p->direct[0];
	return p->count > 1 && p->key1 == key ? &p->direct[1] : NULL;
}

/* A location without overflow replaced no access: the last write is one of the direct ones. */
const struct packed_access *last_access_write(const struct last_accesses *u,
					      const struct location *p, uint32_t *thread)
{
	(void)u;
	if (p->overflow || (p->key0 & 1)) {
		*thread = p->key0 / 2;
		return p->key0 ? &p->direct[0] : NULL;
	}
	*thread = p->key1 / 2;
	return p->key1 & 1 ? &p->direct[1] : NULL;
}

void last_access_set_first_write(struct last_accesses *u, struct location *p,
				 const struct packed_access *access)
{
	p->direct[DIRECT_FIRST_WRITE] = access ? *access : (struct packed_access){ 0 };
	if (p->overflow)
		p->direct[DIRECT_LATEST_WRITE] = p->direct[DIRECT_FIRST_WRITE];
	else
		latest_free(u, p);
}

void last_access_set_latest_write(struct last_accesses *u, struct location *p,
				  const struct packed_access *access)
{
	if (p->overflow) {
		p->direct[DIRECT_LATEST_WRITE] = *access;
		return;
	}
	if (!p->extra)
		p->extra = latest_new(u);
	u->latest[p->extra] = *access;
}

void last_access_copy_overflow(struct last_accesses *u, struct location *copy)
{
	uint32_t from = copy->extra;

	if (!from)
		return;
	if (copy->overflow == OVERFLOW_SMALL) {
		copy->extra = small_new(u);
		u->small[copy->extra] = u->small[from];
	} else if (copy->overflow) {
		copy->extra = large_new(u);
		u->large[copy->extra] = u->large[from];
	} else {
		copy->extra = latest_new(u);
		u->latest[copy->extra] = u->latest[from];
	}
}

void last_access_clear_location(struct last_accesses *u, struct location *p)
{
	if (p->overflow == OVERFLOW_SMALL) {
		small_free(u, p->extra);
	} else if (p->overflow) {
		u->large[p->extra].access[0].site = u->free_large;
		u->free_large = p->extra;
	} else {
		latest_free(u, p);
	}
	memset(p, 0, sizeof(*p));
}
