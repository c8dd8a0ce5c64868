/* Tasks ordered by depend: a writer, two readers, and a writer behind both. */
#include <assert.h>

int main(void)
{
	int data = 0, seen[2] = { 0 };

#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task depend(out : data) shared(data)
		data = 1;
#pragma omp task depend(in : data) shared(data, seen)
		seen[0] = data;
#pragma omp task depend(in : data) shared(data, seen)
		seen[1] = data;
#pragma omp task depend(inout : data) shared(data)
		data = 2;
	}
	assert(seen[0] == 1 && seen[1] == 1 && data == 2);
	return 0;
}
