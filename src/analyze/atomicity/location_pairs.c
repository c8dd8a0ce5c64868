/*
 * Keeps location pairs: a list per two sites for replacement, a hash table by locations for
 * look-up.
 */
#include "analyze/atomicity/location_pairs.h"

#include <emmintrin.h>
#include <string.h>

#include "base/hash.h"
#include "base/page_array.h"

#define FIRST_LINES 64u	/* first capacity of an array: 64 cache lines fill a page */

_Static_assert(sizeof(struct pair_link) == 64 && sizeof(struct pair_sites) == 64 &&
		       sizeof(struct pair_side) == 64,
	       "they are read one cache line at a time");

/* Makes room for one more element. Elements are a cache line each, and zero at first. */
static void *grow_lines(void *array, size_t count, size_t *capacity, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : FIRST_LINES;

	if (count < *capacity)
		return array;
	array = pages_grow(array, *capacity * size, more * size);
	*capacity = more;
	return array;
}

void location_pairs_init(struct location_pairs *c, struct contexts *contexts)
{
	*c = (struct location_pairs){
		.contexts = contexts, .count = 1, .sites_count = 1, .row_count = 1
	};
	granules_init(&c->generations);
	c->list = grow_lines(NULL, 0, &c->capacity, sizeof(*c->list));
	c->links = grow_lines(NULL, 0, &c->link_capacity, sizeof(*c->links));
	c->sites = grow_lines(NULL, 0, &c->sites_capacity, sizeof(*c->sites));
	c->rows = grow_lines(NULL, 0, &c->row_capacity, sizeof(*c->rows));
	c->table_size = 1024;
	c->table = pages_grow(NULL, 0, c->table_size * sizeof(*c->table));
}

void location_pairs_free(struct location_pairs *c)
{
	granules_free(&c->generations);
	map_free(&c->sites_at);
	pages_free(c->list, c->capacity * sizeof(*c->list));
	pages_free(c->links, c->link_capacity * sizeof(*c->links));
	pages_free(c->sites, c->sites_capacity * sizeof(*c->sites));
	pages_free(c->rows, c->row_capacity * sizeof(*c->rows));
	pages_free(c->lost, c->lost ? LOCATION_PAIRS_LOST * sizeof(*c->lost) : 0);
	pages_free(c->table, c->table_size * sizeof(*c->table));
	*c = (struct location_pairs){ 0 };
}

void location_pairs_mark(const struct location_pairs *c)
{
	for (size_t n = 1; n < c->count; n++) {
		contexts_mark(c->contexts, &c->list[n].side[0].at);
		contexts_mark(c->contexts, &c->list[n].side[1].at);
	}
}

void location_pairs_locate(struct location_pairs *c, struct pair_access *access)
{
	struct pair_side *side = &access->side;
	uint64_t granule = side->at.addr / GRANULE_BYTES;
	uint32_t *number = granules_at(&c->generations, granule);

	if (!*number)
		*number = 1;
	side->generation = *number;
	access->spans_granules = side->at.addr % GRANULE_BYTES + side->at.size > GRANULE_BYTES;
	access->location = hash_add(granule, *number);
	access->key = hash_add(hash_add(hash_add(granule, 0), *number), 0);
	access->identity = hash_add(hash_add(access->key, side->at.addr),
				    (uint64_t)access->lockset << 32 | side->at.epoch);
}

static void next_generation(void *ctx, uint32_t *number)
{
	(void)ctx;
	if (++*number == 0)
		*number = 1;
}

void location_pairs_forget(struct location_pairs *c, uint64_t addr, uint64_t size)
{
	granules_each(&c->generations, addr, size, next_generation, NULL);
}

uint32_t location_pairs_new_site(struct location_pairs *c)
{
	c->rows = grow_lines(c->rows, c->row_count, &c->row_capacity, sizeof(*c->rows));
	return (uint32_t)c->row_count++;
}

