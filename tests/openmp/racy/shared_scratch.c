/* A scratch variable should be private: the other thread overwrites it before it is used. */
#include <assert.h>

static int scratch;

static __attribute__((noinline)) int use(void)
{
	return scratch + 1;
}

int main(void)
{
	int out[2];

#pragma omp parallel for num_threads(2) shared(out)
	for (int i = 0; i < 2; i++) {
		scratch = i * 7;	/* race: scratch */
		out[i] = use();
	}
	assert(out[0] == 1 && out[1] == 8);
	return 0;
}
