/* 100 MB on stdout and stderr. */
#include "hostile.h"

static char block[1 << 20];

int main(void)
{
	threads();
	memset(block, 'y', sizeof(block));
	for (int i = 0; i < 100; i++)
		if (write(1 + i % 2, block, sizeof(block)) < 0)
			break;
	threads();
	return 0;
}
