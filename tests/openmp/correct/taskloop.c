/* taskloop waits for the tasks that it makes. */
#include <assert.h>

int main(void)
{
	int out[6] = { 0 };

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp taskloop num_tasks(3) shared(out)
		for (int i = 0; i < 6; i++)
			out[i] = i;
		for (int i = 0; i < 6; i++)
			assert(out[i] == i);
	}
	return 0;
}
