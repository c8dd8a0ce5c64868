/*
 * PSet (Yu and Narayanasamy, ISCA 2009): an access waits if it would immediately follow an access
 * of another thread whose site it never followed in a passing run. It waits until another access
 * comes between the two. learn/fold/pset.h defines "immediately follow".
 *
 * In two more cases an access waits, where the paper rolls back. An access that was never the first
 * to its memory waits until another thread has accessed the memory. An access that never came
 * between two accesses of another thread waits until that thread has made the second one.
 *
 * Taking a mutex counts as a write of the mutex. The first case does not apply to it.
 */
#include "runtime/monitor/guard.h"

/* Index in read[] of the thread's last read; -1: none. */
static int read_by(const struct guard_cell *c, uint16_t serial)
{
	for (int i = (int)c->count - 1; i >= 0; i--)
		if (c->read[i].serial == serial)
			return i;
	return -1;
}

/*
 * Did the thread of `l` begin a pair of accesses that `site` never came between? A thread in a
 * blocking call does not finish it soon, so it does not count. `l` is the thread's last access.
 */
static bool unfinished(const struct guard_cell_access *l, const struct active_site *site)
{
	const struct monitor_thread *t = &monitor.threads[l->slot];

	return rules_follows(l->site | RULES_UNFINISHED, site->number) &&
	       (uint16_t)__atomic_load_n(&t->serial, __ATOMIC_RELAXED) == l->serial &&
	       (__atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != MONITOR_BLOCKED ||
		__atomic_load_n(&t->blocked_on, __ATOMIC_RELAXED));
}

/* The access of another thread that `site` must not follow now; NULL: there is none. */
static const struct guard_cell_access *
forbidden_predecessor(const struct guard_cell *c, const struct active_site *site, bool write)
{
	uint16_t me = (uint16_t)monitor_self.serial;
	const struct guard_cell_access *w = &c->write;
	int own = read_by(c, me);
	bool last;

	for (int i = (int)c->count - 1; i >= 0; i--) {
		const struct guard_cell_access *r = &c->read[i];

		if (i != own && (unfinished(r, site) ||
				 (write && i > own && !rules_follows(r->site, site->number))))
			return r;
	}
	if (!w->site || w->serial == me)
		return NULL;
	last = read_by(c, w->serial) < 0;	/* is the write its thread's last access? */
	if (last && unfinished(w, site))
		return w;
	if (site->flags & RULES_LOCK || rules_follows(w->site, site->number))
		return NULL;
	return (write ? c->count == 0 : own < 0 && last) ? w : NULL;
}

/* Has no other thread made an access to the cell that the current one could conflict with? */
static bool is_first(const struct guard_cell *c, bool write)
{
	uint16_t serial = write ? c->touched : c->wrote;

	return !serial || serial == (uint16_t)monitor_self.serial;
}

/* Updates guard_cell.touched or wrote. */
static void note_thread(uint16_t *only, uint16_t me)
{
	if (*only != me)
		*only = *only ? CELL_SEVERAL : me;
}

bool guard_pset_conflict(struct guard_cell *c, const struct active_site *site, bool write,
			 struct guard_conflict *out)
{
	const struct guard_cell_access *p;

	if (!(site->flags & (RULES_OPEN | RULES_LATE)))
		return false;
	/*
	 * A thread inside a transaction goes on, because others wait for its end. Only a site
	 * that is never first waits even there, also with protect=tx: otherwise the others would
	 * wait for a thread that is itself out of order.
	 */
	p = monitor.pset && site->flags & RULES_OPEN && !(monitor_me()->epoch & 1)
		    ? forbidden_predecessor(c, site, write)
		    : NULL;
	if (!p && !(site->flags & RULES_LATE && is_first(c, write)))
		return false;
	*out = (struct guard_conflict){ .kind = MONITOR_LOG_PSET,
					.site = p ? p->site : 0,
					.slot = p ? p->slot : MONITOR_ANY_THREAD,
					.access = p ? p->access + 1u : 0,
					.word = &c->version,
					.value = c->version };
	return true;
}

void guard_pset_done(struct guard_cell *c, const struct active_site *site, bool write)
{
	struct monitor_thread *me = monitor_me();
	uint32_t access = me->accesses + 1;
	struct guard_cell_access now = { .site = site->number,
					 .serial = (uint16_t)monitor_self.serial,
					 .slot = (monitor_self.slot - 1) & 1023,
					 .access = access & CELL_ACCESS_MASK };
	int own;

	__atomic_store_n(&me->accesses, access, __ATOMIC_RELAXED);
	note_thread(&c->touched, now.serial);
	if (write) {
		note_thread(&c->wrote, now.serial);
		c->write = now;
		c->count = 0;
		return;
	}
	own = read_by(c, now.serial);
	if (own < 0 && c->count < CELL_READS) {
		c->read[c->count++] = now;
		return;
	}
	/* Removes the thread's earlier read, or the oldest read if there is no room. */
	for (uint32_t i = own < 0 ? 0 : (uint32_t)own; i + 1 < c->count; i++)
		c->read[i] = c->read[i + 1];
	c->read[c->count - 1] = now;
}
