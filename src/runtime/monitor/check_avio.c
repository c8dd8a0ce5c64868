/*
 * AVIO (Lu, Tucek, Qin, Zhou: ASPLOS 2006) at native parallelism: two accesses p and i of a
 * thread to the same memory, none of its own in between, that another thread's access r breaks
 * apart so that no serial order gives the same result. The same four patterns as
 * learn/fold/avio.c, which says which of several r counts.
 *
 * The order of accesses is that of our seeing them, which is a little before they are done.
 */
#include "runtime/monitor/check_avio.h"

#include <sys/uio.h>

#include "runtime/core/sys.h"
#include "runtime/monitor/check_cell.h"

#define RANGE_MOST 512u		/* pieces; of a longer access only the first ones are looked at */

/* One access to one piece. */
struct touch {
	uint64_t addr, size;
	uint32_t site;
	uint16_t serial;
	bool write, invariant;
};

static enum watchlog_kind broken(const struct check_own *own, const struct touch *t, uint32_t *p, uint32_t *remote)
{
	bool write = t->write, p_writes = own->write;
	uint32_t after = watch.streaks ? rules_after(t->site, &p_writes) : 0;

	if (!after)
		p_writes = own->write;
	*p = after ? after : own->site;
	*remote = own->last;
	if (own->last && !(p_writes && write) && rules_follows(*p | RULES_OWN, t->site))
		return write ? WATCHLOG_RWW : p_writes ? WATCHLOG_WWR : WATCHLOG_RWR;
	*p = own->wrote;
	*remote = own->first;
	if (!write || !own->wrote || !own->first || !own->first_reads)
		return WATCHLOG_NONE;
	/* In streaks, not every write was seen. */
	return watch.streaks || rules_follows(*p | RULES_OWN, t->site) ? WATCHLOG_WRW : WATCHLOG_NONE;
}

static void met(struct check_own *own, const struct touch *t)
{
	if (!own->first) {
		own->first = t->site;
		own->first_reads = !t->write;
	}
	if (t->write) {
		if (!own->write)
			own->wrote = 0;
		own->last = t->site;
	}
}

static void go_on(struct check_own *own, const struct touch *t)
{
	own->serial = t->serial;
	own->site = t->site;
	own->write = t->write;
	if (own->last)
		own->wrote = 0;
	own->last = 0;
	if (t->write) {
		own->wrote = t->site;
		own->first = 0;
	}
}

/* More threads than there is room for: the one that was there longest goes. */
static struct check_own *take_own(struct check_page *page, uint32_t piece)
{
	struct check_cell *c = &page->near[piece];
	struct check_own *own;

	if (c->count == CHECK_NEAR + CHECK_FAR) {
		for (uint32_t i = 1; i < c->count; i++)
			*check_own_at(page, piece, i - 1) = *check_own_at(page, piece, i);
		watch_count(&watch.log->lost_cells, 1);
		c->count--;
	}
	own = check_own_at(page, piece, c->count++);
	*own = (struct check_own){ 0 };
	return own;
}

/* What is in memory now; the kernel reads it, since the program's own access may be about to crash. */
static void take_value(struct watchlog_record *r, const struct touch *t)
{
	struct iovec to = { &r->value, t->size }, from = { (void *)t->addr, t->size };

	if (t->size <= sizeof(r->value) &&
	    sys_call6(SYS_process_vm_readv, r->pid, (long)&to, 1, (long)&from, 1, 0) == (long)t->size)
		r->value_size = (uint32_t)t->size;
}

static void tell(enum watchlog_kind kind, uint32_t p, uint32_t remote, const struct touch *t)
{
	struct watchlog_record *r = watch_record(kind, p, remote, t->site);

	if (!r)
		return;
	if (__atomic_fetch_add(&r->count, 1, __ATOMIC_RELAXED) == 0) {
		r->addr = t->addr;
		r->thread[0] = t->serial;
		take_value(r, t);
	}
}

/* Under the cell's lock. A thread that owns the memory and reads keeps it. */
static void go_on_streak(uint64_t piece, bool write)
{
	uint16_t *s = check_shadow(piece), own = __snarl_tls.own, seen = __atomic_load_n(s, __ATOMIC_RELAXED);

	if (write ? seen != own : seen && seen != own)
		__atomic_store_n(s, write ? own : 0, __ATOMIC_RELAXED);
}

static void touch_piece(struct check_page *page, uint64_t at, const struct touch *t)
{
	uint32_t piece = at % CHECK_PAGE;
	struct check_cell *c = &page->near[piece];
	uint64_t me = (uint64_t)t->site << 16 | t->serial;
	enum watchlog_kind kind = WATCHLOG_NONE;
	struct check_own *own = NULL;
	uint32_t p = 0, remote = 0;

	if (__atomic_load_n(&c->latest, __ATOMIC_RELAXED) == me || !check_cell_lock(c))
		return;
	for (uint32_t i = 0; i < c->count; i++) {
		struct check_own *each = check_own_at(page, piece, i);

		if (each->serial == t->serial)
			own = each;
		else
			met(each, t);
	}
	if (own && t->invariant)
		kind = broken(own, t, &p, &remote);
	go_on(own ? own : take_own(page, piece), t);
	__atomic_store_n(&c->latest, me, __ATOMIC_RELAXED);
	if (watch.streaks)
		go_on_streak(at, t->write);
	check_cell_unlock(c);
	if (unlikely(kind))
		tell(kind, p, remote, t);
}

void check_access(uint64_t addr, uint64_t size, const struct rules_place *place, bool write)
{
	struct touch t = { .addr = addr & TRACE_ADDR_MASK, .size = size ? size : 1, .site = place->site,
			   .serial = (uint16_t)watch_self.serial, .write = write,
			   .invariant = place->flags & (watch.all ? RULES_INVARIANT : RULES_BREAKABLE) };
	uint64_t piece = t.addr >> watch.shift, last = (t.addr + t.size - 1) >> watch.shift;

	if (t.site >= CHECK_SITES)
		return;
	if (last - piece >= RANGE_MOST)
		last = piece + RANGE_MOST - 1;
	for (; piece <= last; piece++) {
		struct check_page *page = check_page(piece / CHECK_PAGE);

		if (page)
			touch_piece(page, piece, &t);
	}
}