struct pair_cell *location_pairs_sites_find(struct location_pairs *c, uint32_t thread,
					    uint32_t first, uint32_t second)
{
	uint64_t *number = map_put(&c->sites_at, (uint64_t)first << 32 | second, NULL);
	struct pair_cell *cell = &c->rows[second].at[first % LOCATION_PAIRS_ROW];

	if (!*number) {
		c->sites =
			grow_lines(c->sites, c->sites_count, &c->sites_capacity, sizeof(*c->sites));
		c->sites[c->sites_count].thread = thread;
		*number = c->sites_count++;
	}
	cell->site = first;
	cell->sites = (uint32_t)*number;
	if (c->sites[*number].new_in_row > LOCATION_PAIRS_STREAK)
		cell->sites |= LOCATION_PAIRS_WALK;
	return cell;
}

static uint64_t locations_key(uint64_t locations, uint32_t writes)
{
	return locations + hash_spread(writes);
}

static struct pair_bucket *bucket_of(const struct location_pairs *c, uint64_t key)
{
	return &c->table[key & (c->table_size - 1)];
}

static uint32_t bucket_tag(uint64_t key)
{
	return 1u << (key >> 59);
}

static void bucket_add(struct location_pairs *c, uint32_t n)
{
	struct pair_bucket *head = bucket_of(c, c->links[n].locations);

	c->links[n].previous = 0;
	c->links[n].next = head->first;
	c->links[head->first].previous = n;
	head->first = n;
	head->tags |= bucket_tag(c->links[n].locations);
}

static void bucket_add_newest(struct location_pairs *c, uint32_t n)
{
	c->links[n].stamp = ++c->stamp;
	bucket_add(c, n);
}

static void bucket_remove(struct location_pairs *c, uint32_t n)
{
	const struct pair_link *l = &c->links[n];
	struct pair_bucket *head;

	c->links[l->next].previous = l->previous;
	if (l->previous) {
		c->links[l->previous].next = l->next;
		return;
	}
	head = bucket_of(c, l->locations);
	head->first = l->next;
	if (!head->first)
		head->tags = 0;
}

/* Splits the list of a bucket of the smaller table between two buckets, in the same order. */
static void bucket_split(struct location_pairs *c, uint32_t first)
{
	uint32_t n = first, previous;

	while (c->links[n].next)
		n = c->links[n].next;
	for (; n; n = previous) {
		previous = c->links[n].previous;
		bucket_add(c, n);
	}
}

static void table_grow(struct location_pairs *c)
{
	struct pair_bucket *old = c->table;
	size_t size = c->table_size;

	if (c->count < size)
		return;
	c->table_size = 2 * size;
	c->table = pages_grow(NULL, 0, c->table_size * sizeof(*c->table));
	for (size_t i = 0; i < size; i++)
		if (old[i].first)
			bucket_split(c, old[i].first);
	pages_free(old, size * sizeof(*old));
}

/* Compares all that distinguishes pairs. Equal sums of keys mean equal locations. */
static bool pair_equal(const struct pair_link *l, const struct pair_attempt *p, const uint32_t *cut,
		       uint32_t cuts)
{
	const struct pair_access *a = p->first, *b = p->second;

	return l->locations == locations_key(p->locations, l->writes) &&
	       l->swapped == (a->key > b->key) && l->epoch[0] == a->side.at.epoch &&
	       l->epoch[1] == b->side.at.epoch && l->lockset[0] == a->lockset &&
	       l->lockset[1] == b->lockset && l->low[0] == a->side.at.addr % GRANULE_BYTES &&
	       l->low[1] == b->side.at.addr % GRANULE_BYTES && l->cuts == cuts &&
	       memcmp(l->cut, cut, cuts * sizeof(*l->cut)) == 0;
}

static struct pair_lost *lost_at(const struct location_pairs *c, uint64_t locations)
{
	return &c->lost[hash_spread(locations) >> 32 & (LOCATION_PAIRS_LOST - 1)];
}

static void note_lost(struct location_pairs *c, const struct pair_link *l)
{
	if (!c->lost)
		c->lost = pages_grow(NULL, 0, LOCATION_PAIRS_LOST * sizeof(*c->lost));
	*lost_at(c, l->locations) = (struct pair_lost){ (uint32_t)l->locations, l->thread };
}

