/*
 * Blocks change hands: each thread frees and resizes blocks that others allocated. Passes under
 * every schedule.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define SLOTS 16
#define ROUNDS 40

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	unsigned char *block;
	size_t size;
} shelf[SLOTS];
static int wrong;

static int whole(const unsigned char *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != (unsigned char)size)
			return 0;
	return 1;
}

static void *worker(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned slot, size;
		unsigned char *old;
		size_t had;

		seed = seed * 1103515245u + 12345u;
		slot = seed >> 16 & (SLOTS - 1);
		size = 1 + (seed >> 8) % 700;
		pthread_mutex_lock(&lock);
		old = shelf[slot].block;
		had = shelf[slot].size;
		shelf[slot].block = NULL;
		pthread_mutex_unlock(&lock);
		if (old && !whole(old, had))
			wrong = 1;
		if (old && seed & 1 << 20) {
			free(old);
			old = NULL;
		}
		old = realloc(old, size);
		if (!old)
			exit(2);
		memset(old, (int)size, size);
		pthread_mutex_lock(&lock);
		if (!shelf[slot].block) {
			shelf[slot].block = old;
			shelf[slot].size = size;
			old = NULL;
		}
		pthread_mutex_unlock(&lock);
		free(old);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, worker, (void *)(i + 1)) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < SLOTS; i++) {
		if (shelf[i].block && !whole(shelf[i].block, shelf[i].size))
			wrong = 1;
		free(shelf[i].block);
	}
	puts(wrong ? "damaged" : "ok");
	return wrong;
}
