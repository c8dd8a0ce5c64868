/*
 * What the driver shows to analyses: an analysis of the test's own notes its views.
 */
#include "analyze/context/track.h"
#include "analyze_util.h"

static struct buf seen;

static void *open_spy(const struct analysis_context *ctx)
{
	buf_clear(&seen);
	return (void *)(uintptr_t)ctx;
}

/* One line for each event that has a label: "a: held… block stack clocks". */
static void spy_event(void *state, const struct event *ev, const struct view *view,
		      struct findings *out)
{
	const struct analysis_context *ctx = state;
	const char *label = label_of(ctx->reader, ev->pc);
	struct locks_held held;

	(void)out;
	if (*label == '?')
		return;
	buf_addf(&seen, "%s:", label);
	for (size_t i = 0; i < locks_count(ctx->locks, view->lockset); i++) {
		char key[40];

		locks_at(ctx->locks, view->lockset, i, &held);
		snprintf(key, sizeof(key), "object:0x%llx", (unsigned long long)held.lock);
		buf_addf(&seen, " %s%s@%llu", reader_meta(ctx->reader, key, 0),
			 held.shared ? "(r)" : "", (unsigned long long)view->acquired[i].index);
	}
	if (view->gone_size)
		buf_addf(&seen, " gone %llu", (unsigned long long)view->gone_size);
	if (view->ignore)
		buf_addf(&seen, " ignore %u", view->ignore);
	if (view->block)
		buf_addf(&seen, " in %u of %u", view->block, view->activation_count);
	buf_add_char(&seen, '\n');
}

static void spy_close(void *state)
{
	(void)state;
}

static const struct analysis spy = {
	.name = "spy", .open = open_spy, .event = spy_event,
	.close = spy_close,
};

static void views(const char *text, const char *expected)
{
	struct analyzed x;

	analyze(&x, text, &spy);
	assert_string_equal(buf_string(&seen), expected);
	analyzed_free(&x);
}

static void test_locksets(void **state)
{
	(void)state;
	/* The locksets of a lock event and of an unlock event contain the lock. */
	views("0 lock m @a\n0 lock n @b\n0 unlock m @c\n0 read x @d\n0 unlock n @e\n0 read x @f\n",
	      "a: m@0\nb: m@0 n@1\nc: m@0 n@1\nd: n@1\ne: n@1\nf:\n");
	/* Acquisitions that failed, and releases that failed. */
	views("0 trylock m =EBUSY @a\n0 lock n =EOWNERDEAD @b\n0 unlock n @c\n"
	      "0 unlock n =EPERM @d\n"
	      "0 read x @e\n",
	      "a:\nb: n@1\nc: n@1\nd: n@1\ne: n@1\n");
	views("0 unlock n @c\n0 unlock n =EPERM @d\n0 read x @e\n", "c:\nd:\ne:\n");
	/* A recursive lock is held until it was released as often as acquired. */
	views("0 lock m\n0 lock m\n0 unlock m\n0 read x @a\n0 unlock m\n0 read x @b\n",
	      "a: m@0\nb:\n");
	views("0 rdlock m\n0 read x @a\n0 rwunlock m\n0 wrlock m\n0 read x @b\n",
	      "a: m(r)@0\nb: m@3\n");
	/* A wait releases the mutex; waking, also by timeout, reacquires it. */
	views("0 lock m\n0 cond-wait c m @a\n0 cond-wake c m =ETIMEDOUT @b\n0 read x @c\n",
	      "a: m@0\nb: m@2\nc: m@2\n");
	/* Unlocked by another thread. */
	views("0 create 0.1\n0 lock m\n0.1 unlock m\n0 read x @a\n", "a:\n");
}

