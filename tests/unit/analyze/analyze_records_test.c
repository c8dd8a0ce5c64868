/*
 * Access records of the race analyses: where the records of granules are, what is forgotten, and
 * what happens without room.
 */
#include "analyze_util.h"

#include "analyze/race/access_records.h"
#include "reference/access_records.h"

#define BASE 0x7f0000000000ull

static unsigned used(const struct granule_records *p)
{
	unsigned count = p->overflow->count;

	for (unsigned i = 0; i < RECORDS_DIRECT; i++)
		count += p->direct[i].site != 0;
	return count;
}

static void add(struct access_records *s, uint64_t addr, uint64_t who, unsigned mask)
{
	struct granule_records p = records_of_granule(s, addr);

	*records_add(s, &p) =
		(struct access_record){ .event_id = who,
					.site = record_site(0x1000, mask, ACCESS_READ) };
	*p.last_writer = who;
}

/* Each granule has records of its own, while the number of pages grows. */
static void test_separate(void **state)
{
	static struct access_records s;

	(void)state;
	records_init(&s);
	for (uint64_t i = 0; i < 8 * GRANULES; i++)
		add(&s, BASE + i * 8, i + 1, 0xff);
	for (uint64_t i = 0; i < 8 * GRANULES; i++) {
		struct granule_records p = records_of_granule(&s, BASE + i * 8 + i % 8);

		assert_int_equal(used(&p), 1);
		assert_int_equal(p.direct[0].event_id, i + 1);
		assert_int_equal(*p.last_writer, i + 1);
	}
	assert_int_equal(s.dropped, 0);
	records_free(&s);
}

/* Hints stay valid while records are added, and end when records are removed. */
static void test_hints(void **state)
{
	static struct access_records s;
	struct granule_records p;

	(void)state;
	records_init(&s);
	for (unsigned i = 0; i < 8; i++)
		add(&s, BASE, i + 1, i % 2 ? 0x0f : 0xf0);
	p = records_of_granule(&s, BASE);
	p.overflow->hint_state = 1;
	for (unsigned i = 0; i < 8; i++)
		add(&s, BASE, i + 9, 0xff);
	assert_int_equal(p.overflow->hint_state, 1);
	records_forget(&s, BASE + 8, 8);
	assert_int_equal(p.overflow->hint_state, 1);
	records_forget(&s, BASE, 4);
	assert_int_equal(p.overflow->hint_state, 0);
	assert_int_equal(used(&p), 12);
	records_free(&s);
}

/* Without room for one more page all records are forgotten and counted, those in the pool too. */
static void test_no_room(void **state)
{
	static struct access_records s;
	struct granule_records p;

	(void)state;
	records_init(&s);
	s.page_limit = 9;	/* page 0 is not used */
	for (uint64_t page = 0; page < 8; page++)
		for (unsigned i = 0; i < 5; i++)
			add(&s, BASE + (page << RECORDS_PAGE_SHIFT) + 24, i + 1, 1);
	p = records_of_granule(&s, BASE + 24);
	assert_int_equal(used(&p), 5);
	add(&s, BASE + (8 << RECORDS_PAGE_SHIFT), 6, 1);
	assert_int_equal(s.dropped, 8 * 5);
	for (uint64_t page = 0; page < 8; page++) {
		p = records_of_granule(&s, BASE + (page << RECORDS_PAGE_SHIFT) + 24);
		assert_int_equal(used(&p), 0);
		assert_int_equal(*p.last_writer, 0);
	}
	records_free(&s);
}

/* Compares the records of all granules with the reference: how many, and the sum of their masks. */
static void assert_as_slowly(struct access_records *s, const struct slow *slow)
{
	for (uint64_t g = 0; g < GRANULES; g++) {
		struct granule_records p = records_of_granule(s, BASE + g * 8);
		unsigned sum = 0, expected = 0;

		for (unsigned i = 0; i < RECORDS_DIRECT; i++)
			sum += p.direct[i].site ? record_mask(&p.direct[i]) : 0;
		for (unsigned i = 0; i < p.overflow->count; i++)
			sum += record_mask(&s->pool[p.overflow->first + i]);
		for (unsigned i = 0; i < slow[g].count; i++)
			expected += slow[g].mask[i];
		assert_int_equal(used(&p), slow[g].count);
		assert_int_equal(sum, expected);
	}
}

static void test_forget(void **state)
{
	static struct slow slow[GRANULES];
	static struct access_records s;
	uint64_t random = 1;

	(void)state;
	records_init(&s);
	for (unsigned n = 0; n < 20000; n++) {
		uint64_t g, size;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		g = (random >> 33) % GRANULES;
		if (random >> 60 || slow[g].count == 4) {
			if (slow[g].count == 4)
				continue;
			slow[g].mask[slow[g].count++] = (random >> 50 & 0xff) | 1;
			add(&s, BASE + g * 8, n + 1, (random >> 50 & 0xff) | 1);
			continue;
		}
		/* Some ranges span more pages than exist. */
		size = random >> 58 & 1 ? (random >> 45) % 2000 : (random >> 45) % 9;
		records_forget(&s, BASE + g * 8 + n % 8, size);
		forget_slowly(slow, g * 8 + n % 8, size);
	}
	assert_as_slowly(&s, slow);
	records_forget(&s, BASE + 100, 1ull << 40);
	forget_slowly(slow, 100, 1ull << 40);
	assert_as_slowly(&s, slow);
	records_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_separate), cmocka_unit_test(test_hints),
			cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