bool location_pairs_was_lost(const struct location_pairs *c, uint32_t location_pair)
{
	const struct pair_link *mine = &c->links[location_pair];
	uint64_t locations = mine->locations - hash_spread(mine->writes);

	for (uint32_t writes = 0; writes <= 3 && c->lost; writes++) {
		uint64_t key = locations_key(locations, writes);
		const struct pair_lost *lost = lost_at(c, key);

		if ((writes | mine->writes) == 3 && lost->thread && lost->thread != mine->thread &&
		    lost->tag == (uint32_t)key)
			return true;
	}
	return false;
}

/* Whether no other kept pair of the two sites is at the same locations. */
static bool is_only(const struct location_pairs *c, const struct pair_sites *s, uint32_t n)
{
	for (unsigned i = 0; i < s->count; i++) {
		uint32_t other = s->location_pair[i];

		if (other != n && !(other & LOCATION_PAIRS_UNSHARED) &&
		    c->links[other].locations == c->links[n].locations)
			return false;
	}
	return true;
}

/*
 * Makes room for one more pair of the two sites: drops the least recently used if there are enough.
 */
static void sites_room(struct location_pairs *c, struct pair_sites *s)
{
	uint32_t oldest = s->location_pair[LOCATION_PAIRS_KEPT - 1];

	if (s->count < LOCATION_PAIRS_KEPT) {
		s->count++;
		return;
	}
	c->replaced++;
	if (oldest & LOCATION_PAIRS_UNSHARED)
		return;
	if (s->tries < LOCATION_PAIRS_TRIES && c->spared < LOCATION_PAIRS_SPARE) {
		s->tries++;
		if (is_only(c, s, oldest)) {
			c->spared++;
			return;
		}
	}
	note_lost(c, &c->links[oldest]);
	bucket_remove(c, oldest);
	c->links[oldest].next = c->free;
	c->free = oldest;
}

static uint32_t pair_take(struct location_pairs *c)
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

static inline void link_set_side(struct pair_link *l, unsigned i, const struct pair_access *access)
{
	const struct access_context *at = &access->side.at;

	l->epoch[i] = at->epoch;
	l->lockset[i] = access->lockset;
	l->access[i] = access->side.access;
	l->low[i] = at->addr % GRANULE_BYTES;
	l->end[i] = (uint8_t)(at->addr % GRANULE_BYTES + at->size);
}

static void pair_link(struct location_pairs *c, uint32_t n, uint32_t thread,
		      const struct pair_attempt *p)
{
	struct pair_link *l = &c->links[n];

	l->locations = locations_key(p->locations, p->writes);
	l->writes = (uint8_t)p->writes;
	l->thread = thread;
	l->swapped = p->first->key > p->second->key;
	l->one_granule = p->first->key == p->second->key;
	l->spans_granules = p->first->spans_granules || p->second->spans_granules;
	link_set_side(l, 0, p->first);
	link_set_side(l, 1, p->second);
	bucket_add_newest(c, n);
	table_grow(c);
}

/* Moves the pair to the front; the one at `at` is overwritten. */
static inline void to_front(struct pair_sites *s, uint32_t at, uint32_t location_pair,
			    uint16_t hash16)
{
	if (at == LOCATION_PAIRS_KEPT - 1) {
		__m128i low = _mm_loadu_si128((const __m128i *)&s->location_pair[0]);
		__m128i high = _mm_loadu_si128((const __m128i *)&s->location_pair[3]);
		__m128i all = _mm_loadu_si128((const __m128i *)s->hash16);

		_mm_storeu_si128((__m128i *)&s->location_pair[1], low);
		_mm_storeu_si128((__m128i *)&s->location_pair[4], high);
		_mm_storeu_si128((__m128i *)s->hash16, _mm_slli_si128(all, 2));
		at = 0;
	}
	for (; at > 0; at--) {
		s->location_pair[at] = s->location_pair[at - 1];
		s->hash16[at] = s->hash16[at - 1];
	}
	s->location_pair[0] = location_pair;
	s->hash16[0] = hash16;
}

/* Returns a bit set: pairs of the two sites whose hash is the same. */
static inline unsigned maybe_equal(const struct pair_sites *s, uint16_t hash16)
{
	__m128i all = _mm_loadu_si128((const __m128i *)s->hash16);
	__m128i equal = _mm_cmpeq_epi16(all, _mm_set1_epi16((short)hash16));

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) &
	       ((1u << s->count) - 1);
}

