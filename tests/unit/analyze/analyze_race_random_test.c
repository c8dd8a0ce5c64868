/*
 * Both race analyses against slow, obvious ones on thousands of small random
 * traces. Every access has a site of its own, so that findings are pairs of events.
 */
#include "analyze_util.h"
#include "reference/races.h"

#define TRACES 2000u

static const char *const thread_names[THREADS] = { "0", "0.1", "0.2" };

static void write_down(struct run *run)
{
	buf_clear(&run->text);
	buf_add_text(&run->text, "0 create 0.1\n0 create 0.2\n");
	for (unsigned i = 0; i < run->count; i++) {
		const struct op *op = &run->ops[i];

		buf_addf(&run->text, "%s %s ", thread_names[op->thread], kind_name(op->kind));
		if (op->size)
			buf_addf(&run->text, "x+%u:%u @e%u\n", op->addr, op->size, i);
		else
			buf_addf(&run->text, "m%u\n", op->lock);
	}
}

/* Threads acquire and release locks at random, properly nested; other events are accesses. */
static void make(struct run *run, uint64_t seed, bool whole_granules)
{
	unsigned held[THREADS][LOCKS], depth[THREADS] = { 0 }, index[THREADS] = { 2, 0, 0 };
	int owner[LOCKS] = { -1, -1, -1 };
	uint64_t random = seed * 0x9e3779b97f4a7c15ull + 1;

	run->count = 0;
	while (run->count < EVENTS) {
		struct op *op = &run->ops[run->count];
		unsigned t = test_random(&random) % THREADS, what = test_random(&random) % 8;
		unsigned lock = test_random(&random) % LOCKS;

		*op = (struct op){ .thread = t, .lock = lock };
		if (what < 2 && owner[lock] < 0) {
			op->kind = TRACE_MUTEX_LOCK;
			owner[lock] = (int)t;
			held[t][depth[t]++] = lock;
		} else if (what < 5 && depth[t] > 0) {
			op->kind = TRACE_MUTEX_UNLOCK;
			op->lock = lock = held[t][--depth[t]];
			owner[lock] = -1;
		} else if (what >= 4) {
			op->kind = what & 1 ? TRACE_READ : TRACE_WRITE;
			op->size = whole_granules ? 8 : 1u << test_random(&random) % 4;
			op->addr = test_random(&random) % BYTES;
			if (whole_granules)
				op->addr &= ~7u;
		} else {
			continue;
		}
		op->index = index[t]++;
		run->count++;
	}
	write_down(run);
}

static unsigned op_of(struct analyzed *x, const struct candidate_event *e)
{
	return (unsigned)strtoul(label_of(x->reader, e->pc) + 1, NULL, 10);
}

/* The bytes on which races were found. */
static void racing_bytes(struct run *run, bool *found)
{
	struct analyzed x;

	memset(found, 0, BYTES + 8);
	analyze(&x, buf_string(&run->text), &analysis_race);
	for (size_t n = 0; n < findings_count(x.out); n++) {
		const struct op *a = &run->ops[op_of(&x, &findings_at(x.out, n)->event[0])];
		const struct op *b = &run->ops[op_of(&x, &findings_at(x.out, n)->event[1])];

		for (unsigned i = 0; i < BYTES + 8; i++)
			found[i] |= i - a->addr < a->size && i - b->addr < b->size;
	}
	analyzed_free(&x);
}

/* Adjacent independent events may be exchanged. */
static void test_neighbours(void **state)
{
	struct run run = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= TRACES / 10; seed++) {
		bool before[BYTES + 8], after[BYTES + 8];

		make(&run, seed, false);
		racing_bytes(&run, before);
		for (unsigned i = 0; i + 1 < run.count; i++) {
			struct op a = run.ops[i], b = run.ops[i + 1];

			if (a.thread == b.thread || conflict(&a, &b) ||
			    (!a.size && !b.size && a.lock == b.lock))
				continue;
			run.ops[i] = b;
			run.ops[i + 1] = a;
		}
		write_down(&run);
		racing_bytes(&run, after);
		assert_memory_equal(before, after, sizeof(before));
	}
	buf_free(&run.text);
}

/* Every finding is a race, and every byte with a race has a finding. */
static void test_race(void **state)
{
	struct run run = { 0 };
	uint64_t reported = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRACES; seed++) {
		bool races[BYTES + 8] = { false }, found[BYTES + 8] = { false };
		struct analyzed x;

		make(&run, seed, false);
		order(&run);
		for (unsigned j = 0; j < run.count; j++)
			for (unsigned i = 0; i < j; i++)
				for (unsigned b = 0; b < BYTES + 8; b++)
					races[b] |= conflict(&run.ops[i], &run.ops[j]) &&
						    !run.before[i][j] &&
						    b - run.ops[i].addr < run.ops[i].size &&
						    b - run.ops[j].addr < run.ops[j].size;
		analyze(&x, buf_string(&run.text), &analysis_race);
		for (size_t n = 0; n < findings_count(x.out); n++) {
			const struct candidate *c = findings_at(x.out, n);
			unsigned i = op_of(&x, &c->event[0]), j = op_of(&x, &c->event[1]);

			assert_true(i < j && conflict(&run.ops[i], &run.ops[j]));
			assert_false(run.before[i][j]);
			assert_int_equal(c->event[0].size, run.ops[i].size);
			for (unsigned b = 0; b < BYTES + 8; b++)
				found[b] |= b - run.ops[i].addr < run.ops[i].size &&
					    b - run.ops[j].addr < run.ops[j].size;
			reported++;
		}
		assert_memory_equal(races, found, sizeof(races));
		analyzed_free(&x);
	}
	assert_true(reported > TRACES);
	buf_free(&run.text);
}

static void compare(struct run *run, bool exact, uint64_t *found)
{
	static bool reported[EVENTS][EVENTS];
	struct analyzed x;

	memset(reported, 0, sizeof(reported));
	analyze(&x, buf_string(&run->text), &analysis_race_predict);
	for (size_t n = 0; n < findings_count(x.out); n++) {
		const struct candidate *c = findings_at(x.out, n);

		reported[op_of(&x, &c->event[0])][op_of(&x, &c->event[1])] =
			strstr(c->note, "reordering") != NULL;
		assert_true(run->before[op_of(&x, &c->event[0])][op_of(&x, &c->event[1])]);
	}
	for (unsigned j = 0; j < run->count; j++)
		for (unsigned i = 0; i < j; i++) {
			bool want = conflict(&run->ops[i], &run->ops[j]) && run->before[i][j] &&
				    can_meet(run, &run->ops[i], &run->ops[j]);

			if (exact && want && forgotten(run, i, j))
				continue;
			if (exact ? reported[i][j] != want : reported[i][j] && !want)
				fail_msg("e%u, e%u: %d, not %d in\n%s", i, j, reported[i][j], want,
					 buf_string(&run->text));
			*found += reported[i][j];
		}
	analyzed_free(&x);
}

/* Predictions by reordering are exactly the pairs that some reordering brings together. */
static void test_predict(void **state)
{
	struct run run = { 0 };
	uint64_t found = 0, partial = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRACES; seed++) {
		make(&run, seed, true);
		order(&run);
		compare(&run, true, &found);
		/*
		 * Granules count as one for dependences: some predictions are missed, none is
		 * wrong.
		 */
		make(&run, seed, false);
		order(&run);
		compare(&run, false, &partial);
	}
	assert_true(found > TRACES / 10 && partial > TRACES / 20);
	buf_free(&run.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_race), cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_predict),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
