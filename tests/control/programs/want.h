/* Shared by the programs of this folder: checks, and time limits. */
#ifndef WANT_H
#define WANT_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define want(got, expected) want_at((long)(got), (long)(expected), #got, __FILE__, __LINE__)

static inline void want_at(long got, long expected, const char *what, const char *file, int line)
{
	if (got == expected)
		return;
	fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", file, line, what, got, expected);
	abort();
}

/* For calls that return -1 and set errno. */
#define want_error(call, error)                                                    \
	do {                                                                       \
		errno = 0;                                                         \
		want(call, -1);                                                    \
		want(errno, error);                                                \
	} while (0)

static const struct timespec past = { 1, 0 };
static const struct timespec invalid = { 1, 1000000000 };

/* A limit short enough for a run without control, too. */
static inline struct timespec soon(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 2000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* A limit that ends only if nothing else can run, or if time-outs may come early. */
static inline struct timespec late(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += 1000;
	return t;
}

static inline pthread_t start(void *(*routine)(void *), void *arg)
{
	pthread_t t;

	want(pthread_create(&t, NULL, routine, arg), 0);
	return t;
}

static inline void *finish(pthread_t t)
{
	void *result;

	want(pthread_join(t, &result), 0);
	return result;
}

/* runs the routine on another thread and waits for its end */
static inline void *elsewhere(void *(*routine)(void *), void *arg)
{
	return finish(start(routine, arg));
}

#endif
