/* Atomic updates, and tickets taken by an atomic capture: no ticket is given twice. */
#include <assert.h>

int main(void)
{
	int count = 0, next = 0, taken[6] = { 0 };

#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 6; i++) {
		int ticket;

#pragma omp atomic
		count += 2;
#pragma omp atomic capture
		ticket = next++;
		taken[ticket]++;
	}
	for (int i = 0; i < 6; i++)
		assert(taken[i] == 1);
	assert(count == 12);
	return 0;
}
