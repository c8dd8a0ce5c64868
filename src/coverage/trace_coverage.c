#include "coverage/trace_coverage.h"

#include "coverage/fold/event_step.h"

unsigned iroot_steps(const struct event *ev, struct iroot_step *out)
{
	/* The stack's memory may have been the stack of a thread that ended. */
	if (ev->kind == TRACE_THREAD_START && ev->arg >> 32 && ev->extra[1] > ev->extra[0]) {
		out[0] = (struct iroot_step){ .thread = ev->thread, .op = IROOT_OP_FRESH,
					      .addr = ev->extra[0],
					      .size = ev->extra[1] - ev->extra[0] };
		return 1;
	}
	return trace_steps(out, ev->thread, ev->kind, ev->addr, ev->size, ev->arg, ev->result,
			   ev->pc);
}
