/* Reductions: each thread has a copy, and the copies are combined one after the other. */
#include <assert.h>

int main(void)
{
	int sum = 0, most = 0;

#pragma omp parallel for num_threads(3) reduction(+ : sum) reduction(max : most)
	for (int i = 0; i < 6; i++) {
		sum += i;
		most = i > most ? i : most;
	}
	assert(sum == 15 && most == 5);
	return 0;
}
