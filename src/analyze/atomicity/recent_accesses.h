/*
 * The last RECENT_MAX accesses of a thread: one for each address and direction, and at most
 * RECENT_PER_SITE of a site.
 *
 * Most are of unshared sites (unshared_sites.h). These count as accesses in between, so they take
 * slots, but only what distinguishes them is kept. SIMD compares a whole array at once.
 */
#ifndef ANALYZE_ATOMICITY_RECENT_ACCESSES_H
#define ANALYZE_ATOMICITY_RECENT_ACCESSES_H

#include <emmintrin.h>

#include "analyze/atomicity/location_pairs.h"

#define RECENT_MAX 8u
#define RECENT_PER_SITE 2u	/* per site: a loop over an array leaves slots for other accesses */
#define RECENT_SITES 32u	/* entries of the cache; a power of 2 */

struct recent_accesses {
	uint32_t location_tag[RECENT_MAX];	/* hash of address and access */
	uint32_t site_tag[RECENT_MAX];
	uint64_t addr[RECENT_MAX], pc[RECENT_MAX], index[RECENT_MAX];
	/* For slots in `shared`: read often, so kept outside of `accesses`. */
	uint64_t end[RECENT_MAX], location[RECENT_MAX];
	uint32_t block[RECENT_MAX], site[RECENT_MAX];
	uint8_t access[RECENT_MAX];
	uint8_t at[RECENT_MAX];	/* slot to its element of `accesses` */
	/* the element of `accesses` that no slot has: the next access is built there */
	uint8_t unused;
	uint8_t count;		/* slots in use */
	/* bit set: slots of sites that are not unshared; these have an element of `accesses` */
	uint8_t shared;
	struct pair_access accesses[RECENT_MAX + 1];
	struct recent_site {
		uint64_t pc;
		uint32_t number;	/* location_pairs_new_site(); 0: none */
	} known[RECENT_SITES]; /* cache of `sites`, by hash of the pc */
	struct map sites;	/* pc to the site's number */
};

struct recent_accesses *recent_new(void);
void recent_free(struct recent_accesses *recent);

/* Slow path of recent_site(): the cache does not have the site. */
uint32_t recent_site_find(struct recent_accesses *recent, struct location_pairs *c, uint64_t pc);

static inline uint32_t recent_site(struct recent_accesses *recent, struct location_pairs *c,
				   uint64_t pc)
{
	const struct recent_site *s = &recent->known[(pc ^ pc >> 5) % RECENT_SITES];

	return s->pc == pc && s->number ? s->number : recent_site_find(recent, c, pc);
}

/* Returns a bit set: which of eight numbers equal `value`. */
static inline unsigned recent_equal(const uint32_t *numbers, uint32_t value)
{
	__m128i v = _mm_set1_epi32((int)value);
	__m128i a = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)numbers), v);
	__m128i b = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(numbers + 4)), v);

	return (unsigned)_mm_movemask_epi8(
		_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_setzero_si128()));
}

static inline uint32_t recent_tag(uint64_t addr, uint8_t access)
{
	return (uint32_t)addr << 3 ^ access;
}

static inline unsigned recent_oldest(const struct recent_accesses *recent, unsigned among)
{
	unsigned oldest = (unsigned)__builtin_ctz(among);

	for (among &= among - 1; among; among &= among - 1) {
		unsigned i = (unsigned)__builtin_ctz(among);

		oldest = recent->index[i] < recent->index[oldest] ? i : oldest;
	}
	return oldest;
}

/*
 * Returns the slot for an access: that of the same address and direction, else the oldest of its
 * site if that has RECENT_PER_SITE slots, else a free one, else the oldest of all.
 */
