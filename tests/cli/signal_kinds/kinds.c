/*
 * kinds MODE: signals of all kinds during instrumented code.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

int shared[64];
static atomic_int hits, jumps, done;
static pthread_t main_thread;
static sigjmp_buf back;
static volatile int armed;

static void catch(int number, void (*handler)(int), int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &act, NULL);
}

static void hit(int number)
{
	(void)number;
	for (int i = 0; i < 10; i++)
		shared[i]++;
	atomic_fetch_add(&hits, 1);
	if (armed) {
		armed = 0;
		atomic_fetch_add(&jumps, 1);
		siglongjmp(back, 1);
	}
}

static void *send_many(void *unused)
{
	while (atomic_load(&hits) < 1000)
		pthread_kill(main_thread, SIGUSR1);
	atomic_store(&done, 1);
	return unused;
}

/* Signals faster than they can be handled, during atomics and accesses; handlers leave by
 * siglongjmp. */
static void flood(void)
{
	pthread_t thread;

	catch(SIGUSR1, hit, SA_RESTART);
	pthread_create(&thread, NULL, send_many, NULL);
	while (!atomic_load(&done)) {
		if (sigsetjmp(back, 1) == 0) {
			armed = 1;
			for (int i = 0; i < 100; i++)
				shared[i % 64] += atomic_load(&done);
			armed = 0;
		}
	}
	pthread_join(thread, NULL);
}

static char *page;

static void mend(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_addr != page)
		_exit(9);
	shared[0]++;
	hits++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void jump_out(int number)
{
	(void)number;
	hits++;
	siglongjmp(back, 1);
}

/* Bad addresses. The handler makes the page writable for an access and an atomic; it leaves a call
 * of address 0, and an atomic on address 8, by siglongjmp. */
static void faults(void)
{
	struct sigaction act = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };
	void (*volatile nothing)(void) = NULL;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &act, NULL);
	for (int i = 0; i < 500; i++) {
		page[0]++;
		mprotect(page, 4096, PROT_NONE);
		atomic_fetch_add((atomic_int *)page, 255);
		mprotect(page, 4096, PROT_NONE);
	}
	catch(SIGSEGV, jump_out, 0);
	for (int i = 0; i < 500; i++)
		if (sigsetjmp(back, 1) == 0)
			nothing();
	for (int i = 0; i < 500; i++)
		if (sigsetjmp(back, 1) == 0)
			atomic_fetch_add((atomic_int *)8, 1);
}

static int descend(int depth)
{
	shared[depth]++;
	if (depth)
		return descend(depth - 1) + 1;
	return raise(SIGUSR1);
}

/* Handlers on an alternate stack, left by siglongjmp. */
static void stacks(void)
{
	stack_t other = { .ss_sp = malloc(64 << 10), .ss_size = 64 << 10 };

	sigaltstack(&other, NULL);
	catch(SIGUSR1, hit, SA_ONSTACK);
	catch(SIGUSR2, jump_out, SA_ONSTACK);
	for (int i = 0; i < 5000; i++) {
		descend(3);
		if (sigsetjmp(back, 1) == 0)
			raise(SIGUSR2);
	}
}

static void *take_one(void *unused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	shared[20]++;
	return unused;
}

static void *send_one_by_one(void *unused)
{
	for (int i = 0; i < 100; i++) {
		int before = atomic_load(&hits);

		kill(getpid(), SIGUSR1);
		while (atomic_load(&hits) == before)
			sched_yield();
	}
	atomic_store(&done, 1);
	return unused;
}

/*
 * Signals to whichever thread exists; threads are short-lived, so signals come when one has just
 * begun or is about to end. None may be lost.
 */
static void births(void)
{
	pthread_t thread, sender;
	sigset_t set;

	catch(SIGUSR1, hit, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&sender, NULL, send_one_by_one, NULL);
	while (!atomic_load(&done)) {
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);	/* inherited by new threads */
		pthread_create(&thread, NULL, take_one, NULL);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		pthread_join(thread, NULL);
	}
	pthread_join(sender, NULL);
}

static void *share(void *unused)
{
	for (int i = 0; i < 64; i++)
		shared[i] = 0;
	return unused;
}

static void tick(int number)
{
	(void)number;
	hits++;
	shared[63]++;
}

/* Has no events: the timer needs time, and the trace stays small. */
static __attribute__((noinline, no_sanitize("thread"))) void idle(void)
{
	for (int i = 0; i < 10000; i++)
		__asm__ volatile("");
}

/* A timer during a count from 0 to 31 again and again; the trace must have this order. */
static void timer(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
	pthread_t thread;

	pthread_create(&thread, NULL, share, NULL);
	pthread_join(thread, NULL);
	catch(SIGALRM, tick, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	while (hits < 100) {
		for (int i = 0; i < 32; i++)
			shared[i] = hits;
		idle();
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = { { "flood", flood },   { "faults", faults }, { "stacks", stacks },
		      { "births", births }, { "timer", timer } };

	main_thread = pthread_self();
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[1]) != 0)
			continue;
		modes[i].run();
		printf("%d %d\n", (int)hits, (int)jumps);
		return 0;
	}
	return 2;
}
