/*
 * LifeTx (Yu, Narayanasamy), its stalling design: an access that conflicts with a transaction
 * under way in another thread waits for its end. Conflicts are found eagerly, by what
 * transactions left in the cells of the memory they touched.
 *
 * Two transactions that both read first and write then would block each other: so a read is as
 * good as a write where the transaction writes too, by the rules or because it did before.
 *
 * The end of a transaction is seen late, at the next cut. Therefore its last place is
 * foretold: one that was always followed by the end of the transaction. After it the transaction
 * ends with the next call of a hook, and is over for others after a short while.
 */
#include <limits.h>
#include <linux/futex.h>

#include "runtime/core/sys.h"
#include "runtime/monitor/guard.h"

#define OVER_TICKS 60000u	/* some 20 µs: more than the access itself takes */

enum { TAIL_UNKNOWN, TAIL_YES, TAIL_NO, TAIL_MASK = 3, TAIL_UPGRADES = 4 };

static void wake(struct watch_thread *t)
{
	if (__atomic_load_n(&t->waiters, __ATOMIC_SEQ_CST))
		sys_call6(SYS_futex, (long)&t->epoch, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

static bool in_tx(void)
{
	return watch_me()->epoch & 1;
}

static void set_tail(uint32_t site, unsigned value)
{
	uint8_t *t = &watch.tails[site];

	if ((*t & TAIL_MASK) != value && (*t & TAIL_MASK) != TAIL_NO)
		__atomic_store_n(t, (uint8_t)((*t & ~TAIL_MASK) | value), __ATOMIC_RELAXED);
}

static void end_now(void)
{
	struct watch_thread *me = watch_me();

	me->over_at = 0;
	__atomic_store_n(&me->epoch, me->epoch + 1, __ATOMIC_SEQ_CST);
	wake(me);
	for (unsigned i = 0; i < WATCH_HELD; i++)
		me->held[i] &= ~1ull;
}

void tx_end(void)
{
	if (in_tx()) {
		set_tail(watch_self.last, TAIL_YES);
		end_now();
	}
	watch_self.over = 0;
}

void tx_end_if_over(void)
{
	if (in_tx() && (watch.tails[watch_self.last] & TAIL_MASK) == TAIL_YES) {
		watch_self.over = watch_self.last;
		end_now();
	}
}

void tx_before_access(const struct rules_place *place)
{
	if (place->flags & RULES_CUT)
		tx_end();
	if (!(place->flags & RULES_IN_TX))
		return;
	/* What seemed to be the last access was not. */
	if (watch_self.over)
		set_tail(watch_self.over, TAIL_NO);
	if (in_tx())
		set_tail(watch_self.last, TAIL_NO);
	watch_self.over = 0;
}

void tx_begin_access(const struct rules_place *place)
{
	struct watch_thread *me = watch_me();

	if (!(place->flags & RULES_IN_TX) || !watch_self.root)
		return;
	watch_self.last = place->site;
	__atomic_store_n(&me->over_at,
			 (watch.tails[place->site] & TAIL_MASK) == TAIL_YES ? sys_ticks() | 1 : 0,
			 __ATOMIC_RELAXED);
	if (!in_tx())
		__atomic_store_n(&me->epoch, me->epoch + 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < WATCH_HELD; i++)
		if (me->held[i])
			me->held[i] |= 1;
}

bool tx_exclusive(const struct rules_place *place, bool write)
{
	return write || (place->flags & RULES_IN_TX &&
			 (rules_with_writes(place->site) || watch.tails[place->site] & TAIL_UPGRADES));
}

static bool under_way(const struct cell_tx *t)
{
	const struct watch_thread *of = &watch.threads[t->place];
	uint64_t over;

	if (!t->epoch || __atomic_load_n(&of->epoch, __ATOMIC_ACQUIRE) != t->epoch)
		return false;
	over = __atomic_load_n(&of->over_at, __ATOMIC_RELAXED);
	return !over || sys_ticks() - over < OVER_TICKS;
}

bool tx_conflict(struct cell *c, bool exclusive, struct guard_conflict *out)
{
	for (unsigned i = 0; i < CELL_TX; i++) {
		struct cell_tx *t = &c->tx[i];

		if (t->place == watch_self.place - 1 || !(exclusive || t->exclusive) || !under_way(t))
			continue;
		*out = (struct guard_conflict){ .kind = WATCHLOG_TX,
						.site = t->site,
						.place = t->place,
						.word = &watch.threads[t->place].epoch,
						.value = t->epoch,
						.waiters = &watch.threads[t->place].waiters };
		return true;
	}
	return false;
}

void tx_done(struct cell *c, const struct rules_place *place, bool exclusive)
{
	uint16_t me = (uint16_t)(watch_self.place - 1);
	struct cell_tx *into = NULL;

	if (!in_tx())
		return;
	for (unsigned i = 0; i < CELL_TX; i++) {
		struct cell_tx *t = &c->tx[i];
		bool mine = t->place == me && t->epoch == watch_me()->epoch;

		if (mine && exclusive && !t->exclusive)
			__atomic_fetch_or(&watch.tails[t->site], TAIL_UPGRADES, __ATOMIC_RELAXED);
		if (mine || (!into && !under_way(t)))
			into = t;
		if (mine)
			break;
	}
	if (!into) {
		watch_count(&watch.log->lost_cells, 1);
		return;
	}
	exclusive |= into->place == me && into->epoch == watch_me()->epoch && into->exclusive;
	*into = (struct cell_tx){ place ? place->site : watch_self.last, watch_me()->epoch, me, exclusive };
}