static inline unsigned recent_slot(const struct recent_accesses *recent, uint64_t addr,
				   uint8_t access, uint64_t pc)
{
	unsigned there = (1u << recent->count) - 1, own = 0;
	unsigned same = recent_equal(recent->location_tag, recent_tag(addr, access)) & there;
	unsigned site = recent_equal(recent->site_tag, (uint32_t)pc) & there;

	for (; same; same &= same - 1) {
		unsigned i = (unsigned)__builtin_ctz(same);

		if (recent->addr[i] == addr && recent->access[i] == access)
			return i;
	}
	for (; site; site &= site - 1)
		if (recent->pc[__builtin_ctz(site)] == pc)
			own |= site & -site;
	if ((own & (own - 1)) != 0)
		return recent_oldest(recent, own);
	return recent->count < RECENT_MAX ? recent->count : recent_oldest(recent, there);
}

static inline unsigned recent_put(struct recent_accesses *recent, uint64_t addr, uint8_t access,
				  uint64_t pc, uint64_t index)
{
	unsigned i = recent_slot(recent, addr, access, pc);

	recent->count += i == recent->count;
	recent->location_tag[i] = recent_tag(addr, access);
	recent->site_tag[i] = (uint32_t)pc;
	recent->addr[i] = addr;
	recent->access[i] = access;
	recent->pc[i] = pc;
	recent->index[i] = index;
	return i;
}

/* Records an access of an unshared site. */
static inline void recent_put_unshared(struct recent_accesses *recent, uint64_t addr,
				       uint8_t access, uint64_t pc, uint64_t index)
{
	recent->shared &= (uint8_t) ~(1u << recent_put(recent, addr, access, pc, index));
}

/* Records the access that was built at `unused`. */
static inline void recent_put_shared(struct recent_accesses *recent)
{
	const struct pair_access *now = &recent->accesses[recent->unused];
	unsigned i = recent_put(recent, now->side.at.addr, now->side.access, now->side.pc,
				now->side.at.index);
	uint8_t at = recent->at[i];

	recent->end[i] = now->side.at.addr + now->side.at.size;
	recent->location[i] = now->location;
	recent->block[i] = now->side.at.block;
	recent->site[i] = now->site;
	recent->shared |= (uint8_t)(1u << i);
	recent->at[i] = recent->unused;
	recent->unused = at;
}

/*
 * Returns a bit set: slots that make a location pair with the thread's present access, that is, of
 * the same block of code and at other bytes. The comparison has no branches: which address is lower
 * cannot be predicted.
 */
static inline unsigned recent_partners(const struct recent_accesses *recent,
				       const struct access_context *now, const struct view *view)
{
	unsigned partners = 0, others;

	for (unsigned i = 0; i < RECENT_MAX; i++)
		partners |= (unsigned)((recent->addr[i] >= now->addr + now->size) |
				       (now->addr >= recent->end[i]))
			    << i;
	partners &= recent->shared;
	others = now->block ? partners & ~recent_equal(recent->block, now->block) : partners;
	for (; others; others &= others - 1) {
		unsigned i = (unsigned)__builtin_ctz(others);

		if (!contexts_same_block(&recent->accesses[recent->at[i]].side.at, now, view))
			partners &= ~(1u << i);
	}
	return partners;
}

/*
 * Returns a bit set: slots whose site walks together with the present access's site, and whose
 * locations are not sampled. Their pairs are not noted.
 */
static inline unsigned recent_walking(const struct recent_accesses *recent,
				      const struct location_pairs *c, const struct pair_access *now)
{
	const struct pair_cell *row = c->rows[now->site].at;
	unsigned walks = 0;

	for (unsigned i = 0; i < RECENT_MAX; i++) {
		const struct pair_cell *cell = &row[recent->site[i] % LOCATION_PAIRS_ROW];

		walks |= (unsigned)((cell->site == recent->site[i]) & (cell->sites >> 31) &
				    !location_pairs_sampled(recent->location[i], now->location))
			 << i;
	}
	return walks;
}

static inline unsigned recent_bit_count(unsigned bits)
{
	bits -= bits >> 1 & 0x55;
	bits = (bits & 0x33) + (bits >> 2 & 0x33);
	return (bits + (bits >> 4)) & 15;
}

#endif
