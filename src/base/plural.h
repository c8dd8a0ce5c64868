/*
 * The "s" of "3 runs" in messages.
 */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

static inline const char *plural(unsigned long long count)
{
	return count == 1 ? "" : "s";
}

#endif
