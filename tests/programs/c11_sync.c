/* mtx_*, cnd_* and call_once. */
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t plain, nesting, timed;
static cnd_t c;
static once_flag once = ONCE_FLAG_INIT;
static sem_t there;
static int calls;
static const struct timespec past = { 1, 0 };

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void count(void)
{
	calls++;
}

/* runs while main holds `timed` */
static int loser(void *arg)
{
	(void)arg;
	want(mtx_trylock(&timed), thrd_busy);
	want(mtx_timedlock(&timed, &past), thrd_timedout);
	call_once(&once, count);
	return 0;
}

/* Reports that it is there while it holds the mutex, so main finds it waiting. */
static int waiter(void *arg)
{
	(void)arg;
	want(mtx_lock(&plain), thrd_success);
	sem_post(&there);
	want(cnd_wait(&c, &plain), thrd_success);
	want(mtx_unlock(&plain), thrd_success);
	return 0;
}

static void wake(int (*how)(cnd_t *))
{
	thrd_t t;

	want(thrd_create(&t, waiter, NULL), thrd_success);
	sem_wait(&there);
	want(mtx_lock(&plain), thrd_success);
	want(how(&c), thrd_success);
	want(mtx_unlock(&plain), thrd_success);
	want(thrd_join(t, NULL), thrd_success);
}

int main(void)
{
	thrd_t t;

	sem_init(&there, 0, 0);
	want(mtx_init(&plain, mtx_plain), thrd_success);
	want(mtx_init(&nesting, mtx_plain | mtx_recursive), thrd_success);
	want(mtx_init(&timed, mtx_timed), thrd_success);
	want(cnd_init(&c), thrd_success);

	want(mtx_lock(&nesting), thrd_success);
	want(mtx_lock(&nesting), thrd_success);
	want(mtx_unlock(&nesting), thrd_success);
	want(mtx_unlock(&nesting), thrd_success);
	want(mtx_unlock(&nesting), thrd_error);

	call_once(&once, count);
	call_once(&once, count);
	want(mtx_timedlock(&timed, &past), thrd_success);
	want(thrd_create(&t, loser, NULL), thrd_success);
	want(thrd_join(t, NULL), thrd_success);
	want(calls, 1);
	want(cnd_timedwait(&c, &timed, &past), thrd_timedout);
	want(mtx_unlock(&timed), thrd_success);

	wake(cnd_signal);
	wake(cnd_broadcast);
	cnd_destroy(&c);
	mtx_destroy(&timed);
	mtx_destroy(&nesting);
	mtx_destroy(&plain);
	return 0;
}
