#include "analyze/atomicity/location_pairs.h"

#include <emmintrin.h>
#include <string.h>

#include "base/hash.h"
#include "base/page_array.h"

#define FIRST_LINES 64u	/* elements of an array, to begin with: at least a page */

_Static_assert(sizeof(struct couple_link) == 64 && sizeof(struct couple_sites) == 64 &&
	       sizeof(struct couple_side) == 64, "they are looked at one cache line at a time");

/* Room for one more; elements are cache lines, and zero. */
static void *grow_lines(void *array, size_t count, size_t *capacity, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : FIRST_LINES;

	if (count < *capacity)
		return array;
	array = pages_grow(array, *capacity * size, more * size);
	*capacity = more;
	return array;
}

void couples_init(struct couples *c, struct moments *moments)
{
	*c = (struct couples){ .moments = moments, .count = 1, .sites_count = 1, .row_count = 1 };
	granules_init(&c->generations);
	c->list = grow_lines(NULL, 0, &c->capacity, sizeof(*c->list));
	c->links = grow_lines(NULL, 0, &c->link_capacity, sizeof(*c->links));
	c->sites = grow_lines(NULL, 0, &c->sites_capacity, sizeof(*c->sites));
	c->rows = grow_lines(NULL, 0, &c->row_capacity, sizeof(*c->rows));
	c->places_size = 1024;
	c->places_table = pages_grow(NULL, 0, c->places_size * sizeof(*c->places_table));
}

void couples_free(struct couples *c)
{
	granules_free(&c->generations);
	map_free(&c->sites_at);
	pages_free(c->list, c->capacity * sizeof(*c->list));
	pages_free(c->links, c->link_capacity * sizeof(*c->links));
	pages_free(c->sites, c->sites_capacity * sizeof(*c->sites));
	pages_free(c->rows, c->row_capacity * sizeof(*c->rows));
	pages_free(c->places_table, c->places_size * sizeof(*c->places_table));
	*c = (struct couples){ 0 };
}

void couples_mark(const struct couples *c)
{
	for (size_t n = 1; n < c->count; n++) {
		moments_mark(c->moments, &c->list[n].side[0].at);
		moments_mark(c->moments, &c->list[n].side[1].at);
	}
}

void couples_place(struct couples *c, struct couple_access *access)
{
	struct couple_side *side = &access->side;
	uint64_t granule = side->at.addr / GRANULE_BYTES;
	uint32_t *number = granules_at(&c->generations, granule);

	if (!*number)
		*number = 1;
	side->generation = *number;
	access->wide = side->at.addr % GRANULE_BYTES + side->at.size > GRANULE_BYTES;
	access->place = hash_add(granule, *number);
	access->key = hash_add(hash_add(hash_add(granule, 0), *number), 0);
	access->likeness = hash_add(hash_add(access->key, side->at.addr),
				       (uint64_t)access->lockset << 32 | side->at.epoch);
}

static void next_generation(void *ctx, uint32_t *number)
{
	(void)ctx;
	if (++*number == 0)
		*number = 1;
}

void couples_forget(struct couples *c, uint64_t addr, uint64_t size)
{
	granules_each(&c->generations, addr, size, next_generation, NULL);
}

uint32_t couples_site(struct couples *c)
{
	c->rows = grow_lines(c->rows, c->row_count, &c->row_capacity, sizeof(*c->rows));
	return (uint32_t)c->row_count++;
}

struct couple_cell *couples_sites_find(struct couples *c, uint32_t thread, uint32_t first, uint32_t second)
{
	uint64_t *number = map_put(&c->sites_at, (uint64_t)first << 32 | second, NULL);
	struct couple_cell *cell = &c->rows[second].at[first % COUPLES_ROW];

	if (!*number) {
		c->sites = grow_lines(c->sites, c->sites_count, &c->sites_capacity, sizeof(*c->sites));
		c->sites[c->sites_count].thread = thread;
		*number = c->sites_count++;
	}
	cell->site = first;
	cell->sites = (uint32_t)*number;
	if (c->sites[*number].strange > COUPLES_STRANGE)
		cell->sites |= COUPLES_WALK;
	return cell;
}

static uint64_t places_key(uint64_t places, uint32_t writes)
{
	return places + hash_spread(writes);
}

static struct couple_head *places_head(const struct couples *c, uint64_t key)
{
	return &c->places_table[key & (c->places_size - 1)];
}

static uint32_t places_tag(uint64_t key)
{
	return 1u << (key >> 59);
}

