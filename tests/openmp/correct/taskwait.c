/* Recursive tasks: taskwait orders the reads of both results behind the two children. */
#include <assert.h>

static int fibonacci(int n)
{
	int a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fibonacci(n - 1);
#pragma omp task shared(b)
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(void)
{
	int result = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	result = fibonacci(5);
	assert(result == 5);
	return 0;
}
