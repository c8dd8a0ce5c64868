/*
 * A thread's last accesses: each place and direction once, and few of a site.
 *
 * Most are of idle sites (idle.h) and only take the room of others: of these nothing but what tells
 * them apart is kept, in arrays that are compared at once.
 */
#ifndef ANALYZE_ATOMICITY_RECENT_ACCESSES_H
#define ANALYZE_ATOMICITY_RECENT_ACCESSES_H

#include <emmintrin.h>

#include "analyze/atomicity/location_pairs.h"

#define NEAR 8u
#define NEAR_SITE 2u	/* of one site: a walk through an array leaves room for others */
#define NEAR_KNOWN 32u	/* a power of two */

struct near {
	uint32_t place_tag[NEAR];	/* hashes of the next two */
	uint32_t site_tag[NEAR];
	uint64_t addr[NEAR], pc[NEAR], index[NEAR];
	/* What is asked first of accesses of sites that are not idle. */
	uint64_t end[NEAR], place[NEAR];
	uint32_t block[NEAR], site[NEAR];
	uint8_t access[NEAR];
	uint8_t at[NEAR];	/* of `accesses` */
	uint8_t spare;		/* of those, the one that is not in `at` */
	uint8_t count;		/* so many of the above there are */
	uint8_t live;		/* bits: those of sites that are not idle, which have an access, too */
	struct couple_access accesses[NEAR + 1];
	struct near_site {
		uint64_t pc;
		uint32_t number;	/* couples_site(); 0: none */
	} known[NEAR_KNOWN];	/* by hash */
	struct map sites;	/* pc to the same number */
};

struct near *near_new(void);
void near_free(struct near *near);

/* For near_site(). */
uint32_t near_site_find(struct near *near, struct couples *c, uint64_t pc);

static inline uint32_t near_site(struct near *near, struct couples *c, uint64_t pc)
{
	const struct near_site *s = &near->known[(pc ^ pc >> 5) % NEAR_KNOWN];

	return s->pc == pc && s->number ? s->number : near_site_find(near, c, pc);
}

/* Bits: those of eight numbers that are `value`. */
static inline unsigned near_equal(const uint32_t *numbers, uint32_t value)
{
	__m128i v = _mm_set1_epi32((int)value);
	__m128i a = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)numbers), v);
	__m128i b = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(numbers + 4)), v);

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_setzero_si128()));
}

static inline uint32_t near_tag(uint64_t addr, uint8_t access)
{
	return (uint32_t)addr << 3 ^ access;
}

static inline unsigned near_oldest(const struct near *near, unsigned among)
{
	unsigned oldest = (unsigned)__builtin_ctz(among);

	for (among &= among - 1; among; among &= among - 1) {
		unsigned i = (unsigned)__builtin_ctz(among);

		oldest = near->index[i] < near->index[oldest] ? i : oldest;
	}
	return oldest;
}

/*
 * The place for this access: that of the same again, of an earlier one of the site, or
 * of the oldest.
 */
static inline unsigned near_slot(const struct near *near, uint64_t addr, uint8_t access, uint64_t pc)
{
	unsigned there = (1u << near->count) - 1, own = 0;
	unsigned same = near_equal(near->place_tag, near_tag(addr, access)) & there;
	unsigned site = near_equal(near->site_tag, (uint32_t)pc) & there;

	for (; same; same &= same - 1) {
		unsigned i = (unsigned)__builtin_ctz(same);

		if (near->addr[i] == addr && near->access[i] == access)
			return i;
	}
	for (; site; site &= site - 1)
		if (near->pc[__builtin_ctz(site)] == pc)
			own |= site & -site;
	if ((own & (own - 1)) != 0)
		return near_oldest(near, own);
	return near->count < NEAR ? near->count : near_oldest(near, there);
}

static inline unsigned near_put(struct near *near, uint64_t addr, uint8_t access, uint64_t pc,
				uint64_t index)
{
	unsigned i = near_slot(near, addr, access, pc);

	near->count += i == near->count;
	near->place_tag[i] = near_tag(addr, access);
	near->site_tag[i] = (uint32_t)pc;
	near->addr[i] = addr;
	near->access[i] = access;
	near->pc[i] = pc;
	near->index[i] = index;
	return i;
}

/* An access of an idle site. */
static inline void near_put_idle(struct near *near, uint64_t addr, uint8_t access, uint64_t pc,
				 uint64_t index)
{
	near->live &= (uint8_t)~(1u << near_put(near, addr, access, pc, index));
}

/* The one at `spare`. */
static inline void near_put_live(struct near *near)
{
	const struct couple_access *now = &near->accesses[near->spare];
	unsigned i = near_put(near, now->side.at.addr, now->side.access, now->side.pc, now->side.at.index);
	uint8_t at = near->at[i];

	near->end[i] = now->side.at.addr + now->side.at.size;
	near->place[i] = now->place;
	near->block[i] = now->side.at.block;
	near->site[i] = now->site;
	near->live |= (uint8_t)(1u << i);
	near->at[i] = near->spare;
	near->spare = at;
}

/*
 * Bits: those that make a couple with the thread's present access: of one block, at another place. Which
 * of two is first in memory cannot be foretold, so there is no jump for it.
 */
static inline unsigned near_couples(const struct near *near, const struct moment *now, const struct view *view)
{
	unsigned some = 0, others;

	for (unsigned i = 0; i < NEAR; i++)
		some |= (unsigned)((near->addr[i] >= now->addr + now->size) | (now->addr >= near->end[i])) << i;
	some &= near->live;
	others = now->block ? some & ~near_equal(near->block, now->block) : some;
	for (; others; others &= others - 1) {
		unsigned i = (unsigned)__builtin_ctz(others);

		if (!moments_together(&near->accesses[near->at[i]].side.at, now, view))
			some &= ~(1u << i);
	}
	return some;
}

/* Bits: those whose site walks with that of the present access, so that the couple is not to be noted. */
static inline unsigned near_walks(const struct near *near, const struct couples *c,
				  const struct couple_access *now)
{
	const struct couple_cell *row = c->rows[now->site].at;
	unsigned walks = 0;

	for (unsigned i = 0; i < NEAR; i++) {
		const struct couple_cell *cell = &row[near->site[i] % COUPLES_ROW];

		walks |= (unsigned)((cell->site == near->site[i]) & (cell->sites >> 31) &
				    !couples_watched(near->place[i], now->place)) << i;
	}
	return walks;
}

static inline unsigned near_count(unsigned bits)
{
	bits -= bits >> 1 & 0x55;
	bits = (bits & 0x33) + (bits >> 2 & 0x33);
	return (bits + (bits >> 4)) & 15;
}

#endif
