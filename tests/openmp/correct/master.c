/* The master writes; master has no barrier of its own, so an explicit one follows. */
#include <assert.h>

int main(void)
{
	int config = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp master
		config = 3;
#pragma omp barrier
		assert(config == 3);
	}
	return 0;
}
