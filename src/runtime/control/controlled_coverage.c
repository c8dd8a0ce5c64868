/*
 * Coverage under control: folds the events that a trace would have into the iRoots of the run
 * (coverage/fold/iroot_fold.h). The memory is the tool's, so nothing is lost however the run ends.
 * The tool completes the fold.
 */
#include "abi/trace_roles.h"
#include "coverage/fold/event_step.h"
#include "runtime/control/control.h"
#include "runtime/core/tool_block.h"

void ctl_profile_begin(void)
{
	ctl.profile = NULL;
	if (ctl.flags & CTL_PROFILE && ctl.block->profile_size)
		ctl.profile = tool_block_profile(ctl.block, ctl.block->profile_size);
}

static void fold_event(uint32_t thread, const struct trace_record *r, uint64_t size, uint64_t arg,
		       unsigned result)
{
	struct iroot_step steps[TRACE_STEPS];
	unsigned count =
		trace_steps(steps, thread, trace_site_kind(r->site), r->addr & TRACE_ADDR_MASK,
			    size, arg, result, r->site & TRACE_ADDR_MASK);

	for (unsigned i = 0; i < count; i++)
		iroot_profile_step(ctl.profile, &steps[i]);
}

void ctl_profile_page(struct ctl_thread *t, const struct trace_record *records, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		fold_event(t->id, &records[i], 1ull << (records[i].site >> 56 & TRACE_SIZE_MASK), 0,
			   0);
}

void ctl_profile_event(struct ctl_thread *t, const struct trace_record *r, uint64_t arg)
{
	unsigned kind = trace_site_kind(r->site);

	if (trace_roles(kind) & ROLE_ATOMIC)
		fold_event(t->id, r, 1ull << (r->site >> 56 & TRACE_SIZE_MASK), arg, 0);
	else
		fold_event(t->id, r, arg, arg, (unsigned)(r->addr >> 48));
}

/* The thread's stack may have been another thread's: its accesses follow on none. */
void ctl_profile_attach(const struct ctl_thread *t)
{
	struct iroot_step s = { .thread = t->id, .op = IROOT_OP_FRESH, .addr = (uintptr_t)t->stack,
				.size = t->stack_size };

	if (t->number && t->stack)
		iroot_profile_step(ctl.profile, &s);
}
