/*
 * The call stack while recording: function entries and exits that the assembly's fast paths do not
 * handle, and longjmp.
 */
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"

void record_entry(uint64_t caller, uint64_t pc)
{
	struct snarlrt_thread *self = snarlrt_enter();

	(void)pc;
	if (!self)
		return;
	if (__snarl_tls.frame < __snarl_tls.frame_end)	/* the thread was just attached */
		*__snarl_tls.frame++ = (struct snarlrt_frame){ caller, caller };
	else {
		/* C counts exits of such calls; it sees all of them only if no call is pending. */
		snarlrt_emit_calls(self);
		self->too_deep++;
	}
	snarlrt_leave(self);
}

/*
 * Removes the record of the ending function's entry if it is the ring's last one, as the assembly
 * does.
 */
static bool remove_entry(const struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *last = tls->cur - 1;

	if (last < self->ring || last->site != TRACE_SITE(TRACE_FUNC_ENTRY, 0, tls->frame->pc) ||
	    last->addr != tls->frame->caller)
		return false;
	last->site = 0;
	tls->cur = last;
	return true;
}

void record_exit(uint64_t pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self;
	struct trace_record r;

	if (!tls->self)
		return;
	self = snarlrt_enter();
	if (!self)
		return;
	if (self->too_deep) {
		self->too_deep--;
	} else if (tls->frame > self->frames) {
		r = (struct trace_record){ 0, TRACE_SITE(TRACE_FUNC_EXIT, 0, pc) };
		tls->frame--;
		tls->emitted = tls->frame;
		if (!remove_entry(self) && !snarlrt.profiling &&
		    !snarlrt_append_quick(r.addr, r.site))
			snarlrt_append(self, &r, 1);
	}
	snarlrt_leave(self);
}

uint64_t record_depth(void)
{
	const struct snarlrt_tls *tls = &__snarl_tls;

	if (!tls->self || !tls->frame_end)
		return 0;
	return (uint64_t)(tls->frame - tls->self->frames) + tls->self->too_deep;
}

static void truncate_frames(struct snarlrt_tls *tls, uint64_t depth)
{
	uint64_t room = (uint64_t)(tls->frame_end - tls->self->frames);
	struct snarlrt_frame *to;

	if (depth > (uint64_t)(tls->frame - tls->self->frames) + tls->self->too_deep)
		return;
	tls->self->too_deep = depth > room ? (uint32_t)(depth - room) : 0;
	to = tls->self->frames + (depth > room ? room : depth);
	tls->frame = to;
	if (tls->emitted > to)
		tls->emitted = to;
}

void record_unwind(uint64_t depth)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self;

	if (!tls->self || !tls->frame_end)
		return;
	self = snarlrt_enter();		/* signal handlers must not see a call stack half changed */
	truncate_frames(tls, depth);
	if (self)
		snarlrt_leave(self);
}
