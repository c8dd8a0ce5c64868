#include "learn_util.h"

#include "learn/fold/breakable_pairs.h"
#include "reference/breakable_pairs.h"

static void open_world(struct world *w)
{
	*w = (struct world){ .locks = locks_new(), .holder = { -1, -1 } };
	w->by_access = breakable_new(8, w->locks);
	for (uint32_t t = 0; t < THREADS; t++)
		vclock_tick(&w->clock[t], t);
}

static void close_world(struct world *w)
{
	breakable_free(w->by_access);
	locks_free(w->locks);
	for (uint32_t t = 0; t < THREADS; t++)
		vclock_free(&w->clock[t]);
	for (size_t i = 0; i < STEPS; i++)
		vclock_free(&w->posted[i]);
}

static uint64_t lock_address(uint32_t lock)
{
	return 0x9000 + 64 * lock;
}

static void give(struct world *w, uint32_t t, uint32_t lock)
{
	size_t at = locks_index(w->locks, w->set[t], lock_address(lock));

	w->holder[lock] = -1;
	w->set[t] = locks_release(w->locks, w->set[t], lock_address(lock));
	memmove(&w->acquired[t][at], &w->acquired[t][at + 1],
		(LOCKS - 1 - at) * sizeof(w->acquired[t][0]));
}

static void play(struct world *w, size_t i)
{
	const struct step *s = &w->step[i];
	uint32_t t = s->thread;
	struct view view = { .thread = t,
			     .strong = &w->clock[t],
			     .strong_epoch = vclock_get(&w->clock[t], t),
			     .index = w->index[t],
			     .lockset = w->set[t],
			     .acquired = w->acquired[t] };
	struct learn_step access = { .thread = t,
				     .op = s->what == READ ? IROOT_OP_READ : IROOT_OP_WRITE,
				     .addr = 0x1000 + 8 * s->cell,
				     .size = 8,
				     .site = s->site,
				     .at = i };

	for (uint32_t other = 0; other < THREADS; other++)
		w->knew[i][other] = vclock_get(&w->clock[t], other);
	switch (s->what) {
	case READ: case WRITE:
		breakable_step(w->by_access, &access, &view);
		break;
	case TAKE:
		w->acquired[t][locks_count(w->locks, w->set[t])].index = w->index[t];
		w->set[t] = locks_acquire(w->locks, w->set[t], lock_address(s->cell), false, i);
		w->holder[s->cell] = (int)t;
		break;
	case GIVE:
		give(w, t, s->cell);
		break;
	case POST:
		vclock_copy(&w->posted[i], &w->clock[t]);
		vclock_tick(&w->clock[t], t);
		break;
	case WAIT:
		vclock_join(&w->clock[t], &w->posted[s->cell]);
		break;
	case NOTHING:
		break;
	}
	w->index[t]++;
}

/* A step that is possible in this state. */
static struct step random_step(const struct world *w, size_t i, uint64_t *seed)
{
	struct step s = { .what = test_random(seed) % 10, .thread = test_random(seed) % THREADS,
			  .cell = test_random(seed) % 2, .site = (uint32_t)i + 1 };

	if (s.what > NOTHING)
		s.what = test_random(seed) % 2 ? READ : WRITE;
	if (s.what == TAKE && w->holder[s.cell] != -1)
		s.what = NOTHING;
	if (s.what == GIVE && w->holder[s.cell] != (int)s.thread)
		s.what = NOTHING;
	if (s.what == WAIT) {
		s.cell = i ? test_random(seed) % i : 0;
		if (!i || w->step[s.cell].what != POST)
			s.what = NOTHING;
	}
	return s;
}

static char *found(const struct world *w)
{
	const struct learn_pairs *pairs = breakable_pairs(w->by_access),
				 *visits = breakable_visits(w->by_access);
	struct buf out = { 0 };

	for (size_t i = 0; i < pairs->count; i++)
		buf_addf(&out, "%u %u\n", pairs->items[i].first, pairs->items[i].second);
	for (size_t i = 0; i < visits->count; i++)
		buf_addf(&out, "visit %u %u\n", visits->items[i].first, visits->items[i].second);
	return sorted(&out);
}

