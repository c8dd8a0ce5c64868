/*
 * Barriers. The state has the layout of libc's barrier, whose numbers only grow: threads that
 * arrived, threads that were released, threads that have left. The last thread of a round to
 * arrive is the serial one.
 *
 * Arriving is one step, leaving another. Destroying waits for threads that are still leaving, as
 * in libc.
 */
#include "runtime/control/model/models.h"

struct barrier {
	uint32_t arrived;
	uint32_t released;
	uint32_t count;		/* threads in a round; set by the real init */
	uint32_t shared;
	uint32_t departed;
};

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "in place");

static inline struct barrier *state_of(const struct ctl_wait *w)
{
	return (struct barrier *)(uintptr_t)w->event.object;
}

/* w->arg is the value of `arrived` at the thread's arrival. The difference allows overflow. */
static bool is_released(const struct ctl_wait *w)
{
	return (int32_t)(state_of(w)->released - (uint32_t)(uintptr_t)w->arg) > 0;
}

static bool all_departed(const struct ctl_wait *w)
{
	return state_of(w)->arrived == state_of(w)->departed;
}

static bool check_usable(const struct barrier *b, const void *pc)
{
	if (b->count)
		return true;
	ctl_misuse(b, pc, "use of a barrier that was destroyed or never initialised");
	return false;
}

/* Returns true if the thread completes the round. */
static bool arrive(struct barrier *b, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_WAIT, b, is_released, pc);

	w.arg = (void *)(uintptr_t)b->arrived++;
	if (b->arrived - b->released == b->count) {
		b->released = b->arrived;
		ctl_changed(b);
		return true;
	}
	model_wait(&w, TRACE_BARRIER_ENTER);
	return false;
}

int model_barrier_wait(pthread_barrier_t *barrier, const void *pc)
{
	struct barrier *b = (struct barrier *)(void *)barrier;
	bool serial;

	model_point(SCHED_OP_WAIT, TRACE_BARRIER_ENTER, barrier, pc);
	snarlrt_note(TRACE_BARRIER_ENTER, 0, barrier, 0, 0, pc);
	if (!check_usable(b, pc)) {
		snarlrt_note(TRACE_BARRIER_LEAVE, 0, barrier, 0, EINVAL, pc);
		return EINVAL;
	}
	serial = arrive(b, pc);
	b->departed++;
	ctl_changed(barrier);
	snarlrt_note(TRACE_BARRIER_LEAVE, 0, barrier, serial, 0, pc);
	return serial ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int model_barrier_destroy(pthread_barrier_t *barrier, const void *pc)
{
	struct barrier *b = (struct barrier *)(void *)barrier;
	struct ctl_wait w = CTL_WAIT(SCHED_OP_OTHER, barrier, all_departed, pc);
	int result = EINVAL;

	model_point(SCHED_OP_OTHER, TRACE_BARRIER_DESTROY, barrier, pc);
	if (check_usable(b, pc)) {
		if (b->arrived != b->released)
			ctl_misuse(barrier, pc, "destruction of a barrier that threads wait at");
		if (!all_departed(&w))
			model_wait(&w, TRACE_BARRIER_DESTROY);
		b->count = 0;
		result = 0;
	}
	snarlrt_note(TRACE_BARRIER_DESTROY, 0, barrier, 0, result, pc);
	return result;
}
