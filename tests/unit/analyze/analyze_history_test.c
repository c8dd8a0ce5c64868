/* The access history: what it keeps, and that it stays within its bounds. */
#include "analyze_history_util.h"

static void test_cells(void **state)
{
	const struct history_cell *const *others;
	struct history_lookup one, two, part, at;
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	one = use(&s, 1, 0x200, 0xff, 7, 1, &fresh);
	assert_null(one.recent);
	assert_true(one.undisturbed);
	two = use(&s, 2, 0x200, 0x0f, 7, 2, &fresh);
	assert_ptr_not_equal(one.cell, two.cell);
	assert_null(two.recent);
	/* Thread 2 accessed the granule since, but not these bytes. */
	part = use(&s, 1, 0x200, 0xf0, 7, 3, &fresh);
	assert_ptr_equal(part.recent, one.cell);
	assert_int_equal(history_inside(&s.h, one.cell, 0xf0, &others), 0);
	at = use(&s, 1, 0x200, 0xff, 7, 4, &fresh);
	assert_ptr_equal(at.cell, one.cell);
	assert_ptr_equal(at.recent, part.cell);
	history_lookup(&s.h, 0x200, 2, epoch_of(&s, 2), 0x0f, &at);
	assert_ptr_equal(at.cell, two.cell);
	assert_ptr_equal(at.recent, two.cell);
	assert_false(at.undisturbed);
	assert_int_equal(history_inside(&s.h, at.recent, 0x0f, &others), 1);
	assert_ptr_equal(others[0], one.cell);
	assert_int_equal(history_thread(&s.h, others[0]), 1);
	/* Only cells that share bytes, most recent first. */
	assert_int_equal(history_others(&s.h, two.cell, 0xff, &others), 2);
	assert_ptr_equal(others[0], one.cell);
	assert_ptr_equal(others[1], part.cell);
	assert_int_equal(history_others(&s.h, two.cell, 0x0f, &others), 1);
	/* At the second look-up, no other thread came since. */
	history_lookup(&s.h, 0x200, 2, epoch_of(&s, 2), 0x0f, &at);
	assert_true(at.undisturbed);
	/* The next granule of the line has its own cells. */
	at = use(&s, 2, 0x201, 0xff, 7, 5, &fresh);
	assert_null(at.recent);
	assert_true(at.undisturbed);
	assert_int_equal(history_others(&s.h, at.cell, 0xff, &others), 0);
	setting_free(&s);
}

static void test_bounds(void **state)
{
	struct history_lookup at = { 0 };
	struct setting s;
	size_t units;
	bool fresh;

	(void)state;
	setting_init(&s);
	/* One site under new epochs: the first ones and the latest are kept. */
	for (uint64_t i = 0; i < 100; i++) {
		at = use(&s, 1, 0x200, 0xff, 1, i, &fresh);
		assert_true(fresh);
		use(&s, 1, 0x200, 0xff, 1, i, &fresh);
		assert_false(fresh);
		tick(s.contexts, &s.actor[1]);
	}
	assert_int_equal(at.cell->rep_count, HISTORY_EPOCHS);
	for (unsigned i = 0; i < HISTORY_EPOCHS; i++)
		assert_int_equal(history_rep_first(&s.h, at.cell, i).time,
				 i < HISTORY_EPOCHS - 1 ? i : 99);
	assert_int_equal(s.h.dropped, 0);
	/* New sites: as many as fit are kept. */
	for (uint64_t pc = 2; pc <= 101; pc++)
		use(&s, 1, 0x200, 0xff, pc, 100, &fresh);
	assert_int_equal(at.cell->rep_count, HISTORY_REPS);
	assert_int_equal(s.h.dropped, 100 - (HISTORY_REPS - HISTORY_EPOCHS));
	/* Units of a dropped history are used again. Other granules keep theirs. */
	use(&s, 1, 0x201, 0xff, 1, 101, &fresh);
	history_forget(&s.h, 0x1004, 1);
	units = s.h.unit_count;
	for (uint64_t pc = 1; pc <= HISTORY_REPS; pc++) {
		at = use(&s, 1, 0x200, 0xff, pc, 102, &fresh);
		assert_int_equal(at.recent == NULL, pc == 1);
		assert_true(fresh);
	}
	assert_int_equal(s.h.unit_count, units);
	assert_non_null(use(&s, 1, 0x201, 0xff, 1, 103, &fresh).recent);
	setting_free(&s);
}

