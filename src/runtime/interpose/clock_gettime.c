/*
 * Clocks, alarm() and interval timers.
 *
 * In mode control they show virtual time (control/model/virtual_time.c). In other modes the real
 * functions are called and nothing is noted.
 *
 * Reading a clock is a scheduling point: its value depends on which threads ran before.
 */
#include <sys/time.h>

#include "runtime/control/model/external.h"

#define NS 1000000000ull

static uint64_t read_clock(clockid_t clock, const void *pc)
{
	ctl_point(SCHED_OP_OTHER, NULL, pc);
	ctl_clock_polled(pc);
	return ctl_clock(clock);
}

SNARLRT_INTERPOSE int clock_gettime(clockid_t clock, struct timespec *out)
{
	snarlrt_real_ready();
	if (REAL(clock_gettime)(clock, out) != 0)
		return -1;	/* no such clock */
	if (unlikely(ctl_on()))
		*out = ctl_timespec(read_clock(clock, SNARLRT_PC()));
	return 0;
}

SNARLRT_INTERPOSE int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	uint64_t ns;

	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(gettimeofday)(out, zone);
	ns = read_clock(CLOCK_REALTIME, SNARLRT_PC());
	*out = (struct timeval){ (time_t)(ns / NS), (suseconds_t)(ns % NS / 1000) };
	return 0;
}

SNARLRT_INTERPOSE time_t time(time_t *out)
{
	time_t now;

	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(time)(out);
	now = (time_t)(read_clock(CLOCK_REALTIME, SNARLRT_PC()) / NS);
	if (out)
		*out = now;
	return now;
}

SNARLRT_INTERPOSE clock_t clock(void)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(clock)();
	return (clock_t)(read_clock(CLOCK_PROCESS_CPUTIME_ID, SNARLRT_PC()) / 1000);
}

SNARLRT_INTERPOSE int timespec_get(struct timespec *out, int base)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()) || base != TIME_UTC)
		return REAL(timespec_get)(out, base);
	*out = ctl_timespec(read_clock(CLOCK_REALTIME, SNARLRT_PC()));
	return base;
}

SNARLRT_INTERPOSE unsigned alarm(unsigned seconds)
{
	uint64_t left;

	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(alarm)(seconds);
	ctl_point(SCHED_OP_OTHER, NULL, SNARLRT_PC());
	left = ctl_timer_set(seconds * NS, 0, NULL);
	return (unsigned)((left + NS - 1) / NS);
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS + (uint64_t)t->tv_usec * 1000;
}

static void itimer_fill(struct itimerval *out, uint64_t left, uint64_t every)
{
	out->it_value = (struct timeval){ (time_t)(left / NS), (suseconds_t)(left % NS / 1000) };
	out->it_interval =
		(struct timeval){ (time_t)(every / NS), (suseconds_t)(every % NS / 1000) };
	if (left && !out->it_value.tv_sec && !out->it_value.tv_usec)
		out->it_value.tv_usec = 1;
}

/* Timers of CPU time (ITIMER_VIRTUAL, ITIMER_PROF) stay real. */
SNARLRT_INTERPOSE int setitimer(__itimer_which_t which, const struct itimerval *restrict new,
				struct itimerval *restrict old)
{
	uint64_t left, every;

	snarlrt_real_ready();
	if (likely(!ctl_on()) || which != ITIMER_REAL || !new || new->it_value.tv_sec < 0 ||
	    new->it_interval.tv_sec < 0)
		return REAL(setitimer)(which, new, old);
	ctl_point(SCHED_OP_OTHER, NULL, SNARLRT_PC());
	left = ctl_timer_set(timeval_ns(&new->it_value), timeval_ns(&new->it_interval), &every);
	if (old)
		itimer_fill(old, left, every);
	return 0;
}

SNARLRT_INTERPOSE int getitimer(__itimer_which_t which, struct itimerval *out)
{
	uint64_t left, every;

	snarlrt_real_ready();
	if (likely(!ctl_on()) || which != ITIMER_REAL || !out)
		return REAL(getitimer)(which, out);
	left = ctl_timer_get(&every);
	itimer_fill(out, left, every);
	return 0;
}
