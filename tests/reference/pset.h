/*
 * Reference of predecessor sets (learn/fold/pset.h; Yu and Narayanasamy, ISCA 2009): does step m
 * follow step p immediately? It checks the conditions (a) to (c) of pset.h on all steps between the
 * two.
 */
#ifndef REFERENCE_PSET_H
#define REFERENCE_PSET_H

#include "learn_util.h"

static bool follows(const struct learn_step *s, size_t p, size_t m)
{
	bool pw = s[p].op == IROOT_OP_WRITE, mw = s[m].op == IROOT_OP_WRITE;

	if (s[p].addr != s[m].addr || s[p].thread == s[m].thread || !(pw || mw))
		return false;
	for (size_t i = p + 1; i < m; i++) {
		if (s[i].addr != s[m].addr)
			continue;
		if (s[i].thread == s[p].thread || s[i].thread == s[m].thread)
			return false;
		if (s[i].op == IROOT_OP_WRITE || (pw && mw))
			return false;
	}
	return true;
}

#endif
