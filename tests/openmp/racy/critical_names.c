/* The same counter under two critical sections of different names: they do not exclude. */
#include <assert.h>
#include <omp.h>

static int count;

int main(void)
{
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
			count++;
		} else {
#pragma omp critical(two)
			count++;	/* race: count */
		}
	}
	assert(count == 2);
	return 0;
}
