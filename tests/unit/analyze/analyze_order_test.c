/*
 * Order violations: use before initialisation, after free and after destroy; cases in which order
 * is enforced; and random traces against the definitions, byte by byte.
 */
#include "analyze_util.h"
#include "reference/order_violations.h"

static void order(const char *text, const char *expected)
{
	assert_findings(text, &analysis_order, expected);
}

#define ONE "0 create 0.1\n"
#define TWO "0 create 0.1\n0 create 0.2\n"

static void test_before_init(void **state)
{
	const struct candidate *c;
	struct analyzed x;

	(void)state;
	order(ONE "0 write x @init\n0.1 read x @use\n",
	      "before-init 0.1 read @use#1, 0 write @init#1\n");
	/* Ordered: the first write comes before the creation. */
	order("0 write x @init\n" ONE "0.1 read x @use\n", "");
	order(ONE "0 write x @init\n0 sem-post s\n0.1 sem-wait s\n0.1 read x @use\n", "");
	/* The location was read before it was written: the initial value has a meaning. */
	order(ONE "0 read x @look\n0 write x @step\n0.1 read x @use\n", "");
	order(ONE "0.1 read x @look\n0 write x @set\n0.1 read x @use\n", "");
	/* The use is a write, which a later initialisation would overwrite. */
	order(ONE "0 write x @init\n0.1 write x @answer\n",
	      "before-init 0.1 write @answer#1, 0 write @init#1\n");
	/* Cleared early, initialised late: the later write counts. */
	order("0 write-range x:64 @clear\n" ONE
	      "0 write x+8:8 @init\n0.1 read x+8:8 @use\n0.1 read x @zero\n",
	      "before-init 0.1 read @use#1, 0 write @init#1\n");
	/* Cleared by the creator, initialised by one child, used by another. */
	order("0 write-range x:64 @clear\n" TWO "0.1 write x @init\n0.2 read x @use\n",
	      "before-init 0.2 read @use#1, 0.1 write @init#1\n");
	/* Locks enforce no order. */
	analyze(&x,
		ONE "0 lock m @enter\n0 write x @init\n0 unlock m\n0.1 lock m\n"
		    "0.1 read x @use\n0.1 unlock m\n",
		&analysis_order);
	assert_int_equal(findings_count(x.out), 1);
	c = findings_at(x.out, 0);
	assert_int_equal(c->orders, 1);
	assert_int_equal(c->order[0].first, 0);		/* the use comes */
	assert_int_equal(c->order[0].second, 1);	/* before the write, */
	assert_int_equal(c->hold[1], 2);		/* held before its critical section */
	assert_string_equal(label_of(x.reader, c->event[2].pc), "enter");
	assert_int_equal(c->hold[0], -1);
	analyzed_free(&x);
}

static void test_parts(void **state)
{
	(void)state;
	order(ONE "0 write x:4 @low\n0 write x+4:4 @high\n0.1 read x+4:4 @use\n",
	      "before-init 0.1 read @use#1, 0 write @high#1\n");
	order(ONE "0 write-range x:100 @all\n0.1 read x+96:4 @in\n0.1 read x+100:4 @out\n",
	      "before-init 0.1 read @in#1, 0 write-range @all#1\n");
	order("0 write x:1 @a\n" ONE "0 write x+1:1 @b\n0.1 read x:8 @use\n",
	      "before-init 0.1 read @use#1, 0 write @b#1\n");
	/* A use across the end of a granule. */
	order(ONE "0 write x+8:8 @init\n0.1 read x+6:4 @use\n",
	      "before-init 0.1 read @use#1, 0 write @init#1\n");
}

