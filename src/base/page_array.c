/*
 * Large arrays are aligned to huge pages, also after growing: random accesses then cause fewer page
 * faults and TLB misses.
 */
#include "base/page_array.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

#define HUGE_PAGE ((size_t)2 << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23	/* Linux 5.14 */
#endif

static void *map(size_t size, int protection)
{
	return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *map_aligned(size_t size, int protection)
{
	uint8_t *p = map(size + HUGE_PAGE, protection);
	size_t skip = -(uintptr_t)p & (HUGE_PAGE - 1);

	if (p == MAP_FAILED)
		return MAP_FAILED;
	if (skip)
		munmap(p, skip);
	munmap(p + skip + size, HUGE_PAGE - skip);
	return p + skip;
}

static void *map_huge(size_t size)
{
	void *p = map_aligned(size, PROT_READ | PROT_WRITE);

	if (p != MAP_FAILED)
		madvise(p, size, MADV_HUGEPAGE);	/* only an optimisation: may fail */
	return p;
}

static void *grow(void *old, size_t from, size_t to)
{
	void *p;

	if (to < HUGE_PAGE)
		return from ? mremap(old, from, to, MREMAP_MAYMOVE)
			    : map(to, PROT_READ | PROT_WRITE);
	if (from < HUGE_PAGE) {
		p = map_huge(to);
		if (from && p != MAP_FAILED) {
			memcpy(p, old, from);
			munmap(old, from);
		}
		return p;
	}
	p = map_aligned(to, PROT_NONE);
	return p == MAP_FAILED ? p : mremap(old, from, to, MREMAP_MAYMOVE | MREMAP_FIXED, p);
}

void *pages_grow(void *old, size_t from, size_t to)
{
	void *p = grow(old, from, to);

	if (p == MAP_FAILED)
		return xmalloc(SIZE_MAX / 2);	/* fails: prints the message and aborts */
	return p;
}

void *pages_reserve(size_t size)
{
	void *p = map_aligned(size, PROT_NONE);

	return p == MAP_FAILED ? xmalloc(SIZE_MAX / 2) : p;
}

void pages_open(void *p, size_t from, size_t to)
{
	uint8_t *at = (uint8_t *)p + from;

	if (mprotect(at, to - from, PROT_READ | PROT_WRITE) < 0)
		xmalloc(SIZE_MAX / 2);	/* fails: prints the message and aborts */
	if (from % HUGE_PAGE == 0 && to - from >= HUGE_PAGE)
		madvise(at, to - from, MADV_HUGEPAGE);
}

void pages_soon(void *p, size_t from, size_t to)
{
	/* Only an optimisation: may fail. Beyond 2 MiB the array has huge pages. */
	if (to <= HUGE_PAGE)
		madvise((uint8_t *)p + from, to - from, MADV_POPULATE_WRITE);
}

void pages_free(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
