/* Iteration i waits for iteration i - 1, from which it reads. */
#include <assert.h>

int main(void)
{
	int sum[6] = { 1 };

#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
	for (int i = 1; i < 6; i++) {
#pragma omp ordered depend(sink : i - 1)
		sum[i] = sum[i - 1] + i;
#pragma omp ordered depend(source)
	}
	assert(sum[5] == 16);
	return 0;
}
