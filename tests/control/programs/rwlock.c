/* Readers-writer and spin locks, with every result they can return. */
#include "want.h"

static int value, copy;

static void *writes(void *l)
{
	for (int i = 0; i < 2; i++) {
		want(pthread_rwlock_wrlock(l), 0);
		value++;
		copy++;
		want(pthread_rwlock_unlock(l), 0);
	}
	return NULL;
}

static void *reads(void *l)
{
	for (int i = 0; i < 2; i++) {
		want(pthread_rwlock_rdlock(l), 0);
		want(value, copy);
		want(pthread_rwlock_unlock(l), 0);
	}
	return NULL;
}

static void excludes(pthread_rwlock_t *l)
{
	pthread_t t[4];

	value = copy = 0;
	for (int i = 0; i < 4; i++)
		t[i] = start(i % 2 ? writes : reads, l);
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	want(value, 4);
}

static void *cannot_write(void *l)
{
	struct timespec limit = soon(CLOCK_REALTIME);

	want(pthread_rwlock_trywrlock(l), EBUSY);
	want(pthread_rwlock_timedwrlock(l, &past), ETIMEDOUT);
	want(pthread_rwlock_timedwrlock(l, &limit), ETIMEDOUT);
	want(pthread_rwlock_timedwrlock(l, &invalid), EINVAL);
	limit = soon(CLOCK_MONOTONIC);
	want(pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	want(pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &limit), EINVAL);
	return NULL;
}

static void *cannot_read(void *l)
{
	struct timespec limit = soon(CLOCK_REALTIME);

	want(pthread_rwlock_tryrdlock(l), EBUSY);
	want(pthread_rwlock_timedrdlock(l, &past), ETIMEDOUT);
	want(pthread_rwlock_timedrdlock(l, &limit), ETIMEDOUT);
	want(pthread_rwlock_timedrdlock(l, &invalid), EINVAL);
	limit = soon(CLOCK_MONOTONIC);
	want(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	want(pthread_rwlock_clockrdlock(l, CLOCK_PROCESS_CPUTIME_ID, &limit), EINVAL);
	return NULL;
}

static void *can_read(void *l)
{
	struct timespec limit = late(CLOCK_REALTIME);

	want(pthread_rwlock_tryrdlock(l), 0);
	want(pthread_rwlock_rdlock(l), 0);
	want(pthread_rwlock_timedrdlock(l, &limit), 0);
	want(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &past), 0);
	for (int i = 0; i < 4; i++)
		want(pthread_rwlock_unlock(l), 0);
	return NULL;
}

static void *can_write(void *l)
{
	struct timespec limit = late(CLOCK_REALTIME);

	want(pthread_rwlock_trywrlock(l), 0);
	want(pthread_rwlock_unlock(l), 0);
	want(pthread_rwlock_timedwrlock(l, &limit), 0);
	want(pthread_rwlock_unlock(l), 0);
	want(pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &past), 0);
	want(pthread_rwlock_unlock(l), 0);
	want(pthread_rwlock_timedwrlock(l, &invalid), EINVAL);
	return NULL;
}

static void plain(pthread_rwlock_t *l)
{
	excludes(l);
	want(pthread_rwlock_wrlock(l), 0);
	want(pthread_rwlock_wrlock(l), EDEADLK);
	want(pthread_rwlock_rdlock(l), EDEADLK);
	want(pthread_rwlock_tryrdlock(l), EBUSY);
	want(pthread_rwlock_trywrlock(l), EBUSY);
	elsewhere(cannot_write, l);
	elsewhere(cannot_read, l);
	want(pthread_rwlock_unlock(l), 0);

	want(pthread_rwlock_rdlock(l), 0);
	want(pthread_rwlock_trywrlock(l), EBUSY);
	elsewhere(cannot_write, l);
	elsewhere(can_read, l);
	want(pthread_rwlock_unlock(l), 0);
	elsewhere(can_write, l);
}

static int writer_through;

static void *writes_once(void *l)
{
	want(pthread_rwlock_wrlock(l), 0);
	writer_through = 1;
	want(pthread_rwlock_unlock(l), 0);
	return NULL;
}

/* If writers are preferred, a waiting writer keeps new readers out. */
static void *comes_after_the_writer(void *l)
{
	while (pthread_rwlock_tryrdlock(l) == 0) {
		want(pthread_rwlock_unlock(l), 0);
		sched_yield();
	}
	want(writer_through, 0);
	return NULL;
}

static void prefers_writers(pthread_rwlock_t *l)
{
	pthread_t t;

	want(pthread_rwlock_rdlock(l), 0);
	t = start(writes_once, l);
	elsewhere(comes_after_the_writer, l);
	want(pthread_rwlock_unlock(l), 0);
	finish(t);
	want(writer_through, 1);
}

static int spun;

static void *spins(void *lock)
{
	for (int i = 0; i < 3; i++) {
		want(pthread_spin_lock(lock), 0);
		spun++;
		want(pthread_spin_unlock(lock), 0);
	}
	return NULL;
}

static void *finds_it_spinning(void *lock)
{
	want(pthread_spin_trylock(lock), EBUSY);
	return NULL;
}

static void spin(void)
{
	pthread_spinlock_t lock;
	pthread_t t[3];

	want(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
	for (int i = 0; i < 3; i++)
		t[i] = start(spins, (void *)&lock);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(spun, 9);
	want(pthread_spin_trylock(&lock), 0);
	want(pthread_spin_trylock(&lock), EBUSY);
	elsewhere(finds_it_spinning, (void *)&lock);
	want(pthread_spin_unlock(&lock), 0);
	want(pthread_spin_destroy(&lock), 0);
}

int main(void)
{
	static pthread_rwlock_t fixed = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_rwlock_t fixed_writers =
		PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	pthread_rwlockattr_t a;
	pthread_rwlock_t l;

	plain(&fixed);
	plain(&fixed_writers);
	prefers_writers(&fixed_writers);
	want(pthread_rwlock_init(&l, NULL), 0);
	plain(&l);
	want(pthread_rwlock_destroy(&l), 0);
	want(pthread_rwlockattr_init(&a), 0);
	want(pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP), 0);
	want(pthread_rwlock_init(&l, &a), 0);
	plain(&l);
	want(pthread_rwlock_destroy(&l), 0);
	spin();
	return 0;
}
