/*
 * Counts what runs without being scheduled, for struct ctl_uncontrolled (abi/control_block.h):
 * threads of forked children, and threads that some other way than pthread_create() made.
 */
#include "runtime/control/control.h"
#include "runtime/control/library_waits.h"
#include "runtime/core/sys.h"

/* The executable's code, from the linker */
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));

static __thread bool counted;	/* this thread is in the count of foreign threads */
static bool has_threads;	/* this forked child has created a thread */
static bool uses_shared_memory;	/* this forked child is in the count of those that share memory */

static struct {
	uint64_t start, end;
} shared[CTL_SHARED_MAPPINGS] SNARLRT_BIG;
static uint32_t shared_count;

/* The counts of this process's run; NULL: that run is over. */
static struct ctl_uncontrolled *counts(void)
{
	struct ctl_uncontrolled *u = ctl.uncontrolled;

	return u && __atomic_load_n(&u->process, __ATOMIC_RELAXED) == ctl.run_process ? u : NULL;
}

/* Adds 1, and sets *pc if it is the first time. No other data depends on these atomics. */
static void count(uint32_t *number, uint64_t *pc, uint64_t value)
{
	uint64_t none = 0;

	__atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(pc, &none, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void ctl_uncontrolled_begin(void)
{
	ctl.uncontrolled = &ctl.block->report.uncontrolled;
	ctl.run_process = (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
	ctl.uncontrolled->process = ctl.run_process;
}

/* Not atomic: children that run alone do not come here. */
static void add_start(struct ctl_uncontrolled *u, uint64_t start)
{
	if (start >= (uint64_t)(uintptr_t)__executable_start && start < (uint64_t)(uintptr_t)etext)
		return;
	if (ctl_library_has(start))	/* its waits are controlled */
		return;
	for (uint32_t i = 0; i < u->starts; i++)
		if (u->start[i] == start)
			return;
	if (u->starts < CTL_STARTS)
		u->start[u->starts++] = start;
}

void ctl_uncontrolled_thread(const void *start)
{
	struct ctl_uncontrolled *u = counts();

	if (u && !ctl.private_child)
		add_start(u, (uint64_t)(uintptr_t)start);
	if (!u || !ctl.private_child)
		return;
	if (!has_threads)
		count(&u->children, &u->fork_pc, (uint64_t)(uintptr_t)ctl.fork_pc);
	has_threads = true;
	__atomic_fetch_add(&u->child_threads, 1, __ATOMIC_RELAXED);
}

void ctl_uncontrolled_event(const void *pc)
{
	const struct snarlrt_tls *tls = &__snarl_tls;
	struct ctl_uncontrolled *u;

	if (counted || !ctl.begun || ctl.ended || tls->control || tls->busy | tls->hidden)
		return;
	counted = true;
	u = counts();
	if (u)
		count(&u->foreign, &u->foreign_pc, (uint64_t)(uintptr_t)pc);
}

void ctl_shared_mapping(const void *at, size_t size)
{
	uint64_t start = (uint64_t)(uintptr_t)at;

	for (uint32_t i = 0; i < shared_count; i++)
		if (start < shared[i].end && shared[i].start < start + size)
			return;
	if (shared_count < CTL_SHARED_MAPPINGS) {
		shared[shared_count].start = start;
		shared[shared_count++].end = start + size;
	}
}

void ctl_unmapped(const void *at, size_t size)
{
	uint64_t start = (uint64_t)(uintptr_t)at;

	for (uint32_t i = shared_count; i-- > 0;)
		if (shared[i].start >= start && shared[i].end <= start + size)
			shared[i] = shared[--shared_count];
}

bool ctl_has_shared_mapping(void)
{
	return shared_count > 0;
}

/* Its accesses to such memory must reach ctl_uncontrolled_access(). */
void ctl_uncontrolled_forked(void)
{
	has_threads = uses_shared_memory = false;
	for (uint32_t i = 0; i < shared_count; i++) {
		uint64_t size = shared[i].end - shared[i].start;

		ctl_mark_shared(shared[i].start,
				size < CTL_SHARED_BYTES ? size : CTL_SHARED_BYTES);
	}
}

void ctl_uncontrolled_access(uint64_t addr, const void *pc)
{
	struct ctl_uncontrolled *u = counts();

	if (uses_shared_memory || !u)
		return;
	for (uint32_t i = 0; i < shared_count; i++)
		if (addr >= shared[i].start && addr < shared[i].end) {
			uses_shared_memory = true;
			count(&u->sharing, &u->sharing_pc, (uint64_t)(uintptr_t)pc);
			return;
		}
}
