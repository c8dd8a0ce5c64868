/* Exhausts the stack of a handler on an alternate stack. */
#include "hostile.h"

static char room[65536];

__attribute__((noinline)) static int deeper(int n)
{
	volatile char frame[1024];

	frame[0] = (char)n;
	return deeper(n + 1) + frame[0];
}

static void handler(int sig)
{
	deeper(sig);
}

int main(void)
{
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	threads();
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	threads();
	return 0;
}
