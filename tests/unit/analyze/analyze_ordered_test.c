/*
 * Ordered memory, in small traces and against a reference that compares all pairs of accesses
 * (reference/handed_off.h).
 */
#include "analyze_util.h"

#include "analyze/context/track.h"
#include "analyze/relevance/ordered.h"
#include "trace/write/writer.h"
#include "reference/handed_off.h"

static struct unshared *find_ordered(struct reader *r)
{
	struct unshared *a = unshared_new(r);

	ordered_prescan(a, r);
	return a;
}

/* Whether 0x10000:8 is ordered. */
static void assert_ordered(bool expected, const char *text)
{
	struct reader *r = open_text(text);
	struct unshared *a = find_ordered(r);
	struct event ev, first;
	struct err err;

	if (unshared_all_clear(a, a->unordered, &(struct event){ .addr = 0x10000, .size = 8 }) !=
	    expected)
		fail_msg("%s%s", expected ? "not ordered:\n" : "ordered:\n", text);
	/* The reader is at its first event. */
	assert_int_equal(reader_next(r, &ev, &err), 1);
	reader_rewind(r, &err);
	assert_int_equal(reader_next(r, &first, &err), 1);
	assert_same_event(&ev, &first);
	unshared_free(a);
	reader_close(r);
}

#define ONLY_TWO "0 create 0.1\n0 create 0.2\n"
#define TWO "0 read 0x10000:8\n0 read 0x10000:8\n" ONLY_TWO	/* one thread accesses it twice */

static void test_small_traces(void **state)
{
	(void)state;
	assert_ordered(
		true,
		TWO "0.1 write 0x10000:8\n0.1 sem-post s\n0.2 sem-wait s\n0.2 write 0x10000:8\n");
	assert_ordered(
		false, TWO
		"0.1 write 0x10000:8\n0.1 lock m\n0.1 unlock m\n0.2 lock m\n0.2 write 0x10000:8\n");
	assert_ordered(false, TWO "0.1 write 0x10000:8\n0.1 atomic-store f 1 release\n"
			      "0.2 atomic-load f 1 acquire\n0.2 read 0x10000:8\n");
	/* A semaphore used as a lock orders nothing; one posted by another thread does. */
	assert_ordered(false,
		       TWO "0 sem-init s 1\n0.1 sem-wait s\n0.1 write 0x10000:8\n0.1 sem-post s\n"
			   "0.2 sem-wait s\n0.2 write 0x10000:8\n0.2 sem-post s\n");
	assert_ordered(true,
		       TWO "0 sem-init s 1\n0.2 sem-wait s\n0.1 write 0x10000:8\n0.1 sem-post s\n"
			   "0.2 sem-wait s\n0.2 write 0x10000:8\n");
	/* Two unordered reads, and a write after both or after one of them. */
	assert_ordered(true, TWO
		       "0.1 read 0x10000:8\n0.2 read 0x10000:8\n0.1 sem-post s\n0.2 sem-post s\n"
		       "0 sem-wait s\n0 write 0x10000:8\n");
	assert_ordered(false, TWO "0.1 read 0x10000:8\n0.2 read 0x10000:8\n0.1 sem-post s\n"
			      "0 sem-wait s\n0 write 0x10000:8\n");
	assert_ordered(false, TWO "0.1 read 0x10000:8\n0.2 read 0x10000:8\n0.2 sem-post s\n"
			      "0 sem-wait s\n0 write 0x10000:8\n");
	/* Different bytes of one granule. */
	assert_ordered(false, TWO "0.1 write 0x10000:1\n0.2 write 0x10007:1\n");
	/* Ordered after the first write only: granule y of the example in ordered.h. */
	assert_ordered(false, TWO
		       "0.1 write 0x10000:8\n0.1 sem-post s\n0.1 write 0x10000:8\n0.2 sem-wait s\n"
		       "0.2 read 0x10000:8\n");
	/* Reallocated memory begins a new life. It is unordered if any of its lives is. */
	assert_ordered(true, TWO "0 malloc 0x10000 64\n0.1 write 0x10000:8\n0.1 free 0x10000\n"
			     "0.2 malloc 0x10000 64\n0.2 write 0x10000:8\n");
	assert_ordered(false, TWO "0 malloc 0x10000 64\n0.1 write 0x10000:8\n0.2 write 0x10000:8\n"
			      "0.1 free 0x10000\n0.2 malloc 0x10000 64\n0.2 write 0x10000:8\n");
}

