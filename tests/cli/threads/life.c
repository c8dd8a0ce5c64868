/*
 * life MODE: many threads, and all ways to end. Each locks, counts and unlocks once unless the mode
 * says otherwise.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static pthread_key_t key, late_key;
static sem_t done;
static int counter, wanted;
static int hot[64], started;

static void count(void)
{
	pthread_mutex_lock(&m);
	counter++;
	pthread_mutex_unlock(&m);
}

static pthread_t start(void *(*routine)(void *), void *arg, int detached)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (detached)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, routine, arg) != 0) {
		perror("pthread_create");
		exit(3);
	}
	pthread_attr_destroy(&attr);
	return thread;
}

static void *meet(void *unused)
{
	pthread_barrier_wait(&all);
	count();
	pthread_barrier_wait(&all);
	return unused;
}

/* alive N: all at once */
static void alive(int n)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));

	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		thread[i] = start(meet, NULL, 0);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

static void *once(void *unused)
{
	count();
	return unused;
}

/* many N: 20 at a time */
static void many(int n)
{
	pthread_t thread[20];

	for (int i = 0; i < n; i += 20) {
		for (int j = 0; j < 20; j++)
			thread[j] = start(once, NULL, 0);
		for (int j = 0; j < 20; j++)
			pthread_join(thread[j], NULL);
	}
}

static void *once_and_post(void *unused)
{
	count();
	sem_post(&done);
	return unused;
}

/* detached N: the last ones end while the process ends */
static void detached(int n)
{
	sem_init(&done, 0, 0);
	for (int i = 0; i < n; i++)
		start(once_and_post, NULL, 1);
	for (int i = 0; i < n; i++)
		while (sem_wait(&done) != 0)
			;
}

static void *run_hot(void *arg)
{
	__atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
	for (int i = 0;; i++) {
		hot[i % 64]++;
		if (i % 100 == 0)
			count();
	}
	return arg;
}

static void *leave(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&started, __ATOMIC_RELAXED) < 2)
		;
	while (counter < wanted)	/* a race on purpose */
		count();
	exit(0);
}

/* hot N: a thread calls exit() when the count is N, while two others never stop */
static void hot_exit(int n)
{
	wanted = n;
	start(run_hot, NULL, 0);
	start(run_hot, NULL, 0);
	start(leave, NULL, 0);
	for (;;)
		pause();
}

static void *after_main(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	count();
	printf("%d\n", counter);
	return NULL;
}

/* main 1: main ends first */
static void main_exit(int n)
{
	static pthread_t main_thread;

	(void)n;
	main_thread = pthread_self();
	start(after_main, &main_thread, 1);
	count();
	pthread_exit(NULL);
}

static void destroy(void *unused)
{
	(void)unused;
	count();
}

/* Runs three times; of the four rounds that POSIX guarantees, the last is the runtime's. */
static void destroy_late(void *times)
{
	count();
	if ((long)times < 3)
		pthread_setspecific(late_key, (void *)((long)times + 1));
}

static void *with_keys(void *unused)
{
	(void)unused;
	pthread_setspecific(key, &counter);
	pthread_setspecific(late_key, (void *)1);
	count();
	pthread_exit(NULL);
}

/* keys N: destructors of thread-specific data, one of them in three rounds */
static void keys(int n)
{
	pthread_key_create(&key, destroy);
	pthread_key_create(&late_key, destroy_late);
	for (int i = 0; i < n; i++)
		pthread_join(start(with_keys, NULL, 0), NULL);
}

static void on_timer(union sigval unused)
{
	(void)unused;
	once_and_post(NULL);
}

/* foreign N: threads that the C library creates for itself */
static void foreign(int n)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer };
	struct itimerspec soon = { .it_value = { 0, 1000 } };
	timer_t timer;

	sem_init(&done, 0, 0);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (int i = 0; i < n; i++) {
		timer_settime(timer, 0, &soon, NULL);
		while (sem_wait(&done) != 0)
			;
	}
}

static char bare_stack[64 << 10];
static volatile int bare_there;

/* It has no thread-local memory, so it must not be instrumented. */
static __attribute__((no_sanitize("thread"))) int bare_main(void *unused)
{
	(void)unused;
	bare_there = 1;
	return 0;
}

/* bare N: threads created by clone(), not by the C library */
static void bare(int n)
{
	for (int i = 0; i < n; i++) {
		bare_there = 0;
		clone(bare_main, bare_stack + sizeof(bare_stack),
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL);
		while (!bare_there)
			sched_yield();
		count();
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int n);
	} modes[] = {
		{ "alive", alive }, { "many", many }, { "detached", detached },
		{ "hot", hot_exit }, { "main", main_exit }, { "keys", keys },
		{ "foreign", foreign }, { "bare", bare },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[1]) != 0)
			continue;
		modes[i].run(atoi(argv[2]));
		printf("%d\n", counter);
		return 0;
	}
	return 2;
}
