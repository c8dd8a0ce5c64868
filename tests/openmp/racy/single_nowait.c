/* With nowait, single has no barrier at its end: a thread may use the table before it is made. */
#include <assert.h>

static int table;

int main(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	{
#pragma omp single nowait
		table = 5;
		sum += table;	/* race: table */
	}
	assert(sum == 10);
	return 0;
}
