/*
 * Loop groups: the reader expands them to the events that it delivers for the same accesses
 * recorded one by one.
 */
#include "abi/live_memory.h"
#include "abi/loop_group.h"
#include "trace/write/finish.h"
#include "trace_util.h"

#define ROOM 400000u

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((seed >> 33) % n);
}

static struct trace_record head(uint64_t iterations, unsigned accesses)
{
	return (struct trace_record){ iterations, TRACE_SITE(TRACE_LOOP, accesses, 1) };
}

static struct trace_record stride(int64_t by)
{
	return (struct trace_record){ (uint64_t)by, TRACE_SITE(TRACE_LOOP, 0, 2) };
}

static struct trace_record moving(unsigned kind, uint64_t addr, int by)
{
	return rec(kind, addr | (uint64_t)by << 48, 3);
}

static struct buf file_of(const struct trace_record *r, size_t n)
{
	struct buf b = { 0 };

	raw_header(&b, 0);
	raw_events(&b, 1, 0, 100, r, n);
	raw_end(&b);
	return b;
}

static struct trace_record nest(uint64_t rounds, unsigned before)
{
	return (struct trace_record){ rounds, TRACE_SITE(TRACE_LOOP, TRACE_NEST | before, 1) };
}

static struct trace_record adds(int64_t a, int64_t b, int64_t c)
{
	return stride((a & 0xffff) | (b & 0xffff) << 16 | (c & 0xffff) << 32);
}

/* A nest: an inner loop over a row, for two rows, with one access before each row. */
static void test_nest_by_hand(void **state)
{
	const struct trace_record r[] = {
		nest(2, 1),
		rec(TRACE_READ, 0x10, 9),
		head(2, 2),
		moving(TRACE_READ, 0x100, 8),
		moving(TRACE_WRITE, 0x200, 0),
		adds(8, 0x40, -0x20),
		rec(TRACE_MUTEX_LOCK, 0x5, 9),
		extra(210, 0),
	};
	struct buf b = file_of(r, ARRAY_SIZE(r));

	(void)state;
	assert_brief(&b, "?1 read 10 t110 d0\n"
			 "?1 read 100 t120 d0\n"
			 "?1 write 200 t130 d0\n"
			 "?1 read 108 t140 d0\n"
			 "?1 write 200 t150 d0\n"
			 "?1 read 18 t160 d0\n"
			 "?1 read 140 t170 d0\n"
			 "?1 write 1e0 t180 d0\n"
			 "?1 read 148 t190 d0\n"
			 "?1 write 1e0 t200 d0\n"
			 "?1 lock 5 t210 d0\n");
	buf_free(&b);
}

static void test_by_hand(void **state)
{
	const struct trace_record r[] = {
		rec(TRACE_WRITE, 0x10, 9),
		head(2, 3),
		moving(TRACE_READ, 0x100, 8),
		stride(-0x10000),
		rec(TRACE_WRITE, 0x20004, 4),
		moving(TRACE_READ, 0x50, 0),
		rec(TRACE_STAMP, 180, 0),
		head(3, 1),
		moving(TRACE_WRITE, 0x4, -2),
		rec(TRACE_MUTEX_LOCK, 0x5, 9),
		extra(200, 0),
	};
	struct buf b = file_of(r, ARRAY_SIZE(r));

	(void)state;
	assert_brief(&b, "?1 write 10 t110 d0\n"
			 "?1 read 100 t120 d0\n"
			 "?1 write 20004 t130 d0\n"
			 "?1 read 50 t140 d0\n"
			 "?1 read 108 t150 d0\n"
			 "?1 write 10004 t160 d0\n"
			 "?1 read 50 t170 d0\n"
			 "?1 write 4 t185 d0\n"
			 "?1 write 2 t190 d0\n"
			 "?1 write 0 t195 d0\n"
			 "?1 lock 5 t200 d0\n");
	buf_free(&b);
}

struct pair {
	struct trace_record *group, *plain;
	size_t groups, plains;
};

static void both(struct pair *p, struct trace_record r)
{
	p->group[p->groups++] = p->plain[p->plains++] = r;
}

