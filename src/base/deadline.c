#include "base/deadline.h"

#include <math.h>
#include <stddef.h>

#include "base/clock.h"

#define POLL_MOST_MS 3600000	/* longest time-out, so that it fits an int */

void deadline_signal(struct deadline_stop *stop, int signal)
{
	if (stop->signal)
		return;
	stop->at = clock_seconds();
	stop->signal = signal;
}

bool deadline_stopped(const struct deadline *d)
{
	return d && d->stop && d->stop->signal;
}

/* clock_seconds() of the end; HUGE_VAL: none. */
static double end_of(const struct deadline *d)
{
	double end = d && d->until > 0 ? d->until : HUGE_VAL;

	if (deadline_stopped(d) && d->stop->at < end)
		end = d->stop->at;
	return d ? end + d->grace : end;
}

bool deadline_over(const struct deadline *d)
{
	double end = end_of(d);

	if (d && d->tick)
		d->tick(d->ctx);
	return end < HUGE_VAL && clock_seconds() >= end;
}

double deadline_left(const struct deadline *d)
{
	double left = end_of(d) - clock_seconds();

	return left > 0 ? left : 0;
}

struct deadline deadline_within(const struct deadline *d, double seconds)
{
	struct deadline part = *d;
	double until = clock_seconds() + seconds - d->grace;

	if (seconds > 0 && (part.until <= 0 || until < part.until))
		part.until = until;
	return part;
}

struct deadline deadline_share(const struct deadline *d, double share)
{
	double left = deadline_left(d);

	return d->until > 0 && left > 0 ? deadline_within(d, left * share) : *d;
}

struct deadline deadline_extend(const struct deadline *d, double seconds)
{
	struct deadline late = *d;

	late.grace += seconds;
	return late;
}

const char *deadline_why(const struct deadline *d)
{
	return deadline_stopped(d) ? "interrupted" : "the time was up";
}

int deadline_poll(const struct deadline *d, int ms)
{
	double left = deadline_left(d) * 1000 + 1;

	if (left < POLL_MOST_MS && (ms < 0 || left < ms))
		return (int)left;
	return ms;
}
