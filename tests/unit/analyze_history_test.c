/*
 * granules, moments, history, couples: what the atomicity analyses remember, and that
 * it stays within its bounds.
 */
#include "analyze_util.h"

#include "analyze/couples.h"
#include "analyze/history.h"

static void note_number(void *ctx, uint32_t *number)
{
	buf_addf(ctx, "%u ", *number);
}

static void assert_range(struct granules *g, uint64_t addr, uint64_t size, const char *expected)
{
	struct buf b = { 0 };

	granules_each(g, addr, size, note_number, &b);
	assert_string_equal(buf_string(&b), expected);
	buf_free(&b);
}

static void test_granules(void **state)
{
	struct granules g;

	(void)state;
	granules_init(&g);
	for (uint32_t n = 1; n <= 5000; n++)
		*granules_at(&g, 0x100000 / 8 + (uint64_t)n * 40) = n;
	for (uint32_t n = 1; n <= 5000; n++)
		assert_int_equal(*granules_at(&g, 0x100000 / 8 + (uint64_t)n * 40), n);
	assert_int_equal(*granules_at(&g, 1), 0);
	assert_range(&g, 0x100000 + 320, 8, "1 ");
	assert_range(&g, 0x100000 + 327, 1, "1 ");
	assert_range(&g, 0x100000 + 328, 312, "");
	assert_range(&g, 0x100000 + 328, 313, "2 ");
	assert_range(&g, 0x100000, 320 * 5 + 1, "1 2 3 4 5 ");
	assert_range(&g, 0x100000, 0, "");
	/* Up to the end of memory; the order is that of the table then. */
	*granules_at(&g, UINT64_MAX / 8) = 7777;
	assert_range(&g, UINT64_MAX - 100, UINT64_MAX, "7777 ");
	granules_free(&g);
}

/* A thread as an analysis sees it. */
struct actor {
	struct view view;
	struct vclock strong;
	uint64_t clock[4];
};

static void actor_init(struct actor *a, uint32_t thread)
{
	memset(a, 0, sizeof(*a));
	a->strong = (struct vclock){ .count = 4, .capacity = 4, .at = a->clock };
	a->clock[thread] = 1;
	a->view = (struct view){ .thread = thread, .strong = &a->strong, .strong_epoch = 1 };
}

static struct moment act(struct moments *m, struct actor *a, uint64_t addr)
{
	struct event ev = { .thread = a->view.thread, .kind = TRACE_WRITE, .addr = addr, .size = 8,
			    .time = a->view.index };
	struct moment now;

	moments_now(m, &ev, &a->view, &now);
	a->view.index++;
	return now;
}

/* A strong release. */
static void tick(struct moments *m, struct actor *a)
{
	struct event ev = { .thread = a->view.thread, .kind = TRACE_SEM_POST };

	moments_sync(m, &ev, &a->view);
	a->view.index++;
	a->view.strong_epoch = ++a->clock[a->view.thread];
}

static void test_moments(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	struct actor a, b;
	struct moment first, now, kept = { 0 }, other = { 0 };
	uint32_t highest = 0;

	(void)state;
	actor_init(&a, 1);
	actor_init(&b, 2);
	first = act(m, &a, 0x10);
	moments_keep(m, &kept, &first);
	now = act(m, &b, 0x10);
	moments_keep(m, &other, &now);
	assert_int_equal(moments_thread(m, &kept), 1);
	assert_int_equal(moments_thread(m, &other), 2);
	assert_false(moments_ordered(m, &kept, &other));
	/* b takes what a releases. */
	tick(m, &a);
	b.clock[1] = 1;
	tick(m, &b);
	now = act(m, &b, 0x10);
	assert_int_not_equal(now.epoch, other.epoch);
	assert_true(moments_ordered(m, &kept, &now));
	assert_false(moments_ordered(m, &other, &now) && moments_ordered(m, &now, &other));
	/* Situations and clocks that nobody keeps are used again. */
	for (int i = 0; i < 10000; i++) {
		tick(m, &a);
		now = act(m, &a, 0x10);
		highest = now.situation > highest ? now.situation : highest;
	}
	assert_true(highest < 10);
	assert_int_equal(moments_thread(m, &kept), 1);
	assert_int_equal(kept.index, 0);
	moments_drop(m, &kept);
	moments_drop(m, &other);
	moments_free(m);
	locks_free(locks);
}

static uint32_t cell_of(struct history *h, uint32_t thread, uint8_t bytes, uint32_t *recent,
			uint32_t *inside, unsigned *insiders)
{
	return history_cell(h, granules_at(&h->granules, 0x1000 / 8), thread, bytes, recent, inside,
			    insiders);
}

