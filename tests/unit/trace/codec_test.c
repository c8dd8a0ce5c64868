/*
 * The codec: decoding returns what was encoded, for records of every kind and for sequences with
 * hits, misses and slots that sites take from each other.
 */
#include "trace_util.h"

#include "reference/codec.h"

static uint64_t seed;

static uint64_t next_random(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 24 ^ seed << 40;
}

/* Decodes many records at a time, into arrays of odd sizes. */
static void check_many(struct trace_coder *coder, const uint8_t *bytes, size_t size,
		       const struct trace_record *in, size_t n, uint64_t time)
{
	static const size_t rooms[] = { 3, 4, 7, 100, 300000 };

	for (size_t k = 0; k < ARRAY_SIZE(rooms); k++) {
		struct trace_record *out = calloc(rooms[k], sizeof(*out));
		const uint8_t *p = bytes;
		size_t at = 0, got = 0;

		trace_coder_init(coder, time);
		while (at < n) {
			p = trace_decode_many(coder, p, bytes + size, out, rooms[k], &got);
			assert_non_null(p);
			assert_in_range(got, 1, n - at);
			assert_memory_equal(out, in + at, got * sizeof(*out));
			at += got;
		}
		assert_true(p == bytes + size && trace_decode_done(coder));
		free(out);
	}
}

static void check_round_trip(const struct trace_record *in, size_t n, uint64_t time)
{
	uint8_t *bytes = malloc(n * TRACE_RECORD_MAX + TRACE_SLACK);
	struct trace_coder *coder = calloc(1, sizeof(*coder));
	size_t size = raw_encode(bytes, time, in, n), at = 0;
	uint8_t *exact = malloc(size);	/* so that ASan sees a read too far */
	const uint8_t *p = exact;

	assert_true(size <= n * TRACE_RECORD_MAX);
	memcpy(exact, bytes, size);
	trace_coder_init(coder, time);
	while (at < n) {
		struct trace_record out[3] = { { 0, 0 } };
		unsigned count = 0;

		p = trace_decode(coder, p, exact + size, out, &count);
		assert_non_null(p);
		assert_true(count <= n - at);
		for (unsigned i = 0; i < count; i++, at++) {
			assert_int_equal(out[i].addr, in[at].addr);
			assert_int_equal(out[i].site, in[at].site);
		}
	}
	assert_ptr_equal(p, exact + size);
	check_many(coder, exact, size, in, n, time);
	assert_true(trace_decode_done(coder));
	free(exact);
	free(coder);
	free(bytes);
}

static void test_every_kind(void **state)
{
	struct trace_record in[TRACE_KIND_COUNT * 6];
	size_t n = 0;

	(void)state;
	for (int again = 0; again < 2; again++)
		for (unsigned kind = TRACE_STAMP; kind < TRACE_KIND_COUNT; kind++) {
			in[n++] =
				(struct trace_record){ ~0ull - kind, TRACE_SITE(kind, 0xff, kind) };
			for (unsigned i = 0; i < trace_extra(kind); i++)
				in[n++] = (struct trace_record){ 1ull << 63 | kind, kind * 77 };
		}
	check_round_trip(in, n, 12345);
}

static void test_boundaries(void **state)
{
	static const uint64_t values[] = { 0, 1, 127, 128, 255, 256, 0x7fffffff, 0x80000000,
					   1ull << 55, (1ull << 63) - 1, 1ull << 63, ~0ull };
	struct trace_record in[2 * ARRAY_SIZE(values) * ARRAY_SIZE(values)];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
			in[n++] =
				(struct trace_record){ values[i], TRACE_SITE(TRACE_MALLOC, 0, 9) };
			in[n++] = (struct trace_record){ values[j], values[i] };
		}
	check_round_trip(in, n, ~0ull);
}

/* The example at the top of codec.h. */
static void test_header_example(void **state)
{
	static const uint8_t expected[] = {
		0x0b, 0x69, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x01, 0x04, 0, 0, 0, 0, 0x03, 0x02,
		0x0a, 0x69, 0x08, 0x10,
		0x0c,
		0x19,
	};
	struct trace_record in[4];
	uint8_t out[4 * TRACE_RECORD_MAX + TRACE_SLACK];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		in[i] = (struct trace_record){ 0x1000 + 8 * i, 0x0203000000000401 };
	assert_int_equal(raw_encode(out, 0, in, 4), sizeof(expected));
	assert_memory_equal(out, expected, sizeof(expected));
}

