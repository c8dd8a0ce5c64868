/* Maps empty memory over all that it can write. */
#include "hostile.h"

static void replace(unsigned long from, unsigned long to)
{
	mmap((void *)from, to - from, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(void)
{
	threads();
	each_mapping("rw-p", replace);
	each_mapping("rw-s", replace);
	threads();
	return 0;
}