static void places_put(struct couples *c, uint32_t n)
{
	struct couple_head *head = places_head(c, c->links[n].places);

	c->links[n].previous = 0;
	c->links[n].next = head->first;
	c->links[head->first].previous = n;
	head->first = n;
	head->tags |= places_tag(c->links[n].places);
}

static void places_link(struct couples *c, uint32_t n)
{
	c->links[n].stamp = ++c->stamp;
	places_put(c, n);
}

static void places_unlink(struct couples *c, uint32_t n)
{
	const struct couple_link *l = &c->links[n];
	struct couple_head *head;

	c->links[l->next].previous = l->previous;
	if (l->previous) {
		c->links[l->previous].next = l->next;
		return;
	}
	head = places_head(c, l->places);
	head->first = l->next;
	if (!head->first)
		head->tags = 0;
}

/* Those that were at one place become two lists, each in the order in which they were. */
static void places_split(struct couples *c, uint32_t first)
{
	uint32_t n = first, previous;

	while (c->links[n].next)
		n = c->links[n].next;
	for (; n; n = previous) {
		previous = c->links[n].previous;
		places_put(c, n);
	}
}

static void places_grow(struct couples *c)
{
	struct couple_head *old = c->places_table;
	size_t size = c->places_size;

	if (c->count < size)
		return;
	c->places_size = 2 * size;
	c->places_table = pages_grow(NULL, 0, c->places_size * sizeof(*c->places_table));
	for (size_t i = 0; i < size; i++)
		if (old[i].first)
			places_split(c, old[i].first);
	pages_free(old, size * sizeof(*old));
}

/* That the places are the same is in the sum of their keys. */
static bool couple_alike(const struct couple_link *l, const struct couple_pair *p, const uint32_t *cut,
			 uint32_t cuts)
{
	const struct couple_access *a = p->first, *b = p->second;

	return l->places == places_key(p->places, l->writes) && l->swapped == (a->key > b->key) &&
	       l->epoch[0] == a->side.at.epoch && l->epoch[1] == b->side.at.epoch &&
	       l->lockset[0] == a->lockset && l->lockset[1] == b->lockset &&
	       l->low[0] == a->side.at.addr % GRANULE_BYTES &&
	       l->low[1] == b->side.at.addr % GRANULE_BYTES && l->cuts == cuts &&
	       memcmp(l->cut, cut, cuts * sizeof(*l->cut)) == 0;
}

/* Room for one more of the two sites: the least recent makes it if there are enough. */
static void sites_room(struct couples *c, struct couple_sites *s)
{
	uint32_t oldest = s->couple[COUPLES_KEPT - 1];

	if (s->count < COUPLES_KEPT) {
		s->count++;
		return;
	}
	c->replaced++;
	if (oldest & COUPLES_MOOT)
		return;
	places_unlink(c, oldest);
	c->links[oldest].next = c->free;
	c->free = oldest;
}

static uint32_t couple_take(struct couples *c)
{
	uint32_t n = c->free;

	if (n) {
		c->free = c->links[n].next;
		return n;
	}
	c->list = grow_lines(c->list, c->count, &c->capacity, sizeof(*c->list));
	c->links = grow_lines(c->links, c->count, &c->link_capacity, sizeof(*c->links));
	return (uint32_t)c->count++;
}

static inline void link_side(struct couple_link *l, unsigned i, const struct couple_access *access)
{
	const struct moment *at = &access->side.at;

	l->epoch[i] = at->epoch;
	l->lockset[i] = access->lockset;
	l->access[i] = access->side.access;
	l->low[i] = at->addr % GRANULE_BYTES;
	l->end[i] = (uint8_t)(at->addr % GRANULE_BYTES + at->size);
}

static void couple_link(struct couples *c, uint32_t n, uint32_t thread, const struct couple_pair *p)
{
	struct couple_link *l = &c->links[n];

	l->places = places_key(p->places, p->writes);
	l->writes = (uint8_t)p->writes;
	l->thread = thread;
	l->swapped = p->first->key > p->second->key;
	l->one = p->first->key == p->second->key;
	l->wide = p->first->wide || p->second->wide;
	link_side(l, 0, p->first);
	link_side(l, 1, p->second);
	places_link(c, n);
	places_grow(c);
}

