/* Random words over the beginning of all shared mappings. */
#include "hostile.h"

static void overwrite(unsigned long from, unsigned long to)
{
	for (unsigned long at = from; at < to && at < from + (1 << 20); at += 4)
		*(unsigned *)at = (unsigned)rand();
}

int main(void)
{
	threads();
	each_mapping("rw-s", overwrite);
	threads();
	return 0;
}
