/*
 * fails: uaf, with each name it lists.
 * freed_sync NAME: an operation on a lock, condition or the like in a freed block, under every
 * schedule. With wait-… a thread is in the operation when the block is freed, and under some
 * schedules returns to it. Without a name it lists the names. freed_sync_right.c is correct.
 * slow: fifty cases
 */
#include "want.h"

#include <semaphore.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

struct shared {
	char before[24];
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	pthread_barrier_t barrier;
	pthread_cond_t cond;
	sem_t sem;
	pthread_mutex_t other;
	mtx_t mtx;
	cnd_t cnd;
};

static struct shared *s;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static int value;

#define CASE(name, operation)      \
	static void name(void)     \
	{                          \
		operation;         \
	}
CASE(mutex_lock, pthread_mutex_lock(&s->mutex))
CASE(mutex_trylock, pthread_mutex_trylock(&s->mutex))
CASE(mutex_timedlock, pthread_mutex_timedlock(&s->mutex, &past))
CASE(mutex_unlock, pthread_mutex_unlock(&s->mutex))
CASE(mutex_init, pthread_mutex_init(&s->mutex, NULL))
CASE(mutex_destroy, pthread_mutex_destroy(&s->mutex))
CASE(rwlock_rdlock, pthread_rwlock_rdlock(&s->rwlock))
CASE(rwlock_tryrdlock, pthread_rwlock_tryrdlock(&s->rwlock))
CASE(rwlock_timedrdlock, pthread_rwlock_timedrdlock(&s->rwlock, &past))
CASE(rwlock_wrlock, pthread_rwlock_wrlock(&s->rwlock))
CASE(rwlock_trywrlock, pthread_rwlock_trywrlock(&s->rwlock))
CASE(rwlock_unlock, pthread_rwlock_unlock(&s->rwlock))
CASE(rwlock_init, pthread_rwlock_init(&s->rwlock, NULL))
CASE(rwlock_destroy, pthread_rwlock_destroy(&s->rwlock))
CASE(spin_lock, pthread_spin_lock(&s->spin))
CASE(spin_trylock, pthread_spin_trylock(&s->spin))
CASE(spin_unlock, pthread_spin_unlock(&s->spin))
CASE(spin_init, pthread_spin_init(&s->spin, 0))
CASE(spin_destroy, pthread_spin_destroy(&s->spin))
CASE(barrier_wait, pthread_barrier_wait(&s->barrier))
CASE(barrier_init, pthread_barrier_init(&s->barrier, NULL, 1))
CASE(barrier_destroy, pthread_barrier_destroy(&s->barrier))
CASE(cond_signal, pthread_cond_signal(&s->cond))
CASE(cond_broadcast, pthread_cond_broadcast(&s->cond))
CASE(cond_init, pthread_cond_init(&s->cond, NULL))
CASE(cond_destroy, pthread_cond_destroy(&s->cond))
CASE(cond_wait, pthread_cond_timedwait(&s->cond, &held, &past))
CASE(cond_mutex, pthread_cond_timedwait(&gate, &s->mutex, &past))
CASE(semaphore_wait, sem_wait(&s->sem))
CASE(semaphore_trywait, want(sem_trywait(&s->sem), 0))
CASE(semaphore_timedwait, want(sem_timedwait(&s->sem, &past), 0))
CASE(semaphore_post, sem_post(&s->sem))
CASE(semaphore_value, sem_getvalue(&s->sem, &value))
CASE(semaphore_init, sem_init(&s->sem, 0, 0))
CASE(semaphore_destroy, sem_destroy(&s->sem))
CASE(c11_lock, mtx_lock(&s->mtx))
CASE(c11_trylock, want(mtx_trylock(&s->mtx), thrd_success))
CASE(c11_unlock, mtx_unlock(&s->mtx))
CASE(c11_init, mtx_init(&s->mtx, mtx_plain))
CASE(c11_destroy, mtx_destroy(&s->mtx))
CASE(c11_signal, cnd_signal(&s->cnd))
CASE(c11_broadcast, cnd_broadcast(&s->cnd))
CASE(c11_cnd_destroy, cnd_destroy(&s->cnd))

/*
 * Waits: a thread begins one, main ends it and frees the block, under some schedules before the
 * thread returns. Main holds mutex and rwlock, and the semaphore is 0.
 */
static void wait_mutex(void)
{
	pthread_mutex_lock(&s->mutex);
}

static void wait_rwlock(void)
{
	pthread_rwlock_wrlock(&s->rwlock);
}

static void wait_spin(void)
{
	pthread_spin_lock(&s->spin);
}

static void wait_barrier(void)
{
	pthread_barrier_wait(&s->barrier);
}

static void wait_sem(void)
{
	sem_wait(&s->sem);
}

