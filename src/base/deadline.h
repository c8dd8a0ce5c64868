/*
 * When a command has to come to an end: its time limit, or a signal that asked it to stop. One
 * deadline is made by the command and passed down; every loop that may last asks it.
 *
 * A step that gets a part of the time has a deadline of its own, made of the outer one:
 *
 *	struct deadline all = deadline_within(&(struct deadline){ .stop = &stop }, 60);
 *	struct deadline part = deadline_within(&all, 10);	at most 10 s, not beyond `all`
 *	struct deadline late = deadline_extend(&all, 1);	1 s longer than `all`
 *
 * What was found shortly before the end is still proved and saved, in DEADLINE_GRACE seconds.
 */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <signal.h>
#include <stdbool.h>

/* Seconds after the end for what has to be completed: replays of a failure, its trace. */
#define DEADLINE_GRACE 1.0

/* Set by a signal handler: `at` first, then `signal`. All zero: no signal came. */
struct deadline_stop {
	volatile sig_atomic_t signal;	/* number of the signal */
	volatile double at;		/* clock_seconds() when it came */
};

/* All zero: never over. */
struct deadline {
	double until;			/* clock_seconds() of the end; 0: no limit */
	double grace;			/* seconds added to both ends */
	const struct deadline_stop *stop;	/* the end comes at its signal; NULL: none asks */
	void (*tick)(void *ctx); /* called by deadline_over(), to show progress; NULL: none */
	void *ctx;
};

/* For signal handlers: notes the first signal. */
void deadline_signal(struct deadline_stop *stop, int signal);

/*
 * True if the time is up, or a signal asked to stop. Calls d->tick, so loops that ask it often keep
 * the progress line alive. `d` may be NULL: false.
 */
bool deadline_over(const struct deadline *d);

/* True if a signal asked to stop, whether or not the grace is over. */
bool deadline_stopped(const struct deadline *d);

/* Seconds left, at least 0; HUGE_VAL: no limit. */
double deadline_left(const struct deadline *d);

/* The deadline that ends after `seconds`, or with `d` if that is sooner. 0 seconds: with `d`. */
struct deadline deadline_within(const struct deadline *d, double seconds);

/* The deadline that leaves this share, above 0, at most 1, of the seconds left. */
struct deadline deadline_share(const struct deadline *d, double share);

/* The deadline that comes `seconds` later than `d`, and later than its signal. */
struct deadline deadline_extend(const struct deadline *d, double seconds);

/* Why `d` is over, for messages: "the time was up", "interrupted". */
const char *deadline_why(const struct deadline *d);

/* Shortens a time-out for poll(), in ms, so that it does not outlast `d`. -1: none. */
int deadline_poll(const struct deadline *d, int ms);

#endif
