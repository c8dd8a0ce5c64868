/* Three phases divided by barriers: each thread reads what its neighbour wrote before. */
#include <assert.h>
#include <omp.h>

int main(void)
{
	int value[3] = { 0 };

#pragma omp parallel num_threads(3)
	{
		int me = omp_get_thread_num();

		for (int phase = 0; phase < 3; phase++) {
			int next;

			value[me] = phase * 10 + me;
#pragma omp barrier
			next = value[(me + 1) % 3];
			assert(next == phase * 10 + (me + 1) % 3);
#pragma omp barrier
		}
	}
	return 0;
}
