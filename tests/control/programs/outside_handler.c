/*
 * A handler runs in a blocked thread and does what the other threads wait for; afterwards the
 * thread continues its wait.
 */
#include "want.h"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t posted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int owner_here;

static void posts(int number)
{
	(void)number;
	sem_post(&posted);
}

/* A signal to the process goes to main, which is in a join. */
static void *asks_main(void *arg)
{
	want(kill(getpid(), SIGUSR1), 0);
	want(sem_wait(&posted), 0);
	return arg;
}

static void *locks(void *arg)
{
	want(pthread_mutex_lock(&lock), 0);
	want(owner_here, 0);
	want(pthread_mutex_unlock(&lock), 0);
	return arg;
}

static void while_locking(void)
{
	pthread_t t;

	want(pthread_mutex_lock(&lock), 0);
	owner_here = 1;
	t = start(locks, NULL);
	want(pthread_kill(t, SIGUSR1), 0);
	want(sem_wait(&posted), 0);
	owner_here = 0;
	want(pthread_mutex_unlock(&lock), 0);
	finish(t);
}

int main(void)
{
	struct sigaction act = { .sa_handler = posts, .sa_flags = SA_RESTART };

	want(sem_init(&posted, 0, 0), 0);
	want(sigaction(SIGUSR1, &act, NULL), 0);
	finish(start(asks_main, NULL));
	while_locking();
	puts("ok");
	return 0;
}
