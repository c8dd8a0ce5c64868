/* Modes check and guard as a row of the table of modes (runtime/core/mode.h). */
#include "runtime/monitor/monitor.h"

static void on_access(uint64_t addr, uint64_t site)
{
	monitor_access(addr, 1ull << (site >> 56 & TRACE_SIZE_MASK), site,
		       trace_site_kind(site) == TRACE_WRITE);
}

static void on_range(uint64_t addr, uint64_t size, uint64_t site)
{
	monitor_access(addr, size, site, trace_site_kind(site) == TRACE_WRITE_RANGE);
}

static void on_atomic_begin(struct mode_atomic *op)
{
	monitor_access((uint64_t)op->addr, 1ull << op->log2, (uint64_t)op->pc,
		       op->kind != TRACE_ATOMIC_LOAD);
}

static void on_entry(uint64_t caller, uint64_t pc)
{
	(void)caller;
	monitor_entry(pc);
}

static void on_exit(uint64_t pc)
{
	(void)pc;
	monitor_exit();
}

static void on_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
		    int result, const void *pc)
{
	(void)detail;
	(void)pc;
	monitor_note(kind, object, arg, result);
}

static void on_wait_begin(enum trace_kind kind, const void *object, const void *pc)
{
	monitor_wait_begin(kind, object, (uint64_t)pc);
}

static void on_fresh(const void *addr, size_t size)
{
	monitor_fresh((uint64_t)addr, size);
}

static uint64_t on_depth(void)
{
	return monitor_self.depth;
}

static void on_thread_begin(const struct mode_thread *t)
{
	(void)t;
	monitor_attach();
	__atomic_fetch_sub(&monitor.unattached, 1, __ATOMIC_SEQ_CST);
}

const struct mode mode_monitor = {
	.name = "check or guard",
	.id = SNARLRT_MONITOR,
	.access = on_access,
	.range = on_range,
	.atomic_begin = on_atomic_begin,
	.atomic_end = mode_no_atomic,
	.entry = on_entry,
	.exit = on_exit,
	.note = on_note,
	.wait_begin = on_wait_begin,
	.wait_end = monitor_wait_end,
	.fresh = on_fresh,
	.depth = on_depth,
	.cut = monitor_unwound,
	.thread_begin = on_thread_begin,
	.thread_end = monitor_thread_exit,
	.forked = monitor_forked,
};
