/* flags: -O1 -pthread -fno-builtin */
/*
 * The ranges that mem* and str* read and write. The functions themselves are not instrumented, so
 * only the calls are events.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#define BARE __attribute__((no_sanitize("thread"), noinline))

static char from[64] = "one,two", to[64], other[64] = "ONE,two", number[] = "42 ";
static wchar_t wide[8] = L"w", wide_to[8];

BARE static void check(long wrong)
{
	if (wrong)
		exit(9);
}

BARE static void memory(void)
{
	memcpy(to, from, 8);
	check(mempcpy(to, from, 4) != to + 4);
	memmove(to + 8, to, 8);
	bcopy(from, to, 8);
	memset(to, 0, 8);
	bzero(to, 8);
	explicit_bzero(to + 16, 8);
	memcpy(to, from, 0);
	check(memcmp(from, other, 8) <= 0);
	check(memchr(from, ',', 8) != from + 3);
	check(memrchr(from, ',', 8) != from + 3);
	check(memmem(from, 8, other + 4, 3) != from + 4);
}

BARE static void strings(void)
{
	check(strlen(from) != 7);
	check(strnlen(from, 3) != 3);
	strcpy(to, from);
	check(stpcpy(to + 8, from) != to + 15);
	strncpy(to, from, 16);
	strcat(to, from);
	strncat(to, from, 3);
	check(strcmp(from, other) <= 0);
	check(strncmp(from, other, 0) != 0);
	check(strcasecmp(from, other) != 0);
	check(strncasecmp(from, other, 3) != 0);
}

BARE static void searching(void)
{
	char *end;

	check(strchr(from, ',') != from + 3);
	check(strchr(from, '!') != NULL);
	check(strrchr(from, 'o') != from + 6);
	check(strstr(from, number) != NULL);
	check(strspn(from, number) != 0);
	check(strcspn(from, number) != 7);
	check(strpbrk(from, number) != NULL);
	check(strtol(number, &end, 10) != 42 || end != number + 2);
}

BARE static void wides(void)
{
	check(wcslen(wide) != 1);
	wcscpy(wide_to, wide);
	wmemcpy(wide_to + 2, wide, 2);
	wmemset(wide_to, L'x', 2);
}

int main(void)
{
	memory();
	strings();
	searching();
	wides();
	return 0;
}
