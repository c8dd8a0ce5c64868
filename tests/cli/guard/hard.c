/*
 * Learnt transactions for a processor that has some of its own; lines that tests name are marked.
 *
 *   hard SCENE ROUNDS THREADS
 *
 * Each thread adds 1 to x as often as told, which is a transaction: it reads x, and writes it a while later. Whatever
 * becomes of it, nothing may be lost. "add": no more than that. "meet": every second thread does it with a system
 * call in between, so in software, and all begin at once, those a little later, more so from round to round. "wide":
 * each round adds to another element of a long array instead. "big": the transaction touches more memory than
 * a processor keeps apart. "fork": a child is born in it, which must find what its parent has written. "storm": signals
 * all the time. "all": each of these. Prints what was added.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDE (1 << 18)		/* a page of cells each, and of the array */
#define BIG (1 << 20)

static volatile long x;
static volatile long wide[WIDE][8];
static volatile long last[64][8];	/* each thread's own: the end of a transaction is seen late, but not lost */
static volatile char big[BIG];
static const char *scene;
static int rounds, threads;
static atomic_long arrived;
static atomic_int strangers;
static volatile long alarms;

static bool is(const char *name)
{
	return strcmp(scene, name) == 0;
}

static void pause_for(int turns)
{
	for (volatile int i = 0; i < turns; i++)
		;
}

static __attribute__((noinline)) void add(long self)
{
	long old = x;		/* @read */

	pause_for(is("meet") ? 500 : 0);
	x = old + 1;		/* @write */
	last[self][0]++;	/* @tail */
}

static __attribute__((noinline)) void add_softly(long self)
{
	long old = x;		/* @soft_read */

	syscall(SYS_getppid);
	pause_for(500);
	x = old + 1;		/* @soft_write */
	last[self][0]++;	/* @soft_tail */
}

static __attribute__((noinline)) void add_wide(long self, long i)
{
	volatile long *at = wide[i * 40503 % WIDE];
	long old = *at;		/* @wide_read */

	*at = old + 1;		/* @wide_write */
	last[self][0]++;	/* @wide_tail */
}

static __attribute__((noinline)) void add_big(long self)
{
	long old = x;		/* @big_read */

	for (int i = 0; i < BIG; i += 64)
		big[i] = (char)i;
	x = old + 1;		/* @big_write */
	last[self][0]++;	/* @big_tail */
}

static __attribute__((noinline)) void add_fork(long self)
{
	long old = x;		/* @fork_read */
	pid_t child;
	int status;

	x = old + 1;		/* @fork_write */
	child = fork();
	/* Or more: to wait for it ends the transaction, so that after the first time others need not wait for that. */
	if (child == 0)
		_exit(x >= old + 1 ? 0 : 1);
	if (waitpid(child, &status, 0) != child || status != 0)
		strangers++;
	last[self][0]++;	/* @fork_tail */
}

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Until all have come so often. */
static void meet(int round)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < (long)(round + 1) * threads)
		;
}

static void once(long self, int round)
{
	if (is("wide")) {
		add_wide(self, self * rounds + round);
	} else if (is("big")) {
		add_big(self);
	} else if (is("fork")) {
		add_fork(self);
	} else if (is("meet")) {
		meet(round);
		pause_for(self % 2 ? round * 7 % 1000 : 300);
		(self % 2 ? add_softly : add)(self);
	} else {
		add(self);
	}
}

static void *work(void *self)
{
	for (int i = 0; i < rounds; i++)
		once((long)self, i);
	return NULL;
}

static void play(const char *name)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	pthread_t t[64];
	long sum = 0;

	scene = name;
	x = 0;
	arrived = 0;
	memset((void *)wide, 0, sizeof(wide));
	if (is("storm"))
		setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < WIDE; i++)
		sum += wide[i][0];
	printf("%s: %ld, strangers %d\n", name, x + sum, (int)strangers);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "add", "meet", "wide", "big", "fork", "storm" };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &act, NULL);
	rounds = argc > 2 ? atoi(argv[2]) : 2;
	threads = argc > 3 ? atoi(argv[3]) : 2;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (argc < 2 || strcmp(argv[1], "all") == 0 || strcmp(argv[1], names[i]) == 0)
			play(names[i]);
	return 0;
}