/* The condition is not destroyed before it is freed. */
static void wait_cond(void)
{
	pthread_mutex_lock(&held);
	pthread_cond_wait(&s->cond, &held);
	pthread_mutex_unlock(&held);
}

/* The condition stays, its mutex is freed. */
static void wait_relock(void)
{
	pthread_mutex_lock(&s->other);
	pthread_cond_wait(&gate, &s->other);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "mutex-lock", mutex_lock },
	{ "mutex-trylock", mutex_trylock },
	{ "mutex-timedlock", mutex_timedlock },
	{ "mutex-unlock", mutex_unlock },
	{ "mutex-init", mutex_init },
	{ "mutex-destroy", mutex_destroy },
	{ "rwlock-rdlock", rwlock_rdlock },
	{ "rwlock-tryrdlock", rwlock_tryrdlock },
	{ "rwlock-timedrdlock", rwlock_timedrdlock },
	{ "rwlock-wrlock", rwlock_wrlock },
	{ "rwlock-trywrlock", rwlock_trywrlock },
	{ "rwlock-unlock", rwlock_unlock },
	{ "rwlock-init", rwlock_init },
	{ "rwlock-destroy", rwlock_destroy },
	{ "spin-lock", spin_lock },
	{ "spin-trylock", spin_trylock },
	{ "spin-unlock", spin_unlock },
	{ "spin-init", spin_init },
	{ "spin-destroy", spin_destroy },
	{ "barrier-wait", barrier_wait },
	{ "barrier-init", barrier_init },
	{ "barrier-destroy", barrier_destroy },
	{ "cond-signal", cond_signal },
	{ "cond-broadcast", cond_broadcast },
	{ "cond-init", cond_init },
	{ "cond-destroy", cond_destroy },
	{ "cond-wait", cond_wait },
	{ "cond-mutex", cond_mutex },
	{ "sem-wait", semaphore_wait },
	{ "sem-trywait", semaphore_trywait },
	{ "sem-timedwait", semaphore_timedwait },
	{ "sem-post", semaphore_post },
	{ "sem-getvalue", semaphore_value },
	{ "sem-init", semaphore_init },
	{ "sem-destroy", semaphore_destroy },
	{ "c11-lock", c11_lock },
	{ "c11-trylock", c11_trylock },
	{ "c11-unlock", c11_unlock },
	{ "c11-init", c11_init },
	{ "c11-destroy", c11_destroy },
	{ "c11-signal", c11_signal },
	{ "c11-broadcast", c11_broadcast },
	{ "c11-cnd-destroy", c11_cnd_destroy },
	{ "wait-mutex", wait_mutex },
	{ "wait-rwlock", wait_rwlock },
	{ "wait-spin", wait_spin },
	{ "wait-barrier", wait_barrier },
	{ "wait-sem", wait_sem },
	{ "wait-cond", wait_cond },
	{ "wait-relock", wait_relock },
};

static void *user(void *run)
{
	((void (*)(void))run)();
	return NULL;
}

/* Under control a sleep ends when no other thread can run: then the thread is in its wait. */
static void free_while_waiting(void (*run)(void))
{
	pthread_t t;

	pthread_mutex_lock(&s->mutex);
	pthread_rwlock_wrlock(&s->rwlock);
	pthread_spin_lock(&s->spin);
	sem_wait(&s->sem);
	t = start(user, run);
	sleep(1);
	if (run == wait_barrier)
		pthread_barrier_wait(&s->barrier);
	pthread_cond_signal(&gate);
	pthread_cond_signal(&s->cond);
	sem_post(&s->sem);
	pthread_spin_unlock(&s->spin);
	pthread_rwlock_unlock(&s->rwlock);
	pthread_mutex_unlock(&s->mutex);
	free(s);
	finish(t);
}

static void use_after_free(void (*run)(void))
{
	pthread_mutex_lock(&held);
	free(s);
	run();
	pthread_mutex_unlock(&held);
}

int main(int argc, char **argv)
{
	s = calloc(1, sizeof(*s));
	if (!s)
		return 2;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_mutex_init(&s->other, NULL);
	pthread_rwlock_init(&s->rwlock, NULL);
	pthread_spin_init(&s->spin, 0);
	pthread_barrier_init(&s->barrier, NULL, 2);
	pthread_cond_init(&s->cond, NULL);
	sem_init(&s->sem, 0, 1);
	mtx_init(&s->mtx, mtx_plain);
	cnd_init(&s->cnd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc < 2)
			puts(cases[i].name);
		else if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		else if (strncmp(argv[1], "wait-", 5) == 0)
			free_while_waiting(cases[i].run);
		else
			use_after_free(cases[i].run);
	}
	return 0;
}
