/*
 * The parts of call.h that run only when a mode wants the events.
 */
#include "runtime/control/control.h"
#include "runtime/control/model/external.h"
#include "runtime/interpose/call.h"

void snarlrt_call_open(struct snarlrt_call *c)
{
	snarlrt_note(TRACE_CALL_ENTER, c->what, c->object, 0, 0, c->pc);
	snarlrt_wait_begin(TRACE_CALL_ENTER, c->object, c->pc);
	c->open = true;
	c->control = ctl_on();
}

void snarlrt_call_close(struct snarlrt_call *c, long value, int error, unsigned detail)
{
	int saved = errno;

	c->open = false;
	if (c->control && !(detail & TRACE_CALL_UNWOUND))
		ctl_outside_call(c);
	snarlrt_wait_end();
	snarlrt_note(TRACE_CALL_LEAVE, c->what | detail, c->object, (uint64_t)value, error, c->pc);
	errno = saved;
}

void snarlrt_range_vector(bool write, const struct iovec *v, size_t count, size_t size,
			  const void *pc)
{
	for (size_t i = 0; i < count && size > 0; i++) {
		size_t n = v[i].iov_len < size ? v[i].iov_len : size;

		snarlrt_range(write, v[i].iov_base, n, pc);
		size -= n;
	}
}
