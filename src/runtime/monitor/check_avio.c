/*
 * AVIO (Lu, Tucek, Qin, Zhou: ASPLOS 2006) at full speed: two accesses p and i of a thread to the
 * same memory, with none of its own in between, are broken if another thread's access r comes
 * between them and no serial order gives the same result. Patterns, and the choice among several r,
 * are those of learn/fold/avio.h.
 *
 * Accesses are ordered as the runtime sees them, each a little before it is done.
 */
#include "runtime/monitor/check_avio.h"

#include <sys/uio.h>

#include "runtime/core/sys.h"
#include "runtime/monitor/check_cell.h"

#define RANGE_GRANULES 512u	/* checked per access; the rest of a longer access is skipped */

/* One access to one granule. */
struct access {
	uint64_t addr, size;
	uint32_t site;
	uint16_t serial;
	bool write, invariant;
};

static enum monitor_log_kind broken(const struct check_thread *own, const struct access *t,
				 uint32_t *p, uint32_t *remote)
{
	bool write = t->write, p_writes = own->write;
	uint32_t after = monitor.streaks ? rules_usual_predecessor(t->site, &p_writes) : 0;

	if (!after)
		p_writes = own->write;
	*p = after ? after : own->site;
	*remote = own->last_remote_write;
	if (own->last_remote_write && !(p_writes && write) &&
	    rules_follows(*p | RULES_OWN, t->site))
		return write ? MONITOR_LOG_RWW : p_writes ? MONITOR_LOG_WWR : MONITOR_LOG_RWR;
	*p = own->last_write;
	*remote = own->first_remote;
	if (!write || !own->last_write || !own->first_remote || !own->first_remote_reads)
		return MONITOR_LOG_NONE;
	/*
	 * In streaks, p may be a later write than the one the cell has, so its site is not
	 * checked.
	 */
	return monitor.streaks || rules_follows(*p | RULES_OWN, t->site) ?
		       MONITOR_LOG_WRW :
		       MONITOR_LOG_NONE;
}

static void note_remote(struct check_thread *own, const struct access *t)
{
	if (!own->first_remote) {
		own->first_remote = t->site;
		own->first_remote_reads = !t->write;
	}
	if (t->write) {
		if (!own->write)
			own->last_write = 0;
		own->last_remote_write = t->site;
	}
}

static void note_local(struct check_thread *own, const struct access *t)
{
	own->serial = t->serial;
	own->site = t->site;
	own->write = t->write;
	if (own->last_remote_write)
		own->last_write = 0;
	own->last_remote_write = 0;
	if (t->write) {
		own->last_write = t->site;
		own->first_remote = 0;
	}
}

/* Adds the thread to the cell. If the cell is full, its first thread is dropped. */
static struct check_thread *add_thread(struct check_page *page, uint32_t granule)
{
	struct check_cell *c = &page->cells[granule];
	struct check_thread *own;

	if (c->count == CHECK_CELL_THREADS + CHECK_OVERFLOW_THREADS) {
		for (uint32_t i = 1; i < c->count; i++)
			*check_thread_at(page, granule, i - 1) = *check_thread_at(page, granule, i);
		monitor_count(&monitor.log->lost_cells, 1);
		c->count--;
	}
	own = check_thread_at(page, granule, c->count++);
	*own = (struct check_thread){ 0 };
	return own;
}

/*
 * Records the value in memory. The kernel reads it, since the program's own access may be about to
 * crash.
 */
static void read_value(struct monitor_log_record *r, const struct access *t)
{
	struct iovec to = { &r->value, t->size }, from = { (void *)t->addr, t->size };

	if (t->size <= sizeof(r->value) && sys_call6(SYS_process_vm_readv, r->pid, (long)&to, 1,
						     (long)&from, 1, 0) == (long)t->size)
		r->value_size = (uint32_t)t->size;
}

static void log_violation(enum monitor_log_kind kind, uint32_t p, uint32_t remote,
			  const struct access *t)
{
	struct monitor_log_record *r = monitor_log_record(kind, p, remote, t->site);

	if (!r)
		return;
	if (__atomic_fetch_add(&r->count, 1, __ATOMIC_RELAXED) == 0) {
		r->addr = t->addr;
		r->thread[0] = t->serial;
		read_value(r, t);
	}
}

/*
 * Updates the owner in the shadow, under the cell's lock: a write makes the thread the owner, a
 * read of memory of another owner leaves it without one.
 */
static void update_owner(uint64_t granule, bool write)
{
	uint16_t *s = check_owner(granule), own = __snarl_tls.own,
		 seen = __atomic_load_n(s, __ATOMIC_RELAXED);

	if (write ? seen != own : seen && seen != own)
		__atomic_store_n(s, write ? own : 0, __ATOMIC_RELAXED);
}

static void check_granule(struct check_page *page, uint64_t at, const struct access *t)
{
	uint32_t granule = at % CHECK_PAGE_GRANULES;
	struct check_cell *c = &page->cells[granule];
	uint64_t me = (uint64_t)t->site << 16 | t->serial;
	enum monitor_log_kind kind = MONITOR_LOG_NONE;
	struct check_thread *own = NULL;
	uint32_t p = 0, remote = 0;

	if (__atomic_load_n(&c->latest, __ATOMIC_RELAXED) == me || !check_cell_lock(c))
		return;
	for (uint32_t i = 0; i < c->count; i++) {
		struct check_thread *each = check_thread_at(page, granule, i);

		if (each->serial == t->serial)
			own = each;
		else
			note_remote(each, t);
	}
	if (own && t->invariant)
		kind = broken(own, t, &p, &remote);
	note_local(own ? own : add_thread(page, granule), t);
	__atomic_store_n(&c->latest, me, __ATOMIC_RELAXED);
	if (monitor.streaks)
		update_owner(at, t->write);
	check_cell_unlock(c);
	if (unlikely(kind))
		log_violation(kind, p, remote, t);
}

void check_access(uint64_t addr, uint64_t size, const struct active_site *site, bool write)
{
	struct access t = { .addr = addr & TRACE_ADDR_MASK,
			    .size = size ? size : 1,
			    .site = site->number,
			    .serial = (uint16_t)monitor_self.serial,
			    .write = write,
			    .invariant = site->flags &
					 (monitor.all ? RULES_INVARIANT : RULES_BREAKABLE) };
	uint64_t granule = t.addr >> monitor.shift, last = (t.addr + t.size - 1) >> monitor.shift;

	if (t.site >= CHECK_SITES)
		return;
	if (last - granule >= RANGE_GRANULES)
		last = granule + RANGE_GRANULES - 1;
	for (; granule <= last; granule++) {
		struct check_page *page = check_page(granule / CHECK_PAGE_GRANULES);

		if (page)
			check_granule(page, granule, &t);
	}
}
