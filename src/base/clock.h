/*
 * A monotonic clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Returns seconds since an arbitrary start; the value never decreases. Safe in signal handlers. */
double clock_seconds(void);

#endif
