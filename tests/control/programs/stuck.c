/*
 * fails: deadlock, with each name it lists.
 * stuck NAME: a thread waits for an event that cannot come, the same under every schedule. Without
 * a name it lists the names.
 */
#include "want.h"

#include <linux/futex.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void mutex(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
}

static void rwlock(void)
{
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_wrlock(&rw);
}

static void spin(void)
{
	pthread_spinlock_t lock;

	pthread_spin_init(&lock, 0);
	pthread_spin_lock(&lock);
	pthread_spin_lock(&lock);
}

static void cond(void)
{
	pthread_cond_signal(&c);
	pthread_mutex_lock(&m);
	pthread_cond_wait(&c, &m);
}

static void sem(void)
{
	sem_t s;

	sem_init(&s, 0, 0);
	sem_wait(&s);
}

static void barrier(void)
{
	pthread_barrier_t b;

	pthread_barrier_init(&b, NULL, 2);
	pthread_barrier_wait(&b);
}

static void again(void)
{
	pthread_once(&once, again);
}

static void futex(void)
{
	unsigned word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void *ends_with_it(void *arg)
{
	pthread_mutex_lock(&m);
	return arg;
}

static void owner_ended(void)
{
	elsewhere(ends_with_it, NULL);
	pthread_mutex_lock(&m);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "mutex", mutex },
	{ "rwlock", rwlock },
	{ "spin", spin },
	{ "cond", cond },
	{ "sem", sem },
	{ "barrier", barrier },
	{ "once", again },
	{ "futex", futex },
	{ "owner-ended", owner_ended },
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
