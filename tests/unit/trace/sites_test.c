/* Lists of sites from traces and lists; and the runtime's scan for sites in machine code. */
#include "trace_util.h"

#include "base/mem.h"
#include "runtime/record/site_scan_x86_64.c"
#include "abi/site_list_format.h"
#include "trace/sites/sites.h"

static const char trace_text[] =
	"snarl-text 1\n"
	"module 0x100000 0x100000-0x200000 b0b1 /lib/b\n"
	"module 0x400000 0x401000-0x500000 a0a1 /bin/a\n"
	"module 0 0x600000-0x700000 - /none\n"
	"module 0x800000 0x800000-0x900000 c0 /lib/untouched\n"
	"0 write x @0x401234\n"
	"0 read x @0x401200\n"
	"0 read x @0x401234\n"
	"0 read-range x:9 @0x100010\n"
	"0 lock m @0x402000\n"
	"0 atomic-load x @0x402010\n"
	"0 write x @0x600010\n"
	"0 write x\n";

static const char list_text[] = "snarl-sites 1\n"
				"a0a1\n"
				"a0a1 1200\n"
				"a0a1 1234\n"
				"b0b1\n"
				"b0b1 10\n"
				"c0\n"
				"end\n";

static void check_format(struct sites *s, const char *wanted)
{
	struct buf out = { 0 };

	sites_format(s, &out);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
}

static void test_from_trace(void **state)
{
	struct sites s = { 0 };
	struct sites_source source;

	(void)state;
	save(test_path("text"), trace_text, strlen(trace_text));
	assert_int_equal(sites_add(&s, test_path("text"), &source, NULL), 0);
	assert_int_equal(s.unknown, 2);
	assert_false(source.list);
	check_format(&s, list_text);
	/* Adding the same trace again changes nothing. */
	assert_int_equal(sites_add(&s, test_path("text"), NULL, NULL), 0);
	assert_int_equal(sites_write(&s, test_path("list"), NULL), 0);
	sites_free(&s);
	assert_int_equal(sites_add(&s, test_path("list"), &source, NULL), 0);
	assert_true(source.list);
	check_format(&s, list_text);
	sites_free(&s);
}

static void add_text(struct sites *s, const char *text)
{
	save(test_path("list"), text, strlen(text));
	assert_int_equal(sites_add(s, test_path("list"), NULL, NULL), 0);
}

static void test_union(void **state)
{
	struct sites s = { 0 };

	(void)state;
	add_text(&s, "snarl-sites 1\naa\naa 9\naa 10\nend\n");
	add_text(&s, "snarl-sites 1\naa\naa 2\naa 10\naa00 1\nend\n");
	add_text(&s, "snarl-sites 1\nend\n");
	check_format(&s, "snarl-sites 1\naa\naa 2\naa 9\naa 10\naa00 1\nend\n");
	sites_free(&s);
}

/* A site is marked as touching shared memory first only if all lists mark it. */
static void test_sharing(void **state)
{
	struct sites s = { 0 };

	(void)state;
	add_text(&s, "snarl-sites 2\naa\naa 1+\naa 2\naa 3+\nend\n");
	check_format(&s, "snarl-sites 2\naa\naa 1+\naa 2\naa 3+\nend\n");
	add_text(&s, "snarl-sites 2\naa 1+\naa 2+\naa 4+\nend\n");
	check_format(&s, "snarl-sites 2\naa\naa 1+\naa 2\naa 3+\naa 4+\nend\n");
	add_text(&s, "snarl-sites 1\naa 1\naa 3\nend\n");
	add_text(&s, "snarl-sites 2\naa 4\nend\n");
	check_format(&s, "snarl-sites 1\naa\naa 1\naa 2\naa 3\naa 4\nend\n");
	sites_free(&s);
}

