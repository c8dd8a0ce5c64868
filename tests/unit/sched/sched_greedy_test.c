/*
 * The strategy greedy: it completes wanted roots, and exposes more of them than pos, on which it is
 * based.
 */
#include "reference/iroots_of_run.h"
#include "sched/greedy.h"

#define PLACES 4096u

struct wish {
	struct sched_plan head;
	uint64_t table[PLACES];
};

static void test_the_table_has_what_was_added(void **state)
{
	static uint64_t table[PLACES];
	uint64_t rng = 5, hash[2];
	struct iroot r = { 0 };

	(void)state;
	assert_int_equal(greedy_slots(0), 16);
	assert_int_equal(greedy_slots(400), PLACES);
	assert_false(greedy_has(NULL, 0, 1));
	for (unsigned i = 0; i < 400; i++) {
		const struct iroot_shape *s;

		r.idiom = 1 + i % IROOT_IDIOMS;
		s = &iroot_shapes[r.idiom];
		for (unsigned k = 0; k < IROOT_EVENTS; k++)
			r.event[k] = (struct iroot_event){ rng_next(&rng), rng_below(&rng, 2) };
		hash[0] = hash[1] = 0;
		for (unsigned d = 0; d < s->dependencies; d++)
			hash[d] = greedy_dependency(&r.event[s->dependency[d][0]],
						    &r.event[s->dependency[d][1]]);
		assert_false(greedy_has(table, PLACES, greedy_root(r.idiom, hash[0], hash[1])));
		greedy_add(table, PLACES, &r);
		greedy_add(table, PLACES, &r);
		assert_true(greedy_has(table, PLACES, greedy_root(r.idiom, hash[0], hash[1])));
		assert_true(greedy_has(table, PLACES, hash[0]));
		assert_int_equal(greedy_has(table, PLACES, hash[1]), r.idiom > 1);
		assert_false(greedy_has(table, PLACES,
					greedy_root(r.idiom % IROOT_IDIOMS + 1, hash[0], hash[1])));
	}
}

/* Makes runs `from` to `to` - 1 of a strategy, and adds the roots that they expose to *out. */
static void runs_of(const struct sim_program *p, const char *strategy, const struct wish *w,
		    uint64_t from, uint64_t to, struct iroots *out)
{
	struct sim_search search;
	struct sim_result r;

	for (uint64_t i = from; i < to; i++) {
		sim_open(&search, strategy, (struct sched_params){ .seed = 3, .plan = w });
		search.run.number = i;
		sim_next(&search, p, &r);
		assert_false(r.endless || r.stuck);
		iroots_of(out, &r);
		sim_close(&search);
	}
}

/* Counts the runs, of 100 by each of both strategies, that expose a root. */
static void rates(const struct sim_program *p, const struct iroot *wanted, unsigned *greedy,
		  unsigned *pos)
{
	static struct iroots had;
	static struct wish w;

	w = (struct wish){ { .open = PLACES }, { 0 } };
	greedy_add(w.table, PLACES, wanted);
	*greedy = *pos = 0;
	for (unsigned i = 0; i < 100; i++) {
		had.count = 0;
		runs_of(p, "greedy", &w, i, i + 1, &had);
		*greedy += iroots_has(&had, wanted);
		had.count = 0;
		runs_of(p, "pos", NULL, i, i + 1, &had);
		*pos += iroots_has(&had, wanted);
	}
}

static struct iroot_event at(const struct sim_program *p, unsigned thread, unsigned n)
{
	const struct sched_event *e = &p->thread[thread].event[n];

	return (struct iroot_event){ e->site, iroot_access_of(e) };
}

/* Both threads stand before their events at once: the strategy lets the right one go first. */
static void test_the_right_one_of_two_events_goes_first(void **state)
{
	struct sim_program p = { 0 };
	struct iroot wanted = { .idiom = 1 };
	unsigned greedy, pos;

	(void)state;
	sim_add(&p, 0, SCHED_OP_WRITE, 4);
	for (unsigned i = 0; i < 8; i++)
		sim_add(&p, 1, SCHED_OP_READ, 4);
	wanted.event[0] = at(&p, 1, 3);
	wanted.event[1] = at(&p, 0, 0);
	rates(&p, &wanted, &greedy, &pos);
	/*
	 * Whenever the writer has not gone when the other stands before its fourth read, which is
	 * half of the time.
	 */
	assert_in_range(pos, 1, 20);
	assert_in_range(greedy, 2 * pos, 100);
}

/*
 * Idiom 4: thread 0 writes object 4; thread 1 reads it, and writes object 12 again and again. The
 * root wants thread 0, which has many steps to go, to read the first of these writes.
 */
static void test_the_last_event_is_waited_for(void **state)
{
	struct sim_program p = { 0 };
	struct iroot wanted = { .idiom = 4 };
	unsigned greedy, pos;

	(void)state;
	sim_add(&p, 0, SCHED_OP_WRITE, 4);
	for (unsigned i = 0; i < 10; i++)
		sim_add(&p, 0, SCHED_OP_READ, 8);
	sim_add(&p, 0, SCHED_OP_READ, 12);
	sim_add(&p, 1, SCHED_OP_READ, 4);
	for (unsigned i = 0; i < 10; i++)
		sim_add(&p, 1, SCHED_OP_WRITE, 12);
	wanted.event[0] = at(&p, 0, 0);
	wanted.event[1] = at(&p, 1, 0);
	wanted.event[2] = at(&p, 1, 1);
	wanted.event[3] = at(&p, 0, 11);
	rates(&p, &wanted, &greedy, &pos);
	assert_in_range(pos, 0, 10);
	assert_in_range(greedy, 25, 100);
}

/* On random programs it exposes more of the rare roots than partial order sampling does. */
static void test_rare_roots_of_random_programs(void **state)
{
	static struct iroots all, early, mine, other;
	static struct wish w;
	unsigned greedy = 0, pos = 0;
	uint64_t rng = 11;

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct sim_program p;

		sim_random_program(&p, &rng, 2 + round % 2, 10, false);
		/* Give each object 4 bytes of its own. */
		for (unsigned t = 0; t < p.threads; t++)
			for (unsigned i = 0; i < p.thread[t].length; i++)
				if (p.thread[t].event[i].object <= 3)
					p.thread[t].event[i].object =
						p.thread[t].event[i].object == 2 ? 12 : 4;
		all.count = early.count = mine.count = other.count = 0;
		runs_of(&p, "random", NULL, 0, 60, &all);
		runs_of(&p, "pos", NULL, 0, 20, &early);
		w = (struct wish){ { .open = PLACES }, { 0 } };
		for (size_t i = 0; i < all.count; i++)
			if (!iroots_has(&early, &all.at[i]) && mine.count++ < 300)
				greedy_add(w.table, PLACES, &all.at[i]);
		mine.count = 0;
		runs_of(&p, "greedy", &w, 20, 30, &mine);
		runs_of(&p, "pos", NULL, 20, 30, &other);
		for (size_t i = 0; i < all.count; i++)
			if (!iroots_has(&early, &all.at[i])) {
				greedy += iroots_has(&mine, &all.at[i]);
				pos += iroots_has(&other, &all.at[i]);
			}
	}
	print_message("rare roots: greedy %u, pos %u\n", greedy, pos);
	assert_true(pos > 20);
	assert_true(greedy * 2 > pos * 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_has_what_was_added),
		cmocka_unit_test(test_the_right_one_of_two_events_goes_first),
		cmocka_unit_test(test_the_last_event_is_waited_for),
		cmocka_unit_test(test_rare_roots_of_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