/* Memory that no thread accesses twice in one life is ordered. */
static void test_once(void **state)
{
	(void)state;
	assert_ordered(true,
		       ONLY_TWO "0.1 write 0x10000:8\n0.2 read 0x10000:8\n0 write 0x10000:8\n");
	assert_ordered(false,
		       ONLY_TWO "0.1 write 0x10000:8\n0.2 read 0x10000:8\n0.1 write 0x10000:8\n");
	assert_ordered(false,
		       ONLY_TWO "0.1 write 0x10000:8\n0.2 read 0x10000:8\n0.2 write 0x10000:8\n");
	assert_ordered(false,
		       ONLY_TWO "0.1 write 0x10000:8\n0.1 write 0x10004:2\n0.2 read 0x10000:8\n");
	assert_ordered(
		true, ONLY_TWO
		"0 malloc 0x10000 64\n0.1 write 0x10000:8\n0.2 read 0x10000:8\n0.2 free 0x10000\n"
		"0 malloc 0x10000 16\n0.1 write 0x10000:8\n0.2 read 0x10000:8\n"
		"0.2 free 0x10000\n");
	assert_ordered(
		false, ONLY_TWO
		"0 malloc 0x10000 64\n0.1 write 0x10000:8\n0.2 read 0x10000:8\n0.2 free 0x10000\n"
		"0 malloc 0x10040 16\n0.1 write 0x10000:8\n0.2 read 0x10000:8\n"
		"0.1 read 0x10000:8\n");
	/* Another thread with the same bit in granule.users. */
	assert_ordered(
		false, ONLY_TWO
		"0.2 write 0x10000:8\n0 create 0.3\n0 create 0.4\n0 create 0.5\n0 create 0.6\n"
		"0 create 0.7\n0 create 0.8\n0 create 0.9\n0 create 0.10\n"
		"0.10 write 0x10000:8\n");
}

/* More unordered reads than are kept: the granule counts as unordered. */
static void test_readers(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (unsigned readers = 15; readers <= 16; readers++) {
		for (unsigned i = 1; i <= readers; i++)
			buf_addf(&b, "0 create 0.%u\n", i);
		for (unsigned turn = 0; turn < 2; turn++)
			for (unsigned i = 1; i <= readers; i++)
				buf_addf(&b, "0.%u read 0x10000:8\n", i);
		for (unsigned i = 1; i <= readers; i++)
			buf_addf(&b, "0.%u end\n0 join 0.%u\n", i, i);
		buf_add_text(&b, "0 write 0x10000:8\n");
		buf_string(&b);
		assert_ordered(readers == 15, (const char *)b.data);
		buf_clear(&b);
	}
	buf_free(&b);
}

/* The pass gives up if too few accesses go to ordered memory. */
static void test_gives_up(void **state)
{
	(void)state;
	for (unsigned ordered = 0; ordered < 2; ordered++) {
		struct buf b = { 0 };

		buf_add_text(&b, TWO);
		for (unsigned i = 0; i < 60000; i++)
			if (ordered && i % 2)
				buf_addf(&b, "0.2 write 0x%x:8\n", 0x20000 + i % 800 * 8);
			else
				buf_addf(&b, "0.%u write 0x%x:8\n", 1 + i / 2 % 2,
					 0x60000 + i / 8 % 8 * 8);
		buf_add_text(&b, "0.2 sem-post s\n0.1 sem-wait s\n0.1 write-range 0x20000 8192\n"
				 "0.2 write 0x10000:8\n0.2 sem-post s\n0.1 sem-wait s\n"
				 "0.1 write 0x10000:8\n");
		buf_string(&b);
		assert_ordered(ordered, (const char *)b.data);
		buf_free(&b);
	}
}

/* A second thread comes only at the end, with few accesses, but to all memory in use. */
static void test_late(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_add_text(&b, TWO);
	for (unsigned i = 0; i < 60000; i++)
		buf_addf(&b, "0.1 write 0x%x:8\n", 0x10000 + i % 800 * 8);
	buf_add_text(&b, "0.1 end\n0 join 0.1\n");
	for (unsigned i = 0; i < 800; i++)
		buf_addf(&b, "0 read 0x%x:8\n", 0x10000 + i * 8);
	buf_string(&b);
	assert_ordered(true, (const char *)b.data);
	buf_free(&b);
}

/* Most accesses go to one handed-off granule of a page; the others are only read. */
static void test_few(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_add_text(&b, TWO);
	for (unsigned i = 0; i < 15000; i++) {
		unsigned thread = 1 + i % 2;

		buf_addf(&b, "0.%u write 0x10000:8\n0.%u read 0x%x:8\n", thread, thread,
			 0x10008 + i % 400 * 8);
		buf_addf(&b, "0.%u sem-post s%u\n0.%u sem-wait s%u\n", thread, thread, 3 - thread,
			 thread);
	}
	buf_string(&b);
	assert_ordered(true, (const char *)b.data);
	buf_free(&b);
}

/* The counts of the whole trace, and the number of the last relevant event. */
static void assert_counts(struct reader *r, const struct unshared *a)
{
	uint64_t events = 0, accesses = 0, last = 0;
	struct event ev;
	struct err err;

	while (reader_next(r, &ev, &err) > 0) {
		unsigned how = access_of(ev.kind);

		events++;
		accesses += how > 0;
		if (how & ACCESS_ATOMIC || (how && !unshared_all_clear(a, a->unordered, &ev)))
			last = events;
	}
	assert_int_equal(a->events, events);
	assert_int_equal(a->accesses, accesses);
	assert_int_equal(a->last_relevant, last);
}

