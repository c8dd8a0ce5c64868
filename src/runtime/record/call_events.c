/* Records events of interposed calls (snarlrt_note), and which object a thread waits for. */
#include "abi/trace_roles.h"
#include "runtime/record/mutex_clock.h"
#include "runtime/record/parallel_coverage.h"
#include "runtime/record/record_mode.h"

/*
 * clock_plausible() for times far ahead of the thread's. Such a number may be garbage in
 * uninitialised memory, or a time from before a reboot, in a mapped file.
 */
uint64_t clock_plausible_far(uint64_t seen)
{
	return seen <= sys_ticks() + CLOCK_NEAR ? seen & ~1ull : 0;
}

/* Kinds that are so frequent that reading the TSC for each would slow the program down. */
static bool is_frequent(enum trace_kind kind)
{
	return trace_roles(kind) & (ROLE_ACQUIRE | ROLE_RELEASE) || kind == TRACE_COND_SIGNAL ||
	       kind == TRACE_MALLOC || kind == TRACE_FREE;
}

/* Whether other threads cannot notice the event before the thread's next one: no need to fold. */
static bool can_fold_later(enum trace_kind kind)
{
	return trace_roles(kind) & ROLE_ACQUIRE || kind == TRACE_MALLOC;
}

static inline uint64_t event_time(struct snarlrt_thread *self, enum trace_kind kind,
				  const void *object, uint64_t arg)
{
	/* a destroyed mutex has no valid type, but its last time is still there */
	if (kind == TRACE_MUTEX_DESTROY)
		clock_raise(self, mutex_last(self, (pthread_mutex_t *)object));
	if (kind >= TRACE_MUTEX_INIT && kind <= TRACE_MUTEX_CONSISTENT)
		return mutex_event(self, (pthread_mutex_t *)object);
	if (kind == TRACE_COND_WAIT || kind == TRACE_COND_WAKE)
		return mutex_event_wait(self, object, (pthread_mutex_t *)arg);
	return clock_event(self, object);
}

static inline __attribute__((always_inline)) void note(enum trace_kind kind, unsigned detail,
						       const void *object, uint64_t arg, int result,
						       const void *pc, bool folds)
{
	struct snarlrt_thread *self = snarlrt_enter();
	uint64_t time;

	if (!self)
		return;
	if (__snarl_tls.emitted != __snarl_tls.frame)
		snarlrt_emit_calls(self);
	if (!is_frequent(kind))
		self->since_tsc = 0;
	if (unlikely(snarlrt_near_end()))
		snarlrt_make_room(self);
	time = event_time(self, kind, object, arg);
	snarlrt_append_two(self,
			   ((uint64_t)object & TRACE_ADDR_MASK) | (uint64_t)(uint16_t)result << 48,
			   TRACE_SITE(kind, detail, pc), time, arg);
	if (folds && !can_fold_later(kind)) {
		snarlrt_profile_flush(self);
		snarlrt_profile_fold();
	}
	snarlrt_leave(self);
}

void record_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
		 int result, const void *pc)
{
	note(kind, detail, object, arg, result, pc, false);
}

void coverage_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
		   int result, const void *pc)
{
	note(kind, detail, object, arg, result, pc, true);
}

/*
 * Records a stamp before a wait. Accesses have no time of their own; readers place them between two
 * times of their thread. Without the stamp, readers would place accesses before a long wait in the
 * middle of it, after events of other threads that happened meanwhile.
 */
static __attribute__((noinline)) void stamp_wait(struct snarlrt_thread *self)
{
	struct trace_record r = { 0, TRACE_SITE(TRACE_STAMP, 0, 0) };

	if (!mode_traces() || !snarlrt_enter())
		return;
	r.addr = clock_now(self);
	snarlrt_append(self, &r, 1);
	snarlrt_leave(self);
}

/*
 * Records pending calls and makes room in the ring before a wait. The event after the wait is then
 * recorded quickly, which matters because other threads may wait for this one by then.
 */
static __attribute__((noinline)) void prepare_event(struct snarlrt_thread *self)
{
	if (!mode_traces() || !snarlrt_enter())
		return;
	if (__snarl_tls.emitted != __snarl_tls.frame)
		snarlrt_emit_calls(self);
	snarlrt_make_room(self);
	snarlrt_leave(self);
}

void record_wait_begin(enum trace_kind kind, const void *object, const void *pc)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (!self || __snarl_tls.hidden)
		return;
	if (unlikely(snarlrt_near_end()))
		prepare_event(self);
	if (!is_frequent(kind))
		stamp_wait(self);
	snarlrt_waits(self, kind, object, pc);
}
