/* Writes into the memory that it shares with snarl, as a wild pointer might. */
#include <pthread.h>

#include "abi/control_block.h"

static volatile int x;

static void *play(void *arg)
{
	for (int i = 0; i < 20; i++)
		x = x + 1;
	return arg;
}

__attribute__((no_sanitize("thread"))) static void run_wild(void)
{
	const struct ctl_block *b = (const struct ctl_block *)CTL_BLOCK_AT;
	volatile uint32_t *word = (volatile uint32_t *)((char *)CTL_BLOCK_AT + b->profile);

	for (unsigned i = 5000; i < 30000; i++)
		word[i] = i * 2654435761u;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, play, NULL);
	play(NULL);
	pthread_join(thread, NULL);
	run_wild();
	return 0;
}