static void test_blocks(void **state)
{
	(void)state;
	views("0 read x @a\n0 enter @f\n0 read x @b\n0 enter @g\n0 read x @c\n0 exit @h\n"
	      "0 read x @d\n"
	      "0 exit @i\n0 read x @e\n",
	      "a:\nf: in 1 of 1\nb: in 1 of 1\ng: in 2 of 2\nc: in 2 of 2\nh: in 2 of 2\n"
	      "d: in 1 of 1\n"
	      "i: in 1 of 1\ne:\n");
	/* A user block spans the calls within it. */
	views("0 enter @f\n0 block-begin\n0 read x @a\n0 enter @g\n0 read x @b\n0 exit @h\n"
	      "0 block-end\n"
	      "0 read x @c\n",
	      "f: in 1 of 1\na: in 2 of 1\ng: in 2 of 2\nb: in 2 of 2\nh: in 2 of 2\n"
	      "c: in 1 of 1\n");
	/* A longjmp ends the activations that it leaves. */
	views("0 enter @f\n0 read x @a\n0 enter @g\n0 read x @b\n0 longjmp arg=1 @j\n0 read x @c\n",
	      "f: in 1 of 1\na: in 1 of 1\ng: in 2 of 2\nb: in 2 of 2\nj: in 2 of 2\n"
	      "c: in 1 of 1\n");
}

static void test_memory(void **state)
{
	(void)state;
	views("0 malloc p 100 @a\n0 free p @b\n0 free p @c\n0 mmap q 4096 @d\n0 munmap q 4096 @e\n"
	      "0 read x @f\n",
	      "a: gone 100\nb: gone 100\nc:\nd: gone 4096\ne: gone 4096\nf:\n");
	views("0 create 0.1\n0.1 start stack=0x1000-0x3000 @a\n0.1 end @b\n",
	      "a: gone 8192\nb: gone 8192\n");
}

static void test_annotations(void **state)
{
	(void)state;
	views("0 ignore-begin detail=1 @a\n0 ignore-begin detail=3 @b\n0 ignore-end detail=1 @c\n"
	      "0 read x @d\n0 ignore-end detail=3 @e\n0 read x @f\n",
	      "a: ignore 1\nb: ignore 3\nc: ignore 3\nd: ignore 3\ne: ignore 3\nf:\n");
	views("0 benign x 8 @a\n0 read x+4:4 @b\n0 read x+6:4 @c\n0 read x @d\n0 malloc x 64 @e\n"
	      "0 read x @f\n",
	      "a:\nb: ignore 3\nc:\nd: ignore 3\ne: gone 64\nf:\n");
	/* Without a size: an access that begins there, unless it is larger than a scalar. */
	views("0 benign x 1 @a\n0 read x:4 @b\n0 read x:16 @c\n0 read-range x:17 @d\n"
	      "0 read x+1:1 @e\n",
	      "a:\nb: ignore 3\nc: ignore 3\nd:\ne:\n");
}

/* Levels of order: by locks only, by atomics, and strong. */
static uint32_t levels;

static void levels_event(void *state, const struct event *ev, const struct view *view,
			 struct findings *out)
{
	const struct analysis_context *ctx = state;

	(void)out;
	if (*label_of(ctx->reader, ev->pc) != 'z')
		return;
	/* Which clocks have seen the first epoch of the first thread. */
	levels = vclock_saw(view->strong, 1, 1) | vclock_saw(view->order, 1, 1) << 1 |
		 vclock_saw(view->full, 1, 1) << 2;
}

static const struct analysis level_spy = {
	.name = "levels", .open = open_spy, .event = levels_event,
	.close = spy_close, .asks_full = true,
};

static void level(uint32_t expected, const char *text)
{
	struct analyzed x;

	analyze(&x, text, &level_spy);
	assert_int_equal(levels, expected);
	analyzed_free(&x);
}

