/*
 * Functions on strings. They note the bytes that are read, up to the one that decides the result,
 * and the bytes that are written.
 *
 * Lengths are found by real functions before anything is noted. A bad pointer thus faults outside
 * the runtime's state changes, as it would in libc.
 */
#include "runtime/interpose/call.h"

#define READS(p, n) snarlrt_range(false, p, n, pc)
#define WRITES(p, n) snarlrt_range(true, p, n, pc)

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The number of bytes that a function reads which stops at `n` bytes or the end of the string. */
static inline size_t bytes_read(const char *s, size_t n)
{
	size_t length = REAL(strnlen)(s, n);

	return length < n ? length + 1 : n;
}

SNARLRT_INTERPOSE size_t strlen(const char *s)
{
	size_t n = 0;

	if (!snarlrt_real_found(REAL(strlen))) {
		while (s[n])
			n++;
		return n;
	}
	n = REAL(strlen)(s);
	if (snarlrt_wants_events())
		snarlrt_range(false, s, n + 1, SNARLRT_PC());
	return n;
}

SNARLRT_INTERPOSE size_t strnlen(const char *s, size_t limit)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		snarlrt_range(false, s, bytes_read(s, limit), SNARLRT_PC());
	return REAL(strnlen)(s, limit);
}

/* Define a copying function and its checked form. */
#define COPY(name, extra_params, extra_args)                                                       \
	SNARLRT_INTERPOSE char *name(char *to, const char *from extra_params)                      \
	{                                                                                          \
		const void *pc = SNARLRT_PC();                                                     \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (snarlrt_wants_events()) {                                                      \
			size_t n = REAL(strlen)(from) + 1;                                         \
                                                                                                   \
			READS(from, n);                                                            \
			WRITES(to, n);                                                             \
		}                                                                                  \
		return REAL(name)(to, from extra_args);                                            \
	}

/* These pad with zeros: they write all n bytes. */
#define COPY_N(name, extra_params, extra_args)                                                     \
	SNARLRT_INTERPOSE char *name(char *to, const char *from, size_t n extra_params)            \
	{                                                                                          \
		const void *pc = SNARLRT_PC();                                                     \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (snarlrt_wants_events()) {                                                      \
			READS(from, bytes_read(from, n));                                          \
			WRITES(to, n);                                                             \
		}                                                                                  \
		return REAL(name)(to, from, n extra_args);                                         \
	}

#define CAT(name, extra_params, extra_args)                                                        \
	SNARLRT_INTERPOSE char *name(char *to, const char *from extra_params)                      \
	{                                                                                          \
		const void *pc = SNARLRT_PC();                                                     \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (snarlrt_wants_events()) {                                                      \
			size_t n = REAL(strlen)(from) + 1, at = REAL(strlen)(to);                  \
                                                                                                   \
			READS(from, n);                                                            \
			READS(to, at + 1);                                                         \
			WRITES(to + at, n);                                                        \
		}                                                                                  \
		return REAL(name)(to, from extra_args);                                            \
	}

#define CAT_N(name, extra_params, extra_args)                                                      \
	SNARLRT_INTERPOSE char *name(char *to, const char *from, size_t n extra_params)            \
	{                                                                                          \
		const void *pc = SNARLRT_PC();                                                     \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (snarlrt_wants_events()) {                                                      \
			size_t length = REAL(strnlen)(from, n), at = REAL(strlen)(to);             \
                                                                                                   \
			READS(from, length < n ? length + 1 : n);                                  \
			READS(to, at + 1);                                                         \
			WRITES(to + at, length + 1);                                               \
		}                                                                                  \
		return REAL(name)(to, from, n extra_args);                                         \
	}

#define COMMA ,
#define ROOM COMMA size_t room