/* Adds a loop as a group and, for comparison, as its accesses. */
static void add_loop(struct pair *p, unsigned accesses, unsigned iterations)
{
	uint64_t first[TRACE_LOOP_ACCESSES], site[TRACE_LOOP_ACCESSES];
	int64_t by[TRACE_LOOP_ACCESSES];

	p->group[p->groups++] =
		(struct trace_record){ iterations, TRACE_SITE(TRACE_LOOP, accesses, below(50)) };
	for (unsigned i = 0; i < accesses; i++) {
		first[i] = below(3) ? below(1u << 30) : TRACE_ADDR_MASK - below(1000);
		site[i] = TRACE_SITE(below(2) ? TRACE_READ : TRACE_WRITE, below(5) | below(2) << 3,
				     1 + below(60));
		switch (below(4)) {
		case 0: by[i] = 8; break;
		case 1: by[i] = (int64_t)below(65536) - 32768; break;
		case 2: by[i] = ((int64_t)below(1u << 31) << 20) - (1ll << 50); break;
		default: by[i] = 0; break;
		}
		if (by[i] < -32768 || by[i] > 32767) {
			p->group[p->groups++] = stride(by[i]);
			p->group[p->groups++] = (struct trace_record){ first[i], site[i] };
		} else {
			p->group[p->groups++] =
				(struct trace_record){ first[i] | (uint64_t)by[i] << 48, site[i] };
		}
	}
	for (unsigned t = 0; t < iterations; t++)
		for (unsigned i = 0; i < accesses; i++)
			p->plain[p->plains++] = (struct trace_record){
				(first[i] + t * (uint64_t)by[i]) & TRACE_ADDR_MASK, site[i],
			};
}

/* Adds a nest as records and, for comparison, as its accesses. */
static void add_nest(struct pair *p, unsigned before, unsigned accesses, unsigned iterations,
		     unsigned rounds)
{
	uint64_t first[TRACE_NEST_BEFORE + TRACE_LOOP_ACCESSES],
		site[TRACE_NEST_BEFORE + TRACE_LOOP_ACCESSES];
	int64_t by[TRACE_NEST_BEFORE + TRACE_LOOP_ACCESSES],
		add[TRACE_NEST_BEFORE + TRACE_LOOP_ACCESSES];
	unsigned all = before + accesses;

	p->group[p->groups++] =
		(struct trace_record){ rounds,
				       TRACE_SITE(TRACE_LOOP, TRACE_NEST | before, below(50)) };
	for (unsigned i = 0; i < all; i++) {
		first[i] = below(3) ? below(1u << 30) : TRACE_ADDR_MASK - below(1000);
		site[i] = TRACE_SITE(below(2) ? TRACE_READ : TRACE_WRITE, below(5), 1 + below(60));
		by[i] = i < before ? 0 : (int64_t)below(65536) - 32768;
		add[i] = (int64_t)below(65536) - 32768;
		if (i == before)
			p->group[p->groups++] = (struct trace_record){
				iterations, TRACE_SITE(TRACE_LOOP, accesses, 7)
			};
		if (i >= before && below(9) == 0) {
			p->group[p->groups++] = stride(by[i] *= 100000);
			p->group[p->groups++] = (struct trace_record){ first[i], site[i] };
		} else {
			p->group[p->groups++] =
				(struct trace_record){ first[i] | (uint64_t)by[i] << 48, site[i] };
		}
	}
	for (unsigned i = 0; i < all; i++) {
		if (i % 4 == 0)
			p->group[p->groups++] = stride(0);
		p->group[p->groups - 1].addr |= ((uint64_t)add[i] & 0xffff) << 16 * (i % 4);
	}
	for (uint64_t r = 0; r < rounds; r++)
		for (uint64_t t = 0; t < iterations; t++)
			for (unsigned i = t ? before : 0; i < all; i++)
				p->plain[p->plains++] = (struct trace_record){
					(first[i] + t * (uint64_t)by[i] + r * (uint64_t)add[i]) &
						TRACE_ADDR_MASK,
					site[i],
				};
}

static void add_anything(struct pair *p, uint64_t *time)
{
	switch (below(9)) {
	case 0: both(p, rec(TRACE_FUNC_ENTRY, 0x400, 1 + below(9))); break;
	case 1: both(p, rec(TRACE_FUNC_EXIT, 0, 1 + below(9))); break;
	case 2: both(p, rec(TRACE_STAMP, *time += below(500), 0)); break;
	case 3:
		both(p, rec(TRACE_ATOMIC_ADD, below(4096), 1 + below(9)));
		both(p, extra(*time += below(500), below(100)));
		break;
	case 4: both(p, rec(TRACE_WRITE, below(1u << 20), 1 + below(90))); break;
	case 5:
		add_nest(p, below(TRACE_NEST_BEFORE + 1),
			 1 + below(below(4) ? 4 : TRACE_LOOP_ACCESSES), 1 + below(9), 1 + below(5));
		break;
	default:
		add_loop(p, 1 + below(below(4) ? 4 : TRACE_LOOP_ACCESSES),
			 1 + below(below(4) ? 20 : 60));
		break;
	}
}

