/* A nestable lock, taken twice by the thread that has it. */
#include <assert.h>
#include <omp.h>

static omp_nest_lock_t lock;
static int count;

static void add(void)
{
	omp_set_nest_lock(&lock);
	count++;
	omp_unset_nest_lock(&lock);
}

int main(void)
{
	omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(3)
	{
		omp_set_nest_lock(&lock);
		add();
		add();
		omp_unset_nest_lock(&lock);
		if (omp_test_nest_lock(&lock)) {
			count += 0;
			omp_unset_nest_lock(&lock);
		}
	}
	omp_destroy_nest_lock(&lock);
	assert(count == 6);
	return 0;
}
