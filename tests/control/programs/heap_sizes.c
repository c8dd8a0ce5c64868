/*
 * runs: 4
 * The malloc family keeps its promises under control: alignment, contents, zeroed memory, errors.
 * Passes under every schedule.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                                       \
	do {                                                                              \
		if (!(what)) {                                                            \
			printf("line %d: not so: %s\n", __LINE__, #what);                 \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

/* Through variables, because compilers assume what malloc and free do to errno. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;
static void *(*volatile do_memalign)(size_t, size_t) = memalign;
static const size_t absurd = SIZE_MAX - 64;

static void fill(unsigned char *p, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (unsigned char)(seed + i * 7);
}

static int filled(const unsigned char *p, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != (unsigned char)(seed + i * 7))
			return 0;
	return 1;
}

static void sizes(void)
{
	static const size_t odd[] = { 513, 640, 641, 1023, 1025, 4095, 4097, 65535, 65537,
				      1 << 20, (1 << 20) + 1, 3 << 20, 40 << 20 };
	unsigned char *p[600], *big[sizeof(odd) / sizeof(odd[0])];

	for (size_t i = 0; i < 600; i++) {
		p[i] = malloc(i);
		CHECK(p[i] && (uintptr_t)p[i] % 16 == 0 && malloc_usable_size(p[i]) >= i);
		fill(p[i], i, (unsigned)i);
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		big[i] = malloc(odd[i]);
		CHECK(big[i] && (uintptr_t)big[i] % 16 == 0);
		fill(big[i], 64, (unsigned)i);
		fill(big[i] + odd[i] - 64, 64, (unsigned)i);
	}
	for (size_t i = 0; i < 600; i++) {
		CHECK(filled(p[i], i, (unsigned)i));
		for (size_t k = 0; k < i && i < 50; k++)
			CHECK(p[k] != p[i]);
		free(p[i]);
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		CHECK(filled(big[i], 64, (unsigned)i));
		CHECK(filled(big[i] + odd[i] - 64, 64, (unsigned)i));
		free(big[i]);
	}
}

static void zeroes(void)
{
	static const size_t size[] = { 1, 100, 5000, 70000, 2 << 20 };

	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
			unsigned char *p = calloc(size[i], 1);

			CHECK(p);
			for (size_t k = 0; k < size[i]; k++)
				CHECK(p[k] == 0);
			memset(p, 0xff, size[i]);
			free(p);
		}
}

static void errors(void)
{
	const size_t half = SIZE_MAX / 2 + 2;
	void *p = (void *)1;

	errno = 0;
	CHECK(!do_malloc(absurd) && errno == ENOMEM);
	errno = 0;
	CHECK(!do_calloc(half, 2) && errno == ENOMEM);
	errno = 0;
	CHECK(!do_reallocarray(NULL, half, 2) && errno == ENOMEM);
	errno = 0;
	CHECK(!do_malloc((size_t)1 << 50) && errno == ENOMEM);
	errno = 0;
	CHECK(!do_memalign(64, absurd) && errno == ENOMEM);
	CHECK(posix_memalign(&p, 3, 8) == EINVAL && posix_memalign(&p, 4, 8) == EINVAL);
	CHECK(posix_memalign(&p, 0, 8) == EINVAL && posix_memalign(&p, 24, 8) == EINVAL);
	CHECK(posix_memalign(&p, 64, absurd) == ENOMEM);
	CHECK(p == (void *)1);
	errno = EDOM;
	free(NULL);
	CHECK(errno == EDOM);
}

static void aligned(void)
{
	for (size_t align = 8; align <= 1 << 21; align *= 2) {
		unsigned char *p = NULL, *q, *r;

		CHECK(posix_memalign((void **)&p, align, 100) == 0 && (uintptr_t)p % align == 0);
		q = aligned_alloc(align, align);
		r = memalign(align, 24);
		CHECK(q && r && (uintptr_t)q % align == 0 && (uintptr_t)r % align == 0);
		fill(p, 100, 1);
		fill(q, align, 2);
		fill(r, 24, 3);
		p = realloc(p, 3000);
		CHECK(p && filled(p, 100, 1) && filled(q, align, 2) && filled(r, 24, 3));
		free(p);
		free(q);
		free(r);
	}
	for (int i = 0; i < 2; i++) {
		unsigned char *p = i ? pvalloc(5000) : valloc(5000);

		CHECK(p && (uintptr_t)p % 4096 == 0);
		CHECK(malloc_usable_size(p) >= (i ? 8192u : 5000u));
		free(p);
	}
}

static void resized(void)
{
	unsigned char *p = NULL, *q;
	size_t old = 0;

	for (size_t size = 1; size < 300000; size = size * 5 / 4 + 1) {
		p = realloc(p, size);
		CHECK(p && filled(p, old, 9));
		fill(p, size, 9);
		old = size;
	}
	for (size_t size = 300000; size > 0; size /= 3) {
		p = realloc(p, size);
		CHECK(p && filled(p, size < old ? size : old, 9));
	}
	errno = 0;
	CHECK(!do_realloc(p, absurd) && errno == ENOMEM && filled(p, 1, 9));
	CHECK(!do_realloc(p, 0));
	p = do_malloc(0);
	q = do_malloc(0);
	CHECK(p && q && p != q);
	free(p);
	free(q);
}

int main(void)
{
	sizes();
	zeroes();
	errors();
	aligned();
	resized();
	puts("ok");
	return 0;
}
