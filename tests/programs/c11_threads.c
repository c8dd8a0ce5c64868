/* thrd_*: values returned and passed to thrd_exit, detaching, children of children. */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static sem_t go;
static int detached_tid;

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static int returns(void *arg)
{
	return *(int *)arg;
}

static int exits(void *arg)
{
	thrd_exit(*(int *)arg);
}

static int parent(void *arg)
{
	thrd_t child;
	int value;

	want(thrd_create(&child, returns, arg), thrd_success);
	want(thrd_join(child, &value), thrd_success);
	return value + 1;
}

static int detached(void *arg)
{
	(void)arg;
	detached_tid = (int)syscall(SYS_gettid);
	sem_post(&go);
	return 0;
}

static void run(int (*routine)(void *), int value, int expected)
{
	thrd_t t;
	int got;

	want(thrd_create(&t, routine, &value), thrd_success);
	want(thrd_join(t, &got), thrd_success);
	want(got, expected);
}

int main(void)
{
	static const struct timespec nothing = { 0, 1 };
	thrd_t t;

	run(returns, -7, -7);
	run(exits, 1 << 30, 1 << 30);
	run(parent, 4, 5);

	sem_init(&go, 0, 0);
	want(thrd_create(&t, detached, NULL), thrd_success);
	want(thrd_detach(t), thrd_success);
	sem_wait(&go);
	/* The thread is gone when the kernel does not know its id any more. */
	while (syscall(SYS_tgkill, getpid(), detached_tid, 0) == 0)
		;
	want(errno, ESRCH);

	thrd_yield();
	want(thrd_sleep(&nothing, NULL), 0);
	return 0;
}
