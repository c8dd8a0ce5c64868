/*
 * Reference of the access records of the race analysis (analyze/race/access_records.h): which bytes
 * the records of each granule still cover after memory was freed. It takes the bytes out of
 * each record's mask one by one.
 */
#ifndef REFERENCE_ACCESS_RECORDS_H
#define REFERENCE_ACCESS_RECORDS_H

#include <stdint.h>

#define GRANULES 4096u

/* A granule: the byte masks of its records, at most four. */
struct slow {
	unsigned count, mask[4];
};

/* Takes `size` bytes from byte `from` on out of all records; slow[0] begins at byte 0. */
static void forget_slowly(struct slow *slow, uint64_t from, uint64_t size)
{
	for (uint64_t g = 0; g < GRANULES; g++) {
		unsigned kept = 0;

		for (unsigned i = 0; i < slow[g].count; i++) {
			unsigned mask = slow[g].mask[i];

			for (unsigned b = 0; b < 8; b++)
				if (g * 8 + b >= from && g * 8 + b < from + size)
					mask &= ~(1u << b);
			if (mask)
				slow[g].mask[kept++] = mask;
		}
		slow[g].count = kept;
	}
}

#endif
