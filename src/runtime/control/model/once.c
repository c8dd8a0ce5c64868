/*
 * pthread_once, call_once, and the guards of C++ local statics.
 *
 * A once is libc's int: 0, ONCE_DONE, or ONCE_RUNNING with the trace id of the initialising thread
 * above it. If that thread does not live any more (the process forked meanwhile), the initialiser
 * counts as not begun. A thread that calls the once again from within its initialiser waits for
 * ever, as without control.
 *
 * A guard has the layout of interpose/cxa_guard.c.
 */
#include "runtime/control/model/models.h"

#define ONCE_RUNNING 1
#define ONCE_DONE 2
#define ONCE_ID_SHIFT 2

#define GUARD_DONE 0x00001u
#define GUARD_PENDING 0x00100u

static bool once_can_proceed(const struct ctl_wait *w)
{
	int word = *(const pthread_once_t *)(uintptr_t)w->event.object;
	uint32_t id = (uint32_t)word >> ONCE_ID_SHIFT;

	if (!(word & ONCE_RUNNING))
		return true;
	return id > 0 && id <= ctl.count && ctl.threads[id - 1]->state != CTL_LIVE;
}

struct once_run {
	pthread_once_t *once;
	unsigned detail;
	const void *pc;
	bool returned;
};

/* If the initialiser was left by unwinding, the next caller runs it again. */
static inline void once_run_end(struct once_run *run)
{
	if (run->returned) {
		model_point(SCHED_OP_RELEASE, TRACE_ONCE_END, run->once, run->pc);
		snarlrt_note(TRACE_ONCE_END, run->detail, run->once, 0, 0, run->pc);
	} else {
		snarlrt_note(TRACE_ONCE_END, run->detail | TRACE_UNWOUND, run->once, 0, ECANCELED,
			     run->pc);
	}
	*run->once = run->returned ? ONCE_DONE : 0;
	ctl_held_drop(run->once);
	ctl_changed(run->once);
}

static void once_run(pthread_once_t *once, void (*routine)(void), unsigned detail, const void *pc)
{
	struct once_run run __attribute__((cleanup(once_run_end))) = {
		.once = once, .detail = detail, .pc = pc,
	};

	*once = ONCE_RUNNING | (int)(ctl_self()->id << ONCE_ID_SHIFT);
	ctl_changed(once);
	ctl_held_add(once, pc);
	snarlrt_note(TRACE_ONCE_BEGIN, detail, once, 0, 0, pc);
	routine();
	run.returned = true;
}

int model_once(pthread_once_t *once, void (*routine)(void), unsigned detail, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, once, once_can_proceed, pc);

	model_wait(&w, TRACE_ONCE_PASS);
	if (!(*once & ONCE_DONE))
		once_run(once, routine, detail, pc);
	snarlrt_note(TRACE_ONCE_PASS, detail, once, 0, 0, pc);
	return 0;
}

static bool guard_can_proceed(const struct ctl_wait *w)
{
	return !(*(const uint32_t *)(uintptr_t)w->event.object & GUARD_PENDING);
}

int model_guard_acquire(uint64_t *guard, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, guard, guard_can_proceed, pc);
	uint32_t *word = (uint32_t *)guard;
	int mine;

	model_wait(&w, TRACE_GUARD_ACQUIRE);
	mine = !(*word & GUARD_DONE);
	if (mine) {
		*word = GUARD_PENDING;
		ctl_changed(guard);
		ctl_held_add(guard, pc);
	}
	snarlrt_note(TRACE_GUARD_ACQUIRE, 0, guard, 0, mine, pc);
	return mine;
}

void model_guard_release(uint64_t *guard, const void *pc)
{
	ctl_point(SCHED_OP_RELEASE, guard, pc);
	snarlrt_note(TRACE_GUARD_RELEASE, 0, guard, 0, 0, pc);
	*(uint32_t *)guard = GUARD_DONE;
	ctl_held_drop(guard);
	ctl_changed(guard);
}

/* Makes no point, since an exception unwinds. */
void model_guard_abort(uint64_t *guard, const void *pc)
{
	snarlrt_note(TRACE_GUARD_ABORT, 0, guard, 0, 0, pc);
	*(uint32_t *)guard = 0;
	ctl_held_drop(guard);
	ctl_changed(guard);
}
