/*
 * How long something takes.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since some moment of the past, never going back. May be called in signal handlers. */
double clock_seconds(void);

#endif
