/* One thread initialises; the barrier at the end of single orders the others behind it. */
#include <assert.h>

int main(void)
{
	int ready = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp single
		ready = 7;
		assert(ready == 7);
	}
	return 0;
}
