/*
 * history_kinds.c: the kinds of accesses and pairs at a granule, and the lock that all of them
 * hold.
 */
#include "analyze_history_util.h"

static const struct history_pair *pair_up(struct setting *s, uint32_t thread, uint64_t granule,
					  uint8_t bytes, uint32_t cut)
{
	struct history_lookup at;
	struct access_context p, i;
	struct history_probe probe = {
		.p = &p, .i = &i, .cut = { cut }, .cuts = 1, .bytes = bytes
	};
	bool fresh;

	history_lookup(&s->h, granule, thread, epoch_of(s, thread), 0xff, &at);
	p = i = at.cell->last;
	probe.key = history_probe_key(&probe);
	return history_note_pair(&s->h, at.cell, &probe, &fresh);
}

/* Kinds include what threads did before the kinds were made. */
static void test_kinds(void **state)
{
	struct history_kinds *kinds;
	const struct history_cell *cell;
	struct setting s;
	uint32_t shape;
	bool fresh;

	(void)state;
	setting_init(&s);
	assert_int_equal(locks_acquire(s.locks, 0, 0xa0, false, 1), 1);
	assert_int_equal(locks_acquire(s.locks, 0, 0xb0, false, 1), 2);
	for (uint32_t thread = 1; thread < ACTORS; thread++) {
		cell = use(&s, thread, 0x201, 0xff, 1 + thread % 2, thread, &fresh).cell;
		shape = pair_up(&s, thread, 0x201, 0xff, thread % 3)->shape;
		assert_int_equal(s.h.shapes[shape].cut[0], thread % 3);
		assert_int_equal(s.h.shapes[shape].p, cell->last.tag);
		/* Kinds are made from HISTORY_MANY_BLOCKS further blocks on. */
		if (thread <= HISTORY_MANY_BLOCKS)
			assert_null(history_kinds_here(&s.h, cell));
	}
	kinds = history_kinds_here(&s.h, cell);
	assert_non_null(kinds);
	assert_int_equal(kinds->count[0], 2);
	assert_int_equal(kinds->count[1], 6);
	assert_int_equal(s.h.signatures[kinds->core[0]].pc + s.h.signatures[kinds->core[1]].pc, 3);
	/* Each granule has its own kinds. With one too many, they are unknown. */
	use(&s, 1, 0x202, 0xff, 7, 99, &fresh);
	cell = use(&s, 2, 0x202, 0xff, 7, 99, &fresh).cell;
	assert_int_equal(history_kinds_here(&s.h, cell)->count[0], 1);
	assert_int_equal(history_kinds_here(&s.h, cell)->count[1], 0);
	for (unsigned n = 1; n < 250; n++) {
		use(&s, 1 + n % (ACTORS - 1), 0x202, 0xff, 1000 + n, 100 + n, &fresh);
		assert_int_equal(history_kinds_here(&s.h, cell)->count[0], 1 + n);
	}
	use(&s, 2, 0x202, 0xff, 9, 200, &fresh);
	assert_null(history_kinds_here(&s.h, cell));
	history_forget(&s.h, 0x202 * 8, 8);
	assert_int_equal(history_kinds_here(&s.h, cell)->count[0], 0);
	assert_int_equal(kinds->count[0], 2);
	setting_free(&s);
}

/* Writes with this lockset; returns history_kinds.common_lock afterwards, 0: none. */
static uint32_t common_lock_after(struct setting *s, uint32_t thread, uint32_t lockset, uint64_t pc)
{
	struct history_signature signature = write_at(pc);
	struct history_lookup at;
	struct access_context now = act(s->contexts, &s->actor[thread], 0x201 * 8);
	bool fresh;

	signature.lockset = lockset;
	now.tag = history_signature(&s->h, &signature);
	history_lookup(&s->h, 0x201, thread, now.epoch, 0xff, &at);
	history_set_last(&s->h, at.cell, &now, &signature,
			 history_note(&s->h, at.cell, &now, false, &fresh));
	return history_kinds_here(&s->h, at.cell) ? history_kinds_here(&s->h, at.cell)->common_lock
						  : 0;
}

/* All accesses hold one lock as the outermost, until one does not. */
static void test_common_lock(void **state)
{
	for (unsigned how = 0; how < 6; how++) {
		struct setting s;
		uint32_t m, inner, after, other, shared, last;

		(void)state;
		setting_init(&s);
		m = locks_acquire(s.locks, 0, 0xa0, false, 1);
		inner = locks_acquire(s.locks, m, 0xb0, false, 1);
		after = locks_release(s.locks, inner, 0xb0);
		other = locks_acquire(s.locks, 0, 0xc0, false, 1);
		shared = locks_acquire(s.locks, 0, 0xa0, true, 1);
		for (uint32_t thread = 1; thread < ACTORS; thread++)
			common_lock_after(&s, thread, thread % 2 ? m : inner, 1);
		assert_int_not_equal(common_lock_after(&s, 1, after, 1), 0);
		pair_up(&s, 1, 0x201, 0xff, 0);
		pair_up(&s, 1, 0x201, 0xff, m);
		assert_int_not_equal(common_lock_after(&s, 1, m, 3), 0);
		if (how == 4)	/* passes another lockset */
			pair_up(&s, 1, 0x201, 0xff, other);
		if (how == 5)
			history_forget(&s.h, 0x201 * 8, 8);
		last = how == 0 ? 0 : how == 1 ? other : how == 2 ? shared : m;
		assert_int_equal(common_lock_after(&s, 2, last, 4) != 0, how == 3 || how == 5);
		setting_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_common_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
