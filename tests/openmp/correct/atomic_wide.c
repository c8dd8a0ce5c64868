/* No instruction updates a long double: gcc's library takes a lock for this atomic. */
#include <assert.h>

int main(void)
{
	long double sum = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp atomic
		sum += 1.5L;
	}
	assert(sum == 4.5L);
	return 0;
}
