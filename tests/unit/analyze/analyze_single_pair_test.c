/* history_single_pair.c: a cell that encodes its only pair gives the same answers as with units. */
#include "analyze_actor.h"

#include "analyze/atomicity/history_inline.h"

#define GRANULE 0x200u
#define READ TRACE_READ, ACCESS_READ
#define WRITE TRACE_WRITE, ACCESS_WRITE

struct setting {
	struct locks *locks;
	struct contexts *contexts;
	struct history h;
	struct actor actor;
};

/* An access, and the pair that it makes with the one before. */
struct step {
	struct history_signature signature;
	struct access_context now, before;
	struct history_probe probe;
};

static void setting_init(struct setting *s)
{
	s->locks = locks_new();
	s->contexts = contexts_new(s->locks);
	history_init(&s->h, s->contexts);
	actor_init(&s->actor, 1);
}

static void setting_free(struct setting *s)
{
	history_free(&s->h);
	contexts_free(s->contexts);
	locks_free(s->locks);
}

static void make(struct setting *s, struct step *t, uint64_t pc, unsigned kind, unsigned access,
		 uint64_t time)
{
	t->signature = (struct history_signature){ .pc = pc,
						   .kind = (uint16_t)kind,
						   .access = (uint8_t)access };
	t->now = act(s->contexts, &s->actor, GRANULE * GRANULE_BYTES);
	t->now.time = time;
	t->now.stack = 5;
	t->now.tag = history_signature(&s->h, &t->signature);
}

static struct history_cell *first(struct setting *s, uint64_t pc, unsigned kind, unsigned access,
				  uint64_t time)
{
	struct history_lookup at;
	struct step t;

	history_forget(&s->h, GRANULE * GRANULE_BYTES, GRANULE_BYTES);
	make(s, &t, pc, kind, access, time);
	history_lookup(&s->h, GRANULE, 1, t.now.epoch, 0xff, &at);
	history_note_first(&s->h, at.cell, &t.now);
	history_set_last(&s->h, at.cell, &t.now, &t.signature, true);
	return at.cell;
}

/* The second access, `steps` events of the thread after the first. */
static bool second(struct setting *s, struct history_cell *c, struct step *t, uint64_t pc,
		   unsigned kind, unsigned access, uint64_t steps, uint64_t time)
{
	s->actor.view.index += steps - 1;
	make(s, t, pc, kind, access, time);
	t->before = c->last;
	t->probe =
		(struct history_probe){ .p = &t->before, .i = &t->now, .cuts = 1, .bytes = 0xff };
	t->probe.key = history_probe_key(&t->probe);
	return history_note_single_pair(&s->h, c, &t->probe, &t->signature);
}

static void check_marks(const struct history_packed *mark, const struct access_context *m)
{
	assert_int_equal(mark->index, m->index);
	assert_int_equal(mark->time, m->time);
	assert_int_equal(mark->sync_state, m->sync_state);
	assert_int_equal(mark->stack, m->stack);
}

static void check_context(struct access_context a, const struct access_context *b)
{
	assert_int_equal(a.index, b->index);
	assert_int_equal(a.time, b->time);
	assert_int_equal(a.addr, b->addr);
	assert_int_equal(a.size, b->size);
	assert_int_equal(a.sync_state, b->sync_state);
	assert_int_equal(a.epoch, b->epoch);
	assert_int_equal(a.stack, b->stack);
	assert_int_equal(a.tag, b->tag);
}