/* A loop over two arrays is predicted almost entirely. */
static void test_loops_cost_nothing(void **state)
{
	static struct trace_record in[8192];
	static uint8_t out[8192 * TRACE_RECORD_MAX + TRACE_SLACK];

	(void)state;
	for (size_t i = 0; i < 4096; i++) {
		in[2 * i] = rec(TRACE_READ, 0x1000 + 8 * i, 0x400100);
		in[2 * i + 1] = rec(TRACE_WRITE, 0x90000 + 8 * i, 0x400110);
	}
	assert_in_range(raw_encode(out, 0, in, 8192), 1, 100);
	check_round_trip(in, 8192, 0);
}

/*
 * Nodes anywhere in memory, three fields of each: the first takes three bytes of
 * residual, the others follow from it. By strides alone it would be three times as much.
 */
static void test_fields_are_predicted_from_the_first(void **state)
{
	enum { NODES = 1000 };
	static struct trace_record in[3 * NODES];
	static uint8_t out[3 * NODES * TRACE_RECORD_MAX + TRACE_SLACK];

	(void)state;
	seed = 1;
	for (size_t i = 0; i < NODES; i++) {
		uint64_t node = 0x10000000 + (next_random() & 0x3fffff) * 2;

		in[3 * i] = rec(TRACE_READ, node, 0x400100);
		in[3 * i + 1] = rec(TRACE_READ, node + 8, 0x400110);
		in[3 * i + 2] = rec(TRACE_WRITE, node + 40, 0x400120);
	}
	assert_in_range(raw_encode(out, 0, in, 3 * NODES), 3 * NODES, 4 * NODES + 100);
	check_round_trip(in, 3 * NODES, 0);
}

/* A slot that is toggled, byte by byte as in trace-format.md. */
static void test_toggle(void **state)
{
	const uint64_t x = TRACE_SITE(TRACE_READ, 0, 1), y = TRACE_SITE(TRACE_READ, 0, 2);
	static const uint64_t node[] = { 0x100, 0x150, 0x110, 0x130, 0x100 };
	static const uint8_t tail[] = {
		0x01, 0xa0,	/* y, residual 0x50; its stride was right before, so no toggle */
		0x01, 0x7f,	/* x, residual -0x40 */
		0x0c,		/* y, predicted from x */
		0x01, 0x40,	/* x, residual 0x20 */
		0x11, 0x5f,	/* y is counted; x, residual -0x30 */
		0x19,		/* y is counted; nothing follows */
	};
	struct trace_record in[2 * ARRAY_SIZE(node)];
	uint8_t out[sizeof(in) * 2 + TRACE_SLACK];
	size_t n = 0, size;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(node); i++) {
		in[n++] = (struct trace_record){ node[i], x };
		in[n++] = (struct trace_record){ node[i] + 8, y };
	}
	size = raw_encode(out, 0, in, n);
	/* Two new slots of 19 bytes; then x by its slot, since no record has followed y yet. */
	assert_int_equal(size, 2 * 19 + 4 + sizeof(tail));
	assert_memory_equal(out + 2 * 19 + 4, tail, sizeof(tail));
	check_round_trip(in, n, 0);
}

/* The next site behind *pc whose two possible slots are those of `site`. */
static uint64_t rival(uint64_t site, uint64_t *pc)
{
	while (trace_slot_hash(TRACE_SITE(TRACE_WRITE, 0, ++*pc)) >> 1 !=
	       trace_slot_hash(site) >> 1)
		;
	return TRACE_SITE(TRACE_WRITE, 0, *pc);
}

/* The encoder and the reference make the same bytes, also with a coder used before. */
static void check_same_bytes(const struct trace_record *in, size_t n, uint64_t time)
{
	static struct trace_coder used;
	uint8_t *fast = malloc(n * TRACE_RECORD_MAX + TRACE_SLACK);
	uint8_t *slow = malloc(n * TRACE_RECORD_MAX + TRACE_SLACK);
	size_t size = raw_encode(fast, time, in, n);

	assert_int_equal(encode_slowly(slow, time, in, n), size);
	assert_memory_equal(slow, fast, size);
	memset(fast, 0, size);
	trace_coder_init(&used, time);
	assert_ptr_equal(trace_encode_end(&used, trace_encode(&used, fast, in, in + n)),
			 fast + size);
	assert_memory_equal(slow, fast, size);
	free(slow);
	free(fast);
}

