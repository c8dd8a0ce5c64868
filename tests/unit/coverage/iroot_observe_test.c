/*
 * Exposed iRoots: hand-worked traces of each idiom, and a slow way to find them, byte by byte
 * and pair by pair as coverage/fold/iroot_fold.h says, compared on random ones.
 */
#include "iroot_util.h"

enum { R = IROOT_OP_READ, W = IROOT_OP_WRITE, ACQ = IROOT_OP_ACQUIRE, REL = IROOT_OP_RELEASE };

/* Thread, operation, address, site. */
#define STEP(t, o, a, s) { .thread = (t), .op = (o), .addr = (a), .size = 4, .site = (s) }

static struct iroot_event event(uint64_t site)
{
	return (struct iroot_event){ site, site >= 40 ? IROOT_RELEASE : site >= 30 ? IROOT_ACQUIRE :
						   site >= 20 ? IROOT_WRITE : IROOT_READ };
}

static void expect(const struct roots *got, uint64_t idiom, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct iroot root = { .idiom = idiom, .event = { event(a), event(b) } };

	if (c)
		root.event[2] = event(c);
	if (d)
		root.event[3] = event(d);
	if (!roots_have(got, &root)) {
		roots_print(got);
		fail_msg("idiom %u is missing", (unsigned)idiom);
	}
}

static size_t count_idiom(const struct roots *got, uint64_t idiom)
{
	size_t n = 0;

	for (size_t i = 0; i < got->count; i++)
		n += got->at[i].idiom == idiom;
	return n;
}

#define OBSERVED(steps, window) \
	roots_of(steps, sizeof(steps) / sizeof((steps)[0]), window, IROOT_EXPOSED)

static void test_dependency(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(2, R, 0x1000, 11),
		STEP(1, R, 0x1000, 12),		/* two reads: no dependency */
		STEP(2, W, 0x1002, 21),		/* overlaps by two bytes */
		STEP(1, W, 0x1006, 22),		/* not these */
	};
	struct roots *got = OBSERVED(steps, 1);

	(void)state;
	expect(got, 1, 20, 10, 0, 0);
	expect(got, 1, 12, 21, 0, 0);
	assert_int_equal(got->count, 2);
	free(got);
}

static void test_one_variable(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(1, W, 0x1000, 21),	/* 2 */
		STEP(2, R, 0x1000, 11), STEP(2, W, 0x1000, 22), STEP(1, R, 0x1000, 12),	/* 3 */
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	expect(got, 2, 20, 10, 21, 0);
	expect(got, 3, 21, 11, 22, 12);
	expect(got, 2, 10, 21, 11, 0);
	assert_int_equal(count_idiom(got, 2), 2);
	assert_int_equal(count_idiom(got, 3), 1);
	assert_int_equal(count_idiom(got, 1), 4);
	free(got);
}

static void test_touched_between(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(1, R, 0x1000, 11),
		STEP(2, W, 0x1000, 22), STEP(1, R, 0x1000, 12),
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	/* 20 → 10 … 22 → 12, but thread 1 looked at it in between. */
	assert_int_equal(count_idiom(got, 3), 0);
	expect(got, 2, 11, 22, 12, 0);
	assert_int_equal(count_idiom(got, 2), 1);
	free(got);
}

static void test_two_variables(void **state)
{
	const struct iroot_step four[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(2, W, 0x1004, 21),
		STEP(1, R, 0x1004, 11),
	}, five[] = {
		STEP(1, W, 0x1000, 20), STEP(2, W, 0x1004, 21), STEP(2, R, 0x1000, 10),
		STEP(1, R, 0x1004, 11),
	}, six[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1004, 21), STEP(2, R, 0x1000, 10),
		STEP(2, R, 0x1004, 11),
	}, crossed[] = {
		STEP(1, W, 0x1000, 20), STEP(1, W, 0x1004, 21), STEP(2, R, 0x1004, 11),
		STEP(2, R, 0x1000, 10),
	};
	struct roots *got = OBSERVED(four, 3000);

	(void)state;
	expect(got, 4, 20, 10, 21, 11);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(five, 3000);
	expect(got, 5, 20, 10, 21, 11);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(six, 3000);
	expect(got, 6, 20, 10, 21, 11);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(crossed, 3000);
	assert_int_equal(got->count, 2);	/* only the two dependencies */
	free(got);
}

static void test_window(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), STEP(2, R, 0x1000, 10), STEP(1, W, 0x2000, 22),
		STEP(1, W, 0x1000, 21),
	};
	struct roots *got = OBSERVED(steps, 2);

	(void)state;
	expect(got, 2, 20, 10, 21, 0);
	free(got);
	got = OBSERVED(steps, 1);
	assert_int_equal(count_idiom(got, 2), 0);
	free(got);
}

