/*
 * Thread-specific data through <threads.h>, with many threads one after another and at once. Passes
 * under every schedule.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#define THREADS 8

static tss_t key;
static atomic_int freed;

static void drop(void *p)
{
	free(p);
	freed++;
}

static int worker(void *arg)
{
	int *mine = malloc(sizeof(*mine));

	if (!mine || tss_get(key) || tss_set(key, mine) != thrd_success)
		return 1;
	*mine = *(int *)arg;
	thrd_yield();
	if (tss_get(key) != mine || *mine != *(int *)arg)
		return 1;
	if (*mine % 2)
		thrd_exit(0);
	return 0;
}

int main(void)
{
	int number[THREADS], bad = 0;
	thrd_t t[THREADS];

	if (tss_create(&key, drop) != thrd_success)
		return 2;
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		if (thrd_create(&t[i], worker, &number[i]) != thrd_success)
			return 2;
	}
	for (int i = 0; i < THREADS; i++) {
		int result = 1;

		thrd_join(t[i], &result);
		bad |= result;
	}
	if (freed != THREADS)
		bad = 1;
	tss_delete(key);
	puts(bad ? "wrong" : "ok");
	return bad;
}
