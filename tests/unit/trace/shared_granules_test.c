/*
 * Memory that one thread or two threads touched, by hand and compared with an obvious reference;
 * and which sites a list gets.
 */
#include "trace_util.h"

#include "trace/sites/shared_granules.h"
#include "trace/sites/sites.h"

#define HEAD "snarl-text 1\nmodule 0x400000 0x401000-0x500000 a0 /bin/a\n"
#define CUT(lines) HEAD "meta lost_records 0\nmeta cut_lines " lines "\n"
#define KNOWN CUT("none")

static void check_list(const char *text, const char *wanted)
{
	struct sites s = { 0 };
	struct buf out = { 0 };

	save(test_path("text"), text, strlen(text));
	assert_int_equal(sites_add(&s, test_path("text"), NULL, NULL), 0);
	sites_format(&s, &out);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
	sites_free(&s);
}

#define LIST(places) "snarl-sites 1\na0\n" places "end\n"
#define ALL LIST("a0 1010\na0 1020\na0 1030\na0 1040\na0 1050\n")
/* 10: memory of one thread; 20 and 30: of two; 40: 0.1 alone; 50: of one and of two. */
#define EVENTS                                                                                  \
	"0 write 0x8000:8 @0x401010\n0 write 0x9000:4 @0x401020\n0 create 0.1 @0x401001\n"      \
	"0.1 read 0x9004:4 @0x401030\n0.1 write 0xa000:8 @0x401040\n0.1 read 0xa000:8 @0x401040\n" \
	"0 read 0x8008:8 @0x401050\n0 read 0x9000:8 @0x401050\n"

static void test_listed_sites(void **state)
{
	(void)state;
	check_list(KNOWN EVENTS, LIST("a0 1020\na0 1030\na0 1050\n"));
	check_list(CUT("0-1ff,201-23f,241-27f,281-3ffff") EVENTS,
		   LIST("a0 1020\na0 1030\na0 1050\n"));
	/* All sites stay where accesses may be missing: in some pages, in all, or not stated. */
	check_list(CUT("280-280") EVENTS, LIST("a0 1020\na0 1030\na0 1040\na0 1050\n"));
	check_list(CUT("200") EVENTS, LIST("a0 1010\na0 1020\na0 1030\na0 1050\n"));
	check_list(CUT("200-200,10-20,280-280") EVENTS, ALL);
	check_list(CUT("1ff-281") EVENTS, ALL);
	check_list(CUT("0-3ffff") EVENTS, ALL);
	check_list(HEAD EVENTS, ALL);
	check_list(HEAD "meta lost_records 1\nmeta cut_lines none\n" EVENTS, ALL);
	check_list(HEAD "meta cut_lines none\n" EVENTS, ALL);
}

/* Impossible ranges are refused; a line goes by the low 18 bits of its number. */
static void test_cut_lines(void **state)
{
	static const char *const bad[] = { "", "unknown", "b-c,", "c-b", "b-40000", "40000",
					   "b-", "b-c;d", ",b" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buf text = { 0 };

		buf_addf(&text, HEAD "meta lost_records 0\nmeta cut_lines %s\n" EVENTS, bad[i]);
		check_list(buf_string(&text), ALL);
		buf_free(&text);
	}
	check_list(
		CUT("8d3f") "0 create 0.1\n0 write 0x7fff01234ff8:8 @0x401010\n"
			    "0 write 0x7fff01235000:8 @0x401020\n"
			    "0.1 write 0x1234fb8:8 @0x401030\n0.1 write 0x1234fb8:16 @0x401040\n",
		LIST("a0 1010\na0 1040\n"));
}

