/*
 * Objects at addresses while a trace is read, and the tree of blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/blocks.h"
#include "symbol/object.h"

static struct reader *open_text(const char *text)
{
	char path[] = "/tmp/object_test.XXXXXX";
	int fd = mkstemp(path);
	struct reader *r;
	struct err err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	r = reader_open(path, &err);
	unlink(path);
	if (!r)
		print_error("%s\n", err.text);
	assert_non_null(r);
	return r;
}

/* Reads the whole trace. Returns the description of each event's object, "-" for none. */
static void describe_all(const char *text, const char *const *expected)
{
	struct reader *r = open_text(text);
	struct objects *o = objects_new(r, NULL);
	struct object object;
	struct event ev;
	struct buf out = { 0 };
	struct err err;

	for (; reader_next(r, &ev, &err) > 0; expected++) {
		buf_clear(&out);
		if (objects_step(o, &ev, &object))
			object_describe(&object, &out);
		else
			buf_add_text(&out, "-");
		assert_non_null(*expected);
		assert_string_equal(buf_string(&out), *expected);
	}
	assert_null(*expected);
	buf_free(&out);
	objects_free(o);
	reader_close(r);
}

static void test_heap(void **state)
{
	static const char *const expected[] = {
		"heap@0x100#1", "heap@0x100#2", "heap@0x200#1", "heap@0x100#1+8",
		"heap@0x100#2+31", "0x5060", "heap@0x100#1", "freed heap@0x100#1+16",
		"heap@0x100#3", "heap@0x100#3+16", "freed heap@0x100#1+32", NULL,
	};

	(void)state;
	describe_all("snarl-text 1\n"
		     "0 malloc 0x5000 48 @0x100\n"
		     "0 malloc 0x5040 32 @0x100\n"
		     "0 malloc 0x6000 1 @0x200\n"
		     "0 write 0x5008:8\n"
		     "0 read 0x505f:1\n"
		     "0 read 0x5060:1\n"	/* just after the block */
		     "0 free 0x5000\n"
		     "0 read 0x5010:1\n"	/* after free */
		     "0 malloc 0x5000 20 @0x100\n"
		     "0 read 0x5010:1\n"
		     "0 read 0x5020:1\n",	/* the rest of the old block */
		     expected);
}

static void test_threads_and_stacks(void **state)
{
	static const char *const expected[] = {
		"-", "-", "-", "stack of 0", "stack of 0.1", "-", "ended stack of 0.1", "-",
		"-", "-", "stack of 0.2", NULL,
	};

	(void)state;
	describe_all("snarl-text 1\n"
		     "0 start stack=0x70000-0x80000\n"
		     "0 create 0.1\n"
		     "0.1 start stack=0x90000-0xa0000\n"
		     "0.1 read 0x7fff8:8\n"
		     "0.1 write 0x90000:1\n"
		     "0.1 end\n"
		     "0 write 0x90000:1\n"
		     "0 join 0.1\n"
		     "0 create 0.2\n"
		     "0.2 start stack=0x90000-0xa0000\n"
		     "0 write 0x90000:1\n",
		     expected);
}

static void test_mappings(void **state)
{
	static const char *const expected[] = {
		"mmap@0x300#1", "mmap@0x300#1+4096", "mmap@0x300#1+4096", "0x101000",
		"mmap@0x300#1+8192", NULL,
	};

	(void)state;
	describe_all("snarl-text 1\n"
		     "0 mmap 0x100000 12288 @0x300\n"
		     "0 write 0x101000:1\n"
		     "0 munmap 0x101000 4096\n"	/* a hole in the middle */
		     "0 write 0x101000:1\n"
		     "0 write 0x102000:1\n",
		     expected);
}

static void test_fields(void **state)
{
	struct reader *r = open_text("snarl-text 1\n"
				     "0 create 0.1\n"
				     "0.1 start\n"
				     "0 malloc 0x5000 8 @0x100\n"
				     "0.1 malloc 0x6000 64 @0x100\n");
	struct objects *o = objects_new(r, NULL);
	struct object object;
	struct event ev;
	struct err err;

	(void)state;
	while (reader_next(r, &ev, &err) > 0)
		objects_step(o, &ev, &object);
	objects_at(o, 0x6008, &object);
	assert_int_equal(object.kind, OBJECT_HEAP);
	assert_int_equal(object.offset, 8);
	assert_int_equal(object.size, 64);
	assert_int_equal(object.site, 0x100);
	assert_int_equal(object.order, 2);		/* second in the run */
	assert_int_equal(object.thread_order, 1);	/* first of this thread */
	assert_string_equal(object.thread_name, "0.1");
	assert_false(object.gone);
	objects_at(o, 0, &object);
	assert_int_equal(object.kind, OBJECT_RAW);
	objects_free(o);
	reader_close(r);
}

#define CELLS 4096u

/* Random inserts and removals, compared with an array that has the owner of each cell. */
static void test_blocks_against_array(void **state)
{
	static uint32_t owner[CELLS];
	struct blocks b = { 0 };
	uint64_t random = 1;

	(void)state;
	memset(owner, 0, sizeof(owner));
	for (uint32_t round = 1; round <= 20000; round++) {
		uint32_t low, high;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		low = (uint32_t)(random >> 33) % CELLS;
		high = low + 1 + (uint32_t)(random >> 20) % 24;
		if (high > CELLS)
			high = CELLS;
		if (random >> 63)
			blocks_remove(&b, low, high);
		else
			blocks_insert(&b, low, high)->place = round;
		for (uint32_t i = low; i < high; i++)
			owner[i] = random >> 63 ? 0 : round;
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t at = (uint32_t)(random >> (8 + i)) % CELLS;
			const struct block *block = blocks_find(&b, at);

			assert_int_equal(block ? block->place : 0, owner[at]);
		}
	}
	for (uint32_t i = 0; i < CELLS; i++) {
		const struct block *block = blocks_find(&b, i);

		assert_int_equal(block ? block->place : 0, owner[i]);
	}
	blocks_free(&b);
}

/* Ascending addresses, the worst order for an unbalanced tree. */
static void test_ascending_blocks_stay_balanced(void **state)
{
	struct blocks b = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 300000; i++)
		blocks_insert(&b, i * 64, i * 64 + 48)->place = (uint32_t)i;
	for (uint64_t i = 0; i < 300000; i += 7) {
		assert_int_equal(blocks_find(&b, i * 64 + 47)->place, i);
		assert_null(blocks_find(&b, i * 64 + 48));
	}
	blocks_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_threads_and_stacks),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_blocks_against_array),
		cmocka_unit_test(test_ascending_blocks_stay_balanced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
