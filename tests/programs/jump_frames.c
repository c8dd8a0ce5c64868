/* longjmp over instrumented frames: afterwards the call stack is that of setjmp. */
#include <sched.h>
#include <setjmp.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf outer, inner;
static volatile int rounds;

NOINLINE static void mark(void)
{
	sched_yield();
	rounds++;
}

NOINLINE static void deepest(jmp_buf *to)
{
	mark();
	longjmp(*to, 5);
}

NOINLINE static void middle(jmp_buf *to)
{
	deepest(to);
	mark();
}

NOINLINE static void nested(void)
{
	if (setjmp(inner) == 0)
		middle(&inner);
	mark();
	middle(&outer);
	mark();
}

int main(void)
{
	int got = setjmp(outer);

	if (got == 0)
		nested();
	mark();
	return got == 5 && rounds == 4 ? 0 : 9;
}
