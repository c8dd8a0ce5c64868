/* Two sections write two variables; the end of the construct orders the reads behind both. */
#include <assert.h>

int main(void)
{
	int left = 0, right = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp sections
		{
#pragma omp section
			left = 1;
#pragma omp section
			right = 2;
		}
		assert(left + right == 3);
	}
	return 0;
}
