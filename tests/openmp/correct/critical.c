/* A counter in the unnamed critical section. */
#include <assert.h>

int main(void)
{
	int count = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		count++;
#pragma omp critical
		count++;
	}
	assert(count == 6);
	return 0;
}