/* Many lines are found again, and dropped by ranges of addresses. */
static void test_lines(void **state)
{
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	for (uint64_t n = 0; n < 5000; n++)
		use(&s, 1 + n % 2, 0x200 + n * 40, 0xff, n, n, &fresh);
	for (uint64_t n = 0; n < 5000; n++)
		assert_int_equal(
			use(&s, 1 + n % 2, 0x200 + n * 40, 0xff, n, n, &fresh).cell->last.time, n);
	history_forget(&s.h, (0x200 + 40 * 10) * 8, 40 * 8 * 5);
	for (uint64_t n = 0; n < 100; n++)
		assert_int_equal(use(&s, 1 + n % 2, 0x200 + n * 40, 0xff, n, n, &fresh).recent ==
					 NULL,
				 n >= 10 && n < 15);
	/* A range up to the end of memory. */
	history_forget(&s.h, (0x200 + 40 * 50) * 8 - 1, UINT64_MAX);
	for (uint64_t n = 0; n < 100; n++)
		assert_int_equal(use(&s, 1 + n % 2, 0x200 + n * 40, 0xff, n, n, &fresh).recent ==
					 NULL,
				 n >= 50);
	setting_free(&s);
}

/* Lines of one thread and of two are found again after the hash table has grown. */
static void test_many_lines(void **state)
{
	enum { LINES = 20000, STEP = 8 };
	struct history_lookup at;
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	for (uint64_t n = 0; n < LINES; n++) {
		use(&s, 1, n * STEP, 0xff, 7, n, &fresh);
		if (n % 3 == 0)
			use(&s, 2, n * STEP, 0xff, 7, LINES + n, &fresh);
	}
	for (uint64_t n = 0; n < LINES; n++)
		for (uint32_t thread = 1; thread <= 2; thread++) {
			history_lookup(&s.h, n * STEP, thread, epoch_of(&s, thread), 0xff, &at);
			if (thread == 2 && n % 3) {
				assert_null(at.recent);
				continue;
			}
			assert_ptr_equal(at.recent, at.cell);
			assert_int_equal(history_thread(&s.h, at.cell), thread);
			assert_int_equal(at.cell->last.time, (thread - 1) * LINES + n);
		}
	setting_free(&s);
}

/* At the limit of blocks, all history is dropped and counted. */
static void test_full(void **state)
{
	struct history_lookup at;
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	s.h.block_limit = s.h.block_capacity;
	/* After that, blocks that were used before are empty, in all granules. */
	for (uint64_t n = 0; n < s.h.block_limit * 3; n++) {
		uint32_t *ordered_epoch, g = n < 100 ? 0 : n % 3;

		at = use(&s, 1, n * HISTORY_LINE + g, 0xff, 1, n, &fresh);
		assert_null(at.recent);
		assert_true(fresh && at.cell->rep_count == 1);
		if (n % 8)
			continue;
		assert_null(use(&s, 2, n * HISTORY_LINE + (g + 1) % 3, 0xff, 1, n, &fresh).recent);
		ordered_epoch = &history_share(&s.h, s.h.current.share, (g + 2) % 3)->ordered_epoch;
		assert_int_equal(*ordered_epoch, 0);
		*ordered_epoch = n < 100 ? 0 : 1;
	}
	assert_int_equal(s.h.granules_used, 7);
	assert_true(s.h.dropped > s.h.block_limit && s.h.dropped < 4 * s.h.block_limit);
	assert_int_equal(s.h.block_capacity, s.h.block_limit);
	setting_free(&s);
}

