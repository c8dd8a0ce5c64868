/* Condition variables: signal, broadcast, time limits by both clocks, cancellation, errors. */
#include "want.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items, waiting, open_;

static void *takes(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	while (items == 0)
		want(pthread_cond_wait(&c, &m), 0);
	items--;
	want(pthread_mutex_unlock(&m), 0);
	return arg;
}

/* As many signals as waiters, one by one: none is lost. */
static void signals(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		t[i] = start(takes, NULL);
	for (int i = 0; i < 3; i++) {
		want(pthread_mutex_lock(&m), 0);
		items++;
		if (i == 0)
			want(pthread_cond_signal(&c), 0);
		want(pthread_mutex_unlock(&m), 0);
		if (i != 0)
			want(pthread_cond_signal(&c), 0);
	}
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(items, 0);
}

static void *passes_gate(void *clock)
{
	struct timespec limit = late(CLOCK_MONOTONIC);

	want(pthread_mutex_lock(&m), 0);
	waiting++;
	while (!open_) {
		int got = clock ? pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &limit) :
				  pthread_cond_wait(&c, &m);

		want(got == 0 || (clock && got == ETIMEDOUT), 1);
	}
	waiting--;
	want(pthread_mutex_unlock(&m), 0);
	return NULL;
}

static void broadcasts(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		t[i] = start(passes_gate, i == 1 ? &m : NULL);
	want(pthread_mutex_lock(&m), 0);
	open_ = 1;
	want(pthread_cond_broadcast(&c), 0);
	want(pthread_mutex_unlock(&m), 0);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(waiting, 0);
}

/* No thread signals: after spurious wake-ups, if any, the time is up. */
static void wait_until(pthread_cond_t *cond, clockid_t clock, const struct timespec *limit)
{
	int got;

	want(pthread_mutex_lock(&m), 0);
	while ((got = clock < 0 ? pthread_cond_timedwait(cond, &m, limit) :
		pthread_cond_clockwait(cond, &m, clock, limit)) == 0)
		;
	want(got, ETIMEDOUT);
	want(pthread_mutex_trylock(&m), EBUSY);
	want(pthread_mutex_unlock(&m), 0);
}

static void time_limits(void)
{
	struct timespec real = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC);
	pthread_condattr_t a;
	pthread_cond_t mono;

	wait_until(&c, -1, &past);
	wait_until(&c, -1, &real);
	wait_until(&c, CLOCK_REALTIME, &past);
	wait_until(&c, CLOCK_MONOTONIC, &monotonic);
	want(pthread_condattr_init(&a), 0);
	want(pthread_condattr_setclock(&a, CLOCK_MONOTONIC), 0);
	want(pthread_cond_init(&mono, &a), 0);
	monotonic = soon(CLOCK_MONOTONIC);
	wait_until(&mono, -1, &monotonic);
	want(pthread_cond_destroy(&mono), 0);

	want(pthread_mutex_lock(&m), 0);
	want(pthread_cond_timedwait(&c, &m, &invalid), EINVAL);
	want(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &invalid), EINVAL);
	want(pthread_cond_clockwait(&c, &m, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
	want(pthread_mutex_unlock(&m), 0);
}

/* A waiter with a short limit, a signal, a waiter with a long limit: one waiter gets it. */
static int got_it;

static void *impatient(void *arg)
{
	struct timespec limit = soon(CLOCK_REALTIME);
	int got = 0;

	want(pthread_mutex_lock(&m), 0);
	while (!items && got == 0)
		got = pthread_cond_timedwait(&c, &m, &limit);
	if (items) {
		items--;
		got_it++;
	} else {
		want(got, ETIMEDOUT);
	}
	want(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void races_with_time(void)
{
	pthread_t t;

	got_it = 0;
	t = start(impatient, NULL);
	want(pthread_mutex_lock(&m), 0);
	items++;
	want(pthread_cond_signal(&c), 0);
	want(pthread_mutex_unlock(&m), 0);
	finish(t);
	want(got_it + items, 1);
	items = 0;
}

static int cleaned;

static void holds_it_again(void *arg)
{
	(void)arg;
	waiting--;
	cleaned++;
	want(pthread_mutex_unlock(&m), 0);
}

static void *waits_for_ever(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	waiting++;
	want(pthread_cond_signal(&c), 0);
	pthread_cleanup_push(holds_it_again, NULL);
	for (;;)
		pthread_cond_wait(arg, &m);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancels(void)
{
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		t[i] = start(waits_for_ever, &never);
	want(pthread_mutex_lock(&m), 0);
	while (waiting < 2)
		want(pthread_cond_wait(&c, &m), 0);
	want(pthread_cancel(t[0]), 0);
	want(pthread_mutex_unlock(&m), 0);
	want(pthread_cancel(t[1]), 0);
	for (int i = 0; i < 2; i++)
		want(finish(t[i]) == PTHREAD_CANCELED, 1);
	want(waiting, 0);
	want(cleaned, 2);
	want(pthread_cond_destroy(&never), 0);
}

static void errors(void)
{
	pthread_mutex_t checks = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

	want(pthread_cond_wait(&c, &checks), EPERM);
	want(pthread_cond_timedwait(&c, &checks, &past), EPERM);
}

static pthread_mutex_t robust;

static void *dies_with_it(void *arg)
{
	want(pthread_mutex_lock(&robust), 0);
	want(pthread_cond_broadcast(&c), 0);
	return arg;
}

/* A robust mutex whose owner died is returned by the wait with EOWNERDEAD. */
static void inherits(void)
{
	struct timespec limit = late(CLOCK_REALTIME);
	pthread_mutexattr_t a;
	pthread_t t;
	int got;

	want(pthread_mutexattr_init(&a), 0);
	want(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST), 0);
	want(pthread_mutex_init(&robust, &a), 0);
	want(pthread_mutex_lock(&robust), 0);
	t = start(dies_with_it, NULL);
	while ((got = pthread_cond_timedwait(&c, &robust, &limit)) == 0 || got == ETIMEDOUT)
		;
	want(got, EOWNERDEAD);
	want(pthread_mutex_consistent(&robust), 0);
	want(pthread_mutex_unlock(&robust), 0);
	finish(t);
	want(pthread_mutex_destroy(&robust), 0);
}

int main(void)
{
	signals();
	broadcasts();
	time_limits();
	races_with_time();
	cancels();
	errors();
	inherits();
	want(pthread_cond_destroy(&c), 0);
	want(pthread_cond_init(&c, NULL), 0);
	signals();
	return 0;
}
