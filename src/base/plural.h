/*
 * The plural ending in messages: "1 run", "3 runs".
 */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

static inline const char *plural(unsigned long long count)
{
	return count == 1 ? "" : "s";
}

#endif
