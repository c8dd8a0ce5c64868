/* mmap, mremap and munmap, moving, in place and refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096ul

static char *map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(9);
	return p;
}

static void remap(char *p)
{
	char *q = mremap(p, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);

	if (q == MAP_FAILED || q[0] != 1)
		exit(9);
	/* No room to grow in place: mremap fails, and the mapping stays. */
	errno = 0;
	if (mremap(q, 4 * PAGE, 6 * PAGE, 0) != MAP_FAILED || errno != ENOMEM)
		exit(9);
	munmap(q, 8 * PAGE);
}

static void refused(void)
{
	errno = 0;
	if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	    errno != EINVAL)
		exit(9);
	if (munmap((void *)1, PAGE) != -1)
		exit(9);
}

int main(void)
{
	char *p = map(4 * PAGE);

	p[0] = 1;
	remap(p);
	refused();
	return 0;
}
