/* A region inside a region: the inner team's end orders what its creator reads. */
#include <assert.h>
#include <omp.h>

int main(void)
{
	int total[2] = { 0 };

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		int me = omp_get_thread_num(), part[2] = { 0 };

#pragma omp parallel num_threads(2) shared(part)
		part[omp_get_thread_num()] = 1 + omp_get_thread_num();
		total[me] = part[0] + part[1];
	}
	assert(total[0] >= 1 && total[1] >= 1);
	return 0;
}
