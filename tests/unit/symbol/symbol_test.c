/*
 * Looks up addresses of this test program in its own file.
 */
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/span.h"
#include "symbol/symbol.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = info->dlpi_addr;
	return 1;	/* the program comes first */
}

static struct symbols *own_symbols(const uint8_t *build_id, size_t size, int *result)
{
	struct symbols *s = symbols_new();
	struct err err;
	uint64_t base;

	dl_iterate_phdr(find_base, &base);
	*result = symbols_add(s, "/proc/self/exe", build_id, size, base, base, base + (1u << 28),
			      &err);
	return s;
}

/* Traces contain the address after a call. */
static __attribute__((noinline)) uint64_t here(void)
{
	return (uint64_t)__builtin_return_address(0);
}

static unsigned inlined_line;

static inline __attribute__((always_inline)) uint64_t inlined_here(void)
{
	uint64_t pc;

	inlined_line = __LINE__ + 1;
	pc = here();
	return pc + 0;
}

static void test_function_and_line(void **state)
{
	struct symbol_frame frames[4];
	struct symbols *s;
	unsigned line;
	uint64_t pc;
	int result;

	(void)state;
	s = own_symbols(NULL, 0, &result);
	assert_int_equal(result, 0);
	line = __LINE__ + 1;
	pc = here();
	assert_int_equal(symbols_frames(s, pc, frames, 4), 1);
	assert_string_equal(frames[0].function, "test_function_and_line");
	assert_string_equal(base_name(frames[0].file), "symbol_test.c");
	assert_int_equal(frames[0].line, line);
	assert_false(frames[0].inlined);
	symbols_free(s);
}

static void test_inlined_frames(void **state)
{
	struct symbol_frame frames[4];
	struct symbols *s;
	unsigned line;
	uint64_t pc;
	int result;

	(void)state;
	s = own_symbols(NULL, 0, &result);
	line = __LINE__ + 1;
	pc = inlined_here();
	assert_int_equal(symbols_frames(s, pc, frames, 4), 2);
	assert_string_equal(frames[0].function, "inlined_here");
	assert_int_equal(frames[0].line, inlined_line);
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].function, "test_inlined_frames");
	assert_int_equal(frames[1].line, line);
	assert_false(frames[1].inlined);
	/* With room for one frame, the innermost is returned. */
	assert_int_equal(symbols_frames(s, pc, frames, 1), 1);
	assert_string_equal(frames[0].function, "inlined_here");
	symbols_free(s);
}

int symbol_test_table[10];

/* For an inlined function, clang 14 does not record to which function the variable belongs. */
static __attribute__((noinline)) int *function_static(void)
{
	static int calls = 1;

	calls++;
	return &calls;
}

static void test_variables(void **state)
{
	struct symbol_variable v;
	struct symbols *s;
	int result, local = 0;

	(void)state;
	s = own_symbols(NULL, 0, &result);
	assert_true(symbols_variable(s, (uint64_t)&symbol_test_table[3] + 1, &v));
	assert_string_equal(v.name, "symbol_test_table");
	assert_int_equal(v.offset, 3 * sizeof(int) + 1);
	assert_int_equal(v.size, sizeof(symbol_test_table));
	assert_string_equal(base_name(v.file), "symbol_test.c");
	assert_true(symbols_variable(s, (uint64_t)function_static(), &v));
	assert_string_equal(v.name, "function_static::calls");
	assert_int_equal(v.offset, 0);
	assert_false(symbols_variable(s, (uint64_t)&local, &v));
	symbols_free(s);
}

static void test_unknown_addresses(void **state)
{
	struct symbol_frame frame;
	struct symbol_variable v;
	struct symbols *s = symbols_new();

	(void)state;
	assert_int_equal(symbols_frames(s, 0, &frame, 1), 1);
	assert_string_equal(frame.function, "??");
	assert_null(frame.file);
	assert_int_equal(symbols_frames(s, 0x1234, &frame, 1), 1);
	assert_string_equal(frame.function, "??");
	assert_false(symbols_variable(s, 0x1234, &v));
	assert_null(symbols_module(s, 0x1234, NULL));
	symbols_free(s);
}

static void test_other_build(void **state)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	uint64_t offset, pc = here();
	struct symbol_frame frame;
	struct symbols *s;
	int result;

	(void)state;
	s = own_symbols(other, sizeof(other), &result);
	assert_int_equal(result, -1);
	/* A file with another build-id gives no names, but the offset in the module is known. */
	symbols_frames(s, pc, &frame, 1);
	assert_string_equal(frame.function, "??");
	assert_string_equal(symbols_module(s, pc, &offset), "/proc/self/exe");
	symbols_free(s);
}