/* Times with small, large and negative differences, with and without an argument. */
static void test_times(void **state)
{
	static const uint64_t deltas[] = { 0,	  1,	  2,	  0x7f,	  0x80,	      0xff,
					   0x100, 0x7fff, 0x8000, 0xffff, 1ull << 23, ~0ull };
	struct trace_record in[4 * ARRAY_SIZE(deltas) * ARRAY_SIZE(deltas)];
	uint64_t time = 1000;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(in) / 2; i++) {
		in[n++] = rec(TRACE_MUTEX_LOCK, 0x1000 + 8 * (i * i % 7), 0x400100);
		time += deltas[i / 2 % ARRAY_SIZE(deltas)];
		in[n++] = (struct trace_record){ time, i % 2 * deltas[i / 2 / ARRAY_SIZE(deltas)] };
	}
	check_round_trip(in, n, 1000);
	check_same_bytes(in, n, 1000);
}

/* Three sites take two slots from each other; a `next` of the former site must not be used. */
static void test_evicted_slots_do_not_mislead(void **state)
{
	uint64_t y = TRACE_SITE(TRACE_READ, 0, 0x1111), a = TRACE_SITE(TRACE_READ, 0, 0x2222),
		 pc = 0;
	uint64_t b = rival(a, &pc), d = rival(a, &pc),
		 lock = TRACE_SITE(TRACE_MUTEX_LOCK, 0, 0x3333);
	struct trace_record in[64];
	size_t n = 0;

	(void)state;
	assert_int_not_equal(trace_slot_hash(y) >> 1, trace_slot_hash(a) >> 1);
	for (int i = 0; i < 3; i++) {
		in[n++] = (struct trace_record){ 0x10, y };
		in[n++] = (struct trace_record){ 0x20, a };
		in[n++] = (struct trace_record){ 0x10, y };
		in[n++] = (struct trace_record){ 0x20, b };
		in[n++] = (struct trace_record){ 0x10, y };
		in[n++] = (struct trace_record){ 0x20, d };
		in[n++] = (struct trace_record){ 0x30, lock };
		/* An extra record whose argument equals a site. */
		in[n++] = (struct trace_record){ 100 + (uint64_t)i, y };
		in[n++] = (struct trace_record){ 0x10, y };
	}
	check_same_bytes(in, n, 0);
	check_round_trip(in, n, 0);
}

/* Two sites with the same two slots get one each, so a loop over them is predicted. */
static void test_two_sites_share_two_slots(void **state)
{
	static struct trace_record in[2000];
	static uint8_t out[2000 * TRACE_RECORD_MAX + TRACE_SLACK];
	uint64_t a = TRACE_SITE(TRACE_READ, 0, 0x2222), pc = 0;

	(void)state;
	for (unsigned again = 0; again < 8; again++) {
		uint64_t b = rival(a, &pc);

		for (size_t i = 0; i < 2000; i++)
			in[i] = (struct trace_record){ 0x1000 + 8 * i, i % 2 ? b : a };
		assert_in_range(raw_encode(out, 0, in, 2000), 1, 100);
		check_same_bytes(in, 2000, 0);
		check_round_trip(in, 2000, 0);
	}
}

/* As many predicted records in a row as a count of two bytes can hold, and more. */
static void test_long_runs(void **state)
{
	static const size_t lengths[] = { 17, 18, 65535 + 3, 65536 + 3, 3 * 65535 + 4 };
	struct trace_record *in = calloc(200000, sizeof(*in));

	(void)state;
	for (size_t i = 0; i < 200000; i++)
		in[i] = rec(TRACE_READ, 0x1000 + 8 * i, 0x400100);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		check_round_trip(in, lengths[i], 0);
	free(in);
}

