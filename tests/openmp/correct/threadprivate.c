/* Threads keep variables of their own from region to region; copyin hands out the master's. */
#include <assert.h>

static int own;
#pragma omp threadprivate(own)

int main(void)
{
	int sum = 0;

	own = 4;
#pragma omp parallel num_threads(3) copyin(own)
	own++;
#pragma omp parallel num_threads(3) reduction(+ : sum)
	sum += own;
	assert(sum == 15);
	return 0;
}
