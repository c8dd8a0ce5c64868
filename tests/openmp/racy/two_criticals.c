/* Read and write are two critical sections: both threads may read before either writes. */
#include <assert.h>

static int seats = 2;

int main(void)
{
#pragma omp parallel num_threads(2)
	{
		int left;

#pragma omp critical(seats_lock)
		left = seats;
#pragma omp critical(seats_lock)
		seats = left - 1;	/* race: seats */
	}
	assert(seats == 0);
	return 0;
}
