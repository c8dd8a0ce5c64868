/*
 * Sleeping and yielding. SLEEP is noted at the start, with the requested time.
 */
#include "runtime/control/model/external.h"
#include "runtime/interpose/call.h"

#define NS 1000000000ull

static uint64_t nanoseconds(const struct timespec *t)
{
	if (!t || t->tv_sec < 0)
		return 0;
	return (uint64_t)t->tv_sec > UINT64_MAX / NS - 1 ? UINT64_MAX :
			(uint64_t)t->tv_sec * NS + (uint64_t)t->tv_nsec;
}

/* Nanoseconds until `until` on the clock; 0 if it has passed. */
static uint64_t time_until(clockid_t clock, const struct timespec *until)
{
	struct timespec now;
	uint64_t then = nanoseconds(until), at;
	int saved = errno;

	if (unlikely(ctl_on()))
		now = ctl_timespec(ctl_clock(clock));
	else if (clock_gettime(clock, &now) != 0) {
		errno = saved;
		return 0;
	}
	at = nanoseconds(&now);
	return then > at ? then - at : 0;
}

struct sleep_scope {
	bool open;		/* the wait was begun, and must be ended */
};

static struct sleep_scope sleep_begin(uint64_t ns, const void *pc)
{
	struct sleep_scope scope = { snarlrt_wants_events() };

	if (scope.open) {
		snarlrt_note(TRACE_SLEEP, 0, NULL, ns, 0, pc);
		snarlrt_wait_begin(TRACE_SLEEP, NULL, pc);
	}
	return scope;
}

/* Also called when cancellation unwinds the frame. */
static inline void sleep_end(struct sleep_scope *scope)
{
	if (scope->open)
		snarlrt_wait_end();
}

/* Notes a sleep of `ns` nanoseconds; it ends with the scope. */
#define SLEEP_SCOPE(ns)                                                                            \
	struct sleep_scope scope __attribute__((cleanup(sleep_end), unused)) =                     \
		sleep_begin(ns, SNARLRT_PC())

/* Invalid times go to the real function, which reports the error. */
static bool is_valid(const struct timespec *t)
{
	return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)NS;
}

/*
 * Rounds down as libc does, but up if less than a millisecond is missing: steps take virtual time.
 */
static unsigned whole_seconds(uint64_t ns_left)
{
	return (unsigned)((ns_left + 1000000) / NS);
}

static int nanosleep_result(uint64_t ns_left, struct timespec *left)
{
	if (!ns_left)
		return 0;
	if (left)
		*left = ctl_timespec(ns_left);
	errno = EINTR;
	return -1;
}

static int clock_nanosleep_controlled(clockid_t clock, int flags, const struct timespec *time,
				      struct timespec *left, const void *pc)
{
	uint64_t deadline = flags & TIMER_ABSTIME ? ctl_deadline(clock, time) :
						    ctl_after(nanoseconds(time));
	uint64_t ns_left = ctl_sleep(deadline, pc);

	if (ns_left && left && !(flags & TIMER_ABSTIME))
		*left = ctl_timespec(ns_left);
	return ns_left ? EINTR : 0;
}

SNARLRT_INTERPOSE unsigned sleep(unsigned seconds)
{
	snarlrt_real_ready();
	SLEEP_SCOPE(seconds * NS);
	if (unlikely(ctl_on()))
		return whole_seconds(ctl_sleep(ctl_after(seconds * NS), SNARLRT_PC()));
	return REAL(sleep)(seconds);
}

SNARLRT_INTERPOSE int usleep(useconds_t us)
{
	snarlrt_real_ready();
	SLEEP_SCOPE(us * 1000ull);
	if (unlikely(ctl_on()))
		return nanosleep_result(ctl_sleep(ctl_after(us * 1000ull), SNARLRT_PC()), NULL);
	return REAL(usleep)(us);
}

SNARLRT_INTERPOSE int nanosleep(const struct timespec *time, struct timespec *left)
{
	snarlrt_real_ready();
	SLEEP_SCOPE(nanoseconds(time));
	if (unlikely(ctl_on()) && is_valid(time))
		return nanosleep_result(ctl_sleep(ctl_after(nanoseconds(time)), SNARLRT_PC()),
					left);
	return REAL(nanosleep)(time, left);
}

SNARLRT_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
				      struct timespec *left)
{
	snarlrt_real_ready();
	SLEEP_SCOPE(flags & TIMER_ABSTIME ? time_until(clock, time) : nanoseconds(time));
	if (unlikely(ctl_on()) && is_valid(time))
		return clock_nanosleep_controlled(clock, flags, time, left, SNARLRT_PC());
	return REAL(clock_nanosleep)(clock, flags, time, left);
}

SNARLRT_INTERPOSE int sched_yield(void)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		snarlrt_note(TRACE_YIELD, 0, NULL, 0, 0, SNARLRT_PC());
	if (unlikely(ctl_on())) {
		ctl_yield(SNARLRT_PC());
		return 0;
	}
	return REAL(sched_yield)();
}
