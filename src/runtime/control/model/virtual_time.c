/*
 * Virtual time. Each step takes CTL_STEP_NS. When no thread is runnable, time jumps to the next
 * deadline. So sleeps take no real time, time-outs come when nothing else happens, and all runs of
 * a schedule read the same clocks, which start at fixed times. A loop that polls a clock would wait
 * for long at that pace: time jumps ahead while all runnable threads do nothing else.
 *
 * With CTL_REAL_TIME clocks show real time; sleeps and time-outs stay virtual. Not virtual are the
 * CPU's time stamp counter, clocks read by inline system calls, timer_create() and timerfd.
 */
#include "runtime/control/model/external.h"
#include "runtime/control/step.h"
#include "runtime/core/sys.h"

#define NS 1000000000ull
#define JUMP_MOST (3600 * NS)	/* by which polling a clock advances it: far from an overflow */
/*
 * Steps that a thread takes at least before time jumps because all runnable threads poll or spin:
 * few for one that reads a clock itself, many for one that may still compute.
 */
#define POLLER_STEPS 16u
#define SPINNER_STEPS 1024u
#define START_REAL (1704067200ull * NS)	/* 2024-01-01 00:00:00 UTC */
#define START_MONOTONIC (1000ull * NS)	/* as if the machine had been up that long */

static struct {
	uint64_t at, every;	/* ITIMER_REAL: next expiry and period, ns; `every` 0: fires once */
	bool set;
} timer;

uint64_t ctl_time_ns(const struct timespec *t)
{
	if (!t || t->tv_sec < 0 || t->tv_nsec < 0)
		return 0;
	if ((uint64_t)t->tv_sec > UINT64_MAX / NS - 1)
		return CTL_NEVER;
	return (uint64_t)t->tv_sec * NS + (uint64_t)t->tv_nsec;
}

struct timespec ctl_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS), (long)(ns % NS) };
}

/* Does the clock count CPU time? */
static bool is_cpu_clock(clockid_t clock)
{
	return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

uint64_t ctl_clock(clockid_t clock)
{
	if (ctl.block && ctl.block->request.flags & CTL_REAL_TIME)
		return sys_clock_ns(clock);
	if (clock == CLOCK_PROCESS_CPUTIME_ID)
		return ctl.steps * CTL_STEP_NS;
	if (is_cpu_clock(clock))
		return ctl_self()->steps * CTL_STEP_NS;
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		return START_REAL + ctl.now;
	default:
		return START_MONOTONIC + ctl.now;
	}
}

/*
 * Polling: a period in which threads read clocks and nothing changes. It must depend on the events
 * alone, since a replay has to read the same times.
 */
static struct {
	uint64_t progress;	/* value of ctl.progress during the period */
	uint64_t since;		/* virtual time at which it began */
	uint64_t number;	/* of the part of the period that began with the last jump */
} polling;

static void polling_part_begins(void)
{
	polling.number++;
	for (uint32_t i = 0; i < ctl.count; i++)
		ctl.threads[i]->steps_when_polled = ctl.threads[i]->steps;
}

/* Has the thread had its chance to change something since the last jump? */
static bool had_its_chance(const struct ctl_thread *t)
{
	uint64_t steps = t->polls_clock == polling.number ? POLLER_STEPS : SPINNER_STEPS;

	return t->state != CTL_LIVE || !t->runnable || t->silence != CTL_NOT_SILENT ||
	       t->steps - t->steps_when_polled >= steps;
}

void ctl_clock_polled(const void *pc)
{
	struct ctl_thread *self = ctl_self();
	uint64_t jump;

	ctl.outside_calls++;
	mark_no_progress(self, 0, (uint64_t)(uintptr_t)pc);
	if (polling.progress != ctl.progress || !polling.number) {
		polling.progress = ctl.progress;
		polling.since = ctl.now;
		polling_part_begins();
	}
	self->polls_clock = polling.number;
	for (uint32_t i = 0; i < ctl.count; i++)
		if (!had_its_chance(ctl.threads[i]))
			return;
	jump = (ctl.now - polling.since) / 8;
	ctl.now += jump < JUMP_MOST ? jump : JUMP_MOST;
	polling_part_begins();
	ctl_fast_path_end();
}

uint64_t ctl_after(uint64_t ns)
{
	return ns >= CTL_NEVER - ctl.now ? CTL_NEVER : ctl.now + ns;
}

uint64_t ctl_deadline(clockid_t clock, const struct timespec *limit)
{
	uint64_t now = ctl_clock(clock), then;

	if (!limit || limit->tv_sec < 0 || limit->tv_nsec < 0 || limit->tv_nsec >= (long)NS)
		return 0;
	then = ctl_time_ns(limit);
	if (then == CTL_NEVER)
		return CTL_NEVER;
	return then <= now ? 0 : ctl_after(then - now);
}

uint64_t ctl_deadline_ms(int ms)
{
	return ms < 0 ? CTL_NEVER : ctl_after((uint64_t)ms * 1000000);
}

uint64_t ctl_deadline_in(const struct timespec *t)
{
	return t ? ctl_after(ctl_time_ns(t)) : CTL_NEVER;
}

static bool never_ready(const struct ctl_wait *w)
{
	(void)w;
	return false;
}

uint64_t ctl_sleep(uint64_t deadline, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_WAIT, NULL, never_ready, pc);

	/* A deadline that has passed lets other threads go first, as a yield does. */
	if (deadline <= ctl.now) {
		w.event.op = SCHED_OP_YIELD;
		w.ready = NULL;
	}
	w.deadline = deadline;
	w.cancel_point = w.interruptible = true;
	w.interrupted = ctl_signal_due(ctl_self());
	ctl_wait(&w);
	if (w.cancelled)
		ctl_cancel_act();
	if (w.interrupted && !w.expired && !ctl_signal_ends_call(false))
		return ctl_sleep(deadline, pc);
	return w.interrupted && deadline > ctl_signal_delivery_time() ?
		       deadline - ctl_signal_delivery_time() : 0;
}

void ctl_yield(const void *pc)
{
	ctl_point(SCHED_OP_YIELD, NULL, pc);
}

uint64_t ctl_timers_next(void)
{
	return timer.set ? timer.at : CTL_NEVER;
}

void ctl_timers_due(void)
{
	if (!timer.set || timer.at > ctl.now)
		return;
	timer.set = timer.every != 0;
	timer.at = timer.every < CTL_NEVER - ctl.now ? ctl.now + timer.every : CTL_NEVER;
	ctl_signal_send(NULL, SIGALRM, NULL);
}

uint64_t ctl_timer_set(uint64_t ns, uint64_t every, uint64_t *every_before)
{
	uint64_t left = !timer.set ? 0 : timer.at > ctl.now ? timer.at - ctl.now : 1;

	if (every_before)
		*every_before = timer.set ? timer.every : 0;
	timer.set = ns != 0;
	timer.at = ctl_after(ns);
	timer.every = every;
	ctl_fast_path_end();
	return left;
}

uint64_t ctl_timer_get(uint64_t *every)
{
	*every = timer.set ? timer.every : 0;
	return !timer.set ? 0 : timer.at > ctl.now ? timer.at - ctl.now : 1;
}