static void assert_files_same(const struct buf *a, const struct buf *b, bool times)
{
	struct err err = { "" };
	struct reader *x, *y;
	struct event one, other;
	int got;

	save(test_path("a"), a->data, a->size);
	save(test_path("b"), b->data, b->size);
	x = reader_open(test_path("a"), &err);
	y = reader_open(test_path("b"), &err);
	assert_non_null(x);
	assert_non_null(y);
	for (int pass = 0; pass < 2; pass++) {
		while ((got = reader_next(x, &one, &err)) > 0) {
			assert_int_equal(reader_next(y, &other, &err), 1);
			if (!times)
				other.time = one.time;
			assert_same_event(&one, &other);
		}
		assert_int_equal(got, 0);
		assert_int_equal(reader_next(y, &other, &err), 0);
		assert_int_equal(reader_rewind(x, &err), 0);
		assert_int_equal(reader_rewind(y, &err), 0);
	}
	assert_accesses_same(x);
	assert_accesses_same(y);
	reader_close(x);
	reader_close(y);
}

static struct pair new_pair(void)
{
	return (struct pair){ xcalloc(ROOM, sizeof(struct trace_record)),
			      xcalloc(ROOM, sizeof(struct trace_record)), 0, 0 };
}

static void test_random(void **state)
{
	struct pair p = new_pair();
	uint64_t passed = 0;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		struct buf a = { 0 }, b = { 0 };
		uint64_t time = 1000, rounds = seed % 10 == 0 ? 900 : 60, kept = seed;

		raw_header(&a, 0);
		raw_header(&b, 0);
		for (unsigned thread = 1; thread <= 2; thread++)
			for (uint64_t seq = 0; seq < 3; seq++) {
				uint64_t begin = time = seed % 2 && !seq ? 1000 : time;

				p.groups = p.plains = 0;
				/* A time within STREAM_LOOKAHEAD records. */
				for (uint64_t i = 0; i < rounds; i++) {
					add_anything(&p, &time);
					if (i % 2)
						both(&p, rec(TRACE_STAMP, time += below(9), 0));
				}
				raw_events(&a, thread, seq, begin, p.group, p.groups);
				raw_events(&b, thread, seq, begin, p.plain, p.plains);
			}
		raw_end(&a);
		raw_end(&b);
		assert_files_same(&a, &b, true);
		passed += assert_passes(test_path("a"), kept);
		buf_free(&a);
		buf_free(&b);
		seed = kept;
	}
	assert_true(passed > 1000000);
	free(p.group);
	free(p.plain);
}

/* The largest loops, at every offset from the end of a decoded portion. */
static void test_portions(void **state)
{
	struct pair p = new_pair();

	(void)state;
	seed = 5;
	for (unsigned before = 2048 - 70; before < 2048 + 5; before++) {
		struct buf a, b;

		p.groups = p.plains = 0;
		for (unsigned i = 0; i < before; i++)
			both(&p, rec(TRACE_WRITE, 8 * i, 7));
		add_loop(&p, TRACE_LOOP_ACCESSES, 3);
		add_loop(&p, 2, TRACE_LOOP_ITERATIONS);
		add_nest(&p, TRACE_NEST_BEFORE, TRACE_LOOP_ACCESSES, 2, 3);
		a = file_of(p.group, p.groups);
		b = file_of(p.plain, p.plains);
		assert_files_same(&a, &b, false);
		buf_free(&a);
		buf_free(&b);
	}
	free(p.group);
	free(p.plain);
}

static void assert_damaged(const struct trace_record *r, size_t n, const char *why)
{
	struct buf b = file_of(r, n);
	struct err err = { "" };
	struct reader *reader;
	struct event ev;
	int got;

	save(test_path("damaged"), b.data, b.size);
	reader = reader_open(test_path("damaged"), &err);
	assert_non_null(reader);
	while ((got = reader_next(reader, &ev, &err)) > 0)
		;
	assert_int_equal(got, -1);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in '%s'", why, err.text);
	assert_int_equal(reader_accesses(reader, accesses_add_list, &(struct accesses){ 0 }, &err),
			 -1);
	reader_close(reader);
	buf_free(&b);
}

#define ASSERT_DAMAGED(why, ...) \
	assert_damaged((const struct trace_record[]){ __VA_ARGS__ }, \
		       ARRAY_SIZE(((const struct trace_record[]){ __VA_ARGS__ })), why)

