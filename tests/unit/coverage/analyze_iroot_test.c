/*
 * iRoots of text traces: "1x a b" was exposed, "1p a b" predicted, "1xp a b" both; sorted.
 */
#include "analyze_util.h"

#include "reference/iroots_of_trace.h"

#define MEMORY (4u << 20)

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void iroots(const char *text, const char *expected)
{
	void *memory = xcalloc(1, MEMORY);
	struct iroot_profile *p = iroot_profile_init(memory, MEMORY, IROOT_WINDOW);
	struct buf b = { 0 }, got = { 0 };
	uint32_t cursor = 0, flags;
	struct err err = { "" };
	struct reader *r;
	struct iroot root;
	char *lines[64];
	size_t count = 0;

	buf_addf(&b, "snarl-text 1\n%s", text);
	save(test_path("iroots"), b.data, b.size);
	buf_free(&b);
	r = reader_open(test_path("iroots"), &err);
	if (!r || iroot_trace(r, p, &err) < 0)
		fail_msg("%s", err.text);
	while ((flags = iroot_profile_next(p, &cursor, &root))) {
		buf_addf(&b, "%u%s%s", (unsigned)root.idiom, flags & IROOT_EXPOSED ? "x" : "",
			 flags & IROOT_PREDICTED ? "p" : "");
		for (unsigned i = 0; i < IROOT_EVENTS && (i < 2 || root.event[i].site); i++)
			buf_addf(&b, " %s", label_of(r, root.event[i].site));
		assert_true(count < 64);
		lines[count++] = xstrdup(buf_string(&b));
		buf_clear(&b);
	}
	qsort(lines, count, sizeof(*lines), by_text);
	for (size_t i = 0; i < count; i++) {
		buf_addf(&got, "%s\n", lines[i]);
		free(lines[i]);
	}
	assert_string_equal(buf_string(&got), expected);
	buf_free(&b);
	buf_free(&got);
	reader_close(r);
	free(memory);
}

static void test_idioms(void **state)
{
	(void)state;
	iroots("0 create 0.1\n0 write x @a\n0.1 read x @b\n", "1p b a\n1xp a b\n");
	/* A lost update. */
	iroots("0 create 0.1\n0 read x @a\n0.1 write x @b\n0 write x @c\n",
	       "1p b a\n1p c b\n1xp a b\n1xp b c\n2xp a b c\n");
	iroots("0 create 0.1\n0 write x @a\n0.1 read x @b\n0.1 write x @c\n0 read x @d\n",
	       "1p a c\n1p b a\n1p c a\n1p d c\n1xp a b\n1xp c d\n2p a c d\n2p b a c\n3p b a d c\n"
	       "3xp a b c d\n");
}

/* Creation, join and conditions order in all runs; a mutex only in this one. */
static void test_order(void **state)
{
	(void)state;
	iroots("0 write x @a\n0 create 0.1\n0.1 write x @b\n0.1 end\n0 join 0.1\n0 write x @c\n",
	       "1xp a b\n1xp b c\n2xp a b c\n");
	iroots("0 create 0.1\n0 write x @a\n0 sem-post s\n0.1 sem-wait s\n0.1 write x @b\n",
	       "1xp a b\n");
	iroots("0 create 0.1\n0 lock m @l\n0 write x @a\n0 unlock m @u\n0.1 lock m @k\n"
	       "0.1 write x @b\n"
	       "0.1 unlock m @v\n",
	       "1p b a\n1p v l\n1xp a b\n1xp u k\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idioms),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
