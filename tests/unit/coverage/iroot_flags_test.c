/*
 * Flags that threads poll in loops of their own: what counts as one, and which iRoots are not
 * predicted any more then.
 *
 * Sites: 1 writes the data, 2 sets the flag; 3 spins on it, 4 reads the data.
 */
#include "iroot_util.h"

#define DATA 0x1000u
#define FLAG 0x2000u
#define MOST 400u

struct run {
	struct iroot_step steps[MOST];
	size_t count;
	struct iroot_flag known[IROOT_FLAGS], found[IROOT_FLAGS];
	uint32_t known_count, found_count;
};

static void step(struct run *r, uint32_t thread, uint32_t op, uint64_t addr, uint64_t site)
{
	assert_true(r->count < MOST);
	r->steps[r->count++] = (struct iroot_step){
		.thread = thread, .op = op, .addr = addr, .size = 4, .site = site
	};
}

static void reads(struct run *r, uint32_t thread, uint64_t addr, uint64_t site, unsigned times)
{
	while (times-- > 0)
		step(r, thread, IROOT_OP_READ, addr, site);
}

static void writes(struct run *r, uint32_t thread, uint64_t addr, uint64_t site)
{
	step(r, thread, IROOT_OP_WRITE, addr, site);
}

static void threads(struct run *r)
{
	step(r, 0, IROOT_OP_CREATE, 1, 100);
	step(r, 0, IROOT_OP_CREATE, 2, 101);
}

/* Is the dependency first -> second predicted (idiom 1)? */
static bool expects(struct run *r, uint64_t first, uint64_t second)
{
	void *memory = calloc(1, MEMORY);
	struct iroot_profile *p = iroot_profile_init(memory, MEMORY, IROOT_WINDOW);
	uint32_t cursor = 0, flags;
	struct iroot root;
	bool found = false;

	for (uint32_t i = 0; i < r->known_count; i++)
		iroot_profile_flag(p, &r->known[i]);
	for (size_t i = 0; i < r->count; i++)
		iroot_profile_step(p, &r->steps[i]);
	iroot_profile_finish(p);
	while ((flags = iroot_profile_next(p, &cursor, &root)))
		found |= flags & IROOT_PREDICTED && root.idiom == 1 &&
			 root.event[0].site == first && root.event[1].site == second;
	r->found_count = iroot_profile_flags(p, r->found);
	free(memory);
	return found;
}

static void hands_over(struct run *r, unsigned spins)
{
	threads(r);
	reads(r, 2, FLAG, 3, spins);
	writes(r, 1, DATA, 1);
	writes(r, 1, FLAG, 2);
	reads(r, 2, FLAG, 3, 1);
	reads(r, 2, DATA, 4, 1);
}

static void assert_flag(const struct run *r, uint64_t read, uint64_t write)
{
	assert_int_equal(r->found_count, 1);
	assert_int_equal(r->found[0].read, read);
	assert_int_equal(r->found[0].write, write);
}

static void test_waits(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	hands_over(&r, 4);
	assert_false(expects(&r, 4, 1));
	assert_flag(&r, 3, 2);
}

/* No thread has to wait: the read is no flag, unless other runs have found it. */
static void test_known(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	hands_over(&r, 0);
	assert_true(expects(&r, 4, 1));
	assert_int_equal(r.found_count, 0);
	r.known[r.known_count++] = (struct iroot_flag){ 3, 2 };
	assert_false(expects(&r, 4, 1));
	assert_flag(&r, 3, 2);
}

static void test_few_reads(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	hands_over(&r, 1);
	assert_true(expects(&r, 4, 1));
	assert_int_equal(r.found_count, 0);
}

/* A loop that reads a few times: a write before the last read is chance. */
static void test_loop(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	hands_over(&r, 4);
	reads(&r, 2, FLAG, 3, 5);
	reads(&r, 2, DATA, 4, 1);
	expects(&r, 4, 1);
	assert_flag(&r, 3, 0);
}

/* A thread that reads the written value and spins on. */
static void test_not_that_write(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	threads(&r);
	reads(&r, 2, FLAG, 3, 4);
	writes(&r, 1, DATA, 1);
	writes(&r, 1, FLAG, 2);
	reads(&r, 2, FLAG, 3, 2);
	reads(&r, 2, DATA, 4, 1);
	assert_true(expects(&r, 4, 1));
	assert_flag(&r, 3, 0);
}

/* Test and test-and-set: the waiting thread then takes the lock itself. */
static void test_lock(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	threads(&r);
	reads(&r, 2, FLAG, 3, 4);
	writes(&r, 1, DATA, 1);
	writes(&r, 1, FLAG, 2);
	reads(&r, 2, FLAG, 3, 1);
	reads(&r, 2, FLAG, 5, 1);
	writes(&r, 2, FLAG, 5);
	reads(&r, 2, DATA, 4, 1);
	assert_true(expects(&r, 4, 1));
	assert_flag(&r, 3, 0);
}

/* Each thread waits for the other, as with tickets: either may be first. */
static void test_turns(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	threads(&r);
	reads(&r, 2, FLAG, 3, 4);
	writes(&r, 1, DATA, 1);
	writes(&r, 1, FLAG, 2);
	reads(&r, 2, FLAG, 3, 1);
	reads(&r, 2, DATA, 4, 1);
	reads(&r, 1, FLAG, 3, 4);
	writes(&r, 2, FLAG, 2);
	reads(&r, 1, FLAG, 3, 1);
	reads(&r, 1, DATA, 4, 1);
	expects(&r, 4, 1);
	assert_flag(&r, 3, 0);
	/* It orders nothing in a later run that is given the flag. */
	r = (struct run){ .known = { { 3, 0 } }, .known_count = 1 };
	hands_over(&r, 4);
	assert_true(expects(&r, 4, 1));
	assert_flag(&r, 3, 0);
}

static void test_two_writes(void **state)
{
	struct run r = { .count = 0 };

	(void)state;
	hands_over(&r, 4);
	reads(&r, 2, FLAG, 3, 4);
	writes(&r, 1, FLAG, 6);
	reads(&r, 2, FLAG, 3, 1);
	reads(&r, 2, DATA, 4, 1);
	expects(&r, 4, 1);
	assert_flag(&r, 3, 0);
}

static void test_list(void **state)
{
	struct iroot_flag list[IROOT_FLAGS];
	uint32_t count = 0;

	(void)state;
	for (uint64_t i = 1; i <= IROOT_FLAGS; i++)
		assert_non_null(iroot_flag_add(list, &count, &(struct iroot_flag){ i, 50 + i }));
	assert_null(iroot_flag_add(list, &count, &(struct iroot_flag){ 99, 1 }));
	assert_int_equal(count, IROOT_FLAGS);
	assert_int_equal(iroot_flag_add(list, &count, &(struct iroot_flag){ 3, 53 })->write, 53);
	assert_int_equal(iroot_flag_add(list, &count, &(struct iroot_flag){ 3, 54 })->write, 0);
	assert_int_equal(iroot_flag_add(list, &count, &(struct iroot_flag){ 3, 53 })->write, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),	       cmocka_unit_test(test_known),
		cmocka_unit_test(test_few_reads),      cmocka_unit_test(test_loop),
		cmocka_unit_test(test_not_that_write), cmocka_unit_test(test_lock),
		cmocka_unit_test(test_turns),	       cmocka_unit_test(test_two_writes),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