/* The build-id of this program, as traces contain it. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *data)
{
	const uint8_t **id = data;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr),
			      *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const void *)at;
			size_t name = (note->n_namesz + 3) & ~3u,
			       length = (note->n_descsz + 3) & ~3u;

			if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz == 20)
				*id = at + sizeof(*note) + name;
			at += sizeof(*note) + name + length;
		}
	}
	return 1;
}

/* A file that was read before is not opened again, even under another path. */
static void test_a_known_file_is_not_opened_again(void **state)
{
	static const uint8_t wrong[20] = { 1 };
	const uint8_t *build_id = NULL;
	struct symbols *first, *second = symbols_new();
	struct symbol_frame frame;
	struct err err;
	uint64_t base;
	int result;

	(void)state;
	dl_iterate_phdr(find_build_id, &build_id);
	assert_non_null(build_id);
	dl_iterate_phdr(find_base, &base);
	first = own_symbols(build_id, 20, &result);
	assert_int_equal(result, 0);
	symbols_share(second, first);
	assert_int_equal(
		symbols_add(second, "/no/such/file", wrong, 20, base, base, base + 4096, &err), -1);
	assert_int_equal(
		symbols_add(second, "/no/such/file", NULL, 0, base, base, base + 4096, &err), -1);
	assert_int_equal(symbols_add(second, "/no/such/file", build_id, 20, base, base,
				     base + (1u << 28), &err),
			 0);
	symbols_free(first);
	assert_int_equal(symbols_frames(second, here(), &frame, 1), 1);
	assert_string_equal(frame.function, "test_a_known_file_is_not_opened_again");
	symbols_free(second);
}

static void test_not_elf(void **state)
{
	struct symbols *s = symbols_new();
	struct err err;

	(void)state;
	assert_int_equal(symbols_add(s, "/nonexistent", NULL, 0, 0, 1, 2, &err), -1);
	assert_string_equal(err.text, "/nonexistent: No such file or directory");
	assert_int_equal(symbols_add(s, "/proc/self/cmdline", NULL, 0, 0, 1, 2, &err), -1);
	symbols_free(s);
}

/* Of two modules at one address, the later one is found. */
static void test_replaced_module(void **state)
{
	struct symbols *s = symbols_new();
	uint64_t offset;

	(void)state;
	symbols_add(s, "/nonexistent/a", NULL, 0, 0x1000, 0x1000, 0x3000, NULL);
	symbols_add(s, "/nonexistent/b", NULL, 0, 0x2000, 0x2000, 0x3000, NULL);
	assert_string_equal(symbols_module(s, 0x1800, &offset), "/nonexistent/a");
	assert_int_equal(offset, 0x800);
	assert_string_equal(symbols_module(s, 0x2010, &offset), "/nonexistent/b");
	assert_int_equal(offset, 0x10);
	assert_null(symbols_module(s, 0x3000, &offset));
	symbols_free(s);
}

static void test_spans(void **state)
{
	struct spans s = { 0 };

	(void)state;
	assert_int_equal(spans_find(&s, 5), SPAN_NONE);
	spans_add(&s, 10, 100, 1);
	spans_add(&s, 20, 30, 2);	/* within 1 */
	spans_add(&s, 25, 28, 3);	/* within 2 */
	spans_add(&s, 200, 210, 4);
	spans_add(&s, 7, 7, 5);		/* empty */
	spans_sort(&s);
	assert_int_equal(spans_find(&s, 7), SPAN_NONE);
	assert_int_equal(spans_find(&s, 9), SPAN_NONE);
	assert_int_equal(spans_find(&s, 10), 1);
	assert_int_equal(spans_find(&s, 20), 2);
	assert_int_equal(spans_find(&s, 25), 3);
	assert_int_equal(spans_find(&s, 28), 2);
	assert_int_equal(spans_find(&s, 30), 1);
	assert_int_equal(spans_find(&s, 99), 1);
	assert_int_equal(spans_find(&s, 100), SPAN_NONE);
	assert_int_equal(spans_find(&s, 209), 4);
	assert_int_equal(spans_find(&s, 210), SPAN_NONE);
	spans_free(&s);
}

/* symbol_own_frame() returns the innermost frame in a source of the program. */
static void test_own_frame(void **state)
{
	const struct symbol_frame frames[] = {
		{ .function = "??" },
		{ .function = "pthread_mutex_lock_inline",
		  .file = "/usr/include/c++/12/mutex",
		  .line = 7 },
		{ .function = "std::lock_guard", .file = "/usr/include/c++/12/lock.h", .line = 8 },
		{ .function = "no_line", .file = "a.cc" },
		{ .function = "put", .file = "queue.cc", .line = 9 },
		{ .function = "main", .file = "main.cc", .line = 10 },
	};

	(void)state;
	assert_string_equal(symbol_own_frame(frames, 6)->function, "put");
	assert_string_equal(symbol_own_frame(frames + 5, 1)->function, "main");
	assert_string_equal(symbol_own_frame(frames, 3)->function, "pthread_mutex_lock_inline");
	assert_string_equal(symbol_own_frame(frames, 1)->function, "??");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_frame),
		cmocka_unit_test(test_function_and_line),
		cmocka_unit_test(test_inlined_frames),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_unknown_addresses),
		cmocka_unit_test(test_other_build),
		cmocka_unit_test(test_a_known_file_is_not_opened_again),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_replaced_module),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
