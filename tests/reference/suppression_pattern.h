/*
 * Reference of the patterns in suppression files (analyze/suppress.h, docs/suppressions.md).
 * slow_match() writes the pattern as one that must match the whole name: `*` in front and behind,
 * unless `^` or `$` stands there. slow_glob() tries every split of the name at each star.
 */
#ifndef REFERENCE_SUPPRESSION_PATTERN_H
#define REFERENCE_SUPPRESSION_PATTERN_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool slow_glob(const char *p, const char *name)
{
	if (!*p)
		return !*name;
	if (*p == '*')
		return slow_glob(p + 1, name) || (*name && slow_glob(p, name + 1));
	return *p == *name && slow_glob(p + 1, name + 1);
}

static bool slow_match(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);
	char whole[64];

	snprintf(whole, sizeof(whole), "%s%s", *pattern == '^' ? "" : "*",
		 pattern + (*pattern == '^'));
	length = strlen(whole);
	if (length > 0 && whole[length - 1] == '$' && (*pattern != '$' || length > 1))
		whole[length - 1] = 0;
	else
		snprintf(whole + length, sizeof(whole) - length, "*");
	return *name && slow_glob(whole, name);
}

#endif
