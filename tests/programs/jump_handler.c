/* A handler leaves by siglongjmp, out of a function that it interrupted; twice. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>

#define NOINLINE __attribute__((noinline))

static sigjmp_buf back;
static volatile int caught;

static void handler(int number)
{
	(void)number;
	caught++;
	siglongjmp(back, 1);
}

NOINLINE static void victim(void)
{
	sched_yield();
	raise(SIGUSR1);
	caught = -9;
}

int main(void)
{
	struct sigaction act = { .sa_handler = handler };

	sigaction(SIGUSR1, &act, NULL);
	sigsetjmp(back, 1);	/* restores the mask, so that the second signal is delivered */
	if (caught < 2)
		victim();
	sched_yield();
	return caught == 2 ? 0 : 9;
}