/* What is at `at` makes room for the most recent. */
static inline void to_front(struct couple_sites *s, uint32_t at, uint32_t couple, uint16_t likeness)
{
	if (at == COUPLES_KEPT - 1) {
		__m128i low = _mm_loadu_si128((const __m128i *)&s->couple[0]);
		__m128i high = _mm_loadu_si128((const __m128i *)&s->couple[3]);
		__m128i all = _mm_loadu_si128((const __m128i *)s->likeness);

		_mm_storeu_si128((__m128i *)&s->couple[1], low);
		_mm_storeu_si128((__m128i *)&s->couple[4], high);
		_mm_storeu_si128((__m128i *)s->likeness, _mm_slli_si128(all, 2));
		at = 0;
	}
	for (; at > 0; at--) {
		s->couple[at] = s->couple[at - 1];
		s->likeness[at] = s->likeness[at - 1];
	}
	s->couple[0] = couple;
	s->likeness[0] = likeness;
}

/* Bits: those of the two sites that may be the one with this likeness. */
static inline unsigned maybe_alike(const struct couple_sites *s, uint16_t likeness)
{
	__m128i all = _mm_loadu_si128((const __m128i *)s->likeness);
	__m128i equal = _mm_cmpeq_epi16(all, _mm_set1_epi16((short)likeness));

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) &
	       ((1u << s->count) - 1);
}

/* The locksets between the two. */
static uint32_t cuts_of(const struct couples *c, uint32_t thread, const struct couple_access *first,
			uint32_t cut[MOMENTS_CUTS])
{
	cut[0] = 0;
	return first->lockset ? moments_cuts_since(c->moments, c->moments->threads[thread],
						   first->side.at.index, first->lockset, cut) : 1;
}

/* Another one for the other way round. */
static uint64_t pair_hash(const struct couple_pair *p, const uint32_t *cut, uint32_t cuts)
{
	uint64_t hash = hash_add(hash_spread(p->first->likeness), p->second->likeness);

	for (uint32_t i = 0; i < cuts; i++)
		hash = hash_add(hash, cut[i]);
	return hash;
}

/* Whether the places were known tells walks from the rest. */
static void sites_known(struct couple_sites *s, struct couple_cell *cell, bool known)
{
	if (!known && s->strange > COUPLES_STRANGE)
		return;
	s->strange = known ? 0 : s->strange + 1;
	cell->sites = s->strange > COUPLES_STRANGE ? cell->sites | COUPLES_WALK : cell->sites & ~COUPLES_WALK;
}

/* 47 bits of the hash tell moot ones apart. */
static void note_moot(struct couples *c, const struct couple_pair *p, uint64_t hash)
{
	struct couple_sites *s = &c->sites[p->cell->sites & ~COUPLES_WALK];
	uint32_t couple = COUPLES_MOOT | (uint32_t)(hash >> 33), at;
	unsigned maybe = maybe_alike(s, (uint16_t)hash);

	while (maybe && s->couple[__builtin_ctz(maybe)] != couple)
		maybe &= maybe - 1;
	sites_known(s, p->cell, maybe);
	if (!maybe)
		sites_room(c, s);
	at = maybe ? (uint32_t)__builtin_ctz(maybe) : s->count - 1u;
	to_front(s, at, couple, (uint16_t)hash);
}

uint32_t couples_note(struct couples *c, const struct couple_pair *p)
{
	struct couple_sites *s = &c->sites[p->cell->sites & ~COUPLES_WALK];
	uint32_t at, n = 0, cuts, cut[MOMENTS_CUTS];
	unsigned maybe;
	uint64_t hash;

	cuts = cuts_of(c, s->thread, p->first, cut);
	hash = pair_hash(p, cut, cuts);
	if (p->moot) {
		note_moot(c, p, hash);
		return 0;
	}
	for (maybe = maybe_alike(s, (uint16_t)hash); maybe; maybe &= maybe - 1) {
		n = s->couple[__builtin_ctz(maybe)];
		if (!(n & COUPLES_MOOT) && couple_alike(&c->links[n], p, cut, cuts))
			break;
	}
	sites_known(s, p->cell, maybe);
	if (!maybe) {
		sites_room(c, s);
		n = couple_take(c);
	}
	at = maybe ? (uint32_t)__builtin_ctz(maybe) : s->count - 1u;
	c->list[n].side[0] = p->first->side;
	c->list[n].side[1] = p->second->side;
	to_front(s, at, n, (uint16_t)hash);
	if (maybe)
		return 0;
	for (uint32_t i = 0; i < cuts; i++)
		c->links[n].cut[i] = cut[i];
	c->links[n].cuts = (uint8_t)cuts;
	couple_link(c, n, s->thread, p);
	return n;
}

