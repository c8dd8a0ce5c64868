/* flags: -O1 -pthread -fno-builtin */
/*
 * The variants of mem* and str* that _FORTIFY_SOURCE uses, called by their own names: which of them
 * a compiler uses depends on what it knows. main is not instrumented, so only these calls are
 * events.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#define BARE __attribute__((no_sanitize("thread"), noinline))

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int c, size_t n, size_t room);
void __explicit_bzero_chk(void *to, size_t n, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t n, size_t room);

static char from[64] = "one,two", to[64];

BARE static void check(long wrong)
{
	if (wrong)
		exit(9);
}

BARE static int differ(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a != *b;
}

BARE static void memory(void)
{
	check(__memcpy_chk(to, from, 16, 64) != to || to[4] != 't');
	check(__mempcpy_chk(to + 1, from, 5, 63) != to + 6 || to[5] != 't');
	check(__memmove_chk(to + 3, to, 24, 61) != to + 3 || to[8] != 't');
	check(__memset_chk(to + 8, 'x', 3, 56) != to + 8 || to[10] != 'x');
	__explicit_bzero_chk(to, 64, 64);
	check(to[8] != 0);
}

BARE static void strings(void)
{
	check(__strcpy_chk(to, from, 64) != to);
	check(__stpcpy_chk(to + 7, from, 57) != to + 14);
	check(__strncpy_chk(to + 20, from, 10, 44) != to + 20);
	check(__stpncpy_chk(to + 40, from, 3, 24) != to + 43);
	check(__strcat_chk(to + 20, from + 3, 44) != to + 20);
	check(__strncat_chk(to + 40, from, 2, 24) != to + 40);
	check(differ(to, "one,twoone,two") || differ(to + 20, "one,two,two"));
	check(differ(to + 40, "oneon"));
}

BARE int main(void)
{
	memory();
	strings();
	return 0;
}
