/*
 * quiet: which memory nobody but its user gives back, by hand and against all pairs of events.
 */
#include "analyze_util.h"

#include "analyze/quiet.h"

#define BASE 0x10000u
#define BYTES 64u

static struct alone *look(struct reader *r)
{
	struct alone *a = alone_new(r);

	quiet_look(a, r);
	alone_forget_users(a);
	return a;
}

/* What becomes of 0x10000:8. */
static void assert_quiet(bool expected, const char *text)
{
	struct reader *r = open_text(text);
	struct alone *a = look(r);
	struct event ev, first;
	struct err err;

	if (quiet_has(a, &(struct event){ .addr = BASE, .size = 8 }) != expected)
		fail_msg("%s%s", expected ? "not quiet:\n" : "quiet:\n", text);
	/* The reader is at its first event. */
	assert_int_equal(reader_next(r, &ev, &err), 1);
	reader_rewind(r, &err);
	assert_int_equal(reader_next(r, &first, &err), 1);
	assert_same_event(&ev, &first);
	alone_free(a);
	reader_close(r);
}

#define TWO "0 create 0.1\n0 create 0.2\n"
#define USE "0.1 read 0x10000:8\n0.1 write 0x10004:4\n"

static void test_by_hand(void **state)
{
	(void)state;
	assert_quiet(true, TWO USE);
	assert_quiet(false, TWO USE "0.2 read 0x10000:4\n");
	assert_quiet(true, TWO "0 malloc 0x10000 8\n" USE "0.1 free 0x10000\n");
	assert_quiet(false, TWO "0 malloc 0x10000 8\n" USE "0.2 free 0x10000\n");
	assert_quiet(false, TWO "0 malloc 0xfff0 24\n" USE "0.2 free 0xfff0\n");
	assert_quiet(true, TWO "0 malloc 0xfff0 16\n" USE "0.2 free 0xfff0\n");
	/* Before its use, in another life, or what was given back already. */
	assert_quiet(false, TWO "0 malloc 0x10000 8\n0.2 free 0x10000\n" USE);
	assert_quiet(true, TWO "0 malloc 0x10000 8\n0.1 free 0x10000\n" USE "0.2 free 0x10000\n");
	assert_quiet(true, TWO "0 malloc 0x10000 8\n" USE "0.2 free 0x10008\n");
	/* All may read what nobody writes or gives back. */
	assert_quiet(true, TWO "0.1 read 0x10000:8\n0.2 read 0x10000:8\n");
	assert_quiet(false, TWO "0 malloc 0x10000 8\n0.1 read 0x10000:8\n0.2 read 0x10000:8\n0.1 free 0x10000\n");
	assert_quiet(true, TWO USE "0.1 munmap 0x10000 4096\n");
	assert_quiet(false, TWO USE "0.2 munmap 0 0x100000000000\n");
	assert_quiet(true, TWO USE "0.2 munmap 0x10000 4096 =EINVAL\n");
	/* Stacks. */
	assert_quiet(true, "0 create 0.1\n0.1 start stack=0x10000-0x11000\n" USE "0.1 end\n");
	assert_quiet(false, "0 create 0.1\n0.1 start stack=0x10000-0x11000\n0 write 0x10000:8\n0.1 end\n");
}

/* Of each granule who used and gave it back. */
struct slow {
	bool used[BYTES / 8][4], given[BYTES / 8][4], written[BYTES / 8];
};

static bool slow_quiet(const struct slow *s, unsigned g)
{
	unsigned users = 0;

	for (unsigned t = 1; t < 4; t++) {
		users += s->used[g][t];
		for (unsigned by = 1; by < 4; by++)
			if (by != t && s->used[g][t] && s->given[g][by])
				return false;
	}
	for (unsigned by = 1; by < 4 && users > 1; by++)
		if (s->given[g][by])
			return false;
	return users < 2 || !s->written[g];
}

static void random_event(struct buf *b, struct slow *s, uint64_t *seed)
{
	unsigned from = (unsigned)(test_random(seed) % BYTES), size = 1u << test_random(seed) % 4;
	unsigned thread = 1 + (unsigned)(test_random(seed) % 3), what = (unsigned)(test_random(seed) % 16);

	if (from + size > BYTES)
		from = BYTES - size;
	if (what == 0)
		buf_addf(b, "0.%u munmap 0x%x %u\n", thread, BASE + from, size);
	else
		buf_addf(b, "0.%u %s 0x%x:%u\n", thread, what == 1 ? "write" : "read", BASE + from, size);
	for (unsigned g = from / 8; g <= (from + size - 1) / 8; g++) {
		(what ? s->used : s->given)[g][thread] = true;
		s->written[g] |= what == 1;
	}
}

static void test_random_traces(void **state)
{
	uint64_t seed = 99;
	size_t quiet = 0;

	(void)state;
	for (unsigned run = 0; run < 500; run++) {
		struct slow s = { 0 };
		struct buf b = { 0 };
		struct reader *r;
		struct alone *a;

		buf_add_text(&b, "0 create 0.1\n0 create 0.2\n0 create 0.3\n");
		for (unsigned i = 0; i < 20; i++)
			random_event(&b, &s, &seed);
		buf_string(&b);
		r = open_text((const char *)b.data);
		a = look(r);
		for (unsigned g = 0; g < BYTES / 8; g++) {
			struct event ev = { .addr = BASE + 8 * g, .size = 8 };

			if (quiet_has(a, &ev) != slow_quiet(&s, g))
				fail_msg("granule %u of\n%s", g, (const char *)b.data);
			quiet += quiet_has(a, &ev);
		}
		alone_free(a);
		reader_close(r);
		buf_free(&b);
	}
	assert_in_range(quiet, 500, 3500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
