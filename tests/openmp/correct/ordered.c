/* Ordered blocks run in the order of the iterations: they may use the one variable unprotected. */
#include <assert.h>

int main(void)
{
	int last = -1;

#pragma omp parallel for ordered schedule(dynamic) num_threads(3)
	for (int i = 0; i < 6; i++) {
#pragma omp ordered
		{
			assert(last == i - 1);
			last = i;
		}
	}
	assert(last == 5);
	return 0;
}
