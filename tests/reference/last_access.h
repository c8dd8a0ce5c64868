/*
 * Reference of the last accesses to memory (analyze/order/last_access.h): for each byte a list of
 * the last read and write of each thread, newest first, with the first and the latest write that
 * the test asks for. The list holds KEPT entries; the oldest leaves.
 */
#ifndef REFERENCE_LAST_ACCESS_H
#define REFERENCE_LAST_ACCESS_H

#include <stdint.h>
#include <string.h>

#include "analyze/order/last_access.h"

#define BYTES 96u
#define KEPT (2 * LAST_ACCESS_THREADS)

struct byte {
	struct {
		uint32_t key;		/* 2 * thread, + 1 for a write */
		uint64_t index;
	} last[KEPT + 1];
	unsigned count;
	uint64_t first, latest, last_write;	/* indices; 0: none */
	uint64_t addr, size, pc;	/* of the newest */
};

/*
 * Puts the access in front. The first two writes of threads with even numbers count as `first` and
 * `latest`.
 */
static void slow_access(struct byte *b, uint32_t key, uint64_t index)
{
	unsigned i = 0;

	b->last_write = key & 1 ? index : b->last_write;
	if ((key & 3) == 1) {
		if (b->first && b->latest == b->first)
			b->latest = index;
		b->first = b->first ? b->first : index;
		b->latest = b->latest ? b->latest : index;
	}

	while (i < b->count && b->last[i].key != key)
		i++;
	if (i == b->count && b->count < KEPT)
		b->count++;
	memmove(b->last + 1, b->last, (i < KEPT ? i : KEPT - 1) * sizeof(b->last[0]));
	b->last[0].key = key;
	b->last[0].index = index;
}

#endif
