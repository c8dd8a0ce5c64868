/*
 * base/page_array.c: arrays keep their content when they grow, and new bytes are zero.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/page_array.h"

#define PAGE 4096u
#define MOST ((size_t)16 << 20)

/* In each page below `size`, one byte is the number of the page. */
static void fill(uint8_t *p, size_t from, size_t size)
{
	for (size_t i = from; i < size; i += PAGE)
		p[i + i / PAGE % PAGE] = (uint8_t)(i / PAGE + 1);
}

static void assert_filled(const uint8_t *p, size_t size, size_t end)
{
	for (size_t i = 0; i < end; i += PAGE)
		assert_int_equal(p[i + i / PAGE % PAGE], i < size ? (uint8_t)(i / PAGE + 1) : 0);
}

static void test_grown_arrays_keep_their_contents(void **state)
{
	uint8_t *p = NULL;
	size_t size = 0;

	(void)state;
	for (size_t next = PAGE; next <= MOST; next *= 2) {
		p = pages_grow(p, size, next);
		if (next % 3 == 1)
			pages_soon(p, size, next);
		assert_int_equal((uintptr_t)p % PAGE, 0);
		assert_filled(p, size, next);
		fill(p, size, next);
		size = next;
	}
	pages_free(p, size);
}

static void test_reserved_arrays_grow_in_place(void **state)
{
	uint8_t *p = pages_reserve(2 * MOST), *second = p + MOST;
	size_t size = 0;

	(void)state;
	for (size_t next = PAGE; next <= MOST; next *= 2) {
		pages_open(p, size, next);
		pages_open(second, size, next);
		pages_soon(p, size, next);
		assert_filled(p, size, next);
		assert_filled(second, size / 2, size / 2);
		fill(p, size, next);
		fill(second, size, next);
		size = next;
	}
	assert_filled(p, size, size);
	assert_filled(second, size, size);
	pages_free(p, 2 * MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grown_arrays_keep_their_contents),
		cmocka_unit_test(test_reserved_arrays_grow_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