/* The older write is kept while reads follow it and representatives are added. */
static void test_older(void **state)
{
	struct history_signature signature;
	struct history_lookup at;
	struct setting s;
	struct access_context now;
	bool fresh;

	(void)state;
	setting_init(&s);
	at = use(&s, 1, 0x200, 0xff, 1, 5, &fresh);
	assert_false(at.cell->older_write);
	for (uint64_t pc = 2; pc < 40; pc++) {
		signature = (struct history_signature){ .pc = pc,
							.kind = TRACE_READ,
							.access = ACCESS_READ };
		now = act(s.contexts, &s.actor[1], 0x1000);
		now.tag = history_signature(&s.h, &signature);
		history_lookup(&s.h, 0x200, 1, epoch_of(&s, 1), 0xff, &at);
		history_set_last(&s.h, at.cell, &now, &signature,
				 history_note(&s.h, at.cell, &now, false, &fresh));
		assert_true(at.cell->older_write && at.cell->older_write_noted);
		assert_int_equal(history_older_write(&s.h, at.cell)->time, 5);
	}
	at = use(&s, 1, 0x200, 0xff, 1, 6, &fresh);
	assert_false(at.cell->older_write);
	setting_free(&s);
}

/* The writers of a granule are known, until its memory is freed. */
static void test_writers(void **state)
{
	struct history_signature signature = { .pc = 9, .kind = TRACE_READ, .access = ACCESS_READ };
	struct history_lookup one, two;
	struct setting s;
	struct access_context now;
	bool fresh;

	(void)state;
	setting_init(&s);
	now = act(s.contexts, &s.actor[1], 0x1000);
	now.tag = history_signature(&s.h, &signature);
	history_lookup(&s.h, 0x200, 1, epoch_of(&s, 1), 0xff, &one);
	history_set_last(&s.h, one.cell, &now, &signature,
			 history_note(&s.h, one.cell, &now, false, &fresh));
	assert_false(history_written(&s.h, one.cell));
	/*
	 * Every thread but the first writer sees it as another writer; with a second writer, all
	 * do.
	 */
	two = use(&s, 2, 0x200, 0xff, 7, 2, &fresh);
	assert_true(history_written(&s.h, one.cell));
	assert_false(history_written(&s.h, two.cell));
	use(&s, 1, 0x200, 0xff, 7, 3, &fresh);
	assert_true(history_written(&s.h, one.cell));
	assert_true(history_written(&s.h, two.cell));
	assert_false(history_written(&s.h, use(&s, 1, 0x201, 0xff, 7, 4, &fresh).cell));
	history_forget(&s.h, 0x1000, 8);
	two = use(&s, 2, 0x200, 0xff, 7, 5, &fresh);
	assert_true(two.undisturbed);
	assert_false(history_written(&s.h, two.cell));
	history_lookup(&s.h, 0x200, 1, epoch_of(&s, 1), 0xff, &one);
	assert_true(one.cell->shared);
	assert_true(history_written(&s.h, one.cell));
	setting_free(&s);
}

/*
 * A granule is ordered as long as strong happens-before orders each access after the earlier ones.
 */
static void test_ordered(void **state)
{
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	assert_true(use(&s, 1, 0x200, 0xff, 7, 1, &fresh).ordered);
	tick(s.contexts, &s.actor[1]);
	s.actor[2].clock[1] = 1;
	tick(s.contexts, &s.actor[2]);
	assert_true(use(&s, 2, 0x200, 0xff, 7, 2, &fresh).ordered);
	assert_true(use(&s, 2, 0x200, 0x0f, 7, 3, &fresh).ordered);
	/*
	 * Thread 1 knows nothing of thread 2's access. Later synchronisation does not make it
	 * ordered again.
	 */
	assert_false(use(&s, 1, 0x200, 0xff, 7, 4, &fresh).ordered);
	s.actor[1].clock[2] = 2;
	tick(s.contexts, &s.actor[1]);
	assert_false(use(&s, 1, 0x200, 0xff, 7, 5, &fresh).ordered);
	assert_true(use(&s, 1, 0x201, 0xff, 7, 6, &fresh).ordered);
	history_forget(&s.h, 0x1000, 8);
	assert_true(use(&s, 1, 0x200, 0xff, 7, 7, &fresh).ordered);
	assert_false(use(&s, 2, 0x200, 0xff, 7, 8, &fresh).ordered);
	setting_free(&s);
}

static void assert_packed(struct setting *s, const struct history_cell *c, struct access_context m)
{
	struct history_packed packed = history_pack(&s->h, c, &m);
	struct access_context back = history_unpack(&s->h, c, &packed, m.tag, m.epoch);

	m.block = 0;
	assert_memory_equal(&back, &m, sizeof(m));
	assert_int_equal(history_packed_index(&packed), m.index);
}

