/* <threads.h>: mutexes and conditions, with every result they can return. */
#include "want.h"

#include <threads.h>

static mtx_t m;
static cnd_t c;
static int items, counter;

static thrd_t begin(thrd_start_t routine, void *arg)
{
	thrd_t t;

	want(thrd_create(&t, routine, arg), thrd_success);
	return t;
}

static int end(thrd_t t)
{
	int result;

	want(thrd_join(t, &result), thrd_success);
	return result;
}

static int counts(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++) {
		want(mtx_lock(&m), thrd_success);
		counter++;
		want(mtx_unlock(&m), thrd_success);
	}
	return 3;
}

static int finds_it_busy(void *mutex)
{
	struct timespec limit = soon(CLOCK_REALTIME);

	want(mtx_trylock(mutex), thrd_busy);
	want(mtx_timedlock(mutex, &past), thrd_timedout);
	want(mtx_timedlock(mutex, &limit), thrd_timedout);
	want(mtx_timedlock(mutex, &invalid), thrd_error);
	return 0;
}

static int takes(void *arg)
{
	struct timespec limit = late(CLOCK_REALTIME);

	want(mtx_lock(&m), thrd_success);
	while (items == 0) {
		int got = arg ? cnd_timedwait(&c, &m, &limit) : cnd_wait(&c, &m);

		want(got == thrd_success || (arg && got == thrd_timedout), 1);
	}
	items--;
	want(mtx_unlock(&m), thrd_success);
	return 1;
}

static void gives(int count, int all)
{
	want(mtx_lock(&m), thrd_success);
	items += count;
	want(all ? cnd_broadcast(&c) : cnd_signal(&c), thrd_success);
	want(mtx_unlock(&m), thrd_success);
}

static void conditions(void)
{
	thrd_t t[3];
	int got;

	for (int i = 0; i < 3; i++)
		t[i] = begin(takes, i ? &m : NULL);
	gives(1, 0);
	gives(2, 1);
	for (int i = 0; i < 3; i++)
		want(end(t[i]), 1);
	want(items, 0);
	want(mtx_lock(&m), thrd_success);
	while ((got = cnd_timedwait(&c, &m, &past)) == thrd_success)
		;
	want(got, thrd_timedout);
	want(cnd_timedwait(&c, &m, &invalid), thrd_error);
	want(mtx_unlock(&m), thrd_success);
}

int main(void)
{
	mtx_t recursive;
	thrd_t t[3];

	want(mtx_init(&m, mtx_timed), thrd_success);
	want(mtx_init(&recursive, mtx_timed | mtx_recursive), thrd_success);
	want(cnd_init(&c), thrd_success);
	for (int i = 0; i < 3; i++)
		t[i] = begin(counts, NULL);
	for (int i = 0; i < 3; i++)
		want(end(t[i]), 3);
	want(counter, 9);
	want(mtx_lock(&m), thrd_success);
	end(begin(finds_it_busy, &m));
	want(mtx_unlock(&m), thrd_success);
	want(mtx_timedlock(&m, &past), thrd_success);
	want(mtx_unlock(&m), thrd_success);
	want(mtx_lock(&recursive), thrd_success);
	want(mtx_trylock(&recursive), thrd_success);
	want(mtx_unlock(&recursive), thrd_success);
	end(begin(finds_it_busy, &recursive));
	want(mtx_unlock(&recursive), thrd_success);
	want(mtx_unlock(&recursive), thrd_error);
	conditions();
	cnd_destroy(&c);
	mtx_destroy(&m);
	mtx_destroy(&recursive);
	return 0;
}