/* Memory that one site writes once and another one reads once; a third touches little. */
static void test_rarely_touched(void **state)
{
	static const struct {
		const char *begin, *more, *list;
	} cases[] = {
		{ "", "", "snarl-sites 2\na0a1\na0a1 1200+\na0a1 1234+\na0a1 1300\nend\n" },
		{ "begin start=1 unix=1 pid=1 unfiltered\n", "",
		  "snarl-sites 1\na0a1\na0a1 1200\na0a1 1234\na0a1 1300\nend\n" },
		{ "", "meta cut_records 100000\n",
		  "snarl-sites 1\na0a1\na0a1 1200\na0a1 1234\na0a1 1300\nend\n" },
		{ "", "meta cut_records 1000\n",
		  "snarl-sites 2\na0a1\na0a1 1200+\na0a1 1234+\na0a1 1300\nend\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf text = { 0 };
		struct sites s = { 0 };

		buf_addf(&text, "snarl-text 1\n%smodule 0x400000 0x401000-0x500000 a0a1 /bin/a\n%s",
			 cases[i].begin, cases[i].more);
		for (unsigned g = 0; g < 8192; g++)
			buf_addf(&text, "0 write 0x%x:8 @0x401234\n", 0x900000 + g * 8);
		for (unsigned g = 0; g < 8192; g++)
			buf_addf(&text, "0.1 read 0x%x:8 @0x401200\n", 0x900000 + g * 8);
		buf_addf(&text, "0.1 write 0x900000:8 @0x401300\n");
		save(test_path("text"), text.data, text.size);
		assert_int_equal(sites_add(&s, test_path("text"), NULL, NULL), 0);
		check_format(&s, cases[i].list);
		sites_free(&s);
		buf_free(&text);
	}
}

/* Each list is refused with a message that names the file and the line. */
static void test_bad_lists(void **state)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
		{ "snarl-sites 1\n", "line 2" },
		{ "snarl-sites 1\naa 1\n", "line 3" },
		{ "snarl-sites 1\naa 1", "line 2" },
		{ "snarl-sites 1\naa 1\nend", "line 3" },
		{ "snarl-sites 1\naa 1\nend\nmore\n", "line 3" },
		{ "snarl-sites 1\naa 2\naa 1\nend\n", "line 3" },
		{ "snarl-sites 1\naa 1\naa 1\nend\n", "line 3" },
		{ "snarl-sites 1\naa 1\naa\nend\n", "line 3" },
		{ "snarl-sites 1\nab\naa\nend\n", "line 3" },
		{ "snarl-sites 1\naa \nend\n", "line 2" },
		{ "snarl-sites 1\naaa 1\nend\n", "line 2" },
		{ "snarl-sites 1\n 1\nend\n", "line 2" },
		{ "snarl-sites 1\n\nend\n", "line 2" },
		{ "snarl-sites 1\nAA 1\nend\n", "line 2" },
		{ "snarl-sites 1\naa 0x1\nend\n", "line 2" },
		{ "snarl-sites 1\naa 10000000000000000\nend\n", "line 2" },
		{ "snarl-sites 1\naa 1+\nend\n", "line 2" },
		{ "snarl-sites 2\naa+\nend\n", "line 2" },
		{ "snarl-sites 2\naa 1++\nend\n", "line 2" },
		{ "snarl-sites 2\naa 1+\naa 1\nend\n", "line 3" },
		{ "snarl-sites 3\naa 1\nend\n", "another version" },
		{ "snarl-sites 1", "another version" },
		{ "neither", "not a snarl trace" },
		{ "", "is empty" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sites s = { 0 };
		struct err err = { "" };

		save(test_path("bad"), bad[i].text, strlen(bad[i].text));
		assert_int_equal(sites_add(&s, test_path("bad"), NULL, &err), -1);
		assert_non_null(strstr(err.text, bad[i].said));
		assert_non_null(strstr(err.text, "bad"));
		sites_free(&s);
	}
}

static void test_long_id(void **state)
{
	char text[400] = SITELIST_MAGIC;
	struct sitelist l;

	(void)state;
	memset(text + strlen(text), 'e', 2 * SITELIST_ID_MAX);
	strcat(text, " ffffffffffffffff\nend\n");
	assert_true(sitelist_open(&l, text, strlen(text)));
	assert_int_equal(sitelist_next(&l), SITELIST_LINE);
	assert_int_equal(l.last.id_size, SITELIST_ID_MAX);
	assert_true(l.last.offset == UINT64_MAX);
	assert_int_equal(sitelist_next(&l), SITELIST_END);
	memmove(text + 16, text + 14, strlen(text + 14) + 1);	/* one byte too many */
	assert_true(sitelist_open(&l, text, strlen(text)));
	assert_int_equal(sitelist_next(&l), SITELIST_BAD);
}

