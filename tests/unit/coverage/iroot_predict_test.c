/*
 * Predicted iRoots: hand-worked traces, and a slow way that looks at every two accesses of a
 * trace, compared on random ones.
 */
#include "iroot_util.h"

enum { R = IROOT_OP_READ, W = IROOT_OP_WRITE, ACQ = IROOT_OP_ACQUIRE, REL = IROOT_OP_RELEASE,
       SIG = IROOT_OP_SIGNAL, WAIT = IROOT_OP_WAIT };

#define STEP(t, o, a, s) { .thread = (t), .op = (o), .addr = (a), .size = 4, .site = (s) }
#define PREDICTED(steps, window) \
	roots_of(steps, sizeof(steps) / sizeof((steps)[0]), window, IROOT_PREDICTED)

static struct iroot_event event(uint64_t site)
{
	return (struct iroot_event){ site, site >= 40 ? IROOT_RELEASE : site >= 30 ? IROOT_ACQUIRE :
						   site >= 20 ? IROOT_WRITE : IROOT_READ };
}

static bool has(const struct roots *got, uint64_t idiom, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct iroot root = { .idiom = idiom, .event = { event(a), event(b) } };

	if (c)
		root.event[2] = event(c);
	if (d)
		root.event[3] = event(d);
	return roots_have(got, &root);
}

static size_t count_idiom(const struct roots *got, uint64_t idiom)
{
	size_t n = 0;

	for (size_t i = 0; i < got->count; i++)
		n += got->at[i].idiom == idiom;
	return n;
}

/* What comes before the birth of a thread never comes after what it does. */
static void test_create(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1000, 21),
		{ .thread = 1, .op = IROOT_OP_CREATE, .addr = 2 },
		STEP(1, W, 0x1000, 22), STEP(2, R, 0x1000, 10),
		{ .thread = 1, .op = IROOT_OP_JOIN, .addr = 2 }, STEP(1, W, 0x1000, 23),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 1, 21, 10, 0, 0));
	assert_false(has(got, 1, 20, 10, 0, 0));	/* 21 comes in between */
	assert_true(has(got, 1, 22, 10, 0, 0));
	assert_true(has(got, 1, 10, 22, 0, 0));
	assert_true(has(got, 1, 10, 23, 0, 0));
	assert_int_equal(count_idiom(got, 1), 4);
	free(got);
}

/* Figure 4.3 of the thesis: A, B in one critical section, C in another one. */
static void test_sections(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, W, 0x1000, 20), STEP(1, W, 0x1000, 21),
		STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 31), STEP(2, W, 0x1000, 22), STEP(2, REL, 0x9000, 41),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 1, 21, 22, 0, 0));		/* B → C */
	assert_true(has(got, 1, 22, 20, 0, 0));		/* C → A */
	assert_true(has(got, 1, 40, 31, 0, 0));
	assert_true(has(got, 1, 41, 30, 0, 0));
	assert_int_equal(count_idiom(got, 1), 4);
	assert_int_equal(count_idiom(got, 2), 0);	/* A, B are atomic to C */
	free(got);
}

/* Figure 4.4: [A of X, B of Y] in one thread, [C of X, D of Y] in another one. */
static void test_pairs(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1008, 21),
		STEP(2, W, 0x1000, 22), STEP(2, W, 0x1008, 23),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 4, 20, 22, 23, 21));
	assert_true(has(got, 4, 22, 20, 21, 23));
	assert_true(has(got, 6, 20, 22, 21, 23));
	assert_true(has(got, 6, 22, 20, 23, 21));
	assert_int_equal(count_idiom(got, 4), 2);
	assert_int_equal(count_idiom(got, 5), 0);
	assert_int_equal(count_idiom(got, 6), 2);
	free(got);
}

/* The other way round it is the shape of a deadlock. */
static void test_crossing(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1008, 21),
		STEP(2, W, 0x1008, 22), STEP(2, W, 0x1000, 23),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	/* 20 → 23 and 22 → 21. */
	assert_true(has(got, 5, 20, 23, 22, 21));
	assert_int_equal(count_idiom(got, 5), 1);
	free(got);
}

