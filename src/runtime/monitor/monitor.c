/*
 * What modes check and guard have in common: threads, what happens to them, noise.
 */
#include "runtime/monitor/monitor.h"

#include <pthread.h>
#include <time.h>

#include "runtime/core/sys.h"
#include "runtime/monitor/check_avio.h"
#include "runtime/monitor/guard.h"
#include "runtime/process/thread.h"

#define RANGE_CELLS 512u	/* of a long access only the first ones are looked at */

struct watch watch;
__thread struct watch_self watch_self;

uint64_t watch_now(void)
{
	struct timespec t = { 0 };

	sys_call(SYS_clock_gettime, CLOCK_MONOTONIC, &t, 0);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Values that no shadow word has: each access comes to us. With noise alone or streaks, its own. */
static void set_shadow(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	bool owns = watch.everywhere | watch.streaks;
	uint32_t own = owns ? watch_self.serial % SHADOW_MAX_ID * 2 : 0;

	snarlrt_set_own(tls, (uint16_t)(own + 1));
	tls->own_uncut = owns ? 0xfffe : 2;
}

static bool take_place(struct watch_self *self, uint32_t serial)
{
	for (uint32_t i = 0; i < WATCH_THREADS; i++) {
		struct watch_thread *t = &watch.threads[i];
		uint32_t free = 0, used = __atomic_load_n(&watch.threads_used, __ATOMIC_RELAXED);

		if (!__atomic_compare_exchange_n(&t->serial, &free, serial, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		while (used <= i && !__atomic_compare_exchange_n(&watch.threads_used, &used, i + 1, false,
								 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
		self->place = i + 1;
		return true;
	}
	return false;
}

static uint32_t next_serial(void)
{
	uint32_t serial;

	do
		serial = __atomic_add_fetch(&watch.next_serial, 1, __ATOMIC_RELAXED) & 0xffff;
	while (!serial || serial == CELL_MANY);
	return serial;
}

void watch_attach(void)
{
	struct watch_self *self = &watch_self;
	uint32_t serial;

	if (self->place || self->ended)
		return;
	self->busy = 1;
	serial = next_serial();
	if (!take_place(self, serial)) {
		watch_count(&watch.log->lost_threads, 1);
		self->ended = 1;
	} else {
		self->serial = serial;
		watch_me()->handle = (uint64_t)pthread_self();
		self->random = (watch.seed + serial) * 0x9e3779b97f4a7c15ull | 1;
		set_shadow();
		snarlrt_thread_arm_exit();
	}
	self->busy = 0;
}

void watch_thread_exit(void)
{
	struct watch_self *self = &watch_self;
	struct watch_thread *me;

	if (!self->place)
		return;
	self->busy = 0;
	if (watch.tx)
		tx_end();
	me = watch_me();
	self->ended = 1;
	snarlrt_set_own(&__snarl_tls, 0);
	__snarl_tls.own_uncut = 0;
	me->state = WATCH_RUNNING;
	me->blocked_on = 0;
	for (unsigned i = 0; i < WATCH_HELD; i++)
		me->held[i] = 0;
	self->place = 0;
	__atomic_store_n(&me->serial, 0, __ATOMIC_RELEASE);
}

/* Only this thread is left; nobody waits, nothing is locked. */
void watch_forked(void)
{
	struct watch_thread *me = watch_self.place ? watch_me() : NULL;

	for (uint32_t i = 0; i < watch.threads_used; i++)
		if (&watch.threads[i] != me)
			watch.threads[i].serial = 0;
	if (me)
		me->waiters = 0;
	watch.unborn = 0;
	if (me && watch.streaks) {
		/* The cells begin anew: what was owned has to be seen again. */
		me->serial = watch_self.serial = next_serial();
		set_shadow();
	}
	if (watch.check)
		check_cells_forked();
	else
		cells_forked();
}

struct watch_self *watch_enter(void)
{
	struct watch_self *self = &watch_self;

	if (unlikely(self->busy | self->ended | __snarl_tls.hidden | watch.log->off))
		return NULL;
	if (unlikely(!self->place))
		watch_attach();
	if (!self->place)
		return NULL;
	self->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return self;
}

static uint64_t next_random(struct watch_self *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random >> 16;
}

static void make_noise(struct watch_self *self)
{
	struct timespec nap = { 0 };

	if (next_random(self) % 1000 >= watch.noise)
		return;
	watch_count(&watch.log->naps, 1);
	if (next_random(self) % 4 == 0) {
		sys_call(SYS_sched_yield, 0, 0, 0);
		return;
	}
	nap.tv_nsec = (long)(next_random(self) % watch.nap_ns);
	sys_call(SYS_nanosleep, &nap, 0, 0);
}

/* The thread's own memory becomes its own; true: others' too. */
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

static __attribute__((noinline)) void access_seen(uint64_t addr, uint64_t size, uint64_t pc, bool write)
{
	const struct rules_place *place = rules_find(pc & TRACE_ADDR_MASK, write);
	struct watch_self *self;
	uint64_t tag, last;

	if (!place && !watch.everywhere)
		return;
	self = watch_enter();
	if (!self)
		return;
	if (watch.noise && (place || is_shared(addr)))
		make_noise(self);
	if (!place || !(place->flags & watch.active) || !(watch.check | watch.pset | watch.tx)) {
		watch_leave(self);
		return;
	}
	if (watch.check) {
		check_access(addr, size, place, write);
		watch_leave(self);
		return;
	}
	if (watch.tx && place->flags >> RULES_GATE_SHIFT)
		guard_gate(place);
	tag = (addr & TRACE_ADDR_MASK) >> watch.shift;
	last = ((addr & TRACE_ADDR_MASK) + (size ? size : 1) - 1) >> watch.shift;
	if (last - tag >= RANGE_CELLS)
		last = tag + RANGE_CELLS - 1;
	for (; tag <= last; tag++)
		guard_access(tag, place, write);
	watch_leave(self);
}

void watch_access(uint64_t addr, uint64_t size, uint64_t pc, bool write)
{
	if (!watch.streaks || write || !check_read_again(addr, size))
		access_seen(addr, size, pc, write);
}

static void note(enum trace_kind kind, const void *object, uint64_t arg, int result)
{
	switch (kind) {
	case TRACE_MUTEX_LOCK:
		if (result == 0 && watch.tx | watch.locks)
			guard_lock_held(object);
		if (result == 0)
			guard_held_add(object);
		break;
	case TRACE_MUTEX_TRYLOCK: case TRACE_MUTEX_TIMEDLOCK:
		if (result == 0)
			guard_lock_unknown(object);
		/* fall through */
	case TRACE_RWLOCK_RDLOCK: case TRACE_RWLOCK_TRYRDLOCK: case TRACE_RWLOCK_TIMEDRDLOCK:
	case TRACE_RWLOCK_WRLOCK: case TRACE_RWLOCK_TRYWRLOCK: case TRACE_RWLOCK_TIMEDWRLOCK:
	case TRACE_SPIN_LOCK: case TRACE_SPIN_TRYLOCK:
		if (result == 0)
			guard_held_add(object);
		break;
	case TRACE_MUTEX_UNLOCK:
		if (result == 0 && watch.tx)
			guard_unlock(object);
		/* fall through */
	case TRACE_RWLOCK_UNLOCK: case TRACE_SPIN_UNLOCK:
		guard_held_remove(object);
		break;
	case TRACE_COND_WAIT:
		guard_held_remove((const void *)arg);
		break;
	case TRACE_COND_WAKE:
		guard_lock_unknown((const void *)arg);
		guard_held_add((const void *)arg);
		break;
	default:
		break;
	}
}

/* NULL: no guard. */
static struct watch_self *enter_guard(void)
{
	return watch.pset || watch.tx ? watch_enter() : NULL;
}

void watch_note(enum trace_kind kind, const void *object, uint64_t arg, int result)
{
	struct watch_self *self = enter_guard();

	if (!self)
		return;
	note(kind, object, arg, result);
	watch_leave(self);
}

void watch_cancel(uint64_t handle, uint64_t pc)
{
	struct watch_self *self = enter_guard();

	if (!self)
		return;
	guard_cancel(handle, pc & TRACE_ADDR_MASK);
	watch_leave(self);
}

static bool is_lock(enum trace_kind kind)
{
	return kind >= TRACE_MUTEX_LOCK && kind <= TRACE_SPIN_UNLOCK;
}

/* Blocking calls end a transaction, locks excepted (learn/fold/lifetx.h). */
void watch_wait_begin(enum trace_kind kind, const void *object, uint64_t pc)
{
	struct watch_self *self;
	struct watch_thread *me;

	if (!(watch.pset | watch.tx | watch.noise))
		return;
	self = watch_enter();
	if (!self)
		return;
	me = watch_me();
	if (watch.noise)
		make_noise(self);
	if (watch.tx)
		(is_lock(kind) ? tx_end_if_over : tx_end)();
	if (kind == TRACE_MUTEX_LOCK && watch.tx | watch.locks)
		guard_lock_before(object, pc & TRACE_ADDR_MASK);
	__atomic_store_n(&me->blocked_on, is_lock(kind) ? (uint64_t)object & ~1ull : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&me->state, WATCH_BLOCKED, __ATOMIC_SEQ_CST);
	watch_leave(self);
}

void watch_wait_end(void)
{
	if (watch_self.place && !watch_self.busy)
		__atomic_store_n(&watch_me()->state, WATCH_RUNNING, __ATOMIC_SEQ_CST);
}

void watch_entry(uint64_t pc)
{
	struct watch_self *self = &watch_self;
	uint32_t flags;

	if (!watch.tx || self->busy)
		return;
	self->depth++;
	flags = rules_function_flags(pc & TRACE_ADDR_MASK);
	if (likely(!flags) || !watch_enter())
		return;
	if (flags & 2)
		tx_end();
	if (flags & 1 && !self->root)
		self->root = self->depth;
	if (flags & 4 && self->depth < 256)
		self->exit_cuts[self->depth / 64] |= 1ull << self->depth % 64;
	watch_leave(self);
}

static bool cut_at_exit(struct watch_self *self)
{
	uint64_t *word = &self->exit_cuts[self->depth / 64 % 4], bit = 1ull << self->depth % 64;
	bool cut = self->depth < 256 && *word & bit;

	if (unlikely(cut))
		*word &= ~bit;
	return cut || self->depth == self->root;
}

void watch_exit(void)
{
	struct watch_self *self = &watch_self;

	if (!watch.tx || self->busy || !self->depth)
		return;
	if (unlikely(cut_at_exit(self))) {
		if (self->depth == self->root)
			self->root = 0;
		if (watch_enter()) {
			tx_end();
			watch_leave(self);
		}
	}
	self->depth--;
}

void watch_fresh(uint64_t addr, uint64_t size)
{
	uint64_t tag = addr >> watch.shift, last = (addr + size) >> watch.shift;
	struct watch_self *self;

	if (!(watch.check | watch.pset | watch.tx) || !size)
		return;
	self = watch_enter();
	if (!self)
		return;
	if (watch.check && tag < last)
		check_cells_forget(tag, last - 1);
	for (uint64_t n = 0; !watch.check && tag < last && n < RANGE_CELLS; n++)
		cell_forget(tag++);
	watch_leave(self);
}

void watch_jumped(uint64_t depth)
{
	struct watch_self *self = &watch_self;

	self->busy = 0;
	if (!self->place)
		return;
	watch_me()->state = WATCH_RUNNING;
	if (depth < self->depth)
		self->depth = (uint32_t)depth;
	if (self->root > self->depth) {
		self->root = 0;
		if (watch.tx && watch_enter()) {
			tx_end();
			watch_leave(self);
		}
	}
}
