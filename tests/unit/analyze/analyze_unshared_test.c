/*
 * Unshared memory, in small traces and against a slow reference (reference/unshared.h).
 */
#include "analyze_util.h"

#include "analyze/context/access.h"
#include "analyze/relevance/unshared.h"
#include "trace/write/writer.h"
#include "reference/unshared.h"

static bool has(const struct unshared *a, uint64_t addr, uint64_t size)
{
	return unshared_has(a, &(struct event){ .addr = addr, .size = size });
}

static void test_small_traces(void **state)
{
	struct reader *r = open_text("0 create 0.1\n0 create 0.2\n"
				     /* by one thread */
				     "0.1 write 0x10000:8\n0.1 read 0x10000:8\n"
				     /* only reads */
				     "0.1 read 0x10008:4\n0.2 read 0x10008:8\n"
				     /* other bytes of a granule */
				     "0.1 read 0x10010:1\n0.2 write 0x10017:1\n"
				     /* spans two granules */
				     "0.2 write 0x1001c:8\n0.1 read 0x10020:8\n"
				     /* spans two pages */
				     "0.1 write-range 0x11ff0 32\n0.2 read 0x12008:1\n"
				     "0.2 atomic-add 0x20000:4 relaxed\n"
				     "0.1 atomic-load 0x20000:4 relaxed\n"
				     "0.2 atomic-store 0x20008:4 relaxed\n");
	struct unshared *a = unshared_new(r);
	struct event ev;
	struct err err;

	(void)state;
	assert_true(has(a, 0x10000, 8));
	assert_true(has(a, 0x10008, 8));
	assert_true(has(a, 0x1000c, 2));
	assert_true(has(a, 0x10000, 16));
	assert_false(has(a, 0x10010, 1));
	assert_false(has(a, 0x10008, 9));
	assert_true(has(a, 0x10018, 8));
	assert_false(has(a, 0x10020, 8));
	assert_false(has(a, 0x1001f, 2));
	assert_true(has(a, 0x11ff0, 24));
	assert_false(has(a, 0x11ff0, 25));
	assert_false(has(a, 0x20000, 4));
	assert_true(has(a, 0x20008, 4));
	assert_false(has(a, 0x30000, 4));	/* never accessed: nothing is known */
	assert_false(has(a, 0x10000, 0));
	assert_false(has(a, UINT64_MAX - 3, 8));
	/* The reader is at its first event. */
	assert_int_equal(reader_next(r, &ev, &err), 1);
	assert_int_equal(ev.kind, TRACE_THREAD_CREATE);
	unshared_free(a);
	reader_close(r);
}

/* One access to more memory than is followed: no memory counts as unshared. */
static void test_too_much_memory(void **state)
{
	struct reader *r = open_text("0 create 0.1\n0.1 write 0x10000:8\n"
				     "0.1 read-range 0x20000 0x100000000\n");
	struct unshared *a = unshared_new(r);

	(void)state;
	assert_false(has(a, 0x10000, 8));
	unshared_free(a);
	reader_close(r);
	/* With too many pages, later ones are left out, and the others stay known. */
	r = open_text("0 create 0.1\n0.1 write-range 0x10000 0x40000000\n0.1 write 0x50000000:8\n");
	a = unshared_new(r);
	assert_true(has(a, 0x10000, 8));
	assert_true(has(a, 0x10000 + 0x40000000 - 8, 8));
	assert_false(has(a, 0x50000000, 8));
	unshared_free(a);
	reader_close(r);
}

/* The pass gives up if nearly all accesses are shared, but not if one in eight is unshared. */
static void test_gives_up(void **state)
{
	(void)state;
	for (unsigned own = 0; own < 2; own++) {
		struct buf b = { 0 };
		struct reader *r;
		struct unshared *a;

		buf_add_text(&b, "0 create 0.1\n");
		for (unsigned i = 0; i < 40000; i++)
			buf_addf(&b, "%s write 0x%x:8\n", i % 8 == 1 ? "0.1" : "0",
				 own && i % 8 == 7 ? 0x50000 : 0x60000 + i / 8 % 8 * 8);
		buf_add_text(&b, "0 write 0x70000:8\n");
		buf_string(&b);
		r = open_text((const char *)b.data);
		a = unshared_new(r);
		assert_int_equal(has(a, 0x70000, 8), own);
		assert_int_equal(has(a, 0x50000, 8), own);
		assert_false(has(a, 0x60000, 8));
		unshared_free(a);
		reader_close(r);
		buf_free(&b);
	}
}

static void assert_as_reference(const char *path)
{
	static unsigned who[GRANULES];
	struct err err = { "" };
	struct reader *r = reader_open(path, &err);
	struct unshared *a;

	assert_non_null(r);
	look_slowly(r, who);
	a = unshared_new(r);
	for (unsigned g = 0; g < GRANULES; g++) {
		unsigned threads = who[g] >> 1;
		bool expected = threads && (!(threads & (threads - 1)) || !(who[g] & 1));

		/* Nothing is known of pages without accesses. */
		if (threads)
			assert_int_equal(unshared_is_clear(a, a->shared, BASE / 8 + g), expected);
	}
	unshared_free(a);
	reader_close(r);
}

static void test_random_traces(void **state)
{
	static const char *const names[] = { "0", "0.1", "0.2", "0.3" };
	static const char *const kinds[] = { "read", "read", "read", "write", "atomic-add" };

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15ull;
		struct err err = { "" };
		struct buf b = { 0 };
		struct reader *r;

		buf_add_text(&b, "0 create 0.1\n0 create 0.2\n0 create 0.3\n");
		for (unsigned i = 0; i < 2000; i++) {
			const char *name = names[test_random(&random) % 4];
			unsigned at = test_random(&random) % (GRANULES * 8 - 64),
				 size = test_random(&random) % 4;
			const char *kind = kinds[test_random(&random) % 5];

			if (test_random(&random) % 10 == 0)
				buf_addf(&b, "%s %s-range 0x%x %u\n", name,
					 i % 2 ? "read" : "write", BASE + at,
					 1 + (unsigned)(test_random(&random) % 60));
			else
				buf_addf(&b, "%s %s 0x%x:%u%s\n", name, kind, BASE + at, 1u << size,
					 kind[0] == 'a' ? " relaxed" : "");
		}
		buf_string(&b);
		r = open_text((const char *)b.data);
		assert_as_reference(test_path("analyzed"));
		assert_int_equal(writer_copy(r, test_path("binary"), TRACE_TOTAL_ORDER, &err), 0);
		assert_as_reference(test_path("binary"));
		reader_close(r);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_traces),
		cmocka_unit_test(test_too_much_memory),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
