/*
 * main WHICH [jump]: repeats a stretch of instrumented code, with a signal at each of its
 * instructions in turn (stepper.c). Prints the numbers of rounds and signals.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "window.h"

int begin, seen, rest;
static int jumping, hits;
static sigjmp_buf back;

static void handler(int number)
{
	(void)number;
	hits++;
	seen++;
	shared[15]++;
	if (jumping)
		siglongjmp(back, 1);
}

static void *share(void *unused)
{
	begin = seen = rest = 0;
	for (int i = 0; i < 16; i++)
		shared[i] = 0;
	for (int i = 0; i < 4; i++)
		window(i);
	return unused;
}

static inline long mark(void)
{
	long rax = 0;

	__asm__ volatile("int3" : "+a"(rax) : : "memory");
	return rax;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = handler };
	int which = atoi(argv[1]);
	volatile int rounds = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, share, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++)
		window(i);
	begin = seen = hits = 0;
	jumping = argc > 2;
	sigaction(SIGUSR1, &act, NULL);
	do {
		rounds++;
		rest = 1;
		settle();
		begin = 1;
		if (sigsetjmp(back, 1) == 0) {
			mark();
			window(which);
		}
	} while (mark() == 0);
	printf("%d %d\n", rounds, hits);
	return 0;
}
