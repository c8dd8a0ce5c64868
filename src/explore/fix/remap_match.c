/*
 * Which kinds of events, functions and objects can correspond in two builds of a program.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/context/access.h"
#include "base/mem.h"
#include "explore/fix/remap.h"
#include "trace/read/kinds.h"

/* Classes of kinds that can replace each other: a lock may become a timed one, or a spin lock. */
enum action { ACTION_OTHER, ACTION_ACQUIRE, ACTION_RELEASE, ACTION_WAIT };

static enum action action_of(unsigned kind)
{
	unsigned roles = trace_roles(kind);

	if (roles & ROLE_ACQUIRE)
		return ACTION_ACQUIRE;
	if (roles & ROLE_RELEASE)
		return ACTION_RELEASE;
	return roles & ROLE_SEM && roles & ROLE_PASS ? ACTION_WAIT : ACTION_OTHER;
}

bool remap_same_kind(int old, unsigned kind)
{
	unsigned access = access_of(kind) & (ACCESS_READ | ACCESS_WRITE);

	if (old < 0)
		return kind_class(kind) != TRACE_CLASS_NONE && kind_class(kind) != TRACE_CLASS_FUNC;
	if ((unsigned)old == kind || (access & access_of((unsigned)old)))
		return true;
	return action_of(kind) != ACTION_OTHER && action_of(kind) == action_of((unsigned)old);
}

/*
 * Length of the name without the part of the object: "+8", ".head", "[3].len". "heap@q.c:31#2" has
 * no part: it names a heap block by the place of its allocation and its number among these.
 */
static size_t whole(const char *text)
{
	const char *offset = strrchr(text, '+'), *p = text;

	if (!strchr(text, '@'))
		for (p += strcspn(p, ".["); *p; p += 1 + strcspn(p + 1, ".["))
			/* "calls.0" has no part: compilers name static locals so. */
			if (*p == '[' || p[1] < '0' || p[1] > '9')
				return (size_t)(p - text);
	return offset && strspn(offset + 1, "0123456789") == strlen(offset + 1) ?
		       (size_t)(offset - text) :
		       strlen(text);
}

/* Distance of two heap blocks or mappings, by their numbers. */
static int same_block(const char *a, size_t a_size, const char *b, size_t b_size)
{
	const char *x = memrchr(a, '#', a_size), *y = memrchr(b, '#', b_size);

	return x && y && atol(x + 1) == atol(y + 1) ? 1 : 5;
}

int remap_same_object(const char *a, const char *b)
{
	static const char *const endings[] = { "freed ", "ended " };
	static const char *const kinds[] = { "heap@", "mmap@" };
	size_t a_size, b_size;
	int result = -1;

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		a += strncmp(a, endings[i], 6) == 0 ? 6 : 0;
		b += strncmp(b, endings[i], 6) == 0 ? 6 : 0;
	}
	if (strcmp(a, b) == 0)
		return 0;
	if ((strncmp(a, "stack of ", 9) == 0 && strncmp(b, "stack of ", 9) == 0) ||
	    (strncmp(a, "0x", 2) == 0 && strncmp(b, "0x", 2) == 0))
		return 2;
	a_size = whole(a);
	b_size = whole(b);
	if (a_size == b_size && strncmp(a, b, a_size) == 0)
		result = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && result < 0; i++)
		if (strncmp(a, kinds[i], 5) == 0 && strncmp(b, kinds[i], 5) == 0)
			result = same_block(a, a_size, b, b_size);
	if (result >= 0 && strcmp(a + a_size, b + b_size) != 0)
		result += REMAP_OTHER_PART;
	return result;
}

/* Compares up to the first ".": the compiler names clones of a function "deposit.part.0". */
bool remap_same_function(const char *a, const char *b)
{
	size_t size = a ? strcspn(a, ".") : 0;

	return a && b && size > 0 && size == strcspn(b, ".") && strncmp(a, b, size) == 0;
}
