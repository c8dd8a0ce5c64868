/*
 * AVIO (Lu, Tucek, Qin, Zhou: ASPLOS 2006) at native parallelism: two accesses p and i of a
 * thread to the same memory, none of its own in between, that another thread's access r breaks
 * apart so that no serial order gives the same result. The same four patterns as
 * learn/avio.c, which says which of several r counts.
 *
 * The order of accesses is that of our seeing them, which is a little before they are done.
 */
#include "runtime/check.h"

#include "runtime/watch_cell.h"

static enum watchlog_kind broken(const struct cell_own *p, bool write, uint32_t *remote)
{
	if (p->write && write) {
		*remote = p->first;
		return p->first && p->first_reads ? WATCHLOG_WRW : WATCHLOG_NONE;
	}
	*remote = p->last;
	if (!p->last)
		return WATCHLOG_NONE;
	return write ? WATCHLOG_RWW : p->write ? WATCHLOG_WWR : WATCHLOG_RWR;
}

static void met(struct cell_own *p, uint32_t site, bool write)
{
	if (!p->first) {
		p->first = site;
		p->first_reads = !write;
	}
	if (write)
		p->last = site;
}

/* More threads than there is room for: the one that was there longest goes. */
static struct cell_own *take_own(struct cell *c)
{
	if (c->count < CELL_OWNS)
		return &c->own[c->count++];
	for (uint32_t i = 1; i < CELL_OWNS; i++)
		c->own[i - 1] = c->own[i];
	watch_count(&watch.log->lost_cells, 1);
	return &c->own[CELL_OWNS - 1];
}

static void tell(enum watchlog_kind kind, uint32_t p, uint32_t remote, uint32_t i, uint64_t tag)
{
	struct watchlog_record *r = watch_record(kind, p, remote, i);

	if (!r)
		return;
	if (__atomic_fetch_add(&r->count, 1, __ATOMIC_RELAXED) == 0) {
		r->addr = tag << watch.shift;
		r->thread[0] = watch_self.serial;
	}
}

void check_access(uint64_t tag, const struct rules_place *place, bool write)
{
	struct cell *c = cell_lock(tag);
	enum watchlog_kind kind = WATCHLOG_NONE;
	struct cell_own *own = NULL;
	uint16_t me = (uint16_t)watch_self.serial;
	uint32_t p = 0, remote = 0;

	if (!c)
		return;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->own[i].serial == me)
			own = &c->own[i];
		else
			met(&c->own[i], place->site, write);
	if (own) {
		p = own->site;
		if (place->flags & RULES_INVARIANT)
			kind = broken(own, write, &remote);
	} else {
		own = take_own(c);
	}
	*own = (struct cell_own){ .serial = me, .write = write, .site = place->site };
	cell_unlock(c);
	if (unlikely(kind))
		tell(kind, p, remote, place->site, tag);
}
