/*
 * fails: misuse, with each name it lists.
 * misuse NAME: one misuse of a primitive, the same under every schedule. Without a name it lists
 * the names.
 */
#include "want.h"

#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static sem_t there;

static void *unlocks_mutex(void *arg)
{
	pthread_mutex_unlock(&m);
	return arg;
}

static void *unlocks_rwlock(void *arg)
{
	pthread_rwlock_unlock(&rw);
	return arg;
}

static void *unlocks_spin(void *arg)
{
	pthread_spin_unlock(&spin);
	return arg;
}

static void mutex_other(void)
{
	pthread_mutex_lock(&m);
	elsewhere(unlocks_mutex, NULL);
}

static void mutex_unlocked(void)
{
	pthread_mutex_unlock(&m);
}

static void mutex_destroy_held(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_destroy(&m);
}

static void mutex_destroyed(void)
{
	pthread_mutex_destroy(&m);
	pthread_mutex_lock(&m);
}

static void rwlock_other(void)
{
	pthread_rwlock_wrlock(&rw);
	elsewhere(unlocks_rwlock, NULL);
}

static void rwlock_reader(void)
{
	pthread_rwlock_rdlock(&rw);
	elsewhere(unlocks_rwlock, NULL);
}

static void rwlock_unlocked(void)
{
	pthread_rwlock_unlock(&rw);
}

static void rwlock_destroy_held(void)
{
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_destroy(&rw);
}

static void rwlock_destroyed(void)
{
	pthread_rwlock_destroy(&rw);
	pthread_rwlock_rdlock(&rw);
}

static void spin_other(void)
{
	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	elsewhere(unlocks_spin, NULL);
}

static void spin_unlocked(void)
{
	pthread_spin_init(&spin, 0);
	pthread_spin_unlock(&spin);
}

static void spin_destroy_held(void)
{
	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	pthread_spin_destroy(&spin);
}

static void cond_no_mutex(void)
{
	pthread_cond_timedwait(&c, &m, &past);
}

static void *waits_for_cond(void *arg)
{
	pthread_mutex_lock(&m);
	sem_post(&there);
	for (;;)
		pthread_cond_wait(&c, &m);
	return arg;
}

/* Once this thread gets the mutex, the other one is in its wait. */
static void cond_destroy_waited(void)
{
	sem_init(&there, 0, 0);
	start(waits_for_cond, NULL);
	sem_wait(&there);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_cond_destroy(&c);
	exit(0);
}

static void cond_destroyed(void)
{
	pthread_cond_destroy(&c);
	pthread_cond_signal(&c);
}

static void *waits_at_barrier(void *arg)
{
	pthread_barrier_wait(&b);
	return arg;
}

static void barrier_destroyed(void)
{
	pthread_barrier_init(&b, NULL, 1);
	pthread_barrier_destroy(&b);
	elsewhere(waits_at_barrier, NULL);
}

/* Under control a sleep ends when no other thread can run: then the other one is in its wait. */
static void barrier_destroy_waited(void)
{
	pthread_barrier_init(&b, NULL, 2);
	start(waits_at_barrier, NULL);
	sleep(1);
	pthread_barrier_destroy(&b);
}

static void *waits_for_sem(void *arg)
{
	sem_wait(&there);
	return arg;
}

static void sem_destroy_waited(void)
{
	sem_init(&there, 0, 0);
	start(waits_for_sem, NULL);
	sleep(1);
	sem_destroy(&there);
}

static void *ends(void *arg)
{
	return arg;
}

static void join_twice(void)
{
	pthread_t thread = start(ends, NULL);

	pthread_join(thread, NULL);
	pthread_join(thread, NULL);
}

static pthread_t joined;

static void *joins(void *arg)
{
	pthread_join(joined, NULL);
	return arg;
}

/* Both threads join the same thread. */
static void join_both(void)
{
	sem_init(&there, 0, 0);
	joined = start(waits_for_sem, NULL);
	start(joins, NULL);
	start(joins, NULL);
	sleep(1);
	sem_post(&there);
	sleep(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "mutex-other", mutex_other },
	{ "mutex-unlocked", mutex_unlocked },
	{ "mutex-destroy-held", mutex_destroy_held },
	{ "mutex-destroyed", mutex_destroyed },
	{ "rwlock-other", rwlock_other },
	{ "rwlock-reader", rwlock_reader },
	{ "rwlock-unlocked", rwlock_unlocked },
	{ "rwlock-destroy-held", rwlock_destroy_held },
	{ "rwlock-destroyed", rwlock_destroyed },
	{ "spin-other", spin_other },
	{ "spin-unlocked", spin_unlocked },
	{ "spin-destroy-held", spin_destroy_held },
	{ "cond-no-mutex", cond_no_mutex },
	{ "cond-destroy-waited", cond_destroy_waited },
	{ "cond-destroyed", cond_destroyed },
	{ "barrier-destroyed", barrier_destroyed },
	{ "barrier-destroy-waited", barrier_destroy_waited },
	{ "sem-destroy-waited", sem_destroy_waited },
	{ "join-twice", join_twice },
	{ "join-both", join_both },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc < 2)
			puts(cases[i].name);
		else if (strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	}
	return 0;
}
