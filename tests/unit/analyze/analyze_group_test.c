/*
 * From findings to what is tried: pruning, ranking, grouping.
 */
#include "trace_util.h"

#include "analyze/candidate_list.h"

static struct candidate_event event(uint32_t thread, uint16_t kind, uint64_t time, uint64_t pc)
{
	return (struct candidate_event){ .thread = thread,
					 .kind = kind,
					 .index = time,
					 .time = time,
					 .size = 4,
					 .pc = pc,
					 .nth = 1 };
}

/* A candidate that wants thread 2's event at time `second` after thread 1's at time `first`. */
static struct candidate pair(enum candidate_class class, const char *pattern, uint64_t first,
			     uint64_t second)
{
	struct candidate c = { .class = class, .events = 2, .orders = 1, .order = { { 0, 1 } },
			       .count = 1 };

	memset(c.hold, -1, sizeof(c.hold));
	c.pattern = pattern_find(pattern);
	c.event[0] = event(1, TRACE_READ, first, 0x1000 + first);
	c.event[1] = event(2, TRACE_WRITE, second, 0x2000 + second);
	return c;
}

static void test_prune(void **state)
{
	struct findings *f = findings_new();
	struct hunt_list l;
	struct candidate c;

	(void)state;
	c = pair(CANDIDATE_RACE, "RW", 10, 20);
	findings_add(f, &c);
	/* the same orders, a class that says more */
	c = pair(CANDIDATE_ORDER, "before-init", 10, 20);
	findings_add(f, &c);
	c = pair(CANDIDATE_RACE, "RW", 10, 30);
	findings_add(f, &c);
	c = pair(CANDIDATE_ATOMICITY, "RWR", 40, 50);
	c.seen = true;
	findings_add(f, &c);
	c = pair(CANDIDATE_MISUSE, "not-held", 60, 70);
	c.seen = true;
	findings_add(f, &c);
	/* Contradicts the order of events within a thread. */
	c = pair(CANDIDATE_ATOMICITY, "RWW", 80, 90);
	c.event[1].thread = 1;
	c.order[0] = (struct candidate_order){ 1, 0 };
	findings_add(f, &c);
	/* A cycle over two threads. */
	c = pair(CANDIDATE_ATOMICITY2, "RWW", 100, 110);
	c.event[2] = event(1, TRACE_WRITE, 120, 0x3000);
	c.events = 3;
	c.orders = 2;
	c.order[0] = (struct candidate_order){ 2, 1 };
	c.order[1] = (struct candidate_order){ 1, 0 };
	findings_add(f, &c);
	findings_pruned(f, PRUNE_HB, 5);
	prune_list(f, true, &l);
	assert_int_equal(l.predicted, 12);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.dropped[DROP_SEEN], 1);
	assert_int_equal(l.dropped[DROP_SAME], 1);
	assert_int_equal(l.dropped[DROP_IMPOSSIBLE], 2);
	assert_int_equal(l.at[0]->pattern, PATTERN_BEFORE_INIT);
	assert_int_equal(l.at[1]->event[1].time, 30);
	assert_int_equal(l.at[2]->class, CANDIDATE_MISUSE);
	hunt_list_free(&l);
	/* Without a total order, candidates marked as seen are kept. */
	prune_list(f, false, &l);
	assert_int_equal(l.count, 4);
	assert_int_equal(l.dropped[DROP_SEEN], 0);
	assert_true(l.at[2]->seen);
	hunt_list_free(&l);
	findings_free(f);
}

static void test_prune_nothing(void **state)
{
	struct findings *f = findings_new();
	struct hunt_groups g;
	struct hunt_list l;

	(void)state;
	prune_list(f, true, &l);
	assert_int_equal(l.count, 0);
	rank_list(&l, NULL);
	group_list(&l, 8, &g);
	assert_int_equal(g.count, 0);
	hunt_groups_free(&g);
	hunt_list_free(&l);
	findings_free(f);
}

static unsigned tested(void *ctx, const struct candidate *c)
{
	return c->event[0].time == *(uint64_t *)ctx;
}

static bool near_oracle(void *ctx, const struct candidate_event *e)
{
	(void)ctx;
	return e->time == 51;
}

static void rank(struct hunt_list *l, struct candidate *c, size_t count, struct candidate **at,
		 const struct rank_hints *hints)
{
	for (size_t i = 0; i < count; i++)
		at[i] = &c[i];
	*l = (struct hunt_list){ .at = at, .count = count };
	rank_list(l, hints);
}

static void test_rank(void **state)
{
	struct candidate c[6], *at[6];
	uint64_t time = 30;
	struct rank_hints hints = { .ctx = &time, .tested = tested, .near_oracle = near_oracle };
	struct hunt_list l;

	(void)state;
	c[0] = pair(CANDIDATE_RACE, "RW", 10, 11);
	c[1] = pair(CANDIDATE_RACE, "RW", 20, 21);
	c[1].event[1].size = 8;				/* a pointer */
	c[2] = pair(CANDIDATE_ORDER, "use-free", 30, 31);
	c[3] = pair(CANDIDATE_RACE, "RW", 40, 41);
	c[3].event[0].kind = TRACE_ATOMIC_ADD;		/* statistics */
	c[3].event[1].kind = TRACE_ATOMIC_ADD;
	c[4] = pair(CANDIDATE_RACE, "RW", 50, 51);
	c[4].count = 1000;				/* frequent */
	c[5] = pair(CANDIDATE_MISUSE, "not-held", 60, 61);
	rank(&l, c, 6, at, NULL);
	assert_ptr_equal(l.at[0], &c[5]);
	assert_ptr_equal(l.at[1], &c[2]);
	assert_ptr_equal(l.at[2], &c[1]);
	assert_ptr_equal(l.at[3], &c[0]);
	assert_ptr_equal(l.at[4], &c[4]);
	assert_ptr_equal(l.at[5], &c[3]);
	/* Orders tried before come later, events near an assertion earlier. */
	rank(&l, c, 6, at, &hints);
	assert_ptr_equal(l.at[1], &c[1]);
	assert_ptr_equal(l.at[2], &c[0]);
	hints.tested = NULL;
	rank(&l, c, 6, at, &hints);
	assert_true(c[4].score > c[0].score - 1.5);
}