static void test_cells(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	uint32_t inside[HISTORY_INSIDE], recent, one, two, part;
	struct history h;
	unsigned n;

	(void)state;
	history_init(&h, m);
	one = cell_of(&h, 1, 0xff, &recent, inside, &n);
	assert_int_equal(recent, 0);
	assert_int_equal(n, 0);
	two = cell_of(&h, 2, 0x0f, &recent, inside, &n);
	assert_int_not_equal(one, two);
	assert_int_equal(recent, 0);
	/* Thread 2 was there since, though not at these bytes. */
	part = cell_of(&h, 1, 0xf0, &recent, inside, &n);
	assert_int_equal(recent, one);
	assert_int_equal(n, 0);
	assert_int_equal(cell_of(&h, 1, 0xff, &recent, inside, &n), one);
	assert_int_equal(recent, part);
	assert_int_equal(n, 0);
	assert_int_equal(cell_of(&h, 2, 0x0f, &recent, inside, &n), two);
	assert_int_equal(recent, two);
	assert_int_equal(n, 1);
	assert_int_equal(inside[0], one);
	history_free(&h);
	moments_free(m);
	locks_free(locks);
}

static void test_bounds(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	uint32_t inside[HISTORY_INSIDE], recent, cell, newest = 0, reps = 0;
	struct history_rep like = { .kind = TRACE_WRITE, .access = ACCESS_WRITE };
	struct moment now, first;
	struct history h;
	struct actor a;
	unsigned n;
	bool fresh;

	(void)state;
	history_init(&h, m);
	actor_init(&a, 1);
	cell = cell_of(&h, 1, 0xff, &recent, inside, &n);
	first = act(m, &a, 0x1000);
	/* One site under ever new clocks: the first ones stay, and the latest. */
	for (int i = 0; i < 100; i++) {
		now = i ? act(m, &a, 0x1000) : first;
		newest = history_note(&h, cell, &like, &now, &fresh);
		assert_int_not_equal(newest, 0);
		assert_true(fresh);
		assert_int_equal(history_note(&h, cell, &like, &now, &fresh), newest);
		assert_false(fresh);
		tick(m, &a);
	}
	for (uint32_t r = h.cells[cell].reps; r; r = h.reps[r].next)
		reps++;
	assert_int_equal(reps, HISTORY_EPOCHS);
	assert_int_equal(h.reps[newest].at.index, now.index);
	assert_int_equal(h.dropped, 0);
	/* Ever new sites: no more than there is room for. */
	for (uint64_t pc = 1; pc <= 100; pc++) {
		like.pc = pc;
		now = act(m, &a, 0x1000);
		history_note(&h, cell, &like, &now, &fresh);
	}
	assert_int_equal(h.cells[cell].rep_count, HISTORY_REPS);
	assert_int_equal(h.dropped, 100 - (HISTORY_REPS - HISTORY_EPOCHS));
	/* What is forgotten is used again. */
	history_forget(&h, 0x1004, 1);
	assert_int_equal(*granules_at(&h.granules, 0x1000 / 8), 0);
	reps = (uint32_t)h.rep_count;
	cell = cell_of(&h, 1, 0xff, &recent, inside, &n);
	assert_int_equal(recent, 0);
	for (like.pc = 1; like.pc <= HISTORY_REPS; like.pc++) {
		now = act(m, &a, 0x1000);
		assert_int_not_equal(history_note(&h, cell, &like, &now, &fresh), 0);
	}
	assert_int_equal(h.rep_count, reps);
	history_free(&h);
	moments_free(m);
	locks_free(locks);
}

static struct couple_side side(struct moments *m, struct couples *c, struct actor *a, uint64_t addr,
			       uint64_t pc)
{
	return (struct couple_side){ .at = act(m, a, addr), .pc = pc, .granule = addr / 8,
				     .generation = couples_generation(c, addr / 8),
				     .kind = TRACE_WRITE, .access = ACCESS_WRITE };
}

static uint32_t couple(struct moments *m, struct couples *c, struct actor *a, uint64_t x, uint64_t y)
{
	struct couple_side first = side(m, c, a, x, 1), second = side(m, c, a, y, 2);

	return couples_note(c, couples_sites(c, a->view.thread, 1, 2), &first, &second);
}

static void test_couples(void **state)
{
	struct locks *locks = locks_new();
	struct moments *m = moments_new(locks);
	struct couples c;
	struct actor a, b;
	uint32_t one, two;

	(void)state;
	couples_init(&c, m);
	actor_init(&a, 1);
	actor_init(&b, 2);
	one = couple(m, &c, &a, 0x1000, 0x2000);
	assert_int_not_equal(one, 0);
	assert_int_equal(couple(m, &c, &a, 0x1000, 0x2000), 0);
	/* The other way round, by another thread. */
	two = couple(m, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(couples_same_places(&c, one, 0), two);
	assert_int_equal(couples_same_places(&c, one, two), one);
	assert_int_equal(couples_same_places(&c, one, one), 0);
	/* Freed: no longer the same place. */
	couples_forget(&c, 0x2000, 8);
	two = couple(m, &c, &b, 0x2000, 0x1000);
	assert_int_not_equal(two, 0);
	assert_int_equal(couples_same_places(&c, two, 0), two);
	assert_int_equal(couples_same_places(&c, two, two), 0);
	/* Ever other places do not need ever more memory. */
	for (uint64_t i = 0; i < 1000; i++)
		couple(m, &c, &a, 0x100000 + 16 * i, 0x100008 + 16 * i);
	assert_int_equal(c.count, 1 + COUPLES_KEPT + 2);
	assert_true(c.skipped > 600);
	assert_true(c.replaced > 200);
	couples_free(&c);
	moments_free(m);
	locks_free(locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_granules),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_couples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
