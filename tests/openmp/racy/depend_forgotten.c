/* The second task lacks depend(in): it may run before the first, or at the same time, as here. */
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t both;
static int data, seen;

int main(void)
{
	pthread_barrier_init(&both, NULL, 2);
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task depend(out : data)
		{
			pthread_barrier_wait(&both);
			data = 4;
		}
#pragma omp task depend(out : seen)
		{
			pthread_barrier_wait(&both);
			seen = data;	/* race: data */
		}
	}
	assert(seen == 4);
	return 0;
}