/* Freeing conflicts with other threads' accesses, not with those of the thread that frees. */
static void test_freed(void **state)
{
	(void)state;
	check_list(
		KNOWN
		"0 create 0.1\n0 malloc 0x8000 64\n0 write 0x8030:8 @0x401010\n0.1 free 0x8000\n",
		LIST("a0 1010\n"));
	/* A range larger than memory must not be handled page by page. */
	check_list(KNOWN "0 create 0.1\n0 malloc 0x8000 1152921504606846976\n"
			 "0 write 0x8030:8 @0x401010\n0.1 free 0x8000\n",
		   LIST("a0 1010\n"));
	check_list(KNOWN "0 create 0.1\n0 malloc 0x8038 1152921504606846976\n"
			 "0 write 0x8030:8 @0x401010\n0.1 free 0x8038\n",
		   LIST(""));
	check_list(
		KNOWN
		"0 create 0.1\n0 malloc 0x8000 64\n0 write 0x8040:8 @0x401010\n0.1 free 0x8000\n",
		LIST(""));
	check_list(KNOWN
		   "0 create 0.1\n0 malloc 0x8000 64\n0 write 0x8030:8 @0x401010\n0 free 0x8000\n",
		   LIST(""));
	check_list(KNOWN "0 create 0.1\n0.1 mmap 0x10000 65536\n0 write 0x1fff8:8 @0x401010\n"
			 "0.1 munmap 0x10000 65536\n",
		   LIST("a0 1010\n"));
	check_list(KNOWN "0 create 0.1\n0 free 0x8000\n0.1 write 0x8000:8 @0x401010\n", LIST(""));
}

/* Atomics count as accesses, and ranges with all their granules, also across pages. */
static void test_atomics_and_ranges(void **state)
{
	(void)state;
	check_list(KNOWN "0 create 0.1\n0 write 0x8000:8 @0x401010\n0.1 atomic-load 0x8000:4 1\n",
		   LIST("a0 1010\n"));
	check_list(KNOWN "0 create 0.1\n0 write 0x20000:8 @0x401010\n"
			 "0.1 read-range 0xfff0:65553 @0x401020\n",
		   LIST("a0 1010\na0 1020\n"));
	check_list(KNOWN "0 create 0.1\n0 write 0x20008:8 @0x401010\n"
			 "0.1 read-range 0xfff0:65553 @0x401020\n",
		   LIST(""));
}

#define GRANULES 64u
#define START 0x10f00u

/* Keeps a bit for each thread that touched a granule, or freed its block of eight granules. */
static void random_event(struct buf *text, uint8_t *seen)
{
	static const char *const names[] = { "0", "0.1", "0.2" };
	unsigned thread = (unsigned)rand() % 3, at = (unsigned)rand() % (GRANULES * 8),
		 size = 1u << rand() % 5;

	if (rand() % 16 == 0) {
		unsigned block = at / 64;

		buf_addf(text, "%s malloc 0x%x 64\n%s free 0x%x\n", names[rand() % 3],
			 START + block * 64, names[thread], START + block * 64);
		for (unsigned g = block * 8; g < block * 8 + 8; g++)
			seen[g] |= seen[g] ? 1u << thread : 0;
		return;
	}
	at &= ~(size - 1);
	buf_addf(text, "%s %s 0x%x:%u @0x401010\n", names[thread], rand() & 1 ? "read" : "write",
		 START + at, size);
	for (unsigned g = at / 8; g <= (at + size - 1) / 8; g++)
		seen[g] |= 1u << thread;
}

static void check_random(unsigned events)
{
	struct shared_granules shared = { 0 };
	uint8_t seen[GRANULES + 2] = { 0 };
	struct buf text = { 0 };
	static const char *const cut[] = { "none", "43c-43f", "440-443", "43c-443" };
	unsigned which = (unsigned)rand() % 4;
	struct reader *r;

	buf_addf(&text, HEAD "meta lost_records 0\nmeta cut_lines %s\n0 create 0.1\n0 create 0.2\n",
		 cut[which]);
	for (unsigned i = 0; i < events; i++)
		random_event(&text, seen);
	save(test_path("text"), text.data, text.size);
	r = reader_open(test_path("text"), NULL);
	assert_non_null(r);
	assert_true(shared_granules_usable(&shared, r));
	assert_int_equal(shared_granules_read(&shared, r, NULL), 0);
	for (unsigned g = 0; g < GRANULES; g++) {
		struct event ev = { .addr = START + g * 8, .size = 8 };

		if (seen[g])
			assert_int_equal(shared_granules_touched(&shared, &ev),
					 (seen[g] & (seen[g] - 1)) != 0 ||
						 which >> (ev.addr >= 0x11000) & 1);
	}
	shared_granules_free(&shared);
	reader_close(r);
	buf_free(&text);
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200; i++)
		check_random(1 + (unsigned)rand() % 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listed_sites),
		cmocka_unit_test(test_cut_lines),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_atomics_and_ranges),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
