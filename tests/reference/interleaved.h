/*
 * Reference of interleaved accesses (learn/fold/interleaved.h), as lines "near p i" and "inside p
 * r". For each p it searches forward for i, the thread's next access to the same cell without a
 * blocking call in between; every access r in between to that cell is inside.
 */
#ifndef REFERENCE_INTERLEAVED_H
#define REFERENCE_INTERLEAVED_H

#include "learn_util.h"

#define STEPS 18u	/* so few that the fold under test drops no access */

static char *slow(const struct learn_step *steps, const bool *rests)
{
	struct buf b = { 0 };

	for (size_t p = 0; p < STEPS; p++)
		for (size_t i = p + 1; !rests[p] && i < STEPS; i++) {
			if (rests[i] && steps[i].thread == steps[p].thread)
				break;
			if (rests[i] || steps[i].thread != steps[p].thread ||
			    steps[i].addr != steps[p].addr)
				continue;
			buf_addf(&b, "near %zu %zu\n", p + 1, i + 1);
			for (size_t r = p + 1; r < i; r++)
				if (!rests[r] && steps[r].addr == steps[p].addr)
					buf_addf(&b, "inside %zu %zu\n", p + 1, r + 1);
			break;
		}
	return sorted(&b);
}

#endif