static void test_random_traces(void **state)
{
	uint64_t seed = 4711, some = 0;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		struct world w;
		char *wanted, *got;

		open_world(&w);
		for (size_t i = 0; i < STEPS; i++) {
			w.step[i] = random_step(&w, i, &seed);
			play(&w, i);
		}
		wanted = slow(&w);
		got = found(&w);
		assert_string_equal(got, wanted);
		some += *got != '\0';
		free(wanted);
		free(got);
		close_world(&w);
	}
	assert_true(some > 300);
}

/*
 * Sites that occur several times: the fold may report more pairs than the reference, but none
 * less.
 */
static void test_repeated_places(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		struct world w;
		char *wanted, *got, *save = NULL;

		open_world(&w);
		for (size_t i = 0; i < STEPS; i++) {
			w.step[i] = random_step(&w, i, &seed);
			w.step[i].site =
				1 + w.step[i].what + 2 * (uint32_t)(test_random(&seed) % 3);
			play(&w, i);
		}
		wanted = slow(&w);
		got = found(&w);
		for (char *line = strtok_r(wanted, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			char whole[40];

			snprintf(whole, sizeof(whole), "%s\n", line);
			assert_non_null(strstr(got, whole));
		}
		free(wanted);
		free(got);
		close_world(&w);
	}
}

/* `breakable` before breakable_finish(), `at_last` after it. */
static void expect(const struct step *steps, size_t count, const char *breakable,
		   const char *at_last)
{
	struct world w;
	char *got;

	open_world(&w);
	for (size_t i = 0; i < count; i++) {
		w.step[i] = steps[i];
		play(&w, i);
	}
	got = found(&w);
	assert_string_equal(got, breakable);
	free(got);
	breakable_finish(w.by_access);
	got = found(&w);
	assert_string_equal(got, at_last);
	free(got);
	close_world(&w);
}

static void test_by_hand(void **state)
{
	/* A counter under a lock: only a pair in two critical sections can be broken. */
	static const struct step locked[] = {
		{ TAKE, 0, 0, 0 }, { READ, 0, 0, 1 }, { WRITE, 0, 0, 2 }, { GIVE, 0, 0, 0 },
		{ TAKE, 0, 0, 0 }, { READ, 0, 0, 3 }, { WRITE, 0, 0, 4 }, { GIVE, 0, 0, 0 },
		{ TAKE, 1, 0, 0 }, { READ, 1, 0, 5 }, { WRITE, 1, 0, 6 }, { GIVE, 1, 0, 0 },
	};
	/* Ordered by a semaphore: no access can come between. */
	static const struct step ordered[] = {
		{ READ, 0, 0, 1 }, { WRITE, 0, 0, 2 }, { POST, 0, 0, 0 },
		{ WAIT, 1, 2, 0 }, { READ, 1, 0, 3 }, { WRITE, 1, 0, 4 },
	};
	static const struct step unlocked[] = {
		{ READ, 0, 0, 1 }, { WRITE, 0, 0, 2 }, { READ, 1, 0, 3 }, { READ, 1, 0, 4 },
	};
	/*
	 * The second thread has nothing to do. If it came in between, it would do what the first
	 * one did.
	 */
	static const struct step once[] = {
		{ READ, 0, 0, 1 }, { WRITE, 0, 0, 2 }, { READ, 1, 0, 1 },
	};
	/* The write is in a later phase, so it does not follow the read. */
	static const struct step phases[] = {
		{ READ, 0, 0, 1 }, { READ, 0, 0, 2 }, { POST, 0, 0, 0 },
		{ READ, 1, 0, 3 }, { WAIT, 1, 2, 0 }, { WRITE, 1, 0, 4 },
	};

	(void)state;
	expect(locked, sizeof(locked) / sizeof(*locked), "2 3\nvisit 2 6\n", "2 3\nvisit 2 6\n");
	expect(ordered, sizeof(ordered) / sizeof(*ordered), "", "");
	expect(unlocked, sizeof(unlocked) / sizeof(*unlocked),
	       "3 4\nvisit 1 3\nvisit 1 4\nvisit 3 2\n", "3 4\nvisit 1 3\nvisit 1 4\nvisit 3 2\n");
	expect(once, sizeof(once) / sizeof(*once), "visit 1 1\n", "1 2\nvisit 1 1\n");
	expect(phases, sizeof(phases) / sizeof(*phases), "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_random_traces),
		cmocka_unit_test(test_repeated_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