static void test_locks(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, ACQ, 0x9000, 31),	/* recursive: unseen */
		STEP(1, REL, 0x9000, 41), STEP(1, REL, 0x9000, 40),
		STEP(2, ACQ, 0x9000, 32), STEP(2, REL, 0x9000, 42), STEP(1, ACQ, 0x9000, 33),
	}, readers[] = {
		STEP(1, IROOT_OP_ACQUIRE_SHARED, 0x9000, 30), STEP(1, REL, 0x9000, 40),
		STEP(2, IROOT_OP_ACQUIRE_SHARED, 0x9000, 31), STEP(2, REL, 0x9000, 41),
		STEP(1, ACQ, 0x9000, 32),
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	expect(got, 1, 40, 32, 0, 0);
	expect(got, 1, 42, 33, 0, 0);
	expect(got, 3, 40, 32, 42, 33);
	assert_int_equal(got->count, 3);
	free(got);
	got = OBSERVED(readers, 3000);
	expect(got, 1, 41, 32, 0, 0);
	assert_int_equal(got->count, 1);
	free(got);
}

/*
 * Data under a lock: each dependency of it comes right after one of the lock, which is of the same kind as
 * the one that is wanted, but too late.
 */
static void test_last_but_one(void **state)
{
	const struct iroot_step section[] = {
		STEP(1, ACQ, 0x9000, 30), STEP(1, R, 0x1000, 10), STEP(1, W, 0x1000, 20), STEP(1, REL, 0x9000, 40),
	};
	struct iroot_step steps[16];
	struct roots *got;

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		steps[i] = section[i % 4];
		steps[i].thread = 1 + i / 4 % 2;
	}
	got = OBSERVED(steps, 3000);
	expect(got, 6, 40, 30, 20, 10);		/* the first release and acquisition, the write and read at the end */
	free(got);
}

static void test_fresh(void **state)
{
	const struct iroot_step steps[] = {
		STEP(1, W, 0x1000, 20), { .op = IROOT_OP_FRESH, .addr = 0x1000, .size = 8 },
		STEP(2, R, 0x1000, 10),
	};
	struct roots *got = OBSERVED(steps, 3000);

	(void)state;
	assert_int_equal(got->count, 0);
	free(got);
}

/* The slow way. */
struct touch {
	bool counts, fresh, lock;
	uint64_t lo, hi, index;
	uint32_t thread;
	struct iroot_event event;
};

struct dependency {
	size_t from, to;
	uint64_t var;
	uint8_t bytes;
	uint64_t granule;
};

static size_t expand(const struct iroot_step *steps, size_t count, struct touch *out)
{
	uint64_t index[8] = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct iroot_step *s = &steps[i];

		out[i] = (struct touch){ .lo = s->addr, .hi = s->addr + s->size, .thread = s->thread };
		out[i].fresh = s->op == IROOT_OP_FRESH;
		out[i].lock = s->op == ACQ || s->op == REL;
		out[i].counts = s->op == R || s->op == W || out[i].lock;
		if (out[i].lock)
			out[i].hi = out[i].lo + 1;
		if (out[i].counts)
			out[i].index = ++index[s->thread];
		out[i].event = (struct iroot_event){ s->site, s->op == R ? IROOT_READ : s->op == W ? IROOT_WRITE :
							      s->op == ACQ ? IROOT_ACQUIRE : IROOT_RELEASE };
	}
	return count;
}

static bool touches(const struct touch *t, uint64_t byte, bool lock)
{
	return t->counts && t->lock == lock && t->lo <= byte && byte < t->hi;
}

/* Who touched it last before `to`; SIZE_MAX: nobody. `thread`: only that one; 0: any. */
static size_t before(const struct touch *all, size_t to, uint64_t byte, bool lock, uint32_t thread)
{
	for (size_t i = to; i-- > 0;) {
		if (all[i].fresh && !lock && all[i].lo <= byte && byte < all[i].hi)
			return SIZE_MAX;
		if (touches(&all[i], byte, lock) && (!thread || all[i].thread == thread))
			return i;
	}
	return SIZE_MAX;
}

static bool depends(const struct touch *a, const struct touch *b)
{
	uint64_t x = a->event.access, y = b->event.access;

	if (a->thread == b->thread)
		return false;
	return a->lock ? x == IROOT_RELEASE && y == IROOT_ACQUIRE : x == IROOT_WRITE || y == IROOT_WRITE;
}

static uint64_t generation(const struct touch *all, size_t at, uint64_t byte)
{
	uint64_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += all[i].fresh && all[i].lo <= byte && byte < all[i].hi;
	return n;
}

static size_t find_dependencies(const struct touch *all, size_t count, struct dependency *out)
{
	size_t n = 0;

	for (size_t to = 0; to < count; to++) {
		size_t first = n;

		for (uint64_t byte = all[to].lo; all[to].counts && byte < all[to].hi; byte++) {
			size_t from = before(all, to, byte, all[to].lock, 0), i;

			if (from == SIZE_MAX || !depends(&all[from], &all[to]))
				continue;
			for (i = first; i < n; i++)
				if (out[i].from == from && out[i].granule == byte / 8)
					break;
			if (i == n)
				out[n++] = (struct dependency){
					.from = from, .to = to, .granule = byte / 8,
					.var = byte | generation(all, to, byte) << 32 |
					       (uint64_t)all[to].lock << 63 };
			out[i].bytes |= (uint8_t)(1u << (byte & 7));
		}
	}
	return n;
}

