#include "learn/fold/avio.h"

#include <stdlib.h>

#include "analyze/pattern.h"
#include "base/hash.h"
#include "base/mem.h"

/* A thread's last access to a cell, and its last write; what others did since. */
struct own {
	uint32_t thread, site;
	bool write;
	bool first_reads;	/* the first remote one */
	uint32_t wrote;		/* site of the last write; 0: none */
	uint32_t first;		/* site of the first remote access since that; 0: none */
	uint32_t last;		/* site of the last remote write since the last access; 0: none */
	uint32_t first_thread, last_thread;
	uint64_t at, wrote_at, first_at, last_at;
};

struct cell {
	struct own *owns;
	size_t count, capacity;
};

struct avio {
	struct cells cells;
	struct avio_triple *triples;
	size_t count, capacity;
	struct map by_sites;	/* hash of these to number, plus 1 */
};

const char *avio_pattern_name(enum avio_pattern pattern)
{
	static const enum pattern rows[AVIO_PATTERNS] = {
		[AVIO_RWR] = PATTERN_RWR, [AVIO_WWR] = PATTERN_WWR, [AVIO_RWW] = PATTERN_RWW,
		[AVIO_WRW] = PATTERN_WRW,
	};

	return pattern_row(rows[pattern])->name;
}

static void clear(void *item)
{
	free(((struct cell *)item)->owns);
}

struct avio *avio_new(unsigned granularity)
{
	struct avio *a = xcalloc(1, sizeof(*a));

	cells_init(&a->cells, granularity, sizeof(struct cell));
	return a;
}

void avio_free(struct avio *a)
{
	if (!a)
		return;
	cells_free(&a->cells, clear);
	map_free(&a->by_sites);
	free(a->triples);
	free(a);
}

static void add(struct avio *a, const struct avio_triple *t)
{
	uint64_t hash = hash_add(hash_add(hash_spread(t->p), t->r), t->i) * 4 + t->pattern;
	uint64_t *number;

	/* Two different ones that collide are told apart by looking on. */
	while (*(number = map_put(&a->by_sites, hash, NULL))) {
		struct avio_triple *old = &a->triples[*number - 1];

		if (old->p == t->p && old->r == t->r && old->i == t->i && old->pattern == t->pattern) {
			old->count++;
			return;
		}
		hash++;
	}
	a->triples = xgrow(a->triples, a->count, &a->capacity, sizeof(*a->triples));
	a->triples[a->count] = *t;
	*number = ++a->count;
}

static void judge(struct avio *a, const struct own *p, const struct learn_step *i, uint64_t addr)
{
	bool write = i->op == IROOT_OP_WRITE;
	struct avio_triple t = { .p = p->site, .i = i->site, .local = i->thread, .addr = addr, .count = 1,
				 .p_at = p->at, .i_at = i->at };

	if (p->last && !(p->write && write)) {
		t.pattern = write ? AVIO_RWW : p->write ? AVIO_WWR : AVIO_RWR;
		t.r = p->last;
		t.remote = p->last_thread;
		t.r_at = p->last_at;
		add(a, &t);
	}
	if (write && p->wrote && p->first && p->first_reads) {
		t.pattern = AVIO_WRW;
		t.p = p->wrote;
		t.p_at = p->wrote_at;
		t.r = p->first;
		t.remote = p->first_thread;
		t.r_at = p->first_at;
		add(a, &t);
	}
}

/* The thread's access becomes its last one; what others did is over, but for its last write. */
static void go_on(struct own *own, const struct learn_step *s)
{
	own->thread = s->thread;
	own->site = s->site;
	own->write = s->op == IROOT_OP_WRITE;
	own->at = s->at;
	/* What it reads now is not its own: the write was over before. */
	if (own->last)
		own->wrote = 0;
	own->last = 0;
	if (own->write) {
		own->wrote = s->site;
		own->wrote_at = s->at;
		own->first = 0;
	}
}

static void met(struct own *p, const struct learn_step *r)
{
	if (!p->first) {
		p->first = r->site;
		p->first_reads = r->op == IROOT_OP_READ;
		p->first_thread = r->thread;
		p->first_at = r->at;
	}
	if (r->op == IROOT_OP_WRITE) {
		if (!p->write)
			p->wrote = 0;
		p->last = r->site;
		p->last_thread = r->thread;
		p->last_at = r->at;
	}
}

static void access_cell(struct avio *a, uint64_t cell, const struct learn_step *s)
{
	struct cell *c = cells_get(&a->cells, cell);
	struct own *own = NULL;
	uint64_t base = cell * a->cells.granularity;

	for (size_t i = 0; i < c->count; i++)
		if (c->owns[i].thread != s->thread)
			met(&c->owns[i], s);
		else
			own = &c->owns[i];
	if (own) {
		judge(a, own, s, s->addr > base ? s->addr : base);
	} else {
		c->owns = xgrow(c->owns, c->count, &c->capacity, sizeof(*c->owns));
		own = &c->owns[c->count++];
		*own = (struct own){ 0 };
	}
	go_on(own, s);
}

void avio_step(struct avio *a, const struct learn_step *s)
{
	if (s->op == IROOT_OP_FRESH)
		cells_forget(&a->cells, s->addr, s->size, clear);
	if ((s->op != IROOT_OP_READ && s->op != IROOT_OP_WRITE) || !s->size)
		return;
	for (uint64_t c = cells_first(&a->cells, s->addr); c <= cells_last(&a->cells, s->addr, s->size); c++)
		access_cell(a, c, s);
}

size_t avio_count(const struct avio *a)
{
	return a->count;
}

const struct avio_triple *avio_at(const struct avio *a, size_t i)
{
	return &a->triples[i];
}