/* A lock around both makes them whole to each other: no crossing, nothing in between; along is possible. */
static void test_whole(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, W, 0x1000, 20), STEP(1, W, 0x1008, 21),
		STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 31), STEP(2, W, 0x1008, 22), STEP(2, W, 0x1000, 23),
		STEP(2, W, 0x1008, 24), STEP(2, REL, 0x9000, 41),
	};
	struct iroot_step again[3 * sizeof(steps) / sizeof(steps[0])];
	struct roots *got = PREDICTED(steps, 1);
	size_t n = 0;

	(void)state;
	assert_true(has(got, 1, 20, 23, 0, 0) && has(got, 1, 24, 21, 0, 0));
	assert_int_equal(count_idiom(got, 4), 0);
	assert_int_equal(count_idiom(got, 5), 0);
	assert_true(has(got, 6, 23, 20, 24, 21));
	free(got);

	/* Once without it is enough, even if all was there before. */
	for (size_t i = 0; i < 2 * sizeof(steps) / sizeof(steps[0]); i++)
		again[n++] = steps[i % (sizeof(steps) / sizeof(steps[0]))];
	got = roots_of(again, n, 3000, IROOT_PREDICTED);
	assert_false(has(got, 5, 20, 23, 22, 21));
	free(got);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].op == W)
			again[n++] = steps[i];
	got = roots_of(again, n, 3000, IROOT_PREDICTED);
	assert_true(has(got, 5, 20, 23, 22, 21));
	free(got);
}

static void test_between(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, R, 0x1000, 10), STEP(1, W, 0x1000, 20),
		STEP(2, R, 0x1000, 11), STEP(2, W, 0x1000, 21),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 2, 10, 21, 20, 0));
	assert_true(has(got, 2, 11, 20, 21, 0));
	assert_int_equal(count_idiom(got, 2), 2);
	assert_int_equal(count_idiom(got, 3), 0);	/* two reads are no dependency */
	free(got);
}

/* All that one thread did before a barrier comes before what another one does after it. */
static void test_barrier(void **state)
{
	struct iroot_step steps[] = {
		{ .thread = 1, .op = IROOT_OP_BARRIER_INIT, .addr = 5, .size = 2 },
		STEP(1, W, 0x1000, 20),
		{ .thread = 1, .op = IROOT_OP_BARRIER_ENTER, .addr = 5 },
		{ .thread = 2, .op = IROOT_OP_BARRIER_ENTER, .addr = 5 },
		{ .thread = 1, .op = IROOT_OP_BARRIER_LEAVE, .addr = 5 },
		{ .thread = 1, .op = IROOT_OP_BARRIER_ENTER, .addr = 5 },	/* of the next round */
		{ .thread = 2, .op = IROOT_OP_BARRIER_LEAVE, .addr = 5 },
		STEP(2, W, 0x1000, 21),
	};
	struct roots *got = PREDICTED(steps, 1);

	(void)state;
	assert_true(has(got, 1, 20, 21, 0, 0));
	assert_int_equal(got->count, 1);
	free(got);
}

/* Much more than a history holds, most of it of no use any more. */
static void test_shortened(void **state)
{
	static struct iroot_step steps[4000];
	struct roots *got;
	size_t n = 0;

	(void)state;
	while (n + 6 < sizeof(steps) / sizeof(steps[0])) {
		struct iroot_step round[] = {
			STEP(1, W, 0x1000, 20), { .thread = 1, .op = SIG, .addr = 7 },
			{ .thread = 2, .op = WAIT, .addr = 7 }, STEP(2, R, 0x1000, 10),
			{ .thread = 2, .op = SIG, .addr = 8 }, { .thread = 1, .op = WAIT, .addr = 8 },
		};

		memcpy(&steps[n], round, sizeof(round));
		n += 6;
	}
	got = roots_of(steps, n, 3000, IROOT_PREDICTED);	/* nothing is lost, it says */
	assert_true(has(got, 1, 20, 10, 0, 0));
	assert_true(has(got, 1, 10, 20, 0, 0));
	free(got);
}

/* The slow way: every access in parts of 8 bytes, with all that was known then. */
#define PARTS 1000

struct part {
	uint32_t thread, step;
	uint64_t place, index, first;	/* the granule or lock; its first byte */
	uint8_t mask;
	struct iroot_event event;
	uint32_t clock[8], own;
	uint64_t held[2];		/* number of the critical section, or 0 */
	int next;			/* -1: none */
};

static struct part parts[PARTS];
static bool edge[PARTS][PARTS];
static uint8_t pair[PARTS][PARTS];	/* 1: next, 2: same, 4: other */
static uint8_t over[PARTS][PARTS];	/* locks kept in between, in all instances of 4 */
static int count;

static void add_part(const struct iroot_step *s, uint64_t place, uint8_t mask, uint64_t index,
		     uint32_t (*clock)[8], uint64_t (*held)[2])
{
	struct part *x = &parts[count++];

	*x = (struct part){ .thread = s->thread, .place = place, .mask = mask, .index = index, .next = -1 };
	x->first = place * 8 + (unsigned)__builtin_ctz(mask);
	x->event = (struct iroot_event){ s->site, s->op == R ? IROOT_READ : s->op == W ? IROOT_WRITE :
						  s->op == ACQ ? IROOT_ACQUIRE : IROOT_RELEASE };
	memcpy(x->clock, clock[s->thread], sizeof(x->clock));
	x->own = clock[s->thread][s->thread];
	for (int i = 0; i < 2; i++)
		x->held[i] = place == (LOCK + (uint64_t)i * 64) << 8 ? 0 : held[s->thread][i];
}

