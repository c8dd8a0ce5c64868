/*
 * The least a switch between user-level threads can cost on this machine: the stack, the
 * registers a call keeps, the floating-point control words, and the FS base; no strategy is
 * asked, nothing is recorded. Prints the CPU time of one in ns.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void swap(void **from, void *to, uint64_t fs);
__asm__(".text\n"
	"swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n"
	"	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	wrfsbase %rdx\n"
	"	addq $8, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n");

static void *stack_of[2];
static uint64_t fs_of[2];
static int current;
static long left;
static _Thread_local volatile long own;
static pthread_barrier_t ready;

static uint64_t fs_base(void)
{
	uint64_t v;

	__asm__ volatile("rdfsbase %0" : "=r"(v));
	return v;
}

/* Both sides run this, so that returns are predicted as they are in the runtime. */
static __attribute__((noinline)) void take_turns(void)
{
	while (left-- > 0) {
		int me = current;

		own++;
		current = !me;
		swap(&stack_of[me], stack_of[!me], fs_of[!me]);
	}
}

static void other(void)
{
	take_turns();
	abort();	/* main has the last turn */
}

static void *lend(void *arg)
{
	fs_of[1] = fs_base();
	pthread_barrier_wait(&ready);
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	uint64_t *sp = (uint64_t *)((char *)aligned_alloc(4096, 1 << 16) + (1 << 16));
	struct timespec began, ended;
	pthread_t lender;

	pthread_barrier_init(&ready, NULL, 2);
	pthread_create(&lender, NULL, lend, NULL);
	pthread_barrier_wait(&ready);
	fs_of[0] = fs_base();
	*--sp = 0;
	*--sp = (uint64_t)(uintptr_t)other;
	for (int i = 0; i < 7; i++)
		*--sp = 0;
	stack_of[1] = sp;
	left = 2 * n;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	take_turns();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	printf("%.2f\n", ((double)(ended.tv_sec - began.tv_sec) * 1e9 +
			  (double)(ended.tv_nsec - began.tv_nsec)) / (2.0 * (double)n));
	return 0;
}