static void test_random_sequences(void **state)
{
	static struct trace_record in[3000];

	(void)state;
	for (seed = 1; seed < 4000; seed = (seed & 0xffff) + 7) {
		uint64_t sites = 1 + next_random() % 8, start = seed;
		size_t n = 0;

		while (n < 300) {
			uint64_t pick = next_random() % sites;
			unsigned kind =
				pick < 5 ? (unsigned)(TRACE_READ + pick % 2)
					 : (unsigned)(1 + next_random() % (TRACE_KIND_COUNT - 1));

			in[n] = (struct trace_record){
				next_random() % 4 ? 0x1000 * pick + 8 * n : next_random(),
				TRACE_SITE(kind, pick, 0x400000 + (pick << 12)),
			};
			n++;
			for (unsigned i = 0; i < trace_extra(kind); i++)
				in[n++] =
					(struct trace_record){ next_random() >> next_random() % 60,
							       next_random() >>
								       next_random() % 60 };
		}
		check_round_trip(in, n, start);
		check_same_bytes(in, n, start);
		seed = start;
	}
}

/* An offset that equals TRACE_NO_DELTA. */
static void test_an_offset_that_equals_no_delta(void **state)
{
	struct trace_record in[40];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		uint64_t addr = 0x1000 + 8 * (i / 2 * i);

		in[i] = rec(TRACE_READ, i % 2 ? in[i - 1].addr + TRACE_NO_DELTA : addr,
			    0x400000 + 16 * (i % 2));
	}
	check_same_bytes(in, ARRAY_SIZE(in), 0);
	check_round_trip(in, ARRAY_SIZE(in), 0);
}

/*
 * A loop over some sites, each with its stride. Sometimes an address jumps or a site is left out.
 * Some sites access fields of the structure that the site before them accesses.
 */
static size_t random_loop(struct trace_record *in, size_t n, size_t room)
{
	static const unsigned kinds[] = { TRACE_READ, TRACE_WRITE, TRACE_READ, TRACE_MUTEX_LOCK,
					  TRACE_READ_RANGE };
	uint64_t size = 1 + next_random() % 80, base = next_random() % 4 << 20, addr[80], step[80];
	uint64_t restless = 2 + next_random() % 200, astray = 10 + next_random() % 500;
	unsigned mixed = next_random() % 2 ? ARRAY_SIZE(kinds) : 3;
	bool fields = next_random() % 2;

	for (size_t i = 0; i < size; i++) {
		addr[i] = next_random() & TRACE_ADDR_MASK >> 1;
		step[i] = next_random() % 5 * 8;
	}
	for (size_t k = 0, times = next_random() % 300; k < size * times && n + 4 < room; k++) {
		size_t i = k % size;
		unsigned kind = kinds[i % mixed];

		if (next_random() % astray == 0)
			continue;
		if (next_random() % restless == 0)
			addr[i] += next_random() >> next_random() % 64 & 0xffffffff;
		if (next_random() % restless == 1)
			step[i] += 8;
		addr[i] += step[i];
		if (fields && i % 3)
			addr[i] = addr[i - 1] + 8 * i;
		in[n++] = rec(kind, addr[i] & TRACE_ADDR_MASK, 0x400000 + base + 16 * i);
		for (unsigned e = 0; e < trace_extra(kind); e++)
			in[n++] = (struct trace_record){ next_random() >> 30, next_random() >> 50 };
		if (n % 256 == 0) {
			in[n] = (struct trace_record){ n * 1000, TRACE_SITE(TRACE_STAMP, 0, 0) };
			n++;
		}
	}
	return n;
}

/* The fast paths for loops and predicted records change no byte. */
static void test_loops_are_encoded_the_same(void **state)
{
	enum { ROOM = 8192 };
	struct trace_record *in = calloc(ROOM, sizeof(*in));

	(void)state;
	for (uint64_t start = 1; start < 300; start++) {
		size_t n = 0;

		seed = start;
		while (n + 4 < ROOM)
			n = random_loop(in, n, ROOM);
		check_same_bytes(in, n, start);
		check_round_trip(in, n, start);
	}
	free(in);
}