static void test_published(void **state)
{
	(void)state;
	/* The flag is set after the data: its readers are ordered. The flag itself is reported. */
	order(ONE "0 write x @init\n0 write flag @set\n0.1 read flag @see\n0.1 read x @use\n",
	      "before-init 0.1 read @see#1, 0 write @set#1\n");
	/* The flag is set before the data: the bug. */
	order(ONE "0 write flag @set\n0 write x @init\n0.1 read flag @see\n0.1 read x @use\n",
	      "before-init 0.1 read @see#1, 0 write @set#1\n"
	      "before-init 0.1 read @use#1, 0 write @init#1\n");
	/* The data is written after the flag, but in one section with it: ordered. */
	order(ONE "0 lock m @in\n0 write flag @set\n0 write x @init\n0 unlock m\n"
		  "0.1 lock m\n0.1 read flag @see\n0.1 unlock m\n0.1 read x @use\n",
	      "before-init 0.1 read @see#1, 0 write @set#1, 0 lock @in#1\n");
	/* A step of a counter enforces no order. */
	order(ONE "0 write x @init\n0 lock m\n0 read n\n0 write n @step\n0 unlock m\n"
		  "0.1 lock m\n0.1 read n\n0.1 write n\n0.1 unlock m\n0.1 read x @use\n",
	      "before-init 0.1 read @use#1, 0 write @init#1\n");
	/* Release and acquire. */
	order(ONE "0 write x @init\n0 atomic-store flag 1 release @set\n"
		  "0.1 atomic-load flag 1 acquire @see\n"
		  "0.1 read x @use\n",
	      "");
	/* The lock was taken before the other thread was created: ordered. */
	order("0 lock m\n" ONE
	      "0 write x @init\n0 unlock m\n0.1 lock m\n0.1 read x @use\n0.1 unlock m\n",
	      "");
}

static void test_objects(void **state)
{
	(void)state;
	order(ONE "0 mutex-init m @init\n0.1 lock m @use\n0.1 unlock m\n",
	      "before-init 0.1 lock @use#1, 0 mutex-init @init#1\n");
	order("0 sem-init s 0 @init\n" ONE
	      "0.1 sem-post s @use\n0 sem-wait s @wait\n0 sem-destroy s @end\n",
	      "");
	order(ONE "0.1 lock m @in\n0.1 unlock m @out\n0 mutex-destroy m @end\n",
	      "use-destroy 0 mutex-destroy @end#1, 0.1 unlock @out#1\n"
	      "use-destroy 0 mutex-destroy @end#1, 0.1 lock @in#1\n");
	order(ONE
	      "0.1 lock m @in\n0.1 unlock m @out\n0.1 end\n0 join 0.1\n0 mutex-destroy m @end\n",
	      "");
	/* The freeing thread has read, under the mutex, that the other one is done. */
	order(ONE "0.1 lock m @in\n0.1 write done @set\n0.1 unlock m @out\n"
		  "0 lock m\n0 read done @see\n0 unlock m\n0 mutex-destroy m @end\n",
	      "before-init 0 read @see#1, 0.1 write @set#1, 0.1 lock @in#1\n");
	order("0 malloc h 64\n" ONE "0.1 lock h+8 @in\n0.1 unlock h+8 @out\n0 free h @free\n",
	      "use-free 0 free @free#1, 0.1 unlock @out#1\n"
	      "use-free 0 free @free#1, 0.1 lock @in#1\n");
}

#define HEAP "0 malloc h 64\n"

static void test_use_free(void **state)
{
	(void)state;
	order(HEAP TWO "0.1 read h+8:8 @use\n0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 read @use#1\n");
	order(HEAP TWO "0.1 read h+64:8 @beside\n0.2 free h @free\n", "");
	order(HEAP TWO "0.1 read h @use\n0.1 end\n0 join 0.1\n0 free h @free\n", "");
	order(HEAP "0 read h @use\n0 free h @free\n", "");
	/* The last use counts; the one before the post is ordered. */
	order(HEAP TWO "0.1 read h @use\n0.1 sem-post s\n0.2 sem-wait s\n0.2 free h @free\n", "");
	order(HEAP TWO "0.1 read h @use\n0.1 sem-post s\n0.1 read h @late\n0.2 sem-wait s\n"
		       "0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 read @late#1\n");
	/* A thread's end frees its stack; events it waited for come before. */
	order("0 create 0.1\n0.1 start stack=0x7000-0x8000\n0.1 create 0.1.1\n"
	      "0.1.1 read 0x7100:8 @use\n0.1 end @end\n",
	      "use-free 0.1 end @end#1, 0.1.1 read @use#1\n");
	order("0 create 0.1\n0.1 start stack=0x7000-0x8000\n0.1 create 0.1.1\n"
	      "0.1.1 read 0x7100:8 @use\n"
	      "0.1.1 sem-post s\n0.1 sem-wait s\n0.1 end @end\n",
	      "");
	/* Newly allocated memory has no history. */
	order(HEAP ONE "0 write h @init\n0 free h\n0 malloc h 64\n0.1 read h @use\n", "");
}