/* A packed context is unpacked unchanged, wherever the access begins and ends. */
static void test_pack(void **state)
{
	const struct history_cell *c;
	struct setting s;
	struct access_context m;
	bool fresh;

	(void)state;
	setting_init(&s);
	c = use(&s, 1, 0x203, 0x3c, 7, 1, &fresh).cell;
	m = (struct access_context){ .index = 77,
				     .time = 1ull << 62,
				     .addr = 0x203 * 8 + 2,
				     .size = 4,
				     .sync_state = c->last.sync_state,
				     .epoch = c->last.epoch,
				     .stack = 5,
				     .block = 6,
				     .tag = c->last.tag };
	assert_packed(&s, c, m);
	assert_int_equal(s.h.extent_count, 1);
	m.size = 400;
	assert_packed(&s, c, m);
	assert_packed(&s, c, m);
	assert_int_equal(s.h.extent_count, 2);
	m.stack++;
	assert_packed(&s, c, m);
	m.addr--;
	assert_packed(&s, c, m);
	assert_int_equal(s.h.extent_count, 4);
	/* Up to 128 bytes before the granule, and less than 256 bytes: no extent is needed. */
	for (m.size = 1; m.size < 256; m.size += 127)
		for (m.addr = 0x203 * 8 - 128; m.addr < 0x203 * 8 + 8; m.addr++)
			assert_packed(&s, c, m);
	assert_int_equal(s.h.extent_count, 4);
	m.size = 200;
	m.addr = 0x203 * 8 - 129;
	assert_packed(&s, c, m);
	assert_int_equal(s.h.extent_count, 5);
	setting_free(&s);
}

/*
 * The marked sync_states are those of the last access, the older write, representatives and pairs.
 */
static void check_marked(struct setting *s, const struct history_cell *c)
{
	uint64_t expected[16] = { 0 }, marked[16] = { 0 };
	uint32_t kept[2 + HISTORY_REPS + 2 * HISTORY_PAIRS];
	const struct history_pair *pair;
	unsigned count = 0;

	kept[count++] = c->last.sync_state;
	if (c->older_write)
		kept[count++] = history_older_write(&s->h, c)->sync_state;
	for (unsigned i = 0; i < c->rep_count; i++)
		kept[count++] = history_rep_first(&s->h, c, i).sync_state;
	for (unsigned i = 0; i < c->pair_count; i++) {
		pair = history_pair(&s->h, c, i, NULL);
		kept[count++] = pair->p.sync_state;
		kept[count++] = pair->i.sync_state;
	}
	for (unsigned i = 0; i < count; i++)
		expected[kept[i] / 64] |= 1ull << kept[i] % 64;
	s->contexts->marked = marked;
	history_mark_cell(&s->h, c);
	s->contexts->marked = NULL;
	assert_memory_equal(marked, expected, sizeof(marked));
}

static void test_marked(void **state)
{
	struct access_context now, before;
	struct history_probe probe = { .p = &before, .i = &now, .cuts = 1, .bytes = 0xff };
	struct history_signature signature;
	struct history_lookup at;
	struct setting s;
	bool fresh;

	(void)state;
	setting_init(&s);
	before = use(&s, 1, 0x200, 0xff, 1, 5, &fresh).cell->last;
	for (unsigned n = 0; n < 60; n++) {
		signature =
			(struct history_signature){ .pc = 2 + n * 7 % 40,
						    .kind = n % 3 ? TRACE_READ : TRACE_WRITE,
						    .access = n % 3 ? ACCESS_READ : ACCESS_WRITE };
		tick(s.contexts, &s.actor[1]);
		now = act(s.contexts, &s.actor[1], 0x1000);
		now.tag = history_signature(&s.h, &signature);
		history_lookup(&s.h, 0x200, 1, now.epoch, 0xff, &at);
		history_note(&s.h, at.cell, &now, false, &fresh);
		probe.key = history_probe_key(&probe);
		if (n > 1)
			history_note_pair(&s.h, at.cell, &probe, &fresh);
		history_set_last(&s.h, at.cell, &now, &signature, true);
		check_marked(&s, at.cell);
		before = now;
	}
	assert_true(at.cell->pair_count > 20 && at.cell->rep_count > 20);
	setting_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_many_lines),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_older),
		cmocka_unit_test(test_writers),
		cmocka_unit_test(test_ordered),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
