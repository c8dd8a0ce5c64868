/*
 * Threads that are not made by a call of pthread_create: the program asks dlsym() for the function,
 * as allocators with a pthread_create of their own do. They are controlled like any other. With
 * dlvsym() it gets libc's function, and such a thread runs on its own: it is joined and detached
 * all the same.
 */
#include "want.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static sem_t go;
static int written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *arg)
{
	want(sem_wait(&go), 0);
	pthread_mutex_lock(&lock);
	written++;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *returns(void *arg)
{
	struct timespec t = { 0, 1000000 };

	syscall(SYS_nanosleep, &t, NULL);
	return arg;
}

/* RTLD_NEXT, the default scope and the handle of a library all give a controlled thread. */
static void with_dlsym(void *handle)
{
	create_fn *create;
	pthread_t t;
	void *result;

	*(void **)&create = dlsym(handle, "pthread_create");
	want(create != NULL, 1);
	want(create(&t, NULL, waits, &go), 0);
	want(sem_post(&go), 0);		/* if libc slept in sem_wait, this would not wake it */
	want(pthread_join(t, &result), 0);
	want(result == &go, 1);
}

static void with_dlvsym(void)
{
	create_fn *create;
	pthread_t t;
	void *result;

	*(void **)&create = dlvsym(RTLD_NEXT, "pthread_create", "GLIBC_2.34");
	if (!create)
		return;
	want(create(&t, NULL, returns, &t), 0);
	want(pthread_join(t, &result), 0);
	want(result == &t, 1);
	want(create(&t, NULL, returns, NULL), 0);
	want(pthread_detach(t), 0);
}

int main(void)
{
	want(sem_init(&go, 0, 0), 0);
	with_dlsym(RTLD_NEXT);
	with_dlsym(RTLD_DEFAULT);
	with_dlsym(dlopen("libc.so.6", RTLD_NOW));
	want(written, 3);
	want(dlsym(RTLD_NEXT, "in_no_library") == NULL, 1);
	want(dlerror() != NULL, 1);
	with_dlvsym();
	puts("ok");
	return 0;
}
