/*
 * Damaged chunks: trace_decode(), which checks each length, and trace_decode_many() give the same
 * records, or both refuse the chunk.
 */
#include "trace_util.h"

#define RECORDS 400u
#define MOST 200000u	/* records that damaged bytes may stand for */

static uint64_t seed;

static uint64_t next_random(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

/* Random records of a few sites and all kinds, some in loops. */
static size_t make(struct trace_record *out)
{
	unsigned sites = 1 + (unsigned)next_random() % 12;
	size_t n = 0;

	while (n + 3 <= RECORDS) {
		unsigned site = (unsigned)next_random() % sites;
		unsigned kind = site % 3 ? TRACE_READ + site % 2
					 : 1 + (site * 7 + 3) % (TRACE_KIND_COUNT - 1);

		out[n] = (struct trace_record){
			0x1000 * site + (next_random() & 4 ? 8 * n : next_random() % 4096),
			TRACE_SITE(kind, 3, 0x400000 + site * 16)
		};
		n++;
		for (unsigned i = 0; i < trace_extra(kind); i++)
			out[n++] = (struct trace_record){ next_random() % 100000,
							  next_random() % 300 };
	}
	return n;
}

/* Returns the number of records, or MOST + 1 if the bytes were refused. */
static size_t read_singly(const uint8_t *bytes, size_t size, struct trace_record *out)
{
	static struct trace_coder coder;
	const uint8_t *in = bytes;
	size_t n = 0;

	trace_coder_init(&coder, 7);
	while (n < MOST && (in < bytes + size || !trace_decode_done(&coder))) {
		unsigned count;

		in = trace_decode(&coder, in, bytes + size, out + n, &count);
		if (!in)
			return MOST + 1;
		n += count;
	}
	return n;
}

static size_t read_many(const uint8_t *bytes, size_t size, size_t room, struct trace_record *out)
{
	static struct trace_coder coder;
	const uint8_t *in = bytes;
	size_t n = 0, got;

	trace_coder_init(&coder, 7);
	while (n < MOST && (in < bytes + size || !trace_decode_done(&coder))) {
		in = trace_decode_many(&coder, in, bytes + size, out + n, room, &got);
		if (!in)
			return MOST + 1;
		n += got;
	}
	return n;
}

static void test_single_and_batch_reading_agree(void **state)
{
	static struct trace_record in[RECORDS], one[MOST + 3], many[MOST + 500];
	static uint8_t bytes[RECORDS * TRACE_RECORD_MAX + TRACE_SLACK];
	unsigned refused = 0, taken = 0;

	(void)state;
	seed = 5;
	for (unsigned round = 0; round < 20000; round++) {
		size_t n = make(in), size = raw_encode(bytes, 7, in, n), expected, got;
		uint8_t *exact = malloc(size);	/* so that ASan sees a read too far */

		for (unsigned k = (unsigned)next_random() % 4; k > 0; k--)
			bytes[next_random() % size] = (uint8_t)next_random();
		memcpy(exact, bytes, size);
		expected = read_singly(exact, size, one);
		got = read_many(exact, size, round % 2 ? 500 : 3 + next_random() % 40, many);
		free(exact);
		refused += expected > MOST;
		taken += expected <= MOST;
		if (expected >= MOST) {
			assert_true(got >= MOST);
			continue;
		}
		assert_int_equal(got, expected);
		assert_memory_equal(one, many, got * sizeof(*one));
	}
	assert_true(refused > 2000 && taken > 8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_and_batch_reading_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