static void test_levels(void **state)
{
	(void)state;
	level(0, "0 read x\n0.1 read x @z\n");
	level(4, "0 lock m\n0 unlock m\n0.1 lock m @z\n");
	level(6, "0 atomic-store f release\n0.1 atomic-load f acquire @z\n");
	/* A counter that both threads step, and the drop of the last reference. */
	level(4, "0 atomic-add n 7\n0.1 atomic-add n 8 @z\n");
	level(4, "0 atomic-add n 7\n0.1 atomic-add n 8 relaxed\n0.1 fence acquire @z\n");
	level(6, "0 atomic-store p 0x1234\n0.1 atomic-xchg p 0x1234 @z\n");
	level(6, "0 atomic-sub n 2\n0.1 atomic-sub n 1 @z\n");
	level(7, "0 sem-post s\n0.1 sem-wait s @z\n");
	level(4, "0 sem-init s 1\n0 sem-wait s\n0 sem-post s\n0.1 sem-wait s @z\n");
	level(7, "0 sem-init s 1\n0 sem-post s\n0.1 sem-wait s @z\n");
	level(7, "0 create 0.1\n0.1 read x @z\n");
	level(7, "0.1 start @z\n");	/* the trace has it before its creation */
	level(7, "0 end\n0.1 join 0 @z\n");
	level(0, "0 end\n0.1 join 0 =EINVAL @z\n");
	/* A thread that leaves the first round late does not see the second round. */
	level(0, "0.1 barrier-init b 2\n0.1 barrier-enter b\n0.2 barrier-enter b\n"
		 "0.2 barrier-leave b\n"
		 "0 barrier-enter b\n0.1 barrier-leave b @z\n");
	/* Objects that are initialised again or lie in freed memory forget their clocks. */
	level(0, "0 lock m\n0 unlock m\n0.1 mutex-init m\n0.1 lock m @z\n");
	level(0, "0.1 malloc m 64\n0 lock m\n0 unlock m\n0.1 free m\n0.1 lock m @z\n");
}

/*
 * Events as the spy sees them: label, index, time, and whether memory is unshared or else ordered.
 */
static struct buf seen;

static void relevance_event(void *state, const struct event *ev, const struct view *view,
			struct findings *out)
{
	const struct analysis_context *ctx = state;

	(void)out;
	buf_addf(&seen, "%s %llu t%llu%s\n", label_of(ctx->reader, ev->pc),
		 (unsigned long long)view->index, (unsigned long long)ev->time,
		 view->unshared ? " unshared" : view->ordered ? " ordered" : "");
}

static const struct analysis relevance_spy = {
	.name = "relevance", .open = open_spy, .event = relevance_event,
	.close = spy_close, .asks_unshared = true, .skips_ordered = true,
};

static const struct analysis skip_spy = {
	.name = "skip", .open = open_spy, .event = levels_event,
	.close = spy_close, .asks_unshared = true, .skips_unshared = true,
};

static const struct analysis other_spy = {
	.name = "other", .open = open_spy, .event = levels_event,
	.close = spy_close,
};

static void test_relevance(void **state)
{
	static const char text[] =
		"snarl-text 1\n0 write h:8 @A\n0 create 0.1 @a\n0 write x:8 @b\n0.1 read y:8 @c\n"
		"0 write z:8 @d\n"
		"0.1 write y:8 @e\n0.1 read-range y:8 @f\n0 write x:8 @g\n0.1 read z:8 @h\n"
		"0.1 read z:8 @i\n"
		"0.1 atomic-add n 1 @j\n0.1 write h:8 @k\n0.1 write-range h:8 @l\n";
	const struct analysis *one[] = { &relevance_spy, NULL },
			      *two[] = { &relevance_spy, &other_spy, NULL };
	const struct analysis *three[] = { &relevance_spy, &skip_spy, NULL };
	const struct analysis *const *which[] = { one, two, three };
	static const char *const expected[] = {
		"a 1 t2\nd 3 t5\nf 2 t7 unshared\nh 3 t9\ni 4 t10\nj 5 t11 unshared\n"
		"l 7 t13 ordered\n",
		"A 0 t1 ordered\na 1 t2\nb 2 t3 unshared\nc 0 t4 unshared\nd 3 t5\n"
		"e 1 t6 unshared\n"
		"f 2 t7 unshared\ng 4 t8 unshared\nh 3 t9\ni 4 t10\nj 5 t11 unshared\n"
		"k 6 t12 ordered\n"
		"l 7 t13 ordered\n",
		/* The second analysis needs accesses to memory that is ordered but not unshared. */
		("A 0 t1 ordered\na 1 t2\nd 3 t5\nf 2 t7 unshared\nh 3 t9\ni 4 t10\n"
		 "j 5 t11 unshared\nk 6 t12 ordered\n"
		 "l 7 t13 ordered\n"),
	};

	(void)state;
	save(test_path("relevance"), text, sizeof(text) - 1);
	for (int i = 0; i < 3; i++) {
		struct reader *r = reader_open(test_path("relevance"), &(struct err){ "" });
		struct findings *out = findings_new();
		struct analysis_context ctx;
		struct analysis_stats stats;

		analysis_context_init(&ctx);
		assert_int_equal(analysis_run(r, which[i], &ctx, out, &stats, &(struct err){ "" }),
				 0);
		assert_int_equal(stats.events, 13);
		assert_int_equal(stats.accesses, 12);
		buf_string(&seen);
		assert_string_equal((char *)seen.data, expected[i]);
		buf_clear(&seen);
		findings_free(out);
		analysis_context_free(&ctx);
		reader_close(r);
	}
	buf_free(&seen);
}

