/* Two sections work on one list length. The rendezvous makes two threads run them. */
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t both;
static int length;

int main(void)
{
	pthread_barrier_init(&both, NULL, 2);
#pragma omp parallel num_threads(2)
	{
#pragma omp sections
		{
#pragma omp section
			{
				pthread_barrier_wait(&both);
				length += 2;
			}
#pragma omp section
			{
				pthread_barrier_wait(&both);
				length += 3;	/* race: length */
			}
		}
	}
	assert(length == 5);
	return 0;
}
