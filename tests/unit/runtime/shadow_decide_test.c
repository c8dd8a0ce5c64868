/*
 * Compares shadow_decide() with the reference, which decides granule by granule: which accesses are
 * kept, and which memory is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "runtime/record/shadow_decide.c"
#include "reference/shadow_filter.h"

#define OTHER 9u
#define TIME 100u
#define ELSEWHERE (1ull << 32)

struct snarlrt snarlrt = { .mode = SNARLRT_RECORD, .filter = true };
bool snarlrt_timed;
__thread struct snarlrt_tls __snarl_tls;

static struct live_slot slot;
static struct snarlrt_thread self = { .id = ID, .live = &slot };
static uint16_t *shadow;
static struct shadow_decider decider;

static const uint16_t values[] = { 0,	       ID * 2,	  ID * 2,	 ID * 2,
				   ID * 2 + 1, OTHER * 2, OTHER * 2 + 1, SHADOW_SHARED };

static uint64_t seed = 1;

static uint64_t below(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

static int set_up(void **state)
{
	void *want = (void *)(SHADOW_BASE + MEMORY / 8 * 2);

	(void)state;
	shadow = mmap(want, GRANULES * 2 + 8, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	__snarl_tls.self = &self;
	return shadow == want ? 0 : -1;
}

/* Fills the shadow with stretches of one value, as arrays have, and with single values. */
static void fill(void)
{
	uint64_t run = 1 + below(40);
	uint16_t value = 0;

	for (unsigned i = 0; i < GRANULES; i++) {
		if (below(run) == 0)
			value = values[below(sizeof(values) / sizeof(values[0]))];
		shadow[i] = model[i] = value;
	}
	memset(&shadow_was_shared, 0, sizeof(shadow_was_shared));
	memset(&shadow_was_touched, 0, sizeof(shadow_was_touched));
	slot.cut_locations = 0;
}

static void check_shadow(void)
{
	shadow_decider_end(&decider);
	for (unsigned i = 0; i < GRANULES; i++)
		if (shadow[i] != model[i])
			fail_msg("granule %u is %x, not %x", i, shadow[i], model[i]);
	assert_int_equal(slot.cut_locations, 0);
}

static void try_accesses(bool cut, bool reset, bool touched)
{
	uint64_t at = MEMORY, size = 8;

	shadow_decider_init(&decider, ID, TIME, cut);
	for (int i = 0; i < 2000; i++) {
		at = below(4) ? at + size : MEMORY + below(GRANULES * 8);
		if (below(8) == 0)
			size = 1ull << below(5);
		if (below(2))
			at &= ~(size - 1);
		if (at + size > MEMORY + GRANULES * 8)
			at = MEMORY;
		assert_int_equal(shadow_decide_access(&decider, at, size),
				 model_decide(at, size, cut, reset, touched));
	}
	check_shadow();
}

static void mark(bool reset, bool touched)
{
	if (reset)
		shadow_mark(&shadow_was_shared, MEMORY, GRANULES * 8, TIME + 1);
	else if (below(2))
		shadow_mark(&shadow_was_shared, MEMORY, GRANULES * 8, TIME);
	if (below(2))
		shadow_mark(&shadow_was_shared, MEMORY + ELSEWHERE, 4096, TIME + 1);
	if (touched)
		shadow_mark(&shadow_was_touched, MEMORY, GRANULES * 8, TIME + 1);
}

static void test_accesses(void **state)
{
	(void)state;
	for (int round = 0; round < 400; round++) {
		bool cut = below(4), reset = below(4) == 0, touched = below(4) == 0;

		snarlrt.threaded = below(2);
		fill();
		mark(reset, touched);
		try_accesses(cut, reset, touched);
	}
}

static void try_loop(bool cut, bool reset, bool touched)
{
	uint64_t size = 1ull << below(5), iterations = 1 + below(30);
	uint64_t stride = below(3) ? size : below(64), from = MEMORY + 2048;
	unsigned found = 0;

	if (below(2))
		stride = 0 - stride;
	if (below(4))
		from += below(1000);
	for (uint64_t i = 0; i < iterations; i++)
		found |= model_decide(from + i * stride, size, cut, reset, touched) ?
				 SHADOW_SOME_KEEP :
				 SHADOW_SOME_DROP;
	/*
	 * If the iterations leave no gaps, the code decides granules, not iterations, and may find
	 * both results within one.
	 */
	assert_int_equal(shadow_decide_loop(&decider, from, stride, iterations, size) &
				 SHADOW_SOME_KEEP,
			 found & SHADOW_SOME_KEEP);
}

static void test_loops(void **state)
{
	(void)state;
	for (int round = 0; round < 4000; round++) {
		bool cut = below(4), reset = below(4) == 0, touched = below(4) == 0;

		snarlrt.threaded = below(2);
		fill();
		mark(reset, touched);
		shadow_decider_init(&decider, ID, TIME, cut);
		for (int i = 0; i < 10; i++) {
			uint64_t at = MEMORY + below(GRANULES) * 8;

			try_loop(cut, reset, touched);
			assert_int_equal(shadow_decide_access(&decider, at, 4),
					 model_decide(at, 4, cut, reset, touched));
		}
		check_shadow();
	}
}

/*
 * The shadow changes between verdict and deferred cut: memory that became shared counts as cut,
 * memory that was freed and accessed again is not cut.
 */
static void test_change_before_cut(void **state)
{
	(void)state;
	snarlrt.threaded = true;
	fill();
	for (unsigned i = 0; i < 4; i++)
		shadow[i] = ID * 2;
	shadow_decider_init(&decider, ID, TIME, true);
	for (unsigned i = 0; i < 4; i++)
		assert_false(shadow_decide_access(&decider, MEMORY + i * 8, 8));
	shadow[1] = SHADOW_SHARED;
	shadow[2] = 0;
	shadow[3] = OTHER * 2;
	shadow_decider_end(&decider);
	assert_int_equal(shadow[0], ID * 2 + 1);
	assert_int_equal(shadow[1], SHADOW_SHARED);
	assert_int_equal(shadow[2], 0);
	assert_int_equal(shadow[3], OTHER * 2);
	assert_int_equal(slot.cut_locations, 1);
}

/* Accesses of threads beyond SHADOW_MAX_ID, and at addresses that no program has, are kept. */
static void test_no_owner(void **state)
{
	(void)state;
	fill();
	shadow_decider_init(&decider, SHADOW_MAX_ID + 1, TIME, true);
	for (unsigned i = 0; i < GRANULES; i++)
		assert_true(shadow_decide_access(&decider, MEMORY + i * 8, 8));
	check_shadow();
	shadow_decider_init(&decider, ID, TIME, true);
	assert_true(shadow_decide_access(&decider, SHADOW_USER_END, 8));
	assert_true(shadow_decide_access(&decider, SHADOW_USER_END - 1, 16));
	check_shadow();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accesses), cmocka_unit_test(test_loops),
		cmocka_unit_test(test_change_before_cut), cmocka_unit_test(test_no_owner),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