static void check(struct setting *s, struct history_cell *c, const struct step *t)
{
	unsigned reps = t->before.tag == t->now.tag ? 1 : 2;
	const struct history_pair *pair;
	struct history_pair room;
	uint32_t p, i;

	assert_int_equal(c->rep_count, reps);
	for (unsigned n = 0; n < reps; n++) {
		const struct access_context *m = n + 1 == reps ? &t->now : &t->before;

		assert_int_equal(history_rep_key(&s->h, c, n), rep_key(m));
		assert_int_equal(history_rep_time(&s->h, c, n), m->time);
		check_context(history_rep(&s->h, c, n), m);
		check_context(history_rep_first(&s->h, c, n), m);
	}
	assert_int_equal(c->pair_count, 1);
	pair = history_pair(&s->h, c, 0, &room);
	check_marks(&pair->p, &t->before);
	check_marks(&pair->i, &t->now);
	assert_int_equal(pair->bytes, 0xff);
	assert_int_equal(pair->shape, history_pair_shape(&s->h, c, 0));
	assert_int_equal(pair->shape, history_shape(&s->h, &t->probe));
	history_pair_epochs(&s->h, c, 0, &p, &i);
	assert_int_equal(p, t->before.epoch);
	assert_int_equal(i, t->now.epoch);
}

/* Checks the cell, expands it as the next access does, and checks it again. */
static void check_both(struct setting *s, struct history_cell *c, const struct step *t)
{
	struct history_lookup at;
	size_t units = s->h.unit_count;
	bool new_signature;

	assert_true(c->single_pair);
	check(s, c, t);
	assert_int_equal(s->h.unit_count, units);
	history_lookup(&s->h, GRANULE, 1, t->now.epoch, 0xff, &at);
	assert_ptr_equal(at.cell, c);
	assert_ptr_equal(at.recent, c);
	assert_true(at.undisturbed);
	assert_false(c->single_pair);
	check(s, c, t);
	assert_true(history_has_pair(&s->h, c, &t->probe));
	assert_true(history_has(&s->h, c, &t->now, &new_signature));
}

static void test_same(void **state)
{
	struct history_cell *c;
	struct setting s;
	struct step t;

	(void)state;
	setting_init(&s);
	c = first(&s, 1, READ, 10);
	assert_true(second(&s, c, &t, 2, WRITE, 1, 11));
	assert_true(c->wrote);
	check_both(&s, c, &t);
	c = first(&s, 1, WRITE, 20);
	assert_true(second(&s, c, &t, 2, WRITE, 300, 20 + 0xffffff));
	check_both(&s, c, &t);
	c = first(&s, 1, READ, 30);
	assert_true(second(&s, c, &t, 1, READ, 65535, 31));
	assert_false(c->wrote);
	check_both(&s, c, &t);
	/* A single-pair cell has no units to free. */
	c = first(&s, 1, READ, 40);
	assert_true(second(&s, c, &t, 2, WRITE, 1, 41));
	history_forget(&s.h, GRANULE * GRANULE_BYTES, GRANULE_BYTES);
	assert_int_equal(c->bytes, 0);
	assert_false(c->single_pair);
	setting_free(&s);
}

static void test_not(void **state)
{
	struct history_cell *c, before;
	struct setting s;
	struct step t;

	(void)state;
	setting_init(&s);
	c = first(&s, 1, WRITE, 10);
	before = *c;
	assert_false(second(&s, c, &t, 2, READ, 1, 11)); /* the cell would have to keep the write */
	assert_false(second(&s, c, &t, 2, WRITE, 1, 10 + 0x1000000));
	assert_false(second(&s, c, &t, 2, WRITE, 65536, 11));
	tick(s.contexts, &s.actor);
	assert_false(second(&s, c, &t, 2, WRITE, 1, 11));	/* another epoch */
	assert_memory_equal(c, &before, sizeof(before));
	c = first(&s, 1, WRITE, 20);
	c->last.size = 16;
	assert_false(second(&s, c, &t, 2, WRITE, 1, 21));
	c->last.size = 8;
	c->last.stack++;
	assert_false(second(&s, c, &t, 2, WRITE, 1, 21));
	c->last.stack--;
	assert_true(second(&s, c, &t, 2, WRITE, 1, 21));
	assert_false(second(&s, c, &t, 3, WRITE, 1, 22));	/* third access */
	setting_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
