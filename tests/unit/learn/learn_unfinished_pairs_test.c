/* Which accesses must wait until another thread has finished a pair. */
#include "learn_util.h"

#include "learn/unfinished_pairs.h"
#include "learn/rule_database.h"

#define MOST 8u

static void print_pair(void *ctx, uint32_t p, uint32_t r)
{
	buf_addf(ctx, "%u %u\n", p, r);
}

/* One letter per site, from 0: R, W, L (takes a lock). Lists end with an empty element. */
struct facts {
	const char *sites;
	struct known_pair unblocked[MOST], visits[MOST], pairs[MOST];
};

static size_t copy(struct known_pair *to, const struct known_pair *from)
{
	size_t count = 0;

	for (; from[count].seen || from[count].expected || from[count].how; count++)
		to[count] = from[count];
	return count;
}

static void expect(const struct facts *f, const char *wanted)
{
	struct known_site sites[MOST] = { 0 };
	struct known_pair unblocked[MOST], visits[MOST], pairs[MOST];
	struct known k = { .sites = sites,
			   .count = strlen(f->sites),
			   .unblocked = unblocked,
			   .visits = visits,
			   .pairs = pairs };
	struct buf b = { 0 };
	char *got;

	for (size_t i = 0; i < k.count; i++)
		sites[i].access = f->sites[i] == 'R'   ? LEARN_READ
				  : f->sites[i] == 'W' ? LEARN_WRITE
						       : LEARN_LOCK;
	k.unblocked_count = copy(unblocked, f->unblocked);
	k.visit_count = copy(visits, f->visits);
	k.pair_count = copy(pairs, f->pairs);
	unfinished_pairs_each(&k, print_pair, &b);
	got = sorted(&b);
	assert_string_equal(got, wanted);
	free(got);
}

#define PAIR(p, i) { .first = p, .second = i, .seen = 20 }
#define VISIT(p, r, inside) { .first = p, .second = r, .expected = 1, .seen = inside }
#define MEET(a, b) { .first = a, .second = b, .how = STORE_CONFLICT }
#define EXPECTED(p, r) { .first = p, .second = r, .expected = 1 }

static void test_memory(void **state)
{
	/*
	 * Sites 0, 1, 2: a length is read, read again, written. A thread that reads it will
	 * write it.
	 */
	struct facts chain = { "RRW", .unblocked = { PAIR(0, 1), PAIR(1, 2), PAIR(2, 0) },
			       .visits = { VISIT(0, 2, 0), VISIT(1, 2, 0) },
			       .pairs = { MEET(0, 2), MEET(1, 2) } };
	/* A read, with no access after it, of memory that the other thread is about to change. */
	struct facts read = { "RWR", .unblocked = { PAIR(0, 1), PAIR(2, 2) },
			      .visits = { VISIT(0, 2, 0) }, .pairs = { MEET(2, 1) } };
	/* Other bytes of the same cell. */
	struct facts beside = { "RWW", .unblocked = { PAIR(0, 1) }, .visits = { VISIT(0, 2, 0) } };

	(void)state;
	expect(&chain, "0 0\n0 1\n0 2\n1 0\n1 1\n1 2\n");
	expect(&read, "0 2\n");
	expect(&beside, "");
	/* It came between the first two in 1, 2, 3 of 20 runs: only 3 count as usual. */
	chain.visits[0].seen = 1;
	expect(&chain, "0 0\n0 1\n0 2\n1 0\n1 1\n1 2\n");
	chain.visits[0].seen = 2;
	expect(&chain, "0 0\n0 1\n0 2\n1 0\n1 1\n1 2\n");
	chain.visits[0].seen = 3;
	expect(&chain, "1 0\n1 1\n1 2\n");
	/* A single visit counts as luck, however few runs there were. */
	chain.unblocked[0].seen = chain.visits[0].seen = 1;
	expect(&chain, "0 0\n0 1\n0 2\n1 0\n1 1\n1 2\n");
}

static void test_locks(void **state)
{
	/* Site 1 may follow 0, whose thread takes the lock again. It often followed 2. */
	static const struct facts locks = { "LLL", .unblocked = { PAIR(0, 2), PAIR(2, 0) },
					    .visits = { VISIT(2, 1, 9) },
					    .pairs = { EXPECTED(0, 1), EXPECTED(2, 1) } };
	/* No pair, so no thread has to wait. */
	static const struct facts last = { "LL", .pairs = { EXPECTED(0, 1) } };

	(void)state;
	expect(&locks, "0 1\n");
	expect(&last, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory),
					    cmocka_unit_test(test_locks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
