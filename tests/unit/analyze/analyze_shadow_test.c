/*
 * shadow: where the records of granules are, what is forgotten, and what happens without room.
 */
#include "analyze_util.h"

#include "analyze/race/access_records.h"
#include "reference/access_records.h"

#define BASE 0x7f0000000000ull

static unsigned used(const struct place *p)
{
	unsigned count = p->more->count;

	for (unsigned i = 0; i < SHADOW_HOMES; i++)
		count += p->home[i].site != 0;
	return count;
}

static void add(struct shadow *s, uint64_t addr, uint64_t who, unsigned mask)
{
	struct place p = shadow_place(s, addr);

	*shadow_add(s, &p) = (struct record){ .who = who, .site = record_site(0x1000, mask, ACCESS_READ) };
	*p.written = who;
}

/* Each granule of many pages has its own, while there get more and more of them. */
static void test_apart(void **state)
{
	static struct shadow s;

	(void)state;
	shadow_init(&s);
	for (uint64_t i = 0; i < 8 * GRANULES; i++)
		add(&s, BASE + i * 8, i + 1, 0xff);
	for (uint64_t i = 0; i < 8 * GRANULES; i++) {
		struct place p = shadow_place(&s, BASE + i * 8 + i % 8);

		assert_int_equal(used(&p), 1);
		assert_int_equal(p.home[0].who, i + 1);
		assert_int_equal(*p.written, i + 1);
	}
	assert_int_equal(s.dropped, 0);
	shadow_free(&s);
}

/* Hints stay while records come, and end when some go. */
static void test_hints(void **state)
{
	static struct shadow s;
	struct place p;

	(void)state;
	shadow_init(&s);
	for (unsigned i = 0; i < 8; i++)
		add(&s, BASE, i + 1, i % 2 ? 0x0f : 0xf0);
	p = shadow_place(&s, BASE);
	p.more->hinted = 1;
	for (unsigned i = 0; i < 8; i++)
		add(&s, BASE, i + 9, 0xff);
	assert_int_equal(p.more->hinted, 1);
	shadow_forget(&s, BASE + 8, 8);
	assert_int_equal(p.more->hinted, 1);
	shadow_forget(&s, BASE, 4);
	assert_int_equal(p.more->hinted, 0);
	assert_int_equal(used(&p), 12);
	shadow_free(&s);
}

/* With no room for one more page all is forgotten, and counted: with those in the pool. */
static void test_no_room(void **state)
{
	static struct shadow s;
	struct place p;

	(void)state;
	shadow_init(&s);
	s.page_limit = 9;	/* one is not used */
	for (uint64_t page = 0; page < 8; page++)
		for (unsigned i = 0; i < 5; i++)
			add(&s, BASE + (page << SHADOW_PAGE_SHIFT) + 24, i + 1, 1);
	p = shadow_place(&s, BASE + 24);
	assert_int_equal(used(&p), 5);
	add(&s, BASE + (8 << SHADOW_PAGE_SHIFT), 6, 1);
	assert_int_equal(s.dropped, 8 * 5);
	for (uint64_t page = 0; page < 8; page++) {
		p = shadow_place(&s, BASE + (page << SHADOW_PAGE_SHIFT) + 24);
		assert_int_equal(used(&p), 0);
		assert_int_equal(*p.written, 0);
	}
	shadow_free(&s);
}

/* The sum of what is there tells sets of masks apart well enough. */
static void assert_as_slowly(struct shadow *s, const struct slow *slow)
{
	for (uint64_t g = 0; g < GRANULES; g++) {
		struct place p = shadow_place(s, BASE + g * 8);
		unsigned sum = 0, expected = 0;

		for (unsigned i = 0; i < SHADOW_HOMES; i++)
			sum += p.home[i].site ? record_mask(&p.home[i]) : 0;
		for (unsigned i = 0; i < p.more->count; i++)
			sum += record_mask(&s->pool[p.more->at + i]);
		for (unsigned i = 0; i < slow[g].count; i++)
			expected += slow[g].mask[i];
		assert_int_equal(used(&p), slow[g].count);
		assert_int_equal(sum, expected);
	}
}

static void test_forget(void **state)
{
	static struct slow slow[GRANULES];
	static struct shadow s;
	uint64_t random = 1;

	(void)state;
	shadow_init(&s);
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
		/* Now and then more pages than there are. */
		size = random >> 58 & 1 ? (random >> 45) % 2000 : (random >> 45) % 9;
		shadow_forget(&s, BASE + g * 8 + n % 8, size);
		forget_slowly(slow, g * 8 + n % 8, size);
	}
	assert_as_slowly(&s, slow);
	shadow_forget(&s, BASE + 100, 1ull << 40);
	forget_slowly(slow, 100, 1ull << 40);
	assert_as_slowly(&s, slow);
	shadow_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apart), cmocka_unit_test(test_hints), cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
