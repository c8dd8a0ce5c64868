/*
 * PSet (Yu, Narayanasamy: ISCA 2009): an access that would immediately follow a site of another
 * thread that it never followed in a passing run is delayed until another one came in between.
 * What "immediately follow" means is in learn/fold/pset.h; both sides count alike.
 *
 * Besides, one that was never the first to touch the memory waits for another thread to do so; and a read
 * waits for one that read before and is about to write. The paper rolls back for both.
 *
 * Taking a mutex counts as writing to it. There, too, only what would come in between two of another thread waits:
 * until the second one has been.
 */
#include "runtime/monitor/guard.h"

static int read_by(const struct guard_cell *c, uint16_t serial)
{
	for (int i = (int)c->count - 1; i >= 0; i--)
		if (c->read[i].serial == serial)
			return i;
	return -1;
}

/*
 * Has its thread begun what this site never came in between of, and does not rest? `l` is the last access of that
 * thread.
 */
static bool unfinished(const struct guard_cell_access *l, const struct active_site *site)
{
	const struct monitor_thread *t = &watch.threads[l->slot];

	return rules_follows(l->site | RULES_UNFINISHED, site->number) &&
	       (uint16_t)__atomic_load_n(&t->serial, __ATOMIC_RELAXED) == l->serial &&
	       (__atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != MONITOR_BLOCKED ||
		__atomic_load_n(&t->blocked_on, __ATOMIC_RELAXED));
}

/* The one before that it must not follow; NULL: none. */
static const struct guard_cell_access *forbidden_predecessor(const struct guard_cell *c, const struct active_site *site,
					bool write)
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
	last = read_by(c, w->serial) < 0;	/* of its thread */
	if (last && unfinished(w, site))
		return w;
	if (site->flags & RULES_LOCK || rules_follows(w->site, site->number))
		return NULL;
	return (write ? c->count == 0 : own < 0 && last) ? w : NULL;
}

static bool is_first(const struct guard_cell *c, bool write)
{
	uint16_t who = write ? c->touched : c->wrote;

	return !who || who == (uint16_t)monitor_self.serial;
}

static void note_thread(uint16_t *who, uint16_t me)
{
	if (*who != me)
		*who = *who ? CELL_SEVERAL : me;
}

bool guard_pset_conflict(struct guard_cell *c, const struct active_site *site, bool write,
		   struct guard_conflict *out)
{
	const struct guard_cell_access *p;

	if (!(site->flags & (RULES_OPEN | RULES_LATE)))
		return false;
	/*
	 * Who is in a transaction is waited for: it goes on, unless it came before all others. That is also why it
	 * matters if transactions alone are kept: others would be made to wait for who is out of order itself.
	 */
	p = watch.pset && site->flags & RULES_OPEN && !(monitor_me()->epoch & 1) ? forbidden_predecessor(c, site, write) : NULL;
	if (!p && !(site->flags & RULES_LATE && is_first(c, write)))
		return false;
	*out = (struct guard_conflict){ .kind = WATCHLOG_PSET,
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
	struct guard_cell_access now = { .site = site->number, .serial = (uint16_t)monitor_self.serial,
				 .slot = (monitor_self.slot - 1) & 1023, .access = access & CELL_ACCESS_MASK };
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
	/* Its old site goes, or, without room, the oldest. */
	for (uint32_t i = own < 0 ? 0 : (uint32_t)own; i + 1 < c->count; i++)
		c->read[i] = c->read[i + 1];
	c->read[c->count - 1] = now;
}