COPY(strcpy, , )
COPY(stpcpy, , )
COPY(__strcpy_chk, ROOM, COMMA room)
COPY(__stpcpy_chk, ROOM, COMMA room)
COPY_N(strncpy, , )
COPY_N(stpncpy, , )
COPY_N(__strncpy_chk, ROOM, COMMA room)
COPY_N(__stpncpy_chk, ROOM, COMMA room)
CAT(strcat, , )
CAT(__strcat_chk, ROOM, COMMA room)
CAT_N(strncat, , )
CAT_N(__strncat_chk, ROOM, COMMA room)

/*
 * ASCII only. Good enough to find where two strings differ; the real function decides the result.
 */
static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static void note_compared(const char *a, const char *b, size_t n, bool fold, const void *pc)
{
	size_t same = 0;

	while (same < n) {
		unsigned char x = (unsigned char)a[same], y = (unsigned char)b[same];

		same++;
		if (x == 0 || (fold ? lower(x) != lower(y) : x != y))
			break;
	}
	READS(a, same);
	READS(b, same);
}

SNARLRT_INTERPOSE int strcmp(const char *a, const char *b)
{
	if (!snarlrt_real_found(REAL(strcmp))) {
		while (*a && *a == *b)
			a++, b++;
		return (unsigned char)*a - (unsigned char)*b;
	}
	if (snarlrt_wants_events())
		note_compared(a, b, SIZE_MAX, false, SNARLRT_PC());
	return REAL(strcmp)(a, b);
}

SNARLRT_INTERPOSE int strncmp(const char *a, const char *b, size_t n)
{
	if (!snarlrt_real_found(REAL(strncmp))) {
		for (; n > 0 && *a && *a == *b; n--)
			a++, b++;
		return n ? (unsigned char)*a - (unsigned char)*b : 0;
	}
	if (snarlrt_wants_events())
		note_compared(a, b, n, false, SNARLRT_PC());
	return REAL(strncmp)(a, b, n);
}

SNARLRT_INTERPOSE int strcasecmp(const char *a, const char *b)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_compared(a, b, SIZE_MAX, true, SNARLRT_PC());
	return REAL(strcasecmp)(a, b);
}

SNARLRT_INTERPOSE int strncasecmp(const char *a, const char *b, size_t n)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_compared(a, b, n, true, SNARLRT_PC());
	return REAL(strncasecmp)(a, b, n);
}

SNARLRT_INTERPOSE char *strchr(const char *s, int c)
{
	char *hit;

	if (!snarlrt_real_found(REAL(strchr))) {
		while (*s && *s != (char)c)
			s++;
		return *s == (char)c ? (char *)s : NULL;
	}
	hit = REAL(strchr)(s, c);
	if (snarlrt_wants_events())
		snarlrt_range(false, s, hit ? (size_t)(hit - s) + 1 : REAL(strlen)(s) + 1,
			      SNARLRT_PC());
	return hit;
}

SNARLRT_INTERPOSE char *strchrnul(const char *s, int c)
{
	char *hit;

	snarlrt_real_ready();
	hit = REAL(strchrnul)(s, c);
	if (snarlrt_wants_events())
		snarlrt_range(false, s, (size_t)(hit - s) + 1, SNARLRT_PC());
	return hit;
}

SNARLRT_INTERPOSE char *strrchr(const char *s, int c)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		snarlrt_range(false, s, REAL(strlen)(s) + 1, SNARLRT_PC());
	return REAL(strrchr)(s, c);
}

SNARLRT_INTERPOSE char *strstr(const char *s, const char *what)
{
	const void *pc = SNARLRT_PC();
	char *hit;

	snarlrt_real_ready();
	hit = REAL(strstr)(s, what);
	if (snarlrt_wants_events()) {
		size_t n = REAL(strlen)(what);

		READS(s, hit ? (size_t)(hit - s) + n : REAL(strlen)(s) + 1);
		READS(what, n + 1);
	}
	return hit;
}

SNARLRT_INTERPOSE size_t strspn(const char *s, const char *accept)
{
	const void *pc = SNARLRT_PC();
	size_t n;

	snarlrt_real_ready();
	n = REAL(strspn)(s, accept);
	if (snarlrt_wants_events()) {
		READS(s, n + 1);
		READS(accept, REAL(strlen)(accept) + 1);
	}
	return n;
}