/* What has to make room for the pair, if it is new; 0: nothing. */
static uint32_t oldest_of(const struct couples *c, const struct couple_pair *p)
{
	uint32_t n = c->sites[p->cell->sites & ~COUPLES_WALK].couple[COUPLES_KEPT - 1];

	return n & COUPLES_MOOT ? 0 : n;
}

void couples_soon(const struct couples *c, const struct couple_pair *p)
{
	uint32_t oldest = oldest_of(c, p);

	__builtin_prefetch(&c->links[oldest], 1);
	if (p->moot)
		return;
	__builtin_prefetch(places_head(c, places_key(p->places, p->writes)), 1);
	__builtin_prefetch(places_head(c, places_key(p->places, 3)));
	__builtin_prefetch(&c->list[oldest].side[0], 1);
	__builtin_prefetch(&c->list[oldest].side[1], 1);
}

void couples_sooner(const struct couples *c, const struct couple_pair *p)
{
	const struct couple_link *oldest = &c->links[oldest_of(c, p)];

	if (!p->moot)
		__builtin_prefetch(&c->links[places_head(c, places_key(p->places, p->writes))->first], 1);
	__builtin_prefetch(&c->links[oldest->next], 1);
	__builtin_prefetch(&c->links[oldest->previous], 1);
}

/* From `n` on, the next that is asked for. */
static uint32_t other_from(const struct couples *c, uint32_t n, uint64_t places, uint32_t thread)
{
	const struct couple_link *l;

	for (; n; n = l->next) {
		l = &c->links[n];
		if (l->places == places && l->thread != thread)
			break;
	}
	return n;
}

void couples_others(const struct couples *c, uint32_t couple, struct couples_others *out)
{
	const struct couple_link *mine = &c->links[couple];
	uint64_t places = mine->places - hash_spread(mine->writes), key;
	const struct couple_head *head;
	uint32_t n;

	out->count = 0;
	out->thread = mine->thread;
	for (uint32_t writes = 3 - mine->writes; writes <= 3; writes++) {
		if ((writes | mine->writes) != 3)
			continue;
		key = places_key(places, writes);
		head = places_head(c, key);
		if (!(head->tags & places_tag(key)) || !(n = other_from(c, head->first, key, mine->thread)))
			continue;
		out->places[out->count] = key;
		out->next[out->count++] = n;
	}
}

uint32_t couples_other(const struct couples *c, struct couples_others *others)
{
	unsigned last = 0;
	uint32_t n;

	if (!others->count)
		return 0;
	for (unsigned i = 1; i < others->count; i++)
		if (c->links[others->next[i]].stamp > c->links[others->next[last]].stamp)
			last = i;
	n = others->next[last];
	others->next[last] = other_from(c, c->links[n].next, others->places[last], others->thread);
	if (!others->next[last]) {
		others->count--;
		others->next[last] = others->next[others->count];
		others->places[last] = others->places[others->count];
	}
	return n;
}

static bool sides_overlap(const struct couple_side *a, const struct couple_side *b)
{
	return a->at.addr < b->at.addr + b->at.size && b->at.addr < a->at.addr + a->at.size;
}

/* Of side `i` of one and side `j` of the other, by granule and the bytes there. */
static inline bool links_overlap(const struct couple_link *a, unsigned i, const struct couple_link *b,
				 unsigned j)
{
	return (a->one || (i == j) == (a->swapped == b->swapped)) && a->low[i] < b->end[j] &&
	       b->low[j] < a->end[i];
}

unsigned couples_cross(const struct couples *c, uint32_t couple, uint32_t other)
{
	const struct couple_side *k = c->list[couple].side, *o = c->list[other].side;
	const struct couple_link *a = &c->links[couple], *b = &c->links[other];
	bool wide = a->wide || b->wide;
	/* Fields that share a granule may be the same place by granule and not by bytes. */
	unsigned x = (wide ? sides_overlap(&k[0], &o[0]) : links_overlap(a, 0, b, 0)) ? 0 : 1;

	if (!((a->access[0] | b->access[x]) & ACCESS_WRITE) ||
	    !((a->access[1] | b->access[1 - x]) & ACCESS_WRITE))
		return COUPLES_APART;
	if (wide ? sides_overlap(&k[0], &o[x]) && sides_overlap(&k[1], &o[1 - x]) :
		   links_overlap(a, 0, b, x) && links_overlap(a, 1, b, 1 - x))
		return x;
	return COUPLES_APART;
}