/* An analysis that stops at the last relevant event has the same statistics as others. */
static void assert_same_stats(struct reader *r)
{
	const struct analysis *const one[] = { &analysis_atomicity, NULL }, *const other[] = {
		&analysis_deadlock, NULL
	};
	struct analysis_stats got, expected;
	struct err err;

	for (unsigned i = 0; i < 2; i++) {
		struct findings *found = findings_new();
		struct analysis_context ctx;

		analysis_context_init(&ctx);
		assert_int_equal(
			analysis_run(r, i ? other : one, &ctx, found, i ? &expected : &got, &err),
			0);
		findings_free(found);
		analysis_context_free(&ctx);
	}
	assert_int_equal(got.events, expected.events);
	assert_int_equal(got.accesses, expected.accesses);
}

static size_t assert_as_reference(const char *path)
{
	struct past_accesses *u = xcalloc(1, sizeof(*u));
	struct err err = { "" };
	struct reader *r = reader_open(path, &err);
	struct analysis_context ctx;
	struct track track;
	struct event ev;
	struct unshared *a;
	size_t unordered = 0;

	assert_non_null(r);
	analysis_context_init(&ctx);
	ctx.reader = r;
	track_init(&track, &ctx);
	while (reader_next(r, &ev, &err) > 0) {
		see_slowly(u, &ev, track_before(&track, &ev));
		track_after(&track, &ev);
	}
	reader_rewind(r, &err);
	a = find_ordered(r);
	for (unsigned g = 0; g < GRANULES; g++) {
		bool expected = u->unordered[g] && u->twice[g];

		unordered += expected;
		if (u->used[g] && unshared_is_clear(a, a->unordered, BASE / 8 + g) == expected)
			fail_msg("granule %u is%s unordered", g, expected ? "" : " not");
	}
	if (a->unordered != a->shared)
		assert_counts(r, a);
	unshared_free(a);
	assert_same_stats(r);
	track_free(&track);
	analysis_context_free(&ctx);
	reader_close(r);
	free(u->at);
	free(u);
	return unordered;
}

/* Adds a random event. Most accesses are by the thread that owns the granule at that time. */
static void add_random(struct buf *b, uint64_t *random, uint32_t owner[GRANULES])
{
	unsigned pick = test_random(random) % 64, thread = test_random(random) % 5;
	unsigned g = test_random(random) % (GRANULES - 8), object = test_random(random) % 4;
	static const char *const names[] = { "0", "0.1", "0.2", "0.3", "0.4" };

	if (pick < 3)
		buf_addf(b, "%s sem-post s%u\n", names[thread], object);
	else if (pick < 6)
		buf_addf(b, "%s sem-wait s%u\n", names[thread], object);
	else if (pick < 8)
		buf_addf(b, "%s lock m%u\n%s unlock m%u\n", names[thread], object, names[thread],
			 object);
	else if (pick < 9)
		buf_addf(b, "%s atomic-add f%u 1 acq_rel\n", names[thread], object);
	else if (pick < 10 && object == 0)
		buf_addf(b, "%s atomic-xchg l 0 acquire\n%s atomic-store l 0 release\n",
			 names[thread], names[thread]);
	else if (pick < 10)
		buf_addf(b, "%s malloc 0x%x %u\n", names[thread], BASE + g * 8 + 4, 8 * pick);
	else if (pick < 11)
		buf_addf(b, "%s munmap 0x%x 64\n", names[thread], BASE + g * 8);
	else if (pick < 12)
		buf_addf(b, "%s write-range 0x%x 48\n", names[owner[g]], BASE + g * 8 + 3);
	else
		buf_addf(b, "%s %s 0x%x:8\n", names[pick < 14 ? thread : owner[g]],
			 pick % 3 ? "read" : "write", BASE + g * 8);
	if (pick < 6)
		for (unsigned i = 0; i < GRANULES; i++)
			owner[i] = (i + test_random(random) % 2) % 5;
}

static void test_random_traces(void **state)
{
	size_t unordered = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15ull;
		uint32_t owner[GRANULES] = { 0 };
		struct err err = { "" };
		struct buf b = { 0 };
		struct reader *r;

		buf_add_text(&b, "0 create 0.1\n0 create 0.2\n0 create 0.3\n0 create 0.4\n"
				 "0 sem-init s3 1\n");
		for (unsigned i = 0; i < 3000; i++)
			add_random(&b, &random, owner);
		for (unsigned i = 0; seed % 2 && i < 300; i++)
			buf_addf(&b, "0 read 0x%x:8\n0 lock m1\n0 unlock m1\n",
				 BASE + GRANULES * 8 + i);
		buf_string(&b);
		r = open_text((const char *)b.data);
		unordered += assert_as_reference(test_path("analyzed"));
		assert_int_equal(writer_copy(r, test_path("binary"), TRACE_TOTAL_ORDER, &err), 0);
		assert_as_reference(test_path("binary"));
		reader_close(r);
		buf_free(&b);
	}
	/* Of 60 times 1100, some and not all. */
	assert_in_range(unordered, 6000, 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_traces),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