static void test_count(void **state)
{
	(void)state;
	/* A count in the block, lowered under a lock, orders the free after that section. */
	order(HEAP "0 write h @two\n" TWO
	      "0.1 read h+8 @before\n0.1 lock m\n0.1 read h\n0.1 write h\n0.1 read h+8 @in\n"
	      "0.1 unlock m\n"
	      "0.2 lock m\n0.2 read h\n0.2 write h\n0.2 unlock m\n0.2 free h @free\n",
	      "");
	/* The block is used again outside the section. */
	order(HEAP "0 write h @two\n" TWO
	      "0.1 lock m\n0.1 read h\n0.1 write h\n0.1 unlock m\n0.1 read h @again\n"
	      "0.2 lock m\n0.2 read h\n0.2 write h\n0.2 unlock m\n0.2 read h\n0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 read @again#1\n");
	/* A count lowered atomically, even with relaxed order. */
	order(HEAP "0 write h @two\n" TWO
	      "0.1 write h+8 @before\n0.1 atomic-sub h 2 relaxed\n0.2 atomic-sub h 1 relaxed\n"
	      "0.2 free h @free\n",
	      "");
	/* A last reference that is counted elsewhere; a counter that enforces nothing. */
	order(HEAP TWO
	      "0.1 write h @use\n0.1 atomic-sub n 2\n0.2 atomic-sub n 1\n0.2 free h @free\n",
	      "");
	order(HEAP TWO
	      "0.1 write h @use\n0.1 atomic-add n 2\n0.2 atomic-add n 3\n0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 write @use#1\n");
	/* A counter outside the block enforces no order. */
	order(HEAP TWO "0.1 write h+8 @use\n0.1 lock m\n0.1 read n\n0.1 write n\n0.1 unlock m\n"
		       "0.2 lock m\n0.2 read n\n0.2 write n\n0.2 unlock m\n0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 write @use#1\n");
}

static void test_unpublished(void **state)
{
	(void)state;
	/* Unpublishing: removed under the lock that users hold from look-up to their last use. */
	order(HEAP "0 write table @put\n" TWO
	      "0.1 rdlock m\n0.1 read table\n0.1 read h @use\n0.1 rwunlock m\n"
	      "0.2 wrlock m\n0.2 write table\n0.2 rwunlock m\n0.2 free h @free\n",
	      "");
	/* The block is used after the lock was released. */
	order(HEAP "0 write table @put\n" TWO
	      "0.1 rdlock m\n0.1 read table\n0.1 rwunlock m\n0.1 read h @use\n"
	      "0.2 wrlock m\n0.2 write table\n0.2 rwunlock m\n0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 read @use#1\n");
	/* Other state is written: the user would proceed. It is to be held before its section. */
	order(HEAP TWO "0.1 lock m @in\n0.1 read table\n0.1 read h @use\n0.1 unlock m\n"
		       "0.2 lock m\n0.2 write other\n0.2 unlock m\n0.2 free h @free\n",
	      "use-free 0.2 free @free#1, 0.1 read @use#1, 0.1 lock @in#1\n");
}

static void test_ignored(void **state)
{
	(void)state;
	order(ONE "0 benign x 8\n0 write x @init\n0.1 read x @use\n", "");
	order(ONE "0 write x @init\n0.1 ignore-begin detail=1\n0.1 read x @use\n"
		  "0.1 ignore-end detail=1\n",
	      "");
}

