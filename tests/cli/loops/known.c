/*
 * A thread works on memory of its own until it knows it to be (runtime/known.h); then it comes to be another's in some
 * way, and the thread works on it once more. It prints the address of a number that was written then.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW 1024
#define ROWS 8
#define SIZE (ROW * ROWS * sizeof(long))
#define TIMES 4000
#define PROBE (ROW * 5 + 300)

static long *buffer;
static pthread_barrier_t barrier;
/* By main, so that the threads share nothing else, as the words they would compare it with. */
static enum { ALONE, READ, ADD, RANGE, FREE, FREE_BY_OTHER } way;
static const char *const ways[] = { "alone", "read", "add", "range", "free", "free-by-other" };
static volatile long seen;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static __attribute__((noinline)) void fill(long *row, const long *next, long by)
{
	for (long i = 0; i < ROW; i++)
		row[i] = i * by + next[i];
}

static void work(long *all, int times)
{
	for (int t = 0; t < times; t++)
		for (int i = 0; i < ROWS; i++)
			fill(all + ROW * i, all + ROW * ((i + 1) % ROWS), t);
}

/* The same memory again, from its one owner's arena. */
static void renew(void)
{
	long *before = buffer;

	buffer = calloc(1, SIZE);
	if (buffer != before) {
		fprintf(stderr, "other memory\n");
		exit(2);
	}
}

static void *owner(void *unused)
{
	buffer = calloc(1, SIZE);
	meet();
	meet();
	work(buffer, TIMES);
	if (way == FREE) {
		free(buffer);
		renew();
	}
	meet();
	meet();
	if (way == FREE_BY_OTHER)
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
	meet();
	meet();
	if (way == FREE_BY_OTHER)
		free(buffer);
	meet();
	meet();
	if (way >= FREE)
		buffer[PROBE] = 1;
	if (way == READ)
		seen = buffer[PROBE];
	if (way == ADD)
		__atomic_add_fetch(&buffer[PROBE], 1, __ATOMIC_RELAXED);
	if (way == RANGE)
		memset((void *)((uintptr_t)(buffer + PROBE) & -32), 0, 1024);
	meet();
	meet();
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
