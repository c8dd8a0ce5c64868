/* The update stands before the ordered block, not in it. */
#include <assert.h>

static int total;

int main(void)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
	for (int i = 0; i < 2; i++) {
		total += i + 1;	/* race: total */
#pragma omp ordered
		assert(total > 0);
	}
	assert(total == 3);
	return 0;
}