static void test_hostile(void **state)
{
	const struct trace_record read = moving(TRACE_READ, 0x100, 8);
	static struct trace_record many[40000];
	const char *none = "holds no valid events", *much = "too many iterations";

	(void)state;
	ASSERT_DAMAGED(none, head(1, 0), read);
	ASSERT_DAMAGED(none, head(0, 1), read);
	ASSERT_DAMAGED(none, head(TRACE_LOOP_ITERATIONS + 1, 1), read);
	ASSERT_DAMAGED(none, head(UINT64_MAX, 1), read);
	ASSERT_DAMAGED(none, head(2, 1));
	ASSERT_DAMAGED(none, head(2, 2), read);
	ASSERT_DAMAGED(none, head(2, 1), stride(9));
	ASSERT_DAMAGED(none, head(2, 1), stride(9), stride(9), read);
	ASSERT_DAMAGED(none, head(2, 2), read, rec(TRACE_STAMP, 500, 0), read);
	ASSERT_DAMAGED(none, head(2, 2), read, rec(TRACE_FUNC_ENTRY, 500, 0));
	ASSERT_DAMAGED(none, head(2, 2), read, head(2, 1), read);
	ASSERT_DAMAGED(none, stride(9), read);
	ASSERT_DAMAGED(none, head(2, 33), read);
	ASSERT_DAMAGED(none, nest(0, 0), head(2, 1), read, stride(0));
	ASSERT_DAMAGED(none, nest(TRACE_NEST_ROUNDS + 1, 0), head(2, 1), read, stride(0));
	ASSERT_DAMAGED(none, nest(2, 0), head(2, 1), read);
	ASSERT_DAMAGED(none, nest(2, 0), head(2, 1), read, read);
	ASSERT_DAMAGED(none, nest(2, 1), head(2, 1), read, stride(0));
	ASSERT_DAMAGED(none, nest(2, 1), head(2, 1), head(2, 1), read, stride(0));
	ASSERT_DAMAGED(none, nest(2, 0), nest(2, 0), head(2, 1), read, stride(0));
	ASSERT_DAMAGED(none, nest(2, 4), read, read, read, read, head(2, 1), read, stride(0),
		       stride(0));
	ASSERT_DAMAGED(none, nest(2, 2), read, read, head(2, 3), read, read, read, stride(0));
	ASSERT_DAMAGED(none, nest(2, 1), read, read, stride(0));
	ASSERT_DAMAGED(much, nest(TRACE_NEST_ROUNDS, 0), head(TRACE_LOOP_ITERATIONS, 2), read, read,
		       stride(0));
	/* As many accesses as a full ring can stand for are read, more are refused. */
	for (size_t i = 0; i < ARRAY_SIZE(many); i += 2) {
		many[i] = head(TRACE_LOOP_ITERATIONS, 1);
		many[i + 1] = read;
	}
	assert_damaged(many, ARRAY_SIZE(many), much);
}

/* Live memory of a killed process: one slot and its ring. */
static uint64_t finish_ring(const struct trace_record *r, size_t n, const char *expected)
{
	enum { SLOT = 256, RING = 512, SIZE = 4096 };
	const struct live_header h = { .magic = LIVE_MAGIC, .version = LIVE_VERSION, .size = SIZE,
				       .slots = SLOT, .rings = RING, .ticks_per_second = 1000 };
	const struct live_slot slot = { .thread = 1, .time = 100 };
	uint8_t memory[SIZE] = { 0 };
	struct finish_stats stats;
	struct err err = { "" };
	struct reader *reader;
	char *got;

	memcpy(memory, &h, sizeof(h));
	memcpy(memory + SLOT, &slot, sizeof(slot));
	memcpy(memory + RING, r, n * sizeof(*r));
	save(test_path("live"), memory, sizeof(memory));
	unlink(test_path("ring"));
	assert_int_equal(finish_trace(test_path("ring"), test_path("live"), &stats, &err), 0);
	reader = reader_open(test_path("ring"), &err);
	assert_non_null(reader);
	got = brief(reader, &err);
	assert_string_equal(got, expected);
	free(got);
	reader_close(reader);
	return stats.damaged;
}

static void test_ring(void **state)
{
	/* Killed when all of the next loop but its first record was written. */
	const struct trace_record torn[] = {
		head(2, 1), moving(TRACE_WRITE, 5, 8), { 0 }, moving(TRACE_READ, 6, 8)
	};
	/* Overwritten: the group lacks its second access. */
	const struct trace_record bad[] = { rec(TRACE_WRITE, 1, 9), head(2, 2),
					    moving(TRACE_WRITE, 5, 8) };
	uint64_t slots_missing =
		finish_ring(torn, ARRAY_SIZE(torn), "?1 write 5 t101 d0\n?1 write d t101 d0\n");

	(void)state;
	assert_int_equal(finish_ring(bad, ARRAY_SIZE(bad), "?1 write 1 t101 d0\n"),
			 slots_missing + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_nest_by_hand),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_portions),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
