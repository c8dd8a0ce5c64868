/*
 * What modes check and guard do with the program's events.
 */
#include "runtime/monitor/monitor.h"

static void monitor_access(uint64_t addr, uint64_t site)
{
	watch_access(addr, 1ull << (site >> 56 & TRACE_SIZE_MASK), site, trace_site_kind(site) == TRACE_WRITE);
}

static void monitor_range(uint64_t addr, uint64_t size, uint64_t site)
{
	watch_access(addr, size, site, trace_site_kind(site) == TRACE_WRITE_RANGE);
}

static void monitor_atomic_begin(struct mode_atomic *op)
{
	watch_access((uint64_t)op->addr, 1ull << op->log2, (uint64_t)op->pc, op->kind != TRACE_ATOMIC_LOAD);
}

static void monitor_entry(uint64_t caller, uint64_t pc)
{
	(void)caller;
	watch_entry(pc);
}

static void monitor_exit(uint64_t pc)
{
	(void)pc;
	watch_exit();
}

static void monitor_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg, int result,
			 const void *pc)
{
	(void)detail;
	(void)pc;
	watch_note(kind, object, arg, result);
}

static void monitor_wait_begin(enum trace_kind kind, const void *object, const void *pc)
{
	watch_wait_begin(kind, object, (uint64_t)pc);
}

static void monitor_fresh(const void *addr, size_t size)
{
	watch_fresh((uint64_t)addr, size);
}

static uint64_t monitor_depth(void)
{
	return watch_self.depth;
}

static void monitor_thread_begin(const struct mode_thread *t)
{
	(void)t;
	watch_attach();
	__atomic_fetch_sub(&watch.unborn, 1, __ATOMIC_SEQ_CST);
}

const struct mode mode_monitor = {
	.name = "check or guard",
	.id = SNARLRT_WATCH,
	.access = monitor_access,
	.range = monitor_range,
	.atomic_begin = monitor_atomic_begin,
	.atomic_end = mode_no_atomic,
	.entry = monitor_entry,
	.exit = monitor_exit,
	.note = monitor_note,
	.wait_begin = monitor_wait_begin,
	.wait_end = watch_wait_end,
	.fresh = monitor_fresh,
	.depth = monitor_depth,
	.cut = watch_jumped,
	.thread_begin = monitor_thread_begin,
	.thread_end = watch_thread_exit,
	.forked = watch_forked,
};