static bool near(const struct touch *a, const struct touch *b, uint32_t window)
{
	return a->index < b->index && b->index - a->index <= window;
}

static void add_root(struct roots *out, uint64_t idiom, const struct touch *a, const struct touch *b,
		     const struct touch *c, const struct touch *d)
{
	struct iroot root = { .idiom = idiom, .event = { a->event, b->event } };

	if (c)
		root.event[2] = c->event;
	if (d)
		root.event[3] = d->event;
	roots_add(out, &root);
}

/* Idioms 2 and 3 that end with `d`. */
static void slow_one(const struct touch *all, const struct dependency *deps, const struct dependency *d,
		     uint32_t window, struct roots *out)
{
	const struct touch *c = &all[d->from], *e = &all[d->to];

	for (const struct dependency *f = deps; f < d; f++) {
		const struct touch *a = &all[f->from], *b = &all[f->to];
		bool found = false;

		if (a->thread != e->thread || b->thread != c->thread || a->lock != e->lock ||
		    f->granule != d->granule)
			continue;
		for (unsigned bit = 0; bit < 8; bit++)
			found |= (f->bytes & d->bytes & 1u << bit) &&
				 before(all, d->to, d->granule * 8 + bit, e->lock, e->thread) == f->from;
		if (!found || !near(a, e, window))
			continue;
		if (b == c)
			add_root(out, 2, a, b, e, NULL);
		else if (near(b, c, window))
			add_root(out, 3, a, b, c, e);
	}
}

static void slow_join(const struct touch *all, const struct dependency *f, const struct dependency *d,
		      uint32_t window, struct roots *out)
{
	const struct touch *a = &all[f->from], *b = &all[f->to], *c = &all[d->from], *e = &all[d->to];

	if (f->var == d->var)
		return;
	if (a->thread == c->thread) {
		if (near(a, c, window) && near(b, e, window))
			add_root(out, 6, a, b, c, e);
		return;
	}
	if (near(a, e, window) && near(b, c, window))
		add_root(out, 4, a, b, c, e);
	if (near(a, e, window) && near(c, b, window))
		add_root(out, 5, a, b, c, e);
}

static bool same_kind(const struct touch *all, const struct dependency *x, const struct dependency *y)
{
	return all[x->from].thread == all[y->from].thread && all[x->to].thread == all[y->to].thread &&
	       memcmp(&all[x->from].event, &all[y->from].event, sizeof(struct iroot_event)) == 0 &&
	       memcmp(&all[x->to].event, &all[y->to].event, sizeof(struct iroot_event)) == 0;
}

/* Idioms 4 to 6: with the last two of each kind between the two threads, and the last of another variable. */
static void slow_two(const struct touch *all, const struct dependency *deps, const struct dependency *d,
		     uint32_t window, struct roots *out)
{
	for (const struct dependency *f = d; f-- > deps;) {
		bool is_last = true;
		uint32_t x = all[f->from].thread, y = all[f->to].thread;

		if (!(x == all[d->from].thread && y == all[d->to].thread) &&
		    !(y == all[d->from].thread && x == all[d->to].thread))
			continue;
		for (const struct dependency *g = f + 1; g < d; g++)
			is_last &= !same_kind(all, f, g);
		if (!is_last)
			continue;
		slow_join(all, f, d, window, out);
		for (const struct dependency *g = f; g-- > deps;)
			if (same_kind(all, f, g) && g->var != f->var) {
				slow_join(all, g, d, window, out);
				break;
			}
		for (const struct dependency *g = f; g-- > deps;)
			if (same_kind(all, f, g)) {
				slow_join(all, g, d, window, out);
				break;
			}
	}
}

static void slow_observe(const struct iroot_step *steps, size_t count, uint32_t window, struct roots *out)
{
	static struct touch all[512];
	static struct dependency deps[4096];
	size_t n;

	expand(steps, count, all);
	n = find_dependencies(all, count, deps);
	for (size_t i = 0; i < n; i++) {
		add_root(out, 1, &all[deps[i].from], &all[deps[i].to], NULL, NULL);
		slow_one(all, deps, &deps[i], window, out);
		slow_two(all, deps, &deps[i], window, out);
	}
}

static void test_random(void **state)
{
	static struct iroot_step steps[300];
	size_t idioms[IROOT_IDIOMS + 1] = { 0 };
	uint64_t rng = 1;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct roots *wanted = calloc(1, sizeof(*wanted)), *got;
		uint32_t window = 1 + random_below(&rng, 12);
		size_t n = random_steps(&rng, steps, 5 + random_below(&rng, 80), 2 + round % 3, 5, true);

		got = roots_of(steps, n, window, IROOT_EXPOSED);
		slow_observe(steps, n, window, wanted);
		roots_expect_same(got, wanted);
		for (size_t i = 0; i < got->count; i++)
			idioms[got->at[i].idiom]++;
		free(got);
		free(wanted);
	}
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		assert_true(idioms[i] > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependency),
		cmocka_unit_test(test_one_variable),
		cmocka_unit_test(test_touched_between),
		cmocka_unit_test(test_two_variables),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_last_but_one),
		cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
