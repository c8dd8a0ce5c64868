/* A counter under an OpenMP lock; one thread tries the lock until it gets it. */
#include <assert.h>
#include <omp.h>

int main(void)
{
	omp_lock_t lock;
	int count = 0;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
	{
		if (omp_get_thread_num() == 2)
			while (!omp_test_lock(&lock))
				;
		else
			omp_set_lock(&lock);
		count++;
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
	assert(count == 3);
	return 0;
}
