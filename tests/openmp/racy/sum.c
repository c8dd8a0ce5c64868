/* The reduction is forgotten: two threads read the sum, and one of the additions is lost. */
#include <assert.h>

static int sum;

int main(void)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 4; i++)
		sum += i;	/* race: sum */
	assert(sum == 6);
	return 0;
}
