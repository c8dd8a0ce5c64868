/*
 * What the kernels share: two threads, one barrier, a size from the command
 * line, a seeded generator, a check sum.
 *
 * Every thread's own sequence of accesses is fixed by the size alone, whatever
 * the schedule (queue.c excepted, which waits in loops): the work is divided by
 * position and phases are separated by barriers.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 2

static pthread_barrier_t kernel_barrier;
static void (*kernel_part)(int self);

static inline void *kernel_thread(void *arg)
{
	kernel_part((int)(intptr_t)arg);
	return NULL;
}

/* Runs part(0) in this thread and part(1) in a second one; returns when both are done. */
static inline void kernel_run(void (*part)(int self))
{
	pthread_t second;

	kernel_part = part;
	pthread_barrier_init(&kernel_barrier, NULL, THREADS);
	if (pthread_create(&second, NULL, kernel_thread, (void *)1) != 0) {
		fprintf(stderr, "cannot create a thread\n");
		exit(1);
	}
	part(0);
	pthread_join(second, NULL);
	pthread_barrier_destroy(&kernel_barrier);
}

static inline void kernel_sync(void)
{
	pthread_barrier_wait(&kernel_barrier);
}

static inline long kernel_size(int argc, char **argv, long normal)
{
	long size = argc > 1 ? atol(argv[1]) : normal;

	if (size < 1) {
		fprintf(stderr, "usage: %s [SIZE]\n", argv[0]);
		exit(2);
	}
	return size;
}

static inline void *kernel_alloc(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

/* xorshift64*: the same numbers everywhere. */
static inline uint64_t kernel_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t kernel_mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15ull;
}

#endif
