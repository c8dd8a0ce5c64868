/* Each iteration writes an element of its own; the region's end orders the sum behind all. */
#include <assert.h>

int main(void)
{
	int square[12], sum = 0;

#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 12; i++)
		square[i] = i * i;
	for (int i = 0; i < 12; i++)
		sum += square[i];
	assert(sum == 506);
	return 0;
}
