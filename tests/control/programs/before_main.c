/* Locks and threads of constructors, made before control begins, are known afterwards. */
#include "want.h"

#include <semaphore.h>

static pthread_mutex_t used = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t deep = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, read_ = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_cond_t cond;
static sem_t sem;
static int runs;

static void count(void)
{
	runs++;
}

__attribute__((constructor)) static void early(void)
{
	want(pthread_mutex_lock(&used), 0);
	want(pthread_mutex_unlock(&used), 0);
	want(pthread_mutex_lock(&held), 0);
	want(pthread_mutex_lock(&deep), 0);
	want(pthread_mutex_lock(&deep), 0);
	want(pthread_mutex_unlock(&deep), 0);
	want(pthread_mutex_unlock(&deep), 0);
	want(pthread_rwlock_wrlock(&written), 0);
	want(pthread_rwlock_unlock(&written), 0);
	want(pthread_rwlock_rdlock(&read_), 0);
	want(pthread_rwlock_unlock(&read_), 0);
	want(pthread_once(&once, count), 0);
	want(pthread_spin_init(&spin, 0), 0);
	want(pthread_spin_lock(&spin), 0);
	want(pthread_spin_unlock(&spin), 0);
	want(pthread_barrier_init(&barrier, NULL, 1), 0);
	want(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	want(pthread_cond_init(&cond, NULL), 0);
	want(pthread_cond_signal(&cond), 0);
	want(sem_init(&sem, 0, 1), 0);
	want(sem_wait(&sem), 0);
	want(sem_post(&sem), 0);
}

static void *uses(void *arg)
{
	want(pthread_mutex_lock(&used), 0);
	want(pthread_mutex_unlock(&used), 0);
	want(pthread_mutex_lock(&deep), 0);
	want(pthread_mutex_unlock(&deep), 0);
	want(pthread_rwlock_rdlock(&written), 0);
	want(pthread_rwlock_unlock(&written), 0);
	want(pthread_rwlock_wrlock(&written), 0);
	want(pthread_rwlock_unlock(&written), 0);
	want(pthread_rwlock_wrlock(&read_), 0);
	want(pthread_rwlock_unlock(&read_), 0);
	want(pthread_once(&once, count), 0);
	want(pthread_spin_lock(&spin), 0);
	want(pthread_spin_unlock(&spin), 0);
	want(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	want(sem_wait(&sem), 0);
	want(sem_post(&sem), 0);
	want(pthread_mutex_lock(&held), 0);	/* locked by main since a constructor */
	want(runs, 1);
	want(pthread_mutex_unlock(&held), 0);
	return arg;
}

int main(void)
{
	pthread_t t[2] = { start(uses, NULL), start(uses, NULL) };

	want(pthread_mutex_trylock(&held), EBUSY);
	want(pthread_mutex_unlock(&held), 0);
	finish(t[0]);
	finish(t[1]);
	want(pthread_barrier_destroy(&barrier), 0);
	want(pthread_cond_destroy(&cond), 0);
	return 0;
}
