/* Two named critical sections protect two counters, in both orders; they are never nested. */
#include <assert.h>
#include <omp.h>

static int left, right;

static void add(int side)
{
	if (side) {
#pragma omp critical(right_lock)
		right++;
	} else {
#pragma omp critical(left_lock)
		left++;
	}
}

int main(void)
{
#pragma omp parallel num_threads(2)
	{
		int first = omp_get_thread_num();

		add(first);
		add(!first);
	}
	assert(left == 2 && right == 2);
	return 0;
}
