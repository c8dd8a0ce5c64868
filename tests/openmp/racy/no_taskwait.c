/*
 * The creator uses the task's result without waiting for it. The rendezvous makes the other thread
 * run the task.
 */
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t both;
static int result;

int main(void)
{
	int twice = 0;

	pthread_barrier_init(&both, NULL, 2);
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task
		{
			pthread_barrier_wait(&both);
			result = 21;
		}
		pthread_barrier_wait(&both);
		twice = 2 * result;	/* race: result */
#pragma omp taskwait
	}
	assert(twice == 42);
	return 0;
}
