/* Loops whose iterations are given out while they run; nowait where the data is independent. */
#include <assert.h>

int main(void)
{
	int a[6] = { 0 }, b[6] = { 0 }, sum = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 6; i++)
			a[i] = i;
#pragma omp for schedule(guided)
		for (int i = 0; i < 6; i++)
			b[i] = 2 * i;
#pragma omp for schedule(runtime) reduction(+ : sum)
		for (int i = 0; i < 6; i++)
			sum += a[5 - i] + b[5 - i];
	}
	assert(sum == 45);
	return 0;
}