SNARLRT_INTERPOSE size_t strcspn(const char *s, const char *reject)
{
	const void *pc = SNARLRT_PC();
	size_t n;

	snarlrt_real_ready();
	n = REAL(strcspn)(s, reject);
	if (snarlrt_wants_events()) {
		READS(s, n + 1);
		READS(reject, REAL(strlen)(reject) + 1);
	}
	return n;
}

SNARLRT_INTERPOSE char *strpbrk(const char *s, const char *accept)
{
	const void *pc = SNARLRT_PC();
	char *hit;

	snarlrt_real_ready();
	hit = REAL(strpbrk)(s, accept);
	if (snarlrt_wants_events()) {
		READS(s, hit ? (size_t)(hit - s) + 1 : REAL(strlen)(s) + 1);
		READS(accept, REAL(strlen)(accept) + 1);
	}
	return hit;
}

/* Notes the block as allocated by the caller, and a write of the copied bytes. */
static char *duplicate(const char *s, size_t limit, const void *pc)
{
	const void *saved = snarlrt_heap_pc;
	char *copy;

	snarlrt_real_ready();
	if (snarlrt_wants_events())
		READS(s, bytes_read(s, limit));
	snarlrt_heap_pc = pc;
	copy = limit == SIZE_MAX ? REAL(strdup)(s) : REAL(strndup)(s, limit);
	snarlrt_heap_pc = saved;
	if (copy && snarlrt_wants_events())
		WRITES(copy, REAL(strlen)(copy) + 1);
	return copy;
}

SNARLRT_INTERPOSE char *strdup(const char *s)
{
	return duplicate(s, SIZE_MAX, SNARLRT_PC());
}

SNARLRT_INTERPOSE char *__strdup(const char *s)
{
	return duplicate(s, SIZE_MAX, SNARLRT_PC());
}

SNARLRT_INTERPOSE char *strndup(const char *s, size_t n)
{
	return duplicate(s, min_size(n, SIZE_MAX - 1), SNARLRT_PC());
}

SNARLRT_INTERPOSE char *__strndup(const char *s, size_t n)
{
	return duplicate(s, min_size(n, SIZE_MAX - 1), SNARLRT_PC());
}

/* Define functions that parse numbers. They read the digits and the byte behind them. */
#define PARSE(type, name, extra_params, extra_args)                                                \
	SNARLRT_INTERPOSE type name(const char *s, char **end extra_params)                        \
	{                                                                                          \
		char *last = (char *)s;                                                            \
		type value;                                                                        \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		value = REAL(name)(s, &last extra_args);                                           \
		if (snarlrt_wants_events())                                                        \
			snarlrt_range(false, s, (size_t)(last - s) + 1, SNARLRT_PC());             \
		if (end)                                                                           \
			*end = last;                                                               \
		return value;                                                                      \
	}

PARSE(long, strtol, COMMA int base, COMMA base)
PARSE(unsigned long, strtoul, COMMA int base, COMMA base)
PARSE(long long, strtoll, COMMA int base, COMMA base)
PARSE(unsigned long long, strtoull, COMMA int base, COMMA base)
PARSE(double, strtod, , )

SNARLRT_INTERPOSE size_t wcslen(const wchar_t *s)
{
	size_t n;

	snarlrt_real_ready();
	n = REAL(wcslen)(s);
	if (snarlrt_wants_events())
		snarlrt_range(false, s, (n + 1) * sizeof(*s), SNARLRT_PC());
	return n;
}

SNARLRT_INTERPOSE wchar_t *wcscpy(wchar_t *to, const wchar_t *from)
{
	const void *pc = SNARLRT_PC();

	snarlrt_real_ready();
	if (snarlrt_wants_events()) {
		size_t n = (REAL(wcslen)(from) + 1) * sizeof(*to);

		READS(from, n);
		WRITES(to, n);
	}
	return REAL(wcscpy)(to, from);
}