static void split(const struct iroot_step *steps, size_t n)
{
	uint32_t clock[8][8] = { { 0 } }, object[16][8] = { { 0 } };
	uint64_t held[8][2] = { { 0 } }, index[8] = { 0 }, section = 0;

	count = 0;
	for (int i = 0; i < 8; i++)
		clock[i][i] = 1;
	for (size_t k = 0; k < n; k++) {
		const struct iroot_step *s = &steps[k];
		uint32_t *mine = clock[s->thread], lock = (uint32_t)(s->addr - LOCK) / 64;

		switch (s->op) {
		case IROOT_OP_READ: case IROOT_OP_WRITE:
			index[s->thread]++;
			for (uint64_t g = s->addr / 8; g <= (s->addr + s->size - 1) / 8; g++) {
				uint8_t mask = 0;

				for (unsigned b = 0; b < 8; b++)
					if (g * 8 + b >= s->addr && g * 8 + b < s->addr + s->size)
						mask |= (uint8_t)(1u << b);
				add_part(s, g, mask, index[s->thread], clock, held);
			}
			break;
		case IROOT_OP_ACQUIRE:
			add_part(s, s->addr << 8, 1, ++index[s->thread], clock, held);
			held[s->thread][lock] = ++section;
			break;
		case IROOT_OP_RELEASE:
			held[s->thread][lock] = 0;
			add_part(s, s->addr << 8, 1, ++index[s->thread], clock, held);
			break;
		case IROOT_OP_SIGNAL:
			for (int i = 0; i < 8; i++)
				if (mine[i] > object[s->addr][i])
					object[s->addr][i] = mine[i];
			mine[s->thread]++;
			break;
		case IROOT_OP_CREATE:
			for (int i = 0; i < 8; i++)
				if (mine[i] > clock[s->addr][i])
					clock[s->addr][i] = mine[i];
			mine[s->thread]++;
			break;
		case IROOT_OP_WAIT:
			for (int i = 0; i < 8; i++)
				if (object[s->addr][i] > mine[i])
					mine[i] = object[s->addr][i];
			break;
		}
	}
	for (int i = 0; i < count; i++)
		for (int k = i + 1; k < count && parts[i].next < 0; k++)
			if (parts[k].thread == parts[i].thread && parts[k].place == parts[i].place &&
			    parts[k].mask & parts[i].mask)
				parts[i].next = k;
}

static bool comes_before(const struct part *a, const struct part *b)
{
	return b->clock[a->thread] >= a->own;
}

static bool predicted(int i, int k)
{
	const struct part *a = &parts[i], *b = &parts[k];
	uint64_t x = a->event.access, y = b->event.access;
	bool is_lock = x >= IROOT_ACQUIRE;

	if (a->thread == b->thread || a->place != b->place || !(a->mask & b->mask) ||
	    (is_lock ? x != IROOT_RELEASE || y != IROOT_ACQUIRE : x == IROOT_READ && y == IROOT_READ) ||
	    comes_before(b, a) || (a->next >= 0 && comes_before(&parts[a->next], b)))
		return false;
	for (int j = 0; j < count; j++)
		if (parts[j].next == k && comes_before(a, &parts[j]))
			return false;
	for (int lock = 0; lock < 2; lock++) {
		if (!a->held[lock] || !b->held[lock])
			continue;
		if (a->next >= 0 && parts[a->next].held[lock] == a->held[lock])
			return false;
		for (int j = 0; j < count; j++)
			if (parts[j].next == k && parts[j].held[lock] == b->held[lock])
				return false;
	}
	return true;
}

/* Accesses that pairs and dependencies do not tell apart. */
static bool same_node(int i, int k)
{
	return parts[i].thread == parts[k].thread && parts[i].place == parts[k].place &&
	       parts[i].first == parts[k].first &&
	       memcmp(&parts[i].event, &parts[k].event, sizeof(struct iroot_event)) == 0;
}

/* The representative: the first like it. */
static int node(int i)
{
	for (int k = 0; k < i; k++)
		if (same_node(i, k))
			return k;
	return i;
}

static bool same_event(int i, int k)
{
	return parts[i].thread == parts[k].thread &&
	       memcmp(&parts[i].event, &parts[k].event, sizeof(struct iroot_event)) == 0;
}

