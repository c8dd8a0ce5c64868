/*
 * pthread_once and call_once.
 *
 * ONCE_PASS is noted when the call returns; ONCE_BEGIN and ONCE_END around the program's routine,
 * if this call runs it. The routine takes no argument, so the real function gets once_trampoline(),
 * which finds the routine on the caller's stack through once_top. The trampoline restores once_top
 * before it calls the routine, because that may call once again, throw, be cancelled or longjmp
 * out.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"
#include "runtime/interpose/blocking.h"

/* A call of pthread_once or call_once under way. */
struct once_call {
	struct once_call *outer;	/* the next in the list once_top */
	void (*routine)(void);		/* the program's */
	struct snarlrt_blocking pass;	/* the event ONCE_PASS */
};

static __thread struct once_call *once_top;	/* innermost call whose routine has not begun */

/* A run of the routine, from ONCE_BEGIN to ONCE_END. */
struct once_run {
	const struct snarlrt_blocking *pass;
	bool returned;
};

/* If the routine was unwound, libc treats the once as never tried, and the next caller runs it. */
static inline void once_run_end(struct once_run *run)
{
	const struct snarlrt_blocking *p = run->pass;
	unsigned detail = run->returned ? p->detail : p->detail | TRACE_UNWOUND;

	snarlrt_note(TRACE_ONCE_END, detail, p->object, 0, run->returned ? 0 : ECANCELED, p->pc);
}

static void once_trampoline(void)
{
	struct once_call *call = once_top;
	const struct snarlrt_blocking *p = &call->pass;
	struct once_run run __attribute__((cleanup(once_run_end))) = { .pass = p };

	once_top = call->outer;
	snarlrt_wait_end();
	snarlrt_note(TRACE_ONCE_BEGIN, p->detail, p->object, 0, 0, p->pc);
	call->routine();
	run.returned = true;
}

static inline void once_end(struct once_call *call)
{
	once_top = call->outer;
	snarlrt_wait_end();
	if (!call->pass.returned)
		return;
	snarlrt_note(TRACE_ONCE_PASS, call->pass.detail, call->pass.object, 0, call->pass.result,
		     call->pass.pc);
}

static inline void once_begin(struct once_call *call)
{
	call->outer = once_top;
	once_top = call;
	snarlrt_blocking_begin(&call->pass, TRACE_ONCE_PASS);
}

SNARLRT_INTERPOSE int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	if (ctl_on())
		return model_once(once, routine, 0, SNARLRT_PC());

	struct once_call call __attribute__((cleanup(once_end))) = {
		.routine = routine,
		.pass = { .object = once, .pc = SNARLRT_PC() },
	};

	snarlrt_real_ready();
	once_begin(&call);
	call.pass.result = REAL(pthread_once)(once, once_trampoline);
	call.pass.returned = true;
	return call.pass.result;
}

SNARLRT_INTERPOSE void call_once(once_flag *once, void (*routine)(void))
{
	if (ctl_on()) {
		model_once(&once->__data, routine, TRACE_C11, SNARLRT_PC());
		return;
	}

	struct once_call call __attribute__((cleanup(once_end))) = {
		.routine = routine,
		.pass = { .object = once, .detail = TRACE_C11, .pc = SNARLRT_PC() },
	};

	snarlrt_real_ready();
	once_begin(&call);
	REAL(call_once)(once, once_trampoline);
	call.pass.returned = true;
}
