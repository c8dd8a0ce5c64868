/* The barrier stands before the write, not behind it. */
#include <assert.h>
#include <omp.h>

static int flag[2];

int main(void)
{
	int seen[2];

#pragma omp parallel num_threads(2) shared(seen)
	{
		int me = omp_get_thread_num();

#pragma omp barrier
		flag[me] = 1;
		seen[me] = flag[!me];	/* race: flag */
	}
	assert(seen[0] + seen[1] == 2);
	return 0;
}
