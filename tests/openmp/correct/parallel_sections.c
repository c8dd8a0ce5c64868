/* A parallel region of sections: the second part reads what the region before wrote. */
#include <assert.h>

int main(void)
{
	int first[2] = { 0 }, second[2] = { 0 };

#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		first[0] = 1;
#pragma omp section
		first[1] = 2;
	}
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		second[0] = first[1];
#pragma omp section
		second[1] = first[0];
	}
	assert(second[0] == 2 && second[1] == 1);
	return 0;
}