/* A list truncated anywhere is refused. */
static void test_cut_list(void **state)
{
	(void)state;
	for (size_t size = 0; size <= strlen(list_text); size++) {
		char *text = xstrndup(list_text, size);	/* exact, for ASan */
		enum sitelist_got got = SITELIST_BAD;
		struct sitelist l;

		if (sitelist_open(&l, text, size))
			while ((got = sitelist_next(&l)) == SITELIST_LINE)
				;
		assert_int_equal(got, size == strlen(list_text) ? SITELIST_END : SITELIST_BAD);
		free(text);
	}
}

/* --- the scan --- */

#define CHECK "\x48\x89\xf8\x48\xc1\xe8\x03\x0f\xb7\x04\x45\x00\x80\xff\x7f"
#define CHECK16 "\x48\x89\xf8\x48\xc1\xe8\x03\x8b\x04\x45\x00\x80\xff\x7f"
#define CALL "\xe8\x01\x02\x03\x04"

struct code {
	const char *bytes;
	size_t size;
};
#define CODE(text) { text, sizeof(text) - 1 }

static const struct code sites[] = {
	/* an executable's */
	CODE(CHECK "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\x07\x90\x90" CALL),
	CODE(CHECK16 "\x64\x39\x04\x25\xfc\xfd\xff\xff\x74\x05" CALL),
	/* a library's */
	CODE(CHECK "\x48\x8b\x0d\x29\x2e\x00\x00\x64\x66\x39\x41\x08\x74\x06\x90" CALL),
	CODE(CHECK16 "\x48\x8b\x0d\x96\xdb\x00\x00\x64\x39\x41\x0c\x74\x05" CALL),
	/* position-independent code that was linked into an executable */
	CODE(CHECK "\x48\xc7\xc1\xf0\xfd\xff\xff\x64\x66\x39\x41\x08\x74\x06\x90" CALL),
	CODE(CHECK16 "\x48\xc7\xc1\xf0\xfd\xff\xff\x64\x39\x41\x0c\x74\x05" CALL),
};

static const struct code not_sites[] = {
	/* another shadow address, another shift */
	CODE("\x48\x89\xf8\x48\xc1\xe8\x03\x0f\xb7\x04\x45\x00\x00\xff\x7f"
	     "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\x05" CALL),
	CODE("\x48\x89\xf8\x48\xc1\xe8\x04\x0f\xb7\x04\x45\x00\x80\xff\x7f"
	     "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\x05" CALL),
	/* a compare of the other size */
	CODE(CHECK "\x64\x39\x04\x25\xfc\xfd\xff\xff\x74\x05" CALL),
	/* no call, a jump back, a jump into the jump, a jump too far */
	CODE(CHECK "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\x05\x90\x90\x90\x90\x90"),
	CODE(CHECK "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\xfb" CALL),
	CODE(CHECK "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\x04" CALL),
	CODE(CHECK "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x74\x60"
	     "................................................................"
	     "..........................." CALL),
	/* not a short jump */
	CODE(CHECK "\x64\x66\x39\x04\x25\xf8\xfd\xff\xff\x0f\x84\x05\x00\x00\x00" CALL),
};

struct finds {
	size_t count, start[8], end[8];
};

static void note(void *context, size_t start, size_t end)
{
	struct finds *f = context;

	assert_true(f->count < ARRAY_SIZE(f->start));
	f->start[f->count] = start;
	f->end[f->count++] = end;
}

/* Scans a copy of exactly that size, so that ASan detects a read beyond it. */
static struct finds scan(const uint8_t *bytes, size_t size)
{
	uint8_t *text = xmalloc(size + !size);
	struct finds f = { 0 };
	size_t count;

	memcpy(text, bytes, size);
	count = sites_scan(text, size, note, &f);
	assert_int_equal(count, f.count);
	free(text);
	return f;
}

