/*
 * What modes check and guard share: threads and their events. Dispatches accesses to check,
 * guard and noise.
 */
#include "runtime/monitor/monitor.h"

#include <pthread.h>
#include <time.h>

#include "abi/mix.h"
#include "abi/trace_roles.h"
#include "runtime/core/sys.h"
#include "runtime/core/thread_end.h"
#include "runtime/monitor/check_avio.h"
#include "runtime/monitor/guard.h"

#define RANGE_CELLS 512u	/* per access; the rest of a longer access is skipped */

struct monitor monitor;
__thread struct monitor_self monitor_self;

/*
 * Gives the thread shadow values that no shadow word has, so that each access calls the runtime.
 * With noise alone, or with streaks, the thread owns memory by its real shadow value.
 */
static void set_shadow(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	bool owns = monitor.everywhere | monitor.streaks;
	uint32_t own = owns ? monitor_self.serial % SHADOW_MAX_ID * 2 : 0;

	snarlrt_set_own(tls, (uint16_t)(own + 1));
	tls->own_uncut = owns ? 0xfffe : 2;
}

static bool take_slot(struct monitor_self *self, uint32_t serial)
{
	for (uint32_t i = 0; i < MONITOR_THREADS; i++) {
		struct monitor_thread *t = &monitor.threads[i];
		uint32_t free = 0, used = __atomic_load_n(&monitor.threads_used, __ATOMIC_RELAXED);

		if (!__atomic_compare_exchange_n(&t->serial, &free, serial, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		while (used <= i &&
		       !__atomic_compare_exchange_n(&monitor.threads_used, &used, i + 1, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
		self->slot = i + 1;
		return true;
	}
	return false;
}

static uint32_t next_serial(void)
{
	uint32_t serial;

	do
		serial = __atomic_add_fetch(&monitor.next_serial, 1, __ATOMIC_RELAXED) & 0xffff;
	while (!serial || serial == CELL_SEVERAL);
	return serial;
}

void monitor_attach(void)
{
	struct monitor_self *self = &monitor_self;
	uint32_t serial;

	if (self->slot || self->ended)
		return;
	self->busy = 1;
	serial = next_serial();
	if (!take_slot(self, serial)) {
		monitor_count(&monitor.log->lost_threads, 1);
		self->ended = 1;
	} else {
		self->serial = serial;
		monitor_me()->handle = (uint64_t)pthread_self();
		self->random = mix_spread(monitor.seed + serial) | 1;
		set_shadow();
		snarlrt_thread_arm_exit();
	}
	self->busy = 0;
}

void monitor_thread_exit(void)
{
	struct monitor_self *self = &monitor_self;
	struct monitor_thread *me;

	if (!self->slot)
		return;
	self->busy = 0;
	if (monitor.tx)
		guard_tx_end();
	me = monitor_me();
	self->ended = 1;
	snarlrt_set_own(&__snarl_tls, 0);
	__snarl_tls.own_uncut = 0;
	me->state = MONITOR_RUNNING;
	me->blocked_on = 0;
	for (unsigned i = 0; i < MONITOR_HELD_LOCKS; i++)
		me->held[i] = 0;
	self->slot = 0;
	__atomic_store_n(&me->serial, 0, __ATOMIC_RELEASE);
}

/* In the child of a fork: only the calling thread exists, so no thread waits. */
void monitor_forked(void)
{
	struct monitor_thread *me = monitor_self.slot ? monitor_me() : NULL;

	for (uint32_t i = 0; i < monitor.threads_used; i++)
		if (&monitor.threads[i] != me)
			monitor.threads[i].serial = 0;
	if (me)
		me->waiters = 0;
	monitor.unattached = 0;
	if (me && monitor.streaks) {
		/*
		 * The child's cells are empty, but the shadow still has owners: a new serial
		 * invalidates them.
		 */
		me->serial = monitor_self.serial = next_serial();
		set_shadow();
	}
	if (monitor.check)
		check_cells_forked();
	else
		guard_cells_forked();
}

struct monitor_self *monitor_begin(void)
{
	struct monitor_self *self = &monitor_self;

	if (unlikely(self->busy | self->ended | __snarl_tls.hidden | monitor.log->off))
		return NULL;
	if (unlikely(!self->slot))
		monitor_attach();
	if (!self->slot)
		return NULL;
	self->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return self;
}

static uint64_t next_random(struct monitor_self *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random >> 16;
}

static void make_noise(struct monitor_self *self)
{
	struct timespec nap = { 0 };

	if (next_random(self) % 1000 >= monitor.noise)
		return;
	monitor_count(&monitor.log->naps, 1);
	if (next_random(self) % 4 == 0) {
		sys_call(SYS_sched_yield, 0, 0, 0);
		return;
	}
	nap.tv_nsec = (long)(next_random(self) % monitor.nap_ns);
	sys_call(SYS_nanosleep, &nap, 0, 0);
}

/*
 * Makes the calling thread the owner of the granule if it has none. Returns true if the granule has
 * another owner, or is shared.
 */
static bool is_shared(uint64_t addr)
{
	uint16_t *s, seen = 0;

	if (addr > TRACE_ADDR_MASK >> 1)
		return false;
	s = shadow_of(addr);
	if (__atomic_compare_exchange_n(s, &seen, __snarl_tls.own, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED) ||
	    seen == __snarl_tls.own)
		return false;
	__atomic_store_n(s, SHADOW_SHARED, __ATOMIC_RELAXED);
	return true;
}

/* monitor_access() of an access that is not skipped as a repeated read. */
static __attribute__((noinline)) void access_seen(uint64_t addr, uint64_t size, uint64_t pc,
						  bool write)
{
	const struct active_site *site = rules_find(pc & TRACE_ADDR_MASK, write);
	struct monitor_self *self;
	uint64_t tag, last;

	if (!site && !monitor.everywhere)
		return;
	self = monitor_begin();
	if (!self)
		return;
	if (monitor.noise && (site || is_shared(addr)))
		make_noise(self);
	if (!site || !(site->flags & monitor.active) ||
	    !(monitor.check | monitor.pset | monitor.tx)) {
		monitor_end(self);
		return;
	}
	if (monitor.check) {
		check_access(addr, size, site, write);
		monitor_end(self);
		return;
	}
	if (monitor.tx && site->flags >> RULES_GATE_SHIFT)
		guard_gate(site);
	tag = (addr & TRACE_ADDR_MASK) >> monitor.shift;
	last = ((addr & TRACE_ADDR_MASK) + (size ? size : 1) - 1) >> monitor.shift;
	if (last - tag >= RANGE_CELLS)
		last = tag + RANGE_CELLS - 1;
	for (; tag <= last; tag++)
		guard_access(tag, site, write);
	monitor_end(self);
}

void monitor_access(uint64_t addr, uint64_t size, uint64_t pc, bool write)
{
	if (!monitor.streaks || write || !check_is_repeated_read(addr, size))
		access_seen(addr, size, pc, write);
}

static void note(enum trace_kind kind, const void *object, uint64_t arg, int result)
{
	unsigned roles = trace_roles(kind);

	switch (kind) {
	case TRACE_MUTEX_LOCK:
		if (result == 0 && monitor.tx | monitor.locks)
			guard_lock_acquired(object);
		break;
	case TRACE_MUTEX_TRYLOCK: case TRACE_MUTEX_TIMEDLOCK:
		if (result == 0)
			guard_lock_acquired_elsewhere(object);
		break;
	case TRACE_MUTEX_UNLOCK:
		if (result == 0 && monitor.tx)
			guard_unlock(object);
		break;
	case TRACE_COND_WAKE:
		guard_lock_acquired_elsewhere((const void *)arg);
		break;
	default:
		break;
	}
	if (roles & ROLE_WAIT_END)
		guard_held_add((const void *)arg);
	else if (roles & ROLE_ACQUIRE && result == 0)
		guard_held_add(object);
	else if (roles & ROLE_WAIT_BEGIN)
		guard_held_remove((const void *)arg);
	else if (roles & ROLE_RELEASE)
		guard_held_remove(object);
}

/* Returns NULL if the mode is not guard, or as monitor_begin() does. */
static struct monitor_self *enter_guard(void)
{
	return monitor.pset || monitor.tx ? monitor_begin() : NULL;
}

void monitor_note(enum trace_kind kind, const void *object, uint64_t arg, int result)
{
	struct monitor_self *self = enter_guard();

	if (!self)
		return;
	note(kind, object, arg, result);
	monitor_end(self);
}

void monitor_cancel(uint64_t handle, uint64_t pc)
{
	struct monitor_self *self = enter_guard();

	if (!self)
		return;
	guard_cancel(handle, pc & TRACE_ADDR_MASK);
	monitor_end(self);
}

static bool is_lock(enum trace_kind kind)
{
	return trace_roles(kind) & (ROLE_ACQUIRE | ROLE_RELEASE);
}

/* A blocking call ends the thread's transaction, except for a lock (learn/fold/lifetx.h). */
void monitor_wait_begin(enum trace_kind kind, const void *object, uint64_t pc)
{
	struct monitor_self *self;
	struct monitor_thread *me;

	if (!(monitor.pset | monitor.tx | monitor.noise))
		return;
	self = monitor_begin();
	if (!self)
		return;
	me = monitor_me();
	if (monitor.noise)
		make_noise(self);
	if (monitor.tx)
		(is_lock(kind) ? guard_tx_end_if_tail : guard_tx_end)();
	if (kind == TRACE_MUTEX_LOCK && monitor.tx | monitor.locks)
		guard_lock_before(object, pc & TRACE_ADDR_MASK);
	__atomic_store_n(&me->blocked_on, is_lock(kind) ? (uint64_t)object & ~1ull : 0,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&me->state, MONITOR_BLOCKED, __ATOMIC_SEQ_CST);
	monitor_end(self);
}

void monitor_wait_end(void)
{
	if (monitor_self.slot && !monitor_self.busy)
		__atomic_store_n(&monitor_me()->state, MONITOR_RUNNING, __ATOMIC_SEQ_CST);
}

void monitor_entry(uint64_t pc)
{
	struct monitor_self *self = &monitor_self;
	uint32_t flags;

	if (!monitor.tx || self->busy)
		return;
	self->depth++;
	flags = rules_function_flags(pc & TRACE_ADDR_MASK);
	if (likely(!flags) || !monitor_begin())
		return;
	if (flags & RULES_CUT_ENTRY)
		guard_tx_end();
	if (flags & RULES_HOLDS_TX && !self->tx_depth)
		self->tx_depth = self->depth;
	if (flags & RULES_CUT_EXIT && self->depth < 256)
		self->cuts_at_exit[self->depth / 64] |= 1ull << self->depth % 64;
	monitor_end(self);
}

static bool cut_at_exit(struct monitor_self *self)
{
	uint64_t *word = &self->cuts_at_exit[self->depth / 64 % 4], bit = 1ull << self->depth % 64;
	bool cut = self->depth < 256 && *word & bit;

	if (unlikely(cut))
		*word &= ~bit;
	return cut || self->depth == self->tx_depth;
}

void monitor_exit(void)
{
	struct monitor_self *self = &monitor_self;

	if (!monitor.tx || self->busy || !self->depth)
		return;
	if (unlikely(cut_at_exit(self))) {
		if (self->depth == self->tx_depth)
			self->tx_depth = 0;
		if (monitor_begin()) {
			guard_tx_end();
			monitor_end(self);
		}
	}
	self->depth--;
}

void monitor_fresh(uint64_t addr, uint64_t size)
{
	uint64_t tag = addr >> monitor.shift, last = (addr + size) >> monitor.shift;
	struct monitor_self *self;

	if (!(monitor.check | monitor.pset | monitor.tx) || !size)
		return;
	self = monitor_begin();
	if (!self)
		return;
	if (monitor.check && tag < last)
		check_cells_forget(tag, last - 1);
	for (uint64_t n = 0; !monitor.check && tag < last && n < RANGE_CELLS; n++)
		guard_cell_forget(tag++);
	monitor_end(self);
}

void monitor_unwound(uint64_t depth)
{
	struct monitor_self *self = &monitor_self;

	self->busy = 0;
	if (!self->slot)
		return;
	monitor_me()->state = MONITOR_RUNNING;
	if (depth < self->depth)
		self->depth = (uint32_t)depth;
	if (self->tx_depth > self->depth) {
		self->tx_depth = 0;
		if (monitor.tx && monitor_begin()) {
			guard_tx_end();
			monitor_end(self);
		}
	}
}
