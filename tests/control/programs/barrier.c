/* Barriers: rounds with one serial thread each; the serial thread destroys the barrier at once. */
#include "want.h"

#define THREADS 3
#define ROUNDS 4

static pthread_barrier_t b;
static int arrived[ROUNDS], serial[ROUNDS];

static void *goes_round(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		int got;

		__atomic_fetch_add(&arrived[i], 1, __ATOMIC_SEQ_CST);
		got = pthread_barrier_wait(&b);
		want(__atomic_load_n(&arrived[i], __ATOMIC_SEQ_CST), THREADS);
		if (got == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_fetch_add(&serial[i], 1, __ATOMIC_SEQ_CST);
		else
			want(got, 0);
	}
	return arg;
}

/* Threads that were released may still be inside pthread_barrier_wait(). */
static void *last_one_destroys(void *arg)
{
	if (pthread_barrier_wait(arg) == PTHREAD_BARRIER_SERIAL_THREAD) {
		want(pthread_barrier_destroy(arg), 0);
		free(arg);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	pthread_barrier_t *shared = malloc(sizeof(*shared));

	want(pthread_barrier_init(&b, NULL, 0), EINVAL);
	want(pthread_barrier_init(&b, NULL, THREADS), 0);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(goes_round, NULL);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	for (int i = 0; i < ROUNDS; i++)
		want(serial[i], 1);
	want(pthread_barrier_destroy(&b), 0);

	want(pthread_barrier_init(shared, NULL, THREADS), 0);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(last_one_destroys, shared);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);

	want(pthread_barrier_init(&b, NULL, 1), 0);
	want(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
	want(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
	want(pthread_barrier_destroy(&b), 0);
	return 0;
}