/* Each form at every alignment, at the start and the end of the code, and truncated. */
static void test_scan_forms(void **state)
{
	uint8_t text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		for (size_t before = 0; before < 40; before++) {
			size_t end = before + sites[i].size;
			struct finds f;

			memset(text, 0x48, sizeof(text));
			memcpy(text + before, sites[i].bytes, sites[i].size);
			for (size_t after = 0; after < 20; after++) {
				f = scan(text, end + after);
				assert_int_equal(f.count, 1);
				assert_int_equal(f.start[0], before);
				assert_int_equal(f.end[0], end);
			}
			for (size_t size = 0; size < end; size++)
				assert_int_equal(scan(text, size).count, 0);
		}
	}
}

static void test_scan_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(not_sites); i++) {
		uint8_t text[512] = { 0 };

		memcpy(text + 7, not_sites[i].bytes, not_sites[i].size);
		assert_int_equal(scan(text, sizeof(text)).count, 0);
	}
}

static void test_scan_many(void **state)
{
	uint8_t text[1024];
	size_t size = 0;
	struct finds f;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		memcpy(text + size, sites[i].bytes, sites[i].size);
		size += sites[i].size;
	}
	f = scan(text, size);
	assert_int_equal(f.count, ARRAY_SIZE(sites));
	assert_int_equal(f.start[0], 0);
	for (size_t i = 0; i < f.count; i++)
		assert_int_equal(f.end[i], i + 1 < f.count ? f.start[i + 1] : size);
}

/* The target of the jump over a site. */
static void test_jump_targets(void **state)
{
	uint8_t jump[SITES_JUMP_SIZE];

	(void)state;
	sites_jump(jump, 100, 129);
	assert_int_equal(jump[0], 0xeb);
	assert_int_equal(100 + sizeof(jump) + jump[1], 129);
	sites_jump(jump, 7, 7 + SITES_MAX_SIZE);
	assert_int_equal((int8_t)jump[1], SITES_MAX_SIZE - 2);
}

/* Only a jne or ja right before the site to the site's call is redirected to the site's end. */
static void test_jumps_into_a_site_are_redirected(void **state)
{
	static const struct {
		uint8_t jump, distance;
		bool changed;
	} cases[] = {
		{ 0x75, 35, true }, { 0x77, 35, true }, { 0x74, 35, false }, { 0xeb, 35, false },
		{ 0x75, 34, false }, { 0x75, 36, false }, { 0x75, 40, false }, { 0x75, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t text[64] = { [8] = cases[i].jump, [9] = cases[i].distance };
		uint8_t want[64];

		memcpy(want, text, sizeof(want));
		if (cases[i].changed)
			want[9] = 40;
		sites_skip_split(text, 10, 50);
		assert_memory_equal(text, want, sizeof(want));
		/* A site at the very start of the code. */
		memcpy(text, want, sizeof(want));
		sites_skip_split(text, 0, 40);
		sites_skip_split(text, 1, 41);
		assert_memory_equal(text, want, sizeof(want));
	}
}

#define NAMED "\x0f\x1f\x05"

/* Two loop ends at every alignment; nothing is read beyond the code. */
static void check_loops(size_t before, size_t size)
{
	static const char code[] =
		CALL NAMED "\x40\x01\0\0\xff\x15\x01\x02\x03\x04" NAMED "\xf0\xff\xff\xff";
	uint8_t bytes[128] = { 0 }, *text = xmalloc(size + !size);
	struct finds f = { 0 };
	size_t found;

	memset(bytes, 0x90, before);
	memcpy(bytes + before, code, sizeof(code) - 1);
	memcpy(text, bytes, size);
	found = sites_scan_loops(text, size, note, &f);
	assert_int_equal(found, f.count);
	/* None is found in the first two bytes and the last few. */
	assert_true(found <= 2 &&
		    (before < 2 || found >= (size >= before + 24) + (size_t)(size >= before + 37)));
	for (size_t i = 0; i < found; i++) {
		bool first = f.start[i] == before;

		assert_true(first || f.start[i] == before + 12);
		assert_true(f.end[i] == before + (first ? 12 + 0x140 : 25 - 16));
	}
	free(text);
}

static void test_scan_loops(void **state)
{
	static const struct code others[] = {
		CODE("\x90\x01\x02\x03\x04\x0f\x1f\x05\x10\0\0\0"),	/* no call */
		CODE("\xff\x25\x01\x02\x03\x04\x0f\x1f\x05\x10\0\0\0"),	/* a jump */
		CODE(CALL "\x0f\x1f\x04\x10\0\0\0"),			/* another nop */
		CODE(CALL "\x0e\x1f\x05\x10\0\0\0"),
		/* not just behind */
		CODE(CALL "\x90\x0f\x1f\x05\x10\0\0\0"),
	};

	(void)state;
	for (size_t before = 0; before < 40; before++)
		for (size_t size = 0; size < 100; size++)
			check_loops(before, size);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		uint8_t text[64] = { 0 };
		struct finds f = { 0 };

		memcpy(text + 3, others[i].bytes, others[i].size);
		assert_int_equal(sites_scan_loops(text, sizeof(text), note, &f), 0);
	}
}

