/* master has no barrier: the other thread may read before the master wrote. */
#include <assert.h>

static int config;

int main(void)
{
	int seen = 0;

#pragma omp parallel num_threads(2) reduction(+ : seen)
	{
#pragma omp master
		config = 3;
		seen += config;	/* race: config */
	}
	assert(seen == 6);
	return 0;
}
