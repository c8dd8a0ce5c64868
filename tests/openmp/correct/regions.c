/* One region after the other: each reads what other threads wrote in the one before. */
#include <assert.h>
#include <omp.h>

int main(void)
{
	int value[3] = { 0, 1, 2 };

	for (int round = 0; round < 3; round++) {
		int before[3] = { value[0], value[1], value[2] };

#pragma omp parallel num_threads(3) shared(before)
		{
			int me = omp_get_thread_num();

			value[me] = before[(me + 1) % 3];
		}
	}
	assert(value[0] == 0 && value[1] == 1 && value[2] == 2);
	return 0;
}
