/* A signal to one thread, which waits for it; and one taken by sigwait. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sigset_t both;

static void handler(int number)
{
	(void)number;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
}

static void *waiting(void *unused)
{
	sigset_t but_one;
	int number;

	sigemptyset(&but_one);
	sigaddset(&but_one, SIGUSR2);
	sigsuspend(&but_one);
	if (sigwait(&both, &number) != 0 || number != SIGUSR2)
		exit(9);
	return unused;
}

int main(void)
{
	pthread_t thread;

	signal(SIGUSR1, handler);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	pthread_create(&thread, NULL, waiting, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_kill(thread, SIGUSR2);
	pthread_join(thread, NULL);
	return 0;
}
