/* Prints on a pipe that nobody reads, with SIGPIPE at its default. */
#include "hostile.h"

int main(void)
{
	int ends[2];

	threads();
	if (pipe(ends) == 0 && dup2(ends[1], 1) == 1) {
		close(ends[0]);
		close(ends[1]);
	}
	puts("nobody reads this");
	fflush(stdout);
	threads();
	return 0;
}
