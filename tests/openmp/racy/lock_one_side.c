/* Only one of the threads takes the lock. */
#include <assert.h>
#include <omp.h>

static omp_lock_t lock;
static int balance = 10;

int main(void)
{
	omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0) {
			omp_set_lock(&lock);
			balance += 5;
			omp_unset_lock(&lock);
		} else {
			balance -= 3;	/* race: balance */
		}
	}
	omp_destroy_lock(&lock);
	assert(balance == 12);
	return 0;
}
