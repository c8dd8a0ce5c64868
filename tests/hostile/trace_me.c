/* Becomes a tracee of its parent, and stops. */
#include <sys/ptrace.h>

#include "hostile.h"

int main(void)
{
	threads();
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGTRAP);
	threads();
	return 0;
}
