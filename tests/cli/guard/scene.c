/*
 * Two threads meet in an order that flags force; the flags are not in the rules. The lines that
 * tests name are marked with @NAME.
 *
 * Scenes. "between": while one thread reads and then writes x, the other one writes it; the first
 * thread waits for that write, TURNS iterations at most ("patient": for ever). "locked": the other
 * thread holds a lock that the first one needs next. "early": one thread reads what the other one
 * is about to write. "order": it always comes in time. "lock_early": like "early", with locks
 * instead of accesses. "turns": like "between", but each of the three accesses is a critical
 * section ("turns_patient": like "patient"). "cancel": a thread is cancelled while it holds a lock,
 * if it does not get on within TURNS iterations ("cancel_patient": in any case); `seen` is 1 if the
 * lock is never released.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 2000000L

static long x, seen;
static atomic_int entered, written;
static const char *scene;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t r, w;
static sem_t never;

static int is(const char *name)
{
	return strcmp(scene, name) == 0;
}

static void spin_until(atomic_int *flag, long turns)
{
	for (long i = 0; !atomic_load_explicit(flag, memory_order_acquire) && i != turns; i++)
		;
}

static __attribute__((noinline)) void add_one(void)
{
	long old = x;	/* @read */

	atomic_store(&entered, 1);
	if (is("between"))
		spin_until(&written, TURNS);
	else
		spin_until(&written, -1);
	if (is("locked")) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	x = old + 1;	/* @write */
}

static __attribute__((noinline)) void add_one_locked(void)
{
	long old;

	pthread_mutex_lock(&lock);	/* @first */
	old = x;
	pthread_mutex_unlock(&lock);
	atomic_store(&entered, 1);
	spin_until(&written, is("turns") ? TURNS : -1);
	pthread_mutex_lock(&lock);	/* @second */
	x = old + 1;
	pthread_mutex_unlock(&lock);
}

static bool cancels(void)
{
	return is("cancel") || is("cancel_patient");
}

static void end_in_time(void)
{
	pthread_mutex_lock(&lock);
	x = 10;
	atomic_store(&entered, 1);
	spin_until(&written, is("cancel") ? TURNS : -1);
	pthread_testcancel();
	x = 11;
	pthread_mutex_unlock(&lock);
	sem_wait(&never);
}

static __attribute__((noinline)) void pass_time(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}

static void *reader(void *arg)
{
	if (is("lock_early")) {
		pthread_mutex_lock(&lock);	/* @late */
		seen = x;
		pthread_mutex_unlock(&lock);
		return arg;
	}
	if (cancels())
		end_in_time();
	if (is("turns") || is("turns_patient")) {
		add_one_locked();
		return arg;
	}
	if (is("early") || is("order")) {
		if (is("order"))
			spin_until(&written, -1);
		atomic_store(&entered, 1);
		seen = x;	/* @early */
		return arg;
	}
	add_one();
	return arg;
}

static __attribute__((noinline)) void put_ten(void)
{
	x = 10;		/* @init */
}

static __attribute__((noinline)) void add_ten(void)
{
	x += 10;	/* @other */
}

static void *writer(void *arg)
{
	if (is("lock_early")) {
		pass_time();
		pthread_mutex_lock(&lock);	/* @soon */
		x = 10;
		pthread_mutex_unlock(&lock);
		return arg;
	}
	spin_until(&entered, is("order") ? 0 : -1);
	if (cancels()) {
		pthread_cancel(r);	/* @cancel */
		atomic_store(&written, 1);
		return arg;
	}
	if (is("early"))
		pass_time();
	if (is("turns") || is("turns_patient")) {
		pthread_mutex_lock(&lock);	/* @third */
		x += 10;
		pthread_mutex_unlock(&lock);
		atomic_store(&written, 1);
		return arg;
	}
	if (is("locked")) {
		pthread_mutex_lock(&lock);
		atomic_store(&written, 1);
	}
	if (is("early") || is("order"))
		put_ten();
	else
		add_ten();
	if (is("locked"))
		pthread_mutex_unlock(&lock);
	atomic_store(&written, 1);
	return arg;
}

static void play(void)
{
	x = seen = 0;
	entered = written = 0;
	pthread_create(&r, NULL, reader, NULL);
	pthread_create(&w, NULL, writer, NULL);
	pthread_join(r, NULL);
	pthread_join(w, NULL);
	if (cancels())
		seen = pthread_mutex_trylock(&lock) != 0;
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	printf("%s: x %ld seen %ld\n", scene, x, seen);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[16];

	for (int i = 1; i < argc; i++) {
		scene = argv[i];
		if (is("kill")) {
			raise(SIGKILL);
		} else if (is("pid")) {	/* continues when it reads a line */
			printf("%d\n", (int)getpid());
			fflush(stdout);
			if (!fgets(line, sizeof(line), stdin))
				return 9;
		} else if (is("fork")) {
			pid_t child = fork();

			if (child)
				waitpid(child, NULL, 0);
		} else if (is("exec")) {
			argv[i] = argv[0];
			execv("/proc/self/exe", argv + i);
			return 9;
		} else {
			play();
		}
	}
	return 0;
}
