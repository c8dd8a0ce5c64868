/*
 * history_signatures.c: numbers stay the same as tables grow. history_cell.c: pairs stay as their
 * run moves. history_slots.c: a prefetched location is found.
 */
#include "analyze_history_util.h"

static struct history_signature odd_signature(uint32_t n)
{
	return (struct history_signature){ .pc = 1 + n / 4 % 50,
					   .lockset = n / 200,
					   .own_read = n / 2 % 2,
					   .kind = n % 2 ? TRACE_READ : TRACE_WRITE,
					   .access = n % 2 ? ACCESS_READ : ACCESS_WRITE };
}

static void test_numbers(void **state)
{
	enum { NAMES = 2000, LOCKS = NAMES / 200 };
	uint32_t signature[NAMES], shape[NAMES];
	struct setting s;

	(void)state;
	setting_init(&s);
	for (uint64_t n = 1; n <= LOCKS; n++)
		assert_int_equal(locks_acquire(s.locks, 0, 64 * n, false, 7), n);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t n = 0; n < NAMES; n++) {
			struct history_signature w = odd_signature(n);
			uint32_t number = history_signature_intern(&s.h, &w);
			struct access_context p = { .tag = signature[n / 2], .epoch = 1 },
					      i = { .tag = number, .epoch = 1 };
			struct history_probe probe = { .p = &p,
						       .i = &i,
						       .cut = { n % 7 },
						       .cuts = 1,
						       .bytes = (uint8_t)(1 + n % 3),
						       .spans_reads = n % 5 == 0 };

			if (!round)
				signature[n] = number;
			p.tag = signature[n / 2];
			if (!round)
				shape[n] = history_shape(&s.h, &probe);
			assert_int_equal(number, signature[n]);
			assert_int_equal(history_shape(&s.h, &probe), shape[n]);
			/* Looks up another shape in between. */
			probe.bytes ^= 0x80;
			assert_int_not_equal(history_shape(&s.h, &probe), shape[n]);
		}
	assert_int_equal(s.h.signature_count, NAMES + 1);
	assert_int_equal(s.h.shape_count, 2 * NAMES + 1);
	setting_free(&s);
}

/* Lockset: `outer`, and `inner` within it, acquired at `pc`. */
static uint32_t nested(struct setting *s, uint64_t outer, uint64_t inner, bool shared, uint64_t pc)
{
	return locks_acquire(s->locks, locks_acquire(s->locks, 0, outer, false, 5), inner, shared,
			     pc);
}

static uint32_t inner_class(struct setting *s, uint64_t pc, uint32_t lockset, bool reads)
{
	struct history_signature signature = { .pc = pc,
					       .lockset = lockset,
					       .kind = reads ? TRACE_READ : TRACE_WRITE,
					       .access = reads ? ACCESS_READ : ACCESS_WRITE };
	uint32_t number = history_signature_intern(&s->h, &signature); /* may move the signatures */

	return s->h.signatures[number].inner_class;
}

static void test_inner_class(void **state)
{
	struct setting s;
	uint32_t first;

	(void)state;
	setting_init(&s);
	first = inner_class(&s, 1, nested(&s, 64, 640, false, 7), false);
	assert_int_not_equal(first, 0);
	assert_int_equal(inner_class(&s, 1, nested(&s, 128, 640, false, 7), false), first);
	/* Another site, kind of access, inner lock, or pc of its acquisition: another class. */
	assert_int_not_equal(inner_class(&s, 2, nested(&s, 64, 640, false, 7), false), first);
	assert_int_not_equal(inner_class(&s, 1, nested(&s, 64, 640, false, 7), true), first);
	assert_int_not_equal(inner_class(&s, 1, nested(&s, 64, 704, false, 7), false), first);
	assert_int_not_equal(inner_class(&s, 1, nested(&s, 64, 640, false, 8), false), first);
	/* One lock, three locks, or an inner lock for reading: no class. */
	assert_int_equal(inner_class(&s, 1, locks_acquire(s.locks, 0, 640, false, 7), false), 0);
	assert_int_equal(
		inner_class(&s, 1,
			    locks_acquire(s.locks, nested(&s, 64, 128, false, 7), 640, false, 7),
			    false),
		0);
	assert_int_equal(inner_class(&s, 1, nested(&s, 64, 640, true, 7), false), 0);
	assert_int_equal(inner_class(&s, 1, nested(&s, 192, 640, false, 7), false), first);
	setting_free(&s);
}

static void test_pairs(void **state)
{
	struct history_pair kept[HISTORY_PAIRS], room;
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	for (uint64_t n = 1; n <= HISTORY_PAIRS; n++)
		locks_acquire(s.locks, 0, 64 * n, false, 7);
	/* Two cells in turn: one takes the runs that the other has freed. */
	for (unsigned n = 0; n < 2 * HISTORY_PAIRS; n++) {
		struct history_cell *c = use(&s, 1, 0x200 + n % 2, 0xff, 1, n, &fresh).cell;
		struct access_context p = c->last, now = c->last;
		struct history_probe probe = {
			.p = &p, .i = &now, .cut = { n / 2 }, .cuts = 1, .bytes = 0xff
		};

		p.time = 100 + n;
		now.time = 200 + n;
		probe.key = history_probe_key(&probe);
		kept[n / 2] = *history_note_pair(&s.h, c, &probe, &fresh);
		assert_true(fresh);
		assert_int_equal(c->pair_count, n / 2 + 1);
		for (unsigned k = 0; k <= n / 2; k++) {
			const struct history_pair *pair = history_pair(&s.h, c, k, &room);

			assert_int_equal(pair->p.time, 100 + 2 * k + n % 2);
			assert_int_equal(pair->i.time, 200 + 2 * k + n % 2);
			assert_int_equal(pair->shape, kept[k].shape);
		}
	}
	setting_free(&s);
}

static void test_found_ahead(void **state)
{
	enum { LINES = 300, AHEAD = 12 };
	struct history_lookup at;
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	for (uint64_t n = 0; n < 2 * LINES; n++)
		use(&s, 1 + n % 2, n / 2 * HISTORY_LINE, 0xff, 7, n, &fresh);
	for (uint64_t n = 0; n < 2 * LINES + AHEAD; n++) {
		history_prefetch(&s.h, n / 2 * HISTORY_LINE, 1 + n % 2);
		if (n < AHEAD)
			continue;
		history_lookup(&s.h, (n - AHEAD) / 2 * HISTORY_LINE, 1 + n % 2,
			       epoch_of(&s, 1 + n % 2), 0xff, &at);
		assert_ptr_equal(at.recent, at.cell);
		assert_int_equal(at.cell->last.time, n - AHEAD);
	}
	/* When all history is dropped, prefetched blocks are invalid, too. */
	s.h.block_limit = s.h.block_capacity;
	for (uint64_t n = 0; s.h.dropped == 0; n++)
		use(&s, 3, (LINES + n) * HISTORY_LINE, 0xff, 7, n, &fresh);
	for (uint64_t n = 2 * LINES; n-- > 0;) {
		at = use(&s, 1 + n % 2, n / 2 * HISTORY_LINE, 0xff, 7, n, &fresh);
		assert_null(at.recent);
		assert_true(history_block_of(&s.h, at.cell) < s.h.block_count);
	}
	setting_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_inner_class),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_found_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
