#include "analyze/couples.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define STRANGE 256u	/* couples at unknown places in a row that make two sites a walk */

void couples_init(struct couples *c, struct moments *moments)
{
	*c = (struct couples){ .moments = moments, .count = 1, .sites_count = 1 };
	granules_init(&c->generations);
	c->list = xgrow(NULL, 0, &c->capacity, sizeof(*c->list));
	c->links = xgrow(NULL, 0, &c->link_capacity, sizeof(*c->links));
	c->sites = xgrow(NULL, 0, &c->sites_capacity, sizeof(*c->sites));
	c->list[0] = (struct couple){ 0 };
	c->links[0] = (struct couple_link){ 0 };
	c->sites[0] = (struct couple_sites){ 0 };
	c->sites_size = c->places_size = 1024;
	c->sites_table = xcalloc(c->sites_size, sizeof(*c->sites_table));
	c->places_table = xcalloc(c->places_size, sizeof(*c->places_table));
}

void couples_free(struct couples *c)
{
	granules_free(&c->generations);
	free(c->list);
	free(c->links);
	free(c->sites);
	free(c->sites_table);
	free(c->places_table);
	*c = (struct couples){ 0 };
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

void couples_mark(const struct couples *c)
{
	for (size_t n = 1; n < c->count; n++) {
		moments_mark(c->moments, &c->list[n].side[0].at);
		moments_mark(c->moments, &c->list[n].side[1].at);
	}
}

void couples_place(struct couples *c, struct couple_side *side)
{
	uint64_t granule = side->at.addr / GRANULE_BYTES;
	uint32_t *number = granules_at(&c->generations, granule);

	if (!*number)
		*number = 1;
	side->generation = *number;
	side->place = mix(granule, *number);
	side->likeness = mix(mix(side->place, side->at.addr),
			     (uint64_t)moments_lockset(c->moments, &side->at) << 32 | side->at.epoch);
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

static struct couple_place *sites_place(const struct couples *c, uint32_t thread, uint64_t pc0,
					uint64_t pc1)
{
	uint64_t hash = mix(mix(thread, pc0), pc1);
	size_t i = hash & (c->sites_size - 1);
	struct couple_place *at;
	const struct couple_sites *s;

	for (;; i = (i + 1) & (c->sites_size - 1)) {
		at = &c->sites_table[i];
		if (!at->sites) {
			at->hash = (uint32_t)(hash >> 32);
			return at;
		}
		s = &c->sites[at->sites];
		if (at->hash == (uint32_t)(hash >> 32) && s->pc[0] == pc0 && s->pc[1] == pc1 &&
		    s->thread == thread)
			return at;
	}
}

uint32_t couples_sites(struct couples *c, uint32_t thread, uint64_t pc0, uint64_t pc1)
{
	struct couple_place *at = sites_place(c, thread, pc0, pc1);

	if (at->sites)
		return at->sites;
	c->sites = xgrow(c->sites, c->sites_count, &c->sites_capacity, sizeof(*c->sites));
	c->sites[c->sites_count] = (struct couple_sites){ .pc = { pc0, pc1 }, .thread = thread };
	at->sites = (uint32_t)c->sites_count++;
	if (c->sites_count * 2 >= c->sites_size) {
		free(c->sites_table);
		c->sites_size *= 2;
		c->sites_table = xcalloc(c->sites_size, sizeof(*c->sites_table));
		for (uint32_t n = 1; n < c->sites_count; n++)
			sites_place(c, c->sites[n].thread, c->sites[n].pc[0],
				    c->sites[n].pc[1])->sites = n;
	}
	return (uint32_t)c->sites_count - 1;
}

/* The same for (x, y) and (y, x). */
static inline uint64_t places_hash(const struct couple_side *a, const struct couple_side *b)
{
	return mix(a->place + b->place, a->place ^ b->place);
}

static uint32_t *places_head(const struct couples *c, uint32_t n)
{
	return &c->places_table[c->links[n].places & (c->places_size - 1)];
}

static void places_link(struct couples *c, uint32_t n)
{
	uint32_t *head = places_head(c, n);

	c->links[n].previous = 0;
	c->links[n].next = *head;
	c->links[*head].previous = n;
	*head = n;
}

static void places_unlink(struct couples *c, uint32_t n)
{
	const struct couple_link *l = &c->links[n];

	c->links[l->next].previous = l->previous;
	if (l->previous)
		c->links[l->previous].next = l->next;
	else
		*places_head(c, n) = l->next;
}

static void places_grow(struct couples *c)
{
	if (c->count < c->places_size)
		return;
	free(c->places_table);
	c->places_size *= 2;
	c->places_table = xcalloc(c->places_size, sizeof(*c->places_table));
	for (uint32_t n = 1; n < c->count; n++)
		places_link(c, n);
}

static inline bool same_place(const struct couple_side *a, const struct couple_side *b)
{
	return a->at.addr / GRANULE_BYTES == b->at.addr / GRANULE_BYTES &&
	       a->generation == b->generation;
}

static bool side_alike(const struct moments *m, const struct couple_side *a,
		       const struct couple_side *b)
{
	return same_place(a, b) && a->at.addr == b->at.addr &&
	       (a->at.situation == b->at.situation ||
		(moments_lockset(m, &a->at) == moments_lockset(m, &b->at) &&
		 a->at.epoch == b->at.epoch));
}

static bool couple_alike(const struct couples *c, const struct couple *k,
			 const struct couple_side *first, const struct couple_side *second,
			 const uint32_t *cut, uint32_t cuts)
{
	return side_alike(c->moments, &k->side[0], first) &&
	       side_alike(c->moments, &k->side[1], second) && k->cuts == cuts &&
	       memcmp(k->cut, cut, cuts * sizeof(*k->cut)) == 0;
}

/* One more, or the least recent of its sites if there are enough. Returns its place. */
static uint32_t couple_take(struct couples *c, struct couple_sites *s)
{
	if (s->count == COUPLES_KEPT) {
		places_unlink(c, s->couple[s->count - 1]);
		c->replaced++;
		return s->count - 1;
	}
	c->list = xgrow(c->list, c->count, &c->capacity, sizeof(*c->list));
	c->links = xgrow(c->links, c->count, &c->link_capacity, sizeof(*c->links));
	c->list[c->count].thread = s->thread;
	s->couple[s->count] = (uint32_t)c->count++;
	return s->count++;
}

static void couple_link(struct couples *c, uint32_t n)
{
	const struct couple *k = &c->list[n];

	c->links[n] = (struct couple_link){
		.places = places_hash(&k->side[0], &k->side[1]), .thread = k->thread,
		.writes = !!(k->side[0].access & ACCESS_WRITE) + !!(k->side[1].access & ACCESS_WRITE),
	};
	places_link(c, n);
	places_grow(c);
}

/* The one at `at` becomes the most recent. */
static void to_front(struct couple_sites *s, uint32_t at, uint32_t likeness)
{
	uint32_t n = s->couple[at];

	for (; at > 0; at--) {
		s->couple[at] = s->couple[at - 1];
		s->likeness[at] = s->likeness[at - 1];
	}
	s->couple[0] = n;
	s->likeness[0] = likeness;
}

uint32_t couples_note(struct couples *c, uint32_t sites, const struct couple_side *first,
		      const struct couple_side *second)
{
	struct couple_sites *s = &c->sites[sites];
	uint32_t at = 0, n, cuts, cut[MOMENTS_CUTS], likeness;
	uint64_t hash;
	bool fresh;

	if (s->strange > STRANGE && places_hash(first, second) >> 32 & (COUPLES_SPARSE - 1)) {
		c->skipped++;
		return 0;
	}
	cuts = moments_cuts(c->moments, &first->at, cut);
	hash = mix(first->likeness, second->likeness);
	for (uint32_t i = 0; i < cuts; i++)
		hash = mix(hash, cut[i]);
	likeness = (uint32_t)hash;
	while (at < s->count && (s->likeness[at] != likeness ||
				 !couple_alike(c, &c->list[s->couple[at]], first, second, cut, cuts)))
		at++;
	fresh = at == s->count;
	s->strange = fresh ? s->strange + 1 : 0;
	if (fresh)
		at = couple_take(c, s);
	n = s->couple[at];
	c->list[n].side[0] = *first;
	c->list[n].side[1] = *second;
	to_front(s, at, likeness);
	if (!fresh)
		return 0;
	memcpy(c->list[n].cut, cut, cuts * sizeof(*cut));
	c->list[n].cuts = cuts;
	couple_link(c, n);
	return n;
}

uint32_t couples_of_others(const struct couples *c, uint32_t couple, uint32_t previous)
{
	const struct couple *k = &c->list[couple], *o;
	const struct couple_link *mine = &c->links[couple], *l;
	uint32_t n = previous ? c->links[previous].next : *places_head(c, couple);

	for (; n; n = l->next) {
		l = &c->links[n];
		if (l->places != mine->places || l->thread == mine->thread ||
		    l->writes + mine->writes < 2)
			continue;
		o = &c->list[n];
		if ((same_place(&k->side[0], &o->side[0]) && same_place(&k->side[1], &o->side[1])) ||
		    (same_place(&k->side[0], &o->side[1]) && same_place(&k->side[1], &o->side[0])))
			break;
	}
	return n;
}
