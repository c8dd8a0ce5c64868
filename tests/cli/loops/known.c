/*
 * A thread works on memory of its own until it knows it to be (runtime/known.h); then it comes to be another's in some
 * way, and the thread works on it once more. Or on shared memory, which is given back then and comes to be the thread's own; at
 * last the other one reads it. It prints the address of a number that was written then.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef ROW
#define ROW 1024		/* 32: so little that the ends of loops know all of it */
#endif
#define ROWS 8
#define SIZE (ROW * ROWS * sizeof(long))
#define TIMES 4000
#define SHARED_TIMES 50
#define PROBE (ROW * ROWS - 40)

static long *buffer;
static pthread_barrier_t barrier;
/* By main, so that the threads share nothing else, as the words they would compare it with. */
static enum { ALONE, READ, ADD, RANGE, FREE, FREE_BY_OTHER, SHARED_FREE, SHARED_FREE_BY_OTHER, SHARED_UNMAP } way;
static const char *const ways[] = { "alone", "read", "add", "range", "free", "free-by-other",
				    "shared-free", "shared-free-by-other", "shared-unmap" };
static volatile long seen;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static inline void fill(long *row, const long *next, long by)
{
	for (long i = 0; i < ROW; i++)
		row[i] = i * by + next[i];
}

/* One call: a loop that has to tell of one is told in another way. */
static __attribute__((noinline)) void work(long *all, int times)
{
	for (int t = 0; t < times; t++)
		for (int i = 0; i < ROWS; i++)
			fill(all + ROW * i, all + ROW * ((i + 1) % ROWS), t);
}

static void *map(void *at)
{
	return mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

/* The same memory again, from its one owner's arena. */
static void renew(void)
{
	long *before = buffer;

	buffer = way == SHARED_UNMAP ? map(before) : calloc(1, SIZE);
	if (buffer != before) {
		fprintf(stderr, "other memory\n");
		exit(2);
	}
}

static void *owner(void *unused)
{
	buffer = way == SHARED_UNMAP ? map(NULL) : calloc(1, SIZE);
	meet();
	meet();
	work(buffer, way >= SHARED_FREE ? SHARED_TIMES : TIMES);
	if (way == FREE || way == SHARED_FREE) {
		free(buffer);
		renew();
	} else if (way == SHARED_UNMAP) {
		munmap(buffer, SIZE);
		renew();
	}
	meet();
	meet();
	if (way == FREE_BY_OTHER || way == SHARED_FREE_BY_OTHER)
		renew();
	meet();
	meet();
	work(buffer, way >= FREE ? TIMES : 1);
	meet();
	return unused;
}

static void *other(void *unused)
{
	meet();
	seen = buffer != NULL;		/* the pointer itself is shared from here on */
	if (way >= SHARED_FREE)
		memset(buffer, 0, SIZE);
	meet();
	meet();
	if (way == FREE_BY_OTHER || way == SHARED_FREE_BY_OTHER)
		free(buffer);
	meet();
	meet();
	if (way == FREE || way == FREE_BY_OTHER)
		buffer[PROBE] = 1;
	if (way == READ)
		seen = buffer[PROBE];
	if (way == ADD)
		__atomic_add_fetch(&buffer[PROBE], 1, __ATOMIC_RELAXED);
	if (way == RANGE)
		memset((void *)((uintptr_t)(buffer + PROBE) & -32), 0, 256);
	meet();
	meet();
	if (way >= SHARED_FREE)
		seen = buffer[PROBE];
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	while (argc > 1 && strcmp(argv[1], ways[way]) != 0)
		way++;
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_ARENA_MAX, 1);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&a, NULL, owner, NULL);
	pthread_create(&b, NULL, other, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%p\n", (void *)(buffer + PROBE));
	return 0;
}
