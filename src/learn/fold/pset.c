#include "learn/fold/pset.h"

#include <stdlib.h>

#include "base/mem.h"

struct last {
	uint32_t thread, site;	/* site 0: no access yet */
	uint64_t at;
};

struct cell {
	struct last write;
	struct last *reads;	/* the last read of each thread since the write */
	size_t count, capacity;
};

struct pset {
	struct cells cells;
	struct learn_pairs pairs;
};

static void clear(void *item)
{
	free(((struct cell *)item)->reads);
}

struct pset *pset_new(unsigned granularity)
{
	struct pset *p = xcalloc(1, sizeof(*p));

	cells_init(&p->cells, granularity, sizeof(struct cell));
	return p;
}

void pset_free(struct pset *p)
{
	if (!p)
		return;
	cells_free(&p->cells, clear);
	learn_pairs_free(&p->pairs);
	free(p);
}

static struct last *read_by(const struct cell *c, uint32_t thread)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->reads[i].thread == thread)
			return &c->reads[i];
	return NULL;
}

static void read_cell(struct pset *p, struct cell *c, const struct learn_step *m)
{
	struct last *own = read_by(c, m->thread);

	if (c->write.site && c->write.thread != m->thread && !own && !read_by(c, c->write.thread))
		learn_pairs_add(&p->pairs, c->write.site, m->site);
	if (!own) {
		c->reads = xgrow(c->reads, c->count, &c->capacity, sizeof(*c->reads));
		own = &c->reads[c->count++];
	}
	*own = (struct last){ m->thread, m->site, m->at };
}

static void write_cell(struct pset *p, struct cell *c, const struct learn_step *m)
{
	const struct last *own = read_by(c, m->thread);

	for (size_t i = 0; i < c->count; i++)
		if (&c->reads[i] != own && (!own || own->at < c->reads[i].at))
			learn_pairs_add(&p->pairs, c->reads[i].site, m->site);
	if (!c->count && c->write.site && c->write.thread != m->thread)
		learn_pairs_add(&p->pairs, c->write.site, m->site);
	c->count = 0;
	c->write = (struct last){ m->thread, m->site, m->at };
}

void pset_step(struct pset *p, const struct learn_step *s)
{
	if (s->op == IROOT_OP_FRESH)
		cells_forget(&p->cells, s->addr, s->size, clear);
	if ((s->op != IROOT_OP_READ && s->op != IROOT_OP_WRITE) || !s->size)
		return;
	for (uint64_t i = cells_first(&p->cells, s->addr);
	     i <= cells_last(&p->cells, s->addr, s->size); i++)
		(s->op == IROOT_OP_READ ? read_cell : write_cell)(p, cells_get(&p->cells, i), s);
}

const struct learn_pairs *pset_pairs(const struct pset *p)
{
	return &p->pairs;
}
