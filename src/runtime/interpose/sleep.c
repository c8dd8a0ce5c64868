/*
 * Sleeping and yielding. A sleep is noted when it begins, with the time asked for.
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

/* How long until a moment of the clock. */
static uint64_t remaining(clockid_t clock, const struct timespec *until)
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

struct nap {
	bool open;
};

static struct nap nap_begin(uint64_t ns, const void *pc)
{
	struct nap nap = { snarlrt_watching() };

	if (nap.open) {
		snarlrt_note(TRACE_SLEEP, 0, NULL, ns, 0, pc);
		snarlrt_wait_begin(TRACE_SLEEP, NULL, pc);
	}
	return nap;
}

/* Also where cancellation unwinds the frame. */
static inline void nap_end(struct nap *nap)
{
	if (nap->open)
		snarlrt_wait_end();
}

#define NAP(ns)                                                                           \
	struct nap nap __attribute__((cleanup(nap_end), unused)) = nap_begin(ns, SNARLRT_PC())

/* Bad times are for the real function to refuse. */
static bool valid(const struct timespec *t)
{
	return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)NS;
}

/* Rounded down as libc does, but not for the sake of a few steps. */
static unsigned whole_seconds(uint64_t ns_left)
{
	return (unsigned)((ns_left + 1000000) / NS);
}

static int slept(uint64_t ns_left, struct timespec *left)
{
	if (!ns_left)
		return 0;
	if (left)
		*left = ctl_timespec(ns_left);
	errno = EINTR;
	return -1;
}

static int slept_until(clockid_t clock, int flags, const struct timespec *time,
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
	NAP(seconds * NS);
	if (unlikely(ctl_on()))
		return whole_seconds(ctl_sleep(ctl_after(seconds * NS), SNARLRT_PC()));
	return REAL(sleep)(seconds);
}

SNARLRT_INTERPOSE int usleep(useconds_t us)
{
	snarlrt_real_ready();
	NAP(us * 1000ull);
	if (unlikely(ctl_on()))
		return slept(ctl_sleep(ctl_after(us * 1000ull), SNARLRT_PC()), NULL);
	return REAL(usleep)(us);
}

SNARLRT_INTERPOSE int nanosleep(const struct timespec *time, struct timespec *left)
{
	snarlrt_real_ready();
	NAP(nanoseconds(time));
	if (unlikely(ctl_on()) && valid(time))
		return slept(ctl_sleep(ctl_after(nanoseconds(time)), SNARLRT_PC()), left);
	return REAL(nanosleep)(time, left);
}

SNARLRT_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
				      struct timespec *left)
{
	snarlrt_real_ready();
	NAP(flags & TIMER_ABSTIME ? remaining(clock, time) : nanoseconds(time));
	if (unlikely(ctl_on()) && valid(time))
		return slept_until(clock, flags, time, left, SNARLRT_PC());
	return REAL(clock_nanosleep)(clock, flags, time, left);
}

SNARLRT_INTERPOSE int sched_yield(void)
{
	snarlrt_real_ready();
	if (snarlrt_watching())
		snarlrt_note(TRACE_YIELD, 0, NULL, 0, 0, SNARLRT_PC());
	if (unlikely(ctl_on())) {
		ctl_yield(SNARLRT_PC());
		return 0;
	}
	return REAL(sched_yield)();
}
