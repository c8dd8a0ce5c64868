/* The end of a taskgroup orders tasks that its tasks created, too; taskwait would not. */
#include <assert.h>

int main(void)
{
	int child = 0, grandchild = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp taskgroup
		{
#pragma omp task shared(child, grandchild)
			{
#pragma omp task shared(grandchild)
				grandchild = 2;
				child = 1;
			}
		}
		assert(child == 1 && grandchild == 2);
	}
	return 0;
}