/* A long loop of one site with jumps, changed strides, stamps and other sites in between. */
static void test_one_site(void **state)
{
	enum { ROOM = 3000 };
	static struct trace_record in[ROOM];

	(void)state;
	for (uint64_t start = 1; start < 200; start++) {
		uint64_t addr = 0x10000, step = 8;

		seed = start;
		for (size_t i = 0; i < ROOM; i++) {
			uint64_t what = next_random() % 40;

			if (what == 0)
				step = next_random() % 3 * 8;
			addr += step;
			if (what == 1 || what == 2)
				addr += 64 * what;
			in[i] = rec(TRACE_READ, addr, 0x400100);
			if (what == 3)
				in[i] = (struct trace_record){ i, TRACE_SITE(TRACE_STAMP, 0, 0) };
			if (what == 4 && next_random() % 8 == 0)
				in[i] = rec(TRACE_WRITE, addr, 0x400200);
		}
		check_same_bytes(in, ROOM, 0);
		check_round_trip(in, ROOM, 0);
	}
}

static void test_bad_bytes(void **state)
{
	static const uint8_t no_slot[] = { 10 }, empty_slot[] = { 10, 5, 0 },
			     token[] = { 12, 0, 0 };
	static const uint8_t predicted[] = { 1 << 4 | 9 }, nothing[] = { 9 },
			     many[] = { 15 << 4 | 9, 1 };
	static const uint8_t delta[] = { 3, 1, 2, 3 }, cut[] = { 11, 0, 0, 1, 2, 3 };
	static const uint8_t far[] = { 10, 1, 4 };
	static const uint8_t stamp_in_chain[] = { 11, 0, 0, 1, 2, 3, 4, 5,	     6, 7,
						  8,  0, 0, 0, 0, 0, 0, TRACE_STAMP, 0 };
	const struct {
		const uint8_t *bytes;
		size_t size;
	} bad[] = {
		{ no_slot, sizeof(no_slot) }, { empty_slot, sizeof(empty_slot) },
		{ token, sizeof(token) }, { predicted, sizeof(predicted) },
		{ nothing, sizeof(nothing) }, { many, sizeof(many) }, { delta, sizeof(delta) },
		{ cut, sizeof(cut) }, { far, sizeof(far) },
		{ stamp_in_chain, sizeof(stamp_in_chain) },
	};
	static struct trace_coder coder;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct trace_record out[3];
		unsigned count;

		trace_coder_init(&coder, 0);
		assert_null(trace_decode(&coder, bad[i].bytes, bad[i].bytes + bad[i].size, out,
					 &count));
	}
}

static void test_check_sum(void **state)
{
	uint8_t data[200];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)next_random();
	for (size_t size = 0; size < sizeof(data); size++) {
		uint32_t check = trace_check(data, size);

		assert_int_equal(check, slow_check(data, size));
		for (size_t i = 0; i < size; i++) {
			data[i] ^= 1;
			assert_int_not_equal(trace_check(data, size), check);
			data[i] ^= 1;
		}
		assert_int_not_equal(trace_check(data, size + 1), check);
	}
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		assert_non_null(kind_name(kind));
		assert_int_equal(kind_find(kind_name(kind), strlen(kind_name(kind))), kind);
	}
	for (unsigned call = 0; call < TRACE_CALL_COUNT; call++)
		assert_int_equal(call_find(call_name(call), strlen(call_name(call))), call);
	assert_null(kind_name(TRACE_KIND_COUNT));
	assert_null(call_name(TRACE_CALL_COUNT));
	assert_int_equal(kind_find("loc", 3), -1);
	assert_int_equal(kind_class(TRACE_ATOMIC_ADD), TRACE_CLASS_ATOMIC);
	assert_string_equal(kind_class_name(TRACE_CLASS_USER), "user");
	assert_string_equal(order_name(__ATOMIC_ACQ_REL), "acq_rel");
	assert_null(order_name(6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_header_example),
		cmocka_unit_test(test_loops_cost_nothing),
		cmocka_unit_test(test_fields_are_predicted_from_the_first),
		cmocka_unit_test(test_toggle),
		cmocka_unit_test(test_evicted_slots_do_not_mislead),
		cmocka_unit_test(test_two_sites_share_two_slots),
		cmocka_unit_test(test_long_runs),
		cmocka_unit_test(test_random_sequences),
		cmocka_unit_test(test_an_offset_that_equals_no_delta),
		cmocka_unit_test(test_loops_are_encoded_the_same),
		cmocka_unit_test(test_one_site),
		cmocka_unit_test(test_bad_bytes),
		cmocka_unit_test(test_check_sum),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
