/*
 * A program with many outcomes, one for each argument. "slow" ones take seconds of processor time
 * for a run, "endless" ones never end by themselves.
 */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 60000	/* accesses of each thread in long traces */

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int balance, flags[2], table[512];
static volatile int spinning;
static const char *what;
static pthread_t self_of_main;

/* About `tenths` times 0.1 s of processor time; no clock, since clocks are virtual under control.
 */
static void burn(unsigned tenths)
{
	for (unsigned i = 0; i < tenths; i++)
		for (unsigned long k = 0; k < 60000000; k++)
			__asm__ volatile("");
}

static int is(const char *name)
{
	return strcmp(what, name) == 0;
}

__attribute__((constructor)) static void before_main(void)
{
	if (getenv("SLOW_START"))
		burn(300);
}

static void touch_much(int first)
{
	for (int i = 0; i < MANY; i++) {
		if (i % 64 == 0)
			pthread_mutex_lock(&one);
		table[(i * 7 + first) % 512] += i;
		if (i % 64 == 0)
			pthread_mutex_unlock(&one);
	}
}

static void *lose_update(void *arg)
{
	int now = balance;

	if (is("slow-assert"))
		burn(10);
	balance = now + 1;
	return arg;
}

static void *lock_both(void *arg)
{
	int swapped = *(int *)arg;

	pthread_mutex_lock(swapped ? &two : &one);
	if (is("slow-deadlock"))
		burn(10);
	pthread_mutex_lock(swapped ? &one : &two);
	balance++;
	pthread_mutex_unlock(&one);
	pthread_mutex_unlock(&two);
	return NULL;
}

static void *work(void *arg)
{
	int number = *(int *)arg;

	if (is("endless"))
		for (;;)
			burn(1);
	if (is("spin"))
		while (!spinning)
			;
	if (is("outside"))
		poll(NULL, 0, -1);
	if (is("pipe")) {
		int ends[2];
		char c;

		if (pipe(ends) == 0 && read(ends[0], &c, 1) < 0)
			return NULL;
	}
	if (is("long-trace") || is("long-assert"))
		touch_much(number);
	if (is("slow-pass"))
		burn(25);
	if (is("steps"))
		for (;;) {
			flags[number]++;
			pthread_mutex_lock(&one);
			balance++;
			pthread_mutex_unlock(&one);
		}
	flags[number] = 1;
	return NULL;
}

static void in_two_threads(void *(*function)(void *))
{
	static int numbers[2] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, function, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void leave_child(void)
{
	if (fork() == 0) {
		setsid();
		for (;;)
			sleep(1000);
	}
}

int main(int argc, char **argv)
{
	what = argc > 1 ? argv[1] : "pass";
	self_of_main = pthread_self();
	if (is("child"))
		leave_child();
	if (is("deadlock") || is("slow-deadlock")) {
		in_two_threads(lock_both);
	} else if (is("assert") || is("slow-assert") || is("exit") || is("output") || is("crash")) {
		in_two_threads(lose_update);
	} else {
		in_two_threads(work);
		if (is("long-assert"))
			in_two_threads(lose_update);
	}
	if (is("exit") && balance != 2)
		return 3;
	if (is("crash") && balance != 2)
		abort();
	if (is("always"))
		return 4;
	if (strstr(what, "assert"))
		assert(balance == 2);
	if (is("ignores"))
		signal(SIGTERM, SIG_IGN);
	if (is("output"))
		printf("%d\n", balance);
	if (is("late-abort")) {
		burn(15);
		abort();
	}
	return 0;
}
