/* copyprivate hands the value of one thread to all: libgomp passes a pointer to its stack. */
#include <assert.h>

int main(void)
{
#pragma omp parallel num_threads(3)
	{
		int mine = 0;

#pragma omp single copyprivate(mine)
		mine = 5;
		assert(mine == 5);
	}
	return 0;
}
