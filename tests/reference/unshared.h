/*
 * Reference of unshared memory (analyze/relevance/unshared.h): for each granule of 8 bytes, the
 * threads that access it and whether any of them writes, from all accesses of a trace, byte by
 * byte. A granule is unshared if one thread accesses it or no thread writes.
 */
#ifndef REFERENCE_UNSHARED_H
#define REFERENCE_UNSHARED_H

#include "analyze_util.h"

#define GRANULES 2048u
#define BASE 0x40000u

/* Fills who[granule]: bit 0 for a write by any thread, bit N for an access by thread N (from 1). */
static void look_slowly(struct reader *r, unsigned *who)
{
	struct err err = { "" };
	struct event ev;

	memset(who, 0, GRANULES * sizeof(*who));
	while (reader_next(r, &ev, &err) > 0)
		for (uint64_t at = ev.addr; at < ev.addr + ev.size; at++) {
			unsigned access = access_of(ev.kind);

			who[(at - BASE) / 8] |=
				(access ? 1u << ev.thread : 0) | (access & ACCESS_WRITE ? 1u : 0);
		}
}

#endif