/* ---- against the definitions ---- */

static void random_run(struct run *r, uint64_t *seed)
{
	unsigned indices[THREADS] = { 0 };

	memset(r, 0, sizeof(*r));
	while (r->count < STEPS - 2) {
		struct step *s = &r->step[r->count];
		unsigned size = 1u << test_random(seed) % 4;

		*s = (struct step){ .thread = 1 + test_random(seed) % (THREADS - 1), .size = size,
				    .from = test_random(seed) % (BYTES / 4) * 4, .what = READ };
		if (test_random(seed) % 3 == 0)
			s->what = WRITE;
		s->index = indices[s->thread]++;
		r->count++;
		if (test_random(seed) % 8)
			continue;
		s->what = POST;
		r->step[r->count] = (struct step){ .thread = 1 + test_random(seed) % (THREADS - 1),
						   .what = WAIT };
		r->step[r->count].index = indices[r->step[r->count].thread]++;
		r->count++;
	}
	r->step[r->count] = (struct step){ .thread = 1 + test_random(seed) % (THREADS - 1),
					   .what = FREE };
	r->step[r->count].index = indices[r->step[r->count].thread]++;
	r->count++;
	for (size_t j = 0; j < r->count; j++)
		for (size_t i = j; i-- > 0; ) {
			r->before[i][j] =
				r->step[i].thread == r->step[j].thread ||
				(r->step[i].what == POST && r->step[j].what == WAIT && i + 1 == j);
			for (size_t k = i + 1; k < j; k++)
				r->before[i][j] |= r->before[i][k] && r->before[k][j];
		}
}

static char *run_text(const struct run *r)
{
	struct buf b = { 0 };

	buf_addf(&b, "0 malloc h %u\n", BYTES + 8);
	for (unsigned t = 1; t < THREADS; t++)
		buf_addf(&b, "0 create 0.%u\n", t);
	for (size_t i = 0; i < r->count; i++) {
		const struct step *s = &r->step[i];

		if (s->what == READ || s->what == WRITE)
			buf_addf(&b, "0.%u %s h+%u:%u @e%zu\n", s->thread,
				 s->what == READ ? "read" : "write", s->from, s->size, i);
		else if (s->what == FREE)
			buf_addf(&b, "0.%u free h @e%zu\n", s->thread, i);
		else
			buf_addf(&b, "0.%u %s s%zu\n", s->thread,
				 s->what == POST ? "sem-post" : "sem-wait",
				 s->what == POST ? i : i - 1);
	}
	buf_string(&b);
	return (char *)b.data;
}

static size_t step_of(const struct analyzed *x, const struct candidate_event *e)
{
	return strtoul(label_of(x->reader, e->pc) + 1, NULL, 10);
}

static void test_random_runs(void **state)
{
	uint64_t seed = 4711;
	size_t with = 0, pairs = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct run *r = xmalloc(sizeof(*r));
		struct analyzed x;
		char *text;

		random_run(r, &seed);
		text = run_text(r);
		for (unsigned byte = 0; byte < BYTES + 8; byte++) {
			slow_byte(r, byte);
			slow_free(r, byte);
		}
		analyze(&x, text, &analysis_order);
		for (size_t k = 0; k < findings_count(x.out); k++) {
			const struct candidate *c = findings_at(x.out, k);

			if (!r->wanted[step_of(&x, &c->event[0])][step_of(&x, &c->event[1])])
				fail_msg("round %d: e%zu before e%zu is wrong in\n%s", i,
					 step_of(&x, &c->event[0]), step_of(&x, &c->event[1]),
					 text);
		}
		if (findings_count(x.out) != r->pairs)
			fail_msg("round %d: %zu of %u in\n%s", i, findings_count(x.out), r->pairs,
				 text);
		pairs += r->pairs;
		with += r->pairs > 0;
		analyzed_free(&x);
		free(text);
		free(r);
	}
	assert_in_range(with, 300, 3000);
	assert_in_range(pairs, 1000, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_init),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_use_free),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_unpublished),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_random_runs),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