static struct candidate pair(uint64_t pc1, uint64_t pc2, uint32_t t1, uint32_t t2)
{
	return (struct candidate){
		.pattern = PATTERN_RWR, .events = 2, .orders = 1,
		.event = { { .pc = pc1, .thread = t1 }, { .pc = pc2, .thread = t2 } },
		.order = { { 0, 1 } },
	};
}

static void test_findings(void **state)
{
	struct findings *f = findings_new();
	struct candidate c = pair(1, 2, 5, 6), other = pair(1, 2, 5, 5);

	(void)state;
	findings_add(f, &c);
	c = pair(1, 2, 7, 5);
	assert_int_equal(findings_add(f, &c)->count, 2);
	assert_int_equal(findings_at(f, 0)->event[0].thread, 5);
	findings_add(f, &other);	/* both events by one thread: not equal */
	c = pair(2, 1, 5, 6);
	findings_add(f, &c);		/* only races are equal in reverse order */
	assert_int_equal(findings_count(f), 3);
	for (uint64_t i = 10; i < 1000; i++) {
		c = pair(i, i + 1, 1, 2);
		findings_add(f, &c);
	}
	c = pair(500, 501, 3, 4);
	c.count = 10;
	assert_int_equal(findings_add(f, &c)->count, 11);
	assert_int_equal(findings_count(f), 993);
	findings_pruned(f, PRUNE_LOCK, 3);
	findings_pruned(f, PRUNE_LOCK, 4);
	assert_int_equal(findings_pruned_count(f, PRUNE_LOCK), 7);
	assert_int_equal(findings_pruned_count(f, PRUNE_HB), 0);
	findings_free(f);
}

/* A thread id that is too large to be followed. */
static void test_too_many(void **state)
{
	const struct analysis *which[] = { &spy, NULL };
	const char text[] = "snarl-text 1\nthread 0 id=4000000\n0 read x\n";
	struct analysis_context ctx;
	struct findings *out = findings_new();
	struct err err = { "" };
	struct reader *r;

	(void)state;
	save(test_path("many"), text, strlen(text));
	r = reader_open(test_path("many"), &err);
	assert_non_null(r);
	analysis_context_init(&ctx);
	assert_int_equal(analysis_run(r, which, &ctx, out, NULL, &err), -1);
	assert_non_null(strstr(err.text, "more threads than can be analysed"));
	analysis_context_free(&ctx);
	findings_free(out);
	reader_close(r);
}

/* The clocks of joined threads are freed; other threads still know of them. */
static void test_gone_threads(void **state)
{
	struct reader *trace =
		open_text("0 create 0.1\n0 create 0.2\n0.1 write x\n0.2 write y\n0.1 end\n0.2 end\n"
			  "0 join 0.1\n0 write x\n");
	struct analysis_context ctx;
	struct track track;
	struct event ev;
	struct err err;

	(void)state;
	analysis_context_init(&ctx);
	ctx.reader = trace;
	track_init(&track, &ctx);
	while (reader_next(trace, &ev, &err) > 0) {
		assert_non_null(track_before(&track, &ev));
		track_after(&track, &ev);
	}
	for (unsigned i = 0; i < CLOCKS; i++) {
		assert_int_equal(track.threads[2]->clocks.at[i].capacity, 0);
		assert_int_not_equal(track.threads[3]->clocks.at[i].capacity, 0);
		assert_int_equal(vclock_get(&track.threads[1]->clocks.at[i], 2), 1);
		assert_int_equal(vclock_get(&track.threads[1]->clocks.at[i], 3), 0);
	}
	track_free(&track);
	analysis_context_free(&ctx);
	reader_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locksets), cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_levels), cmocka_unit_test(test_relevance),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_gone_threads),
	};
	int failed = cmocka_run_group_tests(tests, test_setup, test_teardown);

	buf_free(&seen);
	return failed;
}
