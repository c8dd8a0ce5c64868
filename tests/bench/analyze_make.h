/*
 * Made-up traces for the analyses, in the shapes that programs have.
 */
#ifndef BENCH_ANALYZE_MAKE_H
#define BENCH_ANALYZE_MAKE_H

#include <stdint.h>

struct maker;

struct shape {
	const char *name, *summary;
	uint32_t threads;
	void (*burst)(struct maker *m, uint32_t thread);	/* one call of a function */
};

/* The last has no name. */
extern const struct shape shapes[];

/* A trace of about `events` events, always the same; ends the program if it cannot be written. */
void make(const char *path, const struct shape *shape, uint64_t events);

#endif
