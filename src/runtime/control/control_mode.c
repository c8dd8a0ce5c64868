/*
 * The row of mode control in the table of modes (core/mode.h): passes the program's events on to
 * the scheduling points. Threads that are not under control pass unseen.
 */
#include "runtime/control/control_mode.h"

#include "runtime/control/model/external.h"

/* Looks at an event that is not part of the run's schedule, or is one of a forked child. */
static void look_at(uint64_t addr, const void *pc)
{
	if (ctl.private_child || ctl.borrowed)
		ctl_uncontrolled_access(addr, pc);
	else if (!__snarl_tls.control)
		ctl_uncontrolled_event(pc);
}

static inline bool is_controlled(uint64_t addr, const void *pc)
{
	bool on = ctl_on();

	if (unlikely(!on || ctl.private_child || ctl.borrowed))
		look_at(addr, pc);
	return on;
}

static const void *site_pc(uint64_t site)
{
	return (const void *)(uintptr_t)(site & TRACE_ADDR_MASK);
}

static void control_access(uint64_t addr, uint64_t site)
{
	if (is_controlled(addr & TRACE_ADDR_MASK, site_pc(site)))
		ctl_access(addr & TRACE_ADDR_MASK, 1ull << (site >> 56 & TRACE_SIZE_MASK), site);
}

static void control_range(uint64_t addr, uint64_t size, uint64_t site)
{
	if (is_controlled(addr & TRACE_ADDR_MASK, site_pc(site)))
		ctl_access(addr & TRACE_ADDR_MASK, size, site);
}

static void control_atomic_begin(struct mode_atomic *op)
{
	if (is_controlled((uint64_t)(uintptr_t)op->addr, op->pc))
		ctl_atomic(op->kind, op->log2, op->addr, op->pc);
}

static void control_atomic_end(struct mode_atomic *op)
{
	if (ctl_on())
		ctl_atomic_done(op->kind, op->log2, op->order, op->fail_order, op->addr, op->value,
				op->pc);
}

static void control_exit(uint64_t pc)
{
	if (ctl.tracing && ctl_on())
		ctl_trace_exit(ctl.current, pc);
}

static void control_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
			 int result, const void *pc)
{
	if (is_controlled((uint64_t)(uintptr_t)object, pc))
		ctl_note(kind, detail, object, arg, result, pc);
}

static void control_fresh(const void *addr, size_t size)
{
	ctl_fresh((uint64_t)addr, size);
}

/* The number of calls on the controlled thread's call stack. */
static uint64_t control_depth(void)
{
	const struct snarlrt_tls *tls = &__snarl_tls;

	return tls->control && tls->frame_end ? (uint64_t)(tls->frame - tls->control->frames) : 0;
}

static void control_cut(uint64_t depth)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_frame *to;

	if (!tls->control || !tls->frame_end)
		return;
	to = tls->control->frames + depth;
	if (to >= tls->frame)
		return;
	tls->frame = to;
	if (tls->emitted > to)
		tls->emitted = to;
}

static void control_forked(void)
{
	if (!ctl.begun)
		return;
	ctl_forked_child();
	ctl_signal_forked();
}

const struct mode mode_control = {
	.name = "control",
	.id = SNARLRT_CONTROL,
	.access = control_access,
	.range = control_range,
	.atomic_begin = control_atomic_begin,
	.atomic_end = control_atomic_end,
	.entry = mode_no_entry,
	.exit = control_exit,
	.note = control_note,
	.wait_begin = mode_no_wait,
	.fresh = control_fresh,
	.depth = control_depth,
	.cut = control_cut,
	.thread_begin = mode_no_thread,
	.thread_end = mode_nothing,
	.forked = control_forked,
};