/* The order of findings does not matter. */
static void test_rank_is_stable(void **state)
{
	struct candidate c[8], *at[8], *back[8];
	struct hunt_list l;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		c[i] = pair(CANDIDATE_RACE, "RW", 10 * (8 - i), 10 * (8 - i) + 1);
	rank(&l, c, 8, at, NULL);
	for (size_t i = 0; i < 8; i++) {
		back[i] = l.at[7 - i];
		assert_ptr_equal(l.at[i], &c[7 - i]);
	}
	l.at = back;
	rank_list(&l, NULL);
	for (size_t i = 0; i < 8; i++)
		assert_ptr_equal(l.at[i], &c[7 - i]);
}

static void group(struct hunt_groups *g, struct hunt_list *l, struct candidate **at,
		  struct candidate *c, size_t count, size_t most)
{
	for (size_t i = 0; i < count; i++)
		at[i] = &c[i];
	*l = (struct hunt_list){ .at = at, .count = count };
	group_list(l, most, g);
}

static void test_group(void **state)
{
	struct candidate c[5], *at[5];
	struct hunt_groups g;
	struct hunt_list l;

	(void)state;
	/* 0 overlaps 1; 2 and 3 fit into a group with either; 4 overlaps 2. */
	c[0] = pair(CANDIDATE_RACE, "RW", 30, 40);
	c[1] = pair(CANDIDATE_RACE, "RW", 35, 45);
	c[2] = pair(CANDIDATE_RACE, "RW", 10, 20);
	c[3] = pair(CANDIDATE_RACE, "RW", 50, 60);
	c[4] = pair(CANDIDATE_RACE, "RW", 20, 22);	/* equal times overlap */
	group(&g, &l, at, c, 5, 8);
	assert_int_equal(g.count, 2);
	/*
	 * 2 goes to the first of two groups of one, 3 to the smaller group, 4 to the group without
	 * 2.
	 */
	assert_int_equal(g.at[0].count, 2);
	assert_int_equal(g.at[0].member[0], 2);
	assert_int_equal(g.at[0].member[1], 0);
	assert_int_equal(g.at[1].count, 3);
	assert_int_equal(g.at[1].member[0], 4);
	assert_int_equal(g.at[1].member[1], 1);
	assert_int_equal(g.at[1].member[2], 3);
	hunt_groups_free(&g);
	/* Groups of one. */
	group(&g, &l, at, c, 5, 1);
	assert_int_equal(g.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(g.at[i].member[0], i);
	hunt_groups_free(&g);
	/* A bug that the trace itself shows needs no run. */
	c[0].class = CANDIDATE_MISUSE;
	c[0].seen = true;
	group(&g, &l, at, c, 2, 8);
	assert_int_equal(g.count, 1);
	assert_int_equal(g.at[0].member[0], 1);
	hunt_groups_free(&g);
}

static uint64_t test_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void test_random_groups(void **state)
{
	enum { COUNT = 300, MOST = 7 };
	static struct candidate c[COUNT];
	struct candidate *at[COUNT];
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		bool member[COUNT] = { false };
		size_t members = 0, largest = 0;
		struct hunt_groups g;
		struct hunt_list l;

		for (size_t i = 0; i < COUNT; i++) {
			uint64_t from = test_random(&seed) % 10000;

			c[i] = pair(CANDIDATE_RACE, "RW", from, from + test_random(&seed) % 200);
		}
		group(&g, &l, at, c, COUNT, MOST);
		for (size_t i = 0; i < g.count; i++) {
			largest = g.at[i].count > largest ? g.at[i].count : largest;
			for (size_t k = 0; k < g.at[i].count; k++) {
				assert_false(member[g.at[i].member[k]]);
				member[g.at[i].member[k]] = true;
				members++;
				if (k > 0)
					assert_true(c[g.at[i].member[k - 1]].event[1].time <
						    c[g.at[i].member[k]].event[0].time);
			}
		}
		assert_int_equal(members, COUNT);
		assert_true(largest <= MOST);
		assert_in_range(g.count, COUNT / MOST, COUNT / MOST + 12);
		hunt_groups_free(&g);
	}
}

/* All overlap: one group each, in linear time. */
static void test_all_overlap(void **state)
{
	enum { COUNT = 50000 };
	struct candidate *c = xcalloc(COUNT, sizeof(*c)), **at = xcalloc(COUNT, sizeof(*at));
	struct hunt_groups g;
	struct hunt_list l;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		c[i] = pair(CANDIDATE_RACE, "RW", i, COUNT + i);
	group(&g, &l, at, c, COUNT, 8);
	assert_int_equal(g.count, COUNT);
	hunt_groups_free(&g);
	free(c);
	free(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_prune_nothing),
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_rank_is_stable),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_random_groups),
		cmocka_unit_test(test_all_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
