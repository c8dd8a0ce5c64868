/* A task gets copies of its creator's variables, and the barrier at the end waits for all tasks. */
#include <assert.h>

int main(void)
{
	int out[4] = { 0 };

#pragma omp parallel num_threads(2)
	{
#pragma omp single nowait
		for (int i = 0; i < 4; i++) {
			int twice = 2 * i;

#pragma omp task firstprivate(i, twice) shared(out)
			out[i] = twice + i;
		}
#pragma omp barrier
		for (int i = 0; i < 4; i++)
			assert(out[i] == 3 * i);
	}
	return 0;
}
