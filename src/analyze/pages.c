#include "analyze/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/mem.h"

void *pages_grow(void *old, size_t from, size_t to)
{
	void *p = from ? mremap(old, from, to, MREMAP_MAYMOVE) :
			 mmap(NULL, to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return xmalloc(SIZE_MAX / 2);	/* says it */
	return p;
}

void pages_free(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
