/* nowait lets a thread read elements that the other has not yet written. */
#include <assert.h>

static int value[4];

int main(void)
{
	int turned[4];

#pragma omp parallel num_threads(2) shared(turned)
	{
#pragma omp for schedule(static) nowait
		for (int i = 0; i < 4; i++)
			value[i] = i + 1;
#pragma omp for schedule(static)
		for (int i = 0; i < 4; i++)
			turned[i] = value[3 - i];	/* race: value */
	}
	assert(turned[0] == 4 && turned[3] == 1);
	return 0;
}
