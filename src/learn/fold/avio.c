#include "learn/fold/avio.h"

#include <stdlib.h>

#include "analyze/pattern.h"
#include "base/hash.h"
#include "base/mem.h"

/* The last accesses of one thread to a cell, and those of other threads since then. */
struct local {
	uint32_t thread, site;
	bool write;
	bool first_remote_reads;	/* is `first_remote` a read? */
	uint32_t last_write;		/* site of its last write; 0: none */
	/* site of the first access of another thread since that write; 0: none */
	uint32_t first_remote;
	/* site of the last write of another thread since its last access; 0: none */
	uint32_t last_remote_write;
	uint32_t first_remote_thread, last_remote_thread;
	uint64_t at, last_write_at, first_remote_at, last_remote_at;
};

struct cell {
	struct local *locals;
	size_t count, capacity;
};

struct avio {
	struct cells cells;
	struct avio_triple *triples;
	size_t count, capacity;
	struct map by_sites;	/* hash of p, r, i and pattern to index in `triples`, plus 1 */
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
	free(((struct cell *)item)->locals);
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

	/* Different triples with the same hash are at the next free keys. */
	while (*(number = map_put(&a->by_sites, hash, NULL))) {
		struct avio_triple *old = &a->triples[*number - 1];

		if (old->p == t->p && old->r == t->r && old->i == t->i &&
		    old->pattern == t->pattern) {
			old->count++;
			return;
		}
		hash++;
	}
	a->triples = xgrow(a->triples, a->count, &a->capacity, sizeof(*a->triples));
	a->triples[a->count] = *t;
	*number = ++a->count;
}

static void judge(struct avio *a, const struct local *p, const struct learn_step *i, uint64_t addr)
{
	bool write = i->op == IROOT_OP_WRITE;
	struct avio_triple t = { .p = p->site,
				 .i = i->site,
				 .local = i->thread,
				 .addr = addr,
				 .count = 1,
				 .p_at = p->at,
				 .i_at = i->at };

	if (p->last_remote_write && !(p->write && write)) {
		t.pattern = write ? AVIO_RWW : p->write ? AVIO_WWR : AVIO_RWR;
		t.r = p->last_remote_write;
		t.remote = p->last_remote_thread;
		t.r_at = p->last_remote_at;
		add(a, &t);
	}
	if (write && p->last_write && p->first_remote && p->first_remote_reads) {
		t.pattern = AVIO_WRW;
		t.p = p->last_write;
		t.p_at = p->last_write_at;
		t.r = p->first_remote;
		t.remote = p->first_remote_thread;
		t.r_at = p->first_remote_at;
		add(a, &t);
	}
}

/* Makes the access the thread's last one. */
static void note_local(struct local *local, const struct learn_step *s)
{
	local->thread = s->thread;
	local->site = s->site;
	local->write = s->op == IROOT_OP_WRITE;
	local->at = s->at;
	/* Another thread overwrote its value, so its last write cannot begin a WRW any more. */
	if (local->last_remote_write)
		local->last_write = 0;
	local->last_remote_write = 0;
	if (local->write) {
		local->last_write = s->site;
		local->last_write_at = s->at;
		local->first_remote = 0;
	}
}

static void note_remote(struct local *p, const struct learn_step *r)
{
	if (!p->first_remote) {
		p->first_remote = r->site;
		p->first_remote_reads = r->op == IROOT_OP_READ;
		p->first_remote_thread = r->thread;
		p->first_remote_at = r->at;
	}
	if (r->op == IROOT_OP_WRITE) {
		if (!p->write)
			p->last_write = 0;
		p->last_remote_write = r->site;
		p->last_remote_thread = r->thread;
		p->last_remote_at = r->at;
	}
}

static void access_cell(struct avio *a, uint64_t cell, const struct learn_step *s)
{
	struct cell *c = cells_get(&a->cells, cell);
	struct local *local = NULL;
	uint64_t base = cell * a->cells.granularity;

	for (size_t i = 0; i < c->count; i++)
		if (c->locals[i].thread != s->thread)
			note_remote(&c->locals[i], s);
		else
			local = &c->locals[i];
	if (local) {
		judge(a, local, s, s->addr > base ? s->addr : base);
	} else {
		c->locals = xgrow(c->locals, c->count, &c->capacity, sizeof(*c->locals));
		local = &c->locals[c->count++];
		*local = (struct local){ 0 };
	}
	note_local(local, s);
}

void avio_step(struct avio *a, const struct learn_step *s)
{
	if (s->op == IROOT_OP_FRESH)
		cells_forget(&a->cells, s->addr, s->size, clear);
	if ((s->op != IROOT_OP_READ && s->op != IROOT_OP_WRITE) || !s->size)
		return;
	for (uint64_t c = cells_first(&a->cells, s->addr);
	     c <= cells_last(&a->cells, s->addr, s->size); c++)
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