/*
 * Fills in the locksets between the pair's first access and the present one; returns their number.
 */
static uint32_t cuts_between(const struct location_pairs *c, uint32_t thread,
			     const struct pair_access *first, uint32_t cut[CONTEXTS_CUTS])
{
	cut[0] = 0;
	return first->lockset ? contexts_cuts_since(c->contexts, c->contexts->threads[thread],
						    first->side.at.index, first->lockset, cut)
			      : 1;
}

/* The hash differs for (x, y) and (y, x). */
static uint64_t pair_hash(const struct pair_attempt *p, const uint32_t *cut, uint32_t cuts)
{
	uint64_t hash = hash_add(hash_spread(p->first->identity), p->second->identity);

	for (uint32_t i = 0; i < cuts; i++)
		hash = hash_add(hash, cut[i]);
	return hash;
}

/* Updates the count of new locations in a row, and whether the two sites walk. */
static void sites_note_known(struct pair_sites *s, struct pair_cell *cell, bool known)
{
	if (!known && s->new_in_row > LOCATION_PAIRS_STREAK)
		return;
	s->new_in_row = known ? 0 : s->new_in_row + 1;
	cell->sites = s->new_in_row > LOCATION_PAIRS_STREAK ? cell->sites | LOCATION_PAIRS_WALK
							    : cell->sites & ~LOCATION_PAIRS_WALK;
}

/* Unshared pairs are distinguished only by 47 bits of their hash. */
static void note_unshared(struct location_pairs *c, const struct pair_attempt *p, uint64_t hash)
{
	struct pair_sites *s = &c->sites[p->cell->sites & ~LOCATION_PAIRS_WALK];
	uint32_t location_pair = LOCATION_PAIRS_UNSHARED | (uint32_t)(hash >> 33), at;
	unsigned maybe = maybe_equal(s, (uint16_t)hash);

	while (maybe && s->location_pair[__builtin_ctz(maybe)] != location_pair)
		maybe &= maybe - 1;
	sites_note_known(s, p->cell, maybe);
	if (!maybe)
		sites_room(c, s);
	at = maybe ? (uint32_t)__builtin_ctz(maybe) : s->count - 1u;
	to_front(s, at, location_pair, (uint16_t)hash);
}

