/*
 * Learnt transactions for a processor that runs them in hardware; lines that tests name are marked.
 *
 *   rtm SCENE ROUNDS THREADS
 *
 * Each of the threads does as many rounds as given, each of them a transaction: "plain" as it is, "call" with a system
 * call in it, "lock" with a mutex ("lock_last": behind its last access, "locked": around it), "heap" with a block of the heap, "spin" goes
 * round in circles, "fault" uses a page that a handler has to make usable, "alarm" waits for a signal, "jump" leaves the
 * function by a jump, "exit" by the thread's end. Those that have transactions of their own need a processor, or an
 * emulator: "outer" around it, "inner" within, "steal" ends the one it is in.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long x, y;
static volatile long torn, faults;
static double ratio;
static enum { PLAIN, CALL, LOCK, LOCK_LAST, LOCKED, HEAP, SPIN, FAULT, ALARM, JUMP, EXIT, OUTER, INNER, STEAL } scene;
static const char *const names[] = { "plain", "call", "lock", "lock_last", "locked", "heap", "spin", "fault",
				     "alarm", "jump", "exit", "outer", "inner", "steal" };
static int rounds;
static atomic_int turns;
static char *page;
static void *volatile block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread jmp_buf back;

static void xbegin(void)
{
	__asm__ volatile(".byte 0xc7, 0xf8; .long 0" : : : "rax", "memory");
}

static void xend(void)
{
	__asm__ volatile(".byte 0x0f, 0x01, 0xd5" : : : "memory");
}

/* A real one may have been given up. */
static void xend_if_within(void)
{
	bool inside;

	__asm__ volatile(".byte 0x0f, 0x01, 0xd6; setnz %0" : "=q"(inside) : : "memory");
	if (inside)
		xend();
}

static void on_signal(int number)
{
	faults++;
	if (number == SIGSEGV)
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static __attribute__((noinline)) void in_between(void)
{
	if (scene == CALL)
		syscall(SYS_getppid);
	if (scene == LOCK) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	if (scene == HEAP)
		free(block = malloc(10));
	if (scene == SPIN)
		for (int i = 0; i < 2000; i++)
			atomic_fetch_add(&turns, 1);
	if (scene == FAULT)
		*(volatile char *)page = 1;
	while (scene == ALARM && faults <= x - 1)
		;
	if (scene == INNER)
		xbegin();
	if (scene == INNER || scene == STEAL)
		xend_if_within();
}

static __attribute__((noinline)) void behind(void)
{
	if (scene == LOCK_LAST) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	if (scene == JUMP)
		longjmp(back, 1);
	if (scene == EXIT)
		pthread_exit(NULL);
}

/* y is always as much behind x as there are threads in here. A float, lest its registers be forgotten. */
static __attribute__((noinline)) double move(double factor)
{
	long old = x;	/* @read */

	x = old + 1;	/* @write */
	if (y != old)	/* @check */
		torn++;
	in_between();
	y = old + 1;	/* @follow */
	behind();
	return factor * 2;
}

static void move_once(double *mine)
{
	struct itimerval soon = { .it_value = { .tv_usec = 20000 } };

	if (scene == ALARM)
		setitimer(ITIMER_REAL, &soon, NULL);
	if (scene == LOCKED)
		pthread_mutex_lock(&lock);
	if (scene == OUTER)
		xbegin();
	*mine = move(*mine) / 2;
	if (scene == OUTER)
		xend_if_within();
	if (scene == LOCKED)
		pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	double mine = 1;

	for (volatile int i = 0; i < rounds; i++)
		if (scene != JUMP || setjmp(back) == 0)
			move_once(&mine);
	ratio = mine;
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t alarms;
	pthread_t t[16];
	int threads;

	while (argc > 1 && strcmp(names[scene], argv[1]) != 0)
		scene++;
	rounds = argc > 2 ? atoi(argv[2]) : 2;
	threads = argc > 3 ? atoi(argv[3]) : 2;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, NULL);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);	/* they are the other thread's */
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("x %ld y %ld torn %ld faults %ld turns %d\n", x, y, torn, faults, (int)turns);
	return scene == EXIT || ratio == 1 || scene == JUMP ? 0 : 9;
}
