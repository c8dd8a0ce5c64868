/*
 * Records atomic operations.
 *
 * The operation and its time are one step: both happen under the lock of the object's clock stripe
 * (clock.h), so the trace never shows a load before the store that it read from. That lock also
 * makes every operation at least as strong as the program's memory order.
 */
#include "runtime/record/clock.h"
#include "runtime/record/parallel_coverage.h"
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"

static inline void begin(struct mode_atomic *op, bool folds)
{
	op->self = snarlrt_enter();
	if (!op->self)
		return;
	if (__snarl_tls.emitted != __snarl_tls.frame && !folds)
		snarlrt_emit_calls(op->self);
	snarlrt_make_room(op->self);
	op->seen = clock_lock(op->self, (const void *)op->addr);
}

void record_atomic_begin(struct mode_atomic *op)
{
	begin(op, false);
}

void coverage_atomic_begin(struct mode_atomic *op)
{
	begin(op, true);
}

/*
 * Updates the shadow for an atomic operation. The event itself is always kept. But earlier plain
 * accesses of another thread would be dropped if the memory stayed that thread's own.
 */
static inline void touch(const struct mode_atomic *op)
{
	if (snarlrt.filter)
		shadow_touch((uint64_t)op->addr, 1ull << op->log2);
}

static inline uint64_t addr_of(const struct mode_atomic *op)
{
	return ((uint64_t)op->addr & TRACE_ADDR_MASK) | (uint64_t)(uint16_t)op->fail_order << 48;
}

static inline uint64_t site_of(const struct mode_atomic *op)
{
	unsigned detail = op->log2 | ((unsigned)op->order & TRACE_ORDER_MASK) << TRACE_ORDER_SHIFT;

	return TRACE_SITE(op->kind, detail, op->pc);
}

void record_atomic_end(struct mode_atomic *op)
{
	struct snarlrt_thread *self = op->self;

	if (!self)
		return;
	touch(op);
	snarlrt_append_two(self, addr_of(op), site_of(op), clock_unlock(self, op->seen), op->value);
	snarlrt_leave(self);
}

/* The event has no time: its position in the queue is its position in the order. */
void coverage_atomic_end(struct mode_atomic *op)
{
	const struct trace_record r[2] = { { addr_of(op), site_of(op) }, { 0, op->value } };
	struct snarlrt_thread *self = op->self;

	if (!self)
		return;
	touch(op);
	snarlrt_append(self, r, 2);
	snarlrt_profile_flush(self);
	clock_unlock(self, op->seen);
	snarlrt_profile_fold();
	snarlrt_leave(self);
}
