/* flags: -O1 -pthread -fno-builtin */
/* Each call of the malloc family once, with zero sizes and failures. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t huge = SIZE_MAX / 2;

static void *must(void *p)
{
	if (!p)
		exit(9);
	return p;
}

static void plain(void)
{
	free(must(malloc(24)));
	free(must(malloc(0)));
	free(must(calloc(3, 8)));
	free(NULL);
}

static void aligned(void)
{
	void *p = NULL;

	free(must(memalign(64, 100)));
	free(must(aligned_alloc(64, 128)));
	free(must(valloc(10)));
	free(must(pvalloc(10)));
	if (posix_memalign(&p, 64, 10) != 0 || (uintptr_t)p % 64 != 0)
		exit(9);
	free(p);
}

static void resized(void)
{
	char *p = must(realloc(NULL, 16));

	strcpy(p, "kept");
	p = must(realloc(p, 4000));
	p = must(reallocarray(p, 10, 8));
	if (strcmp(p, "kept") != 0)
		exit(9);
	/* realloc fails, and the old block stays. */
	errno = 0;
	if (realloc(p, huge) || errno != ENOMEM || strcmp(p, "kept") != 0)
		exit(9);
	errno = 0;
	if (reallocarray(p, huge, 8) || errno != ENOMEM)
		exit(9);
	if (realloc(p, 0))
		exit(9);
}

static void failing(void)
{
	void *p = NULL;

	errno = 0;
	if (malloc(huge) || errno != ENOMEM)
		exit(9);
	if (calloc(huge, 16))
		exit(9);
	if (posix_memalign(&p, 3, 8) != EINVAL)
		exit(9);
}

static void copied(void)
{
	free(must(strdup("abc")));
	free(must(strndup("abcdef", 2)));
}

int main(void)
{
	plain();
	aligned();
	resized();
	failing();
	copied();
	return 0;
}