static void pair_up(int before, int i, uint32_t window)
{
	uint8_t kind = parts[before].first == parts[i].first ? 2 : 4, kept = 0;

	if (parts[before].index >= parts[i].index || parts[i].index - parts[before].index > window)
		return;
	for (int lock = 0; lock < 2; lock++)
		if (parts[i].held[lock] && parts[before].held[lock] == parts[i].held[lock])
			kept |= (uint8_t)(1 << lock);
	if (kind == 4)
		over[node(before)][node(i)] &= kept;
	pair[node(before)][node(i)] |= kind;
}

static void find_pairs(uint32_t window)
{
	for (int i = 0; i < count; i++) {
		if (parts[i].next >= 0 && parts[parts[i].next].index - parts[i].index <= window)
			pair[node(i)][node(parts[i].next)] |= 1;
		for (int k = i - 1; k >= 0; k--) {
			bool is_last = parts[k].thread == parts[i].thread;

			for (int j = k + 1; j < i; j++)
				is_last &= !same_event(j, k);
			if (!is_last)
				continue;
			pair_up(k, i, window);
			for (int j = k - 1; j >= 0; j--)
				if (same_event(j, k) && parts[j].first != parts[k].first) {
					pair_up(j, i, window);
					break;
				}
		}
	}
}

static void add_root(struct roots *out, uint64_t idiom, int a, int b, int c, int d)
{
	struct iroot root = { .idiom = idiom, .event = { parts[a].event, parts[b].event } };

	if (c >= 0)
		root.event[2] = parts[c].event;
	if (d >= 0)
		root.event[3] = parts[d].event;
	roots_add(out, &root);
}

/* x … y in one thread, and accesses b, c of another one. */
static void slow_join(struct roots *out, int x, int y, int b, int c)
{
	if (parts[b].thread != parts[c].thread)
		return;
	if (edge[x][b] && edge[c][y]) {
		if (pair[x][y] & 1 && b == c)
			add_root(out, 2, x, b, y, -1);
		if (pair[x][y] & 1 && pair[b][c] & 3)
			add_root(out, 3, x, b, c, y);
		if (pair[x][y] & 4 && pair[b][c] & 4 && !(over[x][y] & over[b][c]))
			add_root(out, 4, x, b, c, y);
		if (pair[x][y] & 4 && pair[c][b] & 4 && !(over[x][y] & over[c][b]))
			add_root(out, 5, x, b, c, y);
	}
	if (edge[x][b] && edge[y][c] && pair[x][y] & 4 && pair[b][c] & 4)
		add_root(out, 6, x, b, y, c);
}

static void slow_predict(const struct iroot_step *steps, size_t n, uint32_t window, struct roots *out)
{
	split(steps, n);
	memset(edge, 0, sizeof(edge));
	memset(pair, 0, sizeof(pair));
	memset(over, 3, sizeof(over));
	for (int i = 0; i < count; i++)
		for (int k = 0; k < count; k++)
			if (predicted(i, k)) {
				edge[node(i)][node(k)] = true;
				add_root(out, 1, i, k, -1, -1);
			}
	find_pairs(window);
	for (int x = 0; x < count; x++)
		for (int y = 0; y < count; y++)
			for (int b = 0; pair[x][y] && b < count; b++)
				for (int c = 0; edge[x][b] && c < count; c++)
					slow_join(out, x, y, b, c);
}

/* `create`: the first thread makes the others, so that histories are shortened, and some grow long. */
static void compare_random(uint64_t seed, unsigned rounds, bool create)
{
	static struct iroot_step steps[300];
	size_t idioms[IROOT_IDIOMS + 1] = { 0 };
	uint64_t rng = seed;

	for (unsigned round = 0; round < rounds; round++) {
		struct roots *wanted = calloc(1, sizeof(*wanted)), *got;
		uint32_t window = 1 + random_below(&rng, 8), threads = 2 + round % 2;
		size_t n = 0;

		for (uint32_t i = 2; create && i <= threads; i++)
			steps[n++] = (struct iroot_step){ .thread = 1, .op = IROOT_OP_CREATE, .addr = i };
		n += random_steps(&rng, steps + n, 5 + random_below(&rng, create ? 120 : 50), threads, create ? 1 : 3,
				  false);

		got = roots_of(steps, n, window, IROOT_PREDICTED);
		slow_predict(steps, n, window, wanted);
		roots_expect_same(got, wanted);
		for (size_t i = 0; i < got->count; i++)
			idioms[got->at[i].idiom]++;
		free(got);
		free(wanted);
	}
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		assert_true(idioms[i] > 100);
}

static void test_random(void **state)
{
	(void)state;
	compare_random(5, 400, false);
}

static void test_random_created(void **state)
{
	(void)state;
	compare_random(7, 400, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_shortened),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_created),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