/* A loop end that begins with a prefix is found without looking for a call before it. */
static void test_scan_ends(void **state)
{
	static const char code[] = "\x90\x90\x90\xe8\x01\x02\x03\x66" NAMED "\x10\0\0\0";
	uint8_t text[64] = { 0 }, *end = text + 7;
	struct finds f = { 0 };

	(void)state;
	memcpy(text, code, sizeof(code) - 1);
	assert_int_equal(sites_scan_loops(text, sizeof(text), note, &f), 1);
	assert_int_equal(f.start[0], 7);
	assert_int_equal(text[f.start[0]], SITES_PREFIX);
	assert_int_equal(f.end[0], 15 + 16);
	sites_go(end, text + 40);
	assert_memory_equal(end, "\xe9\x1c\0\0\0", 5);
}

/* Every byte e8 with four bytes behind it is a call, forwards or backwards. */
static void test_scan_calls(void **state)
{
	static const char code[] = "\x90" CALL "\xe8\xe8\xff\xff\xff\x90\xe8\0\0\0";

	(void)state;
	for (size_t size = 0; size < sizeof(code); size++) {
		uint8_t *text = xmalloc(size + !size);
		size_t wanted = (size >= 6) + (size_t)(size >= 11) + (size_t)(size >= 12);
		struct finds f = { 0 };

		memcpy(text, code, size);
		assert_int_equal(sites_scan_calls(text, size, note, &f), wanted);
		assert_int_equal(f.count, wanted);
		assert_true(!wanted || (f.start[0] == 1 && f.end[0] == 6 + 0x04030201));
		assert_true(wanted < 2 || (f.start[1] == 6 && f.end[1] == 11 - (size_t)24));
		assert_true(wanted < 3 ||
			    (f.start[2] == 7 && f.end[2] == 12 + (size_t)(int32_t)0x90ffffff));
		free(text);
	}
}

/* Nops of the calls' lengths. */
static void test_nops_replace_calls(void **state)
{
	uint8_t near[] = { 0xe8, 1, 2, 3, 4, 5 }, far[] = { 0xff, 0x15, 1, 2, 3, 4, 5 };

	(void)state;
	sites_no_call(near);
	assert_memory_equal(near, "\x0f\x1f\x44\0\0\x05", sizeof(near));
	sites_no_call(far);
	assert_memory_equal(far, "\x66\x0f\x1f\x44\0\0\x05", sizeof(far));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_trace),
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_rarely_touched),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_long_id),
		cmocka_unit_test(test_cut_list),
		cmocka_unit_test(test_scan_forms),
		cmocka_unit_test(test_scan_others),
		cmocka_unit_test(test_scan_many),
		cmocka_unit_test(test_jump_targets),
		cmocka_unit_test(test_jumps_into_a_site_are_redirected),
		cmocka_unit_test(test_scan_loops),
		cmocka_unit_test(test_scan_ends),
		cmocka_unit_test(test_scan_calls),
		cmocka_unit_test(test_nops_replace_calls),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