uint32_t location_pairs_note(struct location_pairs *c, const struct pair_attempt *p)
{
	struct pair_sites *s = &c->sites[p->cell->sites & ~LOCATION_PAIRS_WALK];
	uint32_t at, n = 0, cuts, cut[CONTEXTS_CUTS];
	unsigned maybe;
	uint64_t hash;

	cuts = cuts_between(c, s->thread, p->first, cut);
	hash = pair_hash(p, cut, cuts);
	if (p->unshared) {
		note_unshared(c, p, hash);
		return 0;
	}
	for (maybe = maybe_equal(s, (uint16_t)hash); maybe; maybe &= maybe - 1) {
		n = s->location_pair[__builtin_ctz(maybe)];
		if (!(n & LOCATION_PAIRS_UNSHARED) && pair_equal(&c->links[n], p, cut, cuts))
			break;
	}
	sites_note_known(s, p->cell, maybe);
	if (!maybe) {
		sites_room(c, s);
		n = pair_take(c);
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
	pair_link(c, n, s->thread, p);
	return n;
}

/* Returns the pair that a new one would replace; 0: none, or an unshared one. */
static uint32_t oldest_of(const struct location_pairs *c, const struct pair_attempt *p)
{
	uint32_t n = c->sites[p->cell->sites & ~LOCATION_PAIRS_WALK]
			     .location_pair[LOCATION_PAIRS_KEPT - 1];

	return n & LOCATION_PAIRS_UNSHARED ? 0 : n;
}

void location_pairs_prefetch(const struct location_pairs *c, const struct pair_attempt *p)
{
	uint32_t oldest = oldest_of(c, p);

	__builtin_prefetch(&c->links[oldest], 1);
	if (p->unshared)
		return;
	__builtin_prefetch(bucket_of(c, locations_key(p->locations, p->writes)), 1);
	__builtin_prefetch(bucket_of(c, locations_key(p->locations, 3)));
	__builtin_prefetch(&c->list[oldest].side[0], 1);
	__builtin_prefetch(&c->list[oldest].side[1], 1);
}

void location_pairs_prefetch_next(const struct location_pairs *c, const struct pair_attempt *p)
{
	const struct pair_link *oldest = &c->links[oldest_of(c, p)];

	if (!p->unshared)
		__builtin_prefetch(
			&c->links[bucket_of(c, locations_key(p->locations, p->writes))->first], 1);
	__builtin_prefetch(&c->links[oldest->next], 1);
	__builtin_prefetch(&c->links[oldest->previous], 1);
}

/* Returns the first pair from `n` on that has these locations and is another thread's; 0: none. */
static uint32_t other_from(const struct location_pairs *c, uint32_t n, uint64_t locations,
			   uint32_t thread)
{
	const struct pair_link *l;

	for (; n; n = l->next) {
		l = &c->links[n];
		if (l->locations == locations && l->thread != thread)
			break;
	}
	return n;
}

void location_pairs_matches(const struct location_pairs *c, uint32_t location_pair,
			    struct location_pairs_matches *out)
{
	const struct pair_link *mine = &c->links[location_pair];
	uint64_t locations = mine->locations - hash_spread(mine->writes), key;
	const struct pair_bucket *head;
	uint32_t n;

	out->count = 0;
	out->thread = mine->thread;
	for (uint32_t writes = 3 - mine->writes; writes <= 3; writes++) {
		if ((writes | mine->writes) != 3)
			continue;
		key = locations_key(locations, writes);
		head = bucket_of(c, key);
		if (!(head->tags & bucket_tag(key)) ||
		    !(n = other_from(c, head->first, key, mine->thread)))
			continue;
		out->locations[out->count] = key;
		out->next[out->count++] = n;
	}
}

uint32_t location_pairs_next_match(const struct location_pairs *c,
				   struct location_pairs_matches *others)
{
	unsigned last = 0;
	uint32_t n;

	if (!others->count)
		return 0;
	for (unsigned i = 1; i < others->count; i++)
		if (c->links[others->next[i]].stamp > c->links[others->next[last]].stamp)
			last = i;
	n = others->next[last];
	others->next[last] =
		other_from(c, c->links[n].next, others->locations[last], others->thread);
	if (!others->next[last]) {
		others->count--;
		others->next[last] = others->next[others->count];
		others->locations[last] = others->locations[others->count];
	}
	return n;
}

static bool sides_overlap(const struct pair_side *a, const struct pair_side *b)
{
	return a->at.addr < b->at.addr + b->at.size && b->at.addr < a->at.addr + a->at.size;
}

/*
 * True if side `i` of `a` and side `j` of `b` share bytes: they are in one granule, and their byte
 * ranges overlap.
 */
static inline bool links_overlap(const struct pair_link *a, unsigned i, const struct pair_link *b,
				 unsigned j)
{
	return (a->one_granule || (i == j) == (a->swapped == b->swapped)) &&
	       a->low[i] < b->end[j] && b->low[j] < a->end[i];
}

unsigned location_pairs_overlap(const struct location_pairs *c, uint32_t location_pair,
				uint32_t other)
{
	const struct pair_side *k = c->list[location_pair].side, *o = c->list[other].side;
	const struct pair_link *a = &c->links[location_pair], *b = &c->links[other];
	bool spans_granules = a->spans_granules || b->spans_granules;
	/* Two fields of one granule have the same key, so the bytes decide which sides meet. */
	unsigned x =
		(spans_granules ? sides_overlap(&k[0], &o[0]) : links_overlap(a, 0, b, 0)) ? 0 : 1;

	if (!((a->access[0] | b->access[x]) & ACCESS_WRITE) ||
	    !((a->access[1] | b->access[1 - x]) & ACCESS_WRITE))
		return LOCATION_PAIRS_DISJOINT;
	if (spans_granules ? sides_overlap(&k[0], &o[x]) && sides_overlap(&k[1], &o[1 - x])
			   : links_overlap(a, 0, b, x) && links_overlap(a, 1, b, 1 - x))
		return x;
	return LOCATION_PAIRS_DISJOINT;
}
