/*
 * LifeTx (Yu, Narayanasamy), the design that stalls: an access that conflicts with a transaction
 * under way in another thread waits for the end of that transaction. A transaction leaves an entry
 * in the cell of each granule that it accesses, where others find it.
 *
 * Two transactions that both read and then write the same granule would wait for each other. So a
 * read counts as a write (exclusive) if its transaction also writes, by the rules or because it
 * once did.
 *
 * The runtime sees a transaction's end only at the next cut. So it predicts the end: a site is a
 * tail if its transaction always ended right after it. After a tail, guard_tx_end_if_tail() ends
 * the transaction at the next lock operation, and other threads ignore it after TAIL_TICKS.
 */
#include <limits.h>
#include <linux/futex.h>

#include "runtime/core/sys.h"
#include "runtime/monitor/guard.h"

#define TAIL_TICKS 60000u	/* about 20 us at 3 GHz: longer than the access itself takes */

/*
 * By site: is it a tail? TAIL_UPGRADES: a transaction read a granule there, and wrote it later.
 */
enum { TAIL_UNKNOWN, TAIL_YES, TAIL_NO, TAIL_MASK = 3, TAIL_UPGRADES = 4 };

static void wake(struct monitor_thread *t)
{
	if (__atomic_load_n(&t->waiters, __ATOMIC_SEQ_CST))
		sys_call6(SYS_futex, (long)&t->epoch, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

static bool in_tx(void)
{
	return monitor_me()->epoch & 1;
}

static void set_tail(uint32_t site, unsigned value)
{
	uint8_t *t = &monitor.tails[site];

	if ((*t & TAIL_MASK) != value && (*t & TAIL_MASK) != TAIL_NO)
		__atomic_store_n(t, (uint8_t)((*t & ~TAIL_MASK) | value), __ATOMIC_RELAXED);
}

static void end_now(void)
{
	struct monitor_thread *me = monitor_me();

	me->tail_at = 0;
	__atomic_store_n(&me->epoch, me->epoch + 1, __ATOMIC_SEQ_CST);
	wake(me);
	for (unsigned i = 0; i < MONITOR_HELD_LOCKS; i++)
		me->held[i] &= ~1ull;
}

void guard_tx_end(void)
{
	if (in_tx()) {
		set_tail(monitor_self.last_site, TAIL_YES);
		end_now();
	}
	monitor_self.tail_site = 0;
}

void guard_tx_end_if_tail(void)
{
	if (in_tx() && (monitor.tails[monitor_self.last_site] & TAIL_MASK) == TAIL_YES) {
		monitor_self.tail_site = monitor_self.last_site;
		end_now();
	}
}

void guard_tx_before_access(const struct active_site *site)
{
	if (site->flags & RULES_CUT)
		guard_tx_end();
	if (!(site->flags & RULES_IN_TX))
		return;
	/* The prediction was wrong: the transaction goes on after that site. */
	if (monitor_self.tail_site)
		set_tail(monitor_self.tail_site, TAIL_NO);
	if (in_tx())
		set_tail(monitor_self.last_site, TAIL_NO);
	monitor_self.tail_site = 0;
}

void guard_tx_begin_access(const struct active_site *site)
{
	struct monitor_thread *me = monitor_me();
	bool is_tail;

	if (!(site->flags & RULES_IN_TX) || !monitor_self.tx_depth)
		return;
	monitor_self.last_site = site->number;
	is_tail = (monitor.tails[site->number] & TAIL_MASK) == TAIL_YES;
	__atomic_store_n(&me->tail_at, is_tail ? sys_ticks() | 1 : 0, __ATOMIC_RELAXED);
	if (!in_tx())
		__atomic_store_n(&me->epoch, me->epoch + 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < MONITOR_HELD_LOCKS; i++)
		if (me->held[i])
			me->held[i] |= 1;
}

bool guard_tx_exclusive(const struct active_site *site, bool write)
{
	return write || (site->flags & RULES_IN_TX &&
			 (rules_tx_writes(site->number) ||
			  monitor.tails[site->number] & TAIL_UPGRADES));
}

static bool under_way(const struct guard_cell_tx *t)
{
	const struct monitor_thread *of = &monitor.threads[t->slot];
	uint64_t over;

	if (!t->epoch || __atomic_load_n(&of->epoch, __ATOMIC_ACQUIRE) != t->epoch)
		return false;
	over = __atomic_load_n(&of->tail_at, __ATOMIC_RELAXED);
	return !over || sys_ticks() - over < TAIL_TICKS;
}

bool guard_tx_conflict(struct guard_cell *c, bool exclusive, struct guard_conflict *out)
{
	for (unsigned i = 0; i < CELL_TX; i++) {
		struct guard_cell_tx *t = &c->tx[i];

		if (t->slot == monitor_self.slot - 1 || !(exclusive || t->exclusive) ||
		    !under_way(t))
			continue;
		*out = (struct guard_conflict){ .kind = MONITOR_LOG_TX,
						.site = t->site,
						.slot = t->slot,
						.word = &monitor.threads[t->slot].epoch,
						.value = t->epoch,
						.waiters = &monitor.threads[t->slot].waiters };
		return true;
	}
	return false;
}

void guard_tx_done(struct guard_cell *c, const struct active_site *site, bool exclusive)
{
	uint16_t me = (uint16_t)(monitor_self.slot - 1);
	struct guard_cell_tx *into = NULL;

	if (!in_tx())
		return;
	for (unsigned i = 0; i < CELL_TX; i++) {
		struct guard_cell_tx *t = &c->tx[i];
		bool mine = t->slot == me && t->epoch == monitor_me()->epoch;

		if (mine && exclusive && !t->exclusive)
			__atomic_fetch_or(&monitor.tails[t->site], TAIL_UPGRADES, __ATOMIC_RELAXED);
		if (mine || (!into && !under_way(t)))
			into = t;
		if (mine)
			break;
	}
	if (!into) {
		monitor_count(&monitor.log->lost_cells, 1);
		return;
	}
	exclusive |= into->slot == me && into->epoch == monitor_me()->epoch && into->exclusive;
	*into = (struct guard_cell_tx){ site ? site->number : monitor_self.last_site,
					monitor_me()->epoch, me, exclusive };
}
