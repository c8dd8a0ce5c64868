/*
 * A simulator for tests of src/sched: programs are lists of events, and a strategy schedules them
 * as in a controlled run.
 *
 * A thread that wants a lock that is taken cannot run. `object` of CREATE and JOIN is the number of
 * a thread in the program. Two runs have the same `trace` if and only if one becomes the other by
 * swapping neighbours that do not depend on each other.
 */
#ifndef SCHED_SIM_H
#define SCHED_SIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "abi/plan.h"
#include "sched/rng.h"
#include "sched/strategy.h"

#define UNUSED __attribute__((unused))
#define SIM_THREADS 6u
#define SIM_EVENTS 64u
#define SIM_OBJECTS 16u
#define SIM_STEPS 512u
#define SIM_FREE 99u

struct sim_thread {
	unsigned length;
	bool late;		/* does not exist before a CREATE */
	struct sched_event event[SIM_EVENTS];
};

struct sim_program {
	unsigned threads;
	struct sim_thread thread[SIM_THREADS];
};

/* sched_point.context of all points; a test may set it. */
static UNUSED uint64_t (*sim_context)(uint32_t thread);

struct sim {
	const struct sim_program *program;
	unsigned position[SIM_THREADS];
	unsigned number[SIM_THREADS];	/* in this run, by thread of the program */
	unsigned which[SIM_THREADS];	/* thread of the program, by number in this run */
	unsigned born;
	uint64_t name[SIM_THREADS];	/* by number */
	uint32_t parent[SIM_THREADS];	/* by number */
	uint32_t children[SIM_THREADS];
	unsigned owner[SIM_OBJECTS];
	uint64_t written[SIM_OBJECTS], read[SIM_OBJECTS];
	uint64_t local[SIM_THREADS];	/* by thread of the program: hash of its past */
};

struct sim_result {
	unsigned steps, questions;
	uint32_t thread[SIM_STEPS];	/* number of the thread of each step */
	struct sched_event event[SIM_STEPS];
	uint64_t trace;
	bool stuck;			/* a deadlock */
	bool endless;			/* it did not end within SIM_STEPS */
	struct sim end;
};

static UNUSED void sim_add(struct sim_program *p, unsigned thread, unsigned op, uint64_t object)
{
	struct sim_thread *t = &p->thread[thread];

	assert_true(t->length < SIM_EVENTS && object < SIM_OBJECTS);
	if (thread >= p->threads)
		p->threads = thread + 1;
	t->event[t->length] = (struct sched_event){ .object = object, .size = 1, .op = (uint8_t)op,
						    .site = thread * 1000 + t->length + 1 };
	t->length++;
}

/* A read that is repeated until another thread has written. */
static UNUSED void sim_add_spin(struct sim_program *p, unsigned thread, uint64_t object)
{
	sim_add(p, thread, SCHED_OP_READ, object);
	p->thread[thread].event[p->thread[thread].length - 1].pad[0] = 1;
}

static inline uint64_t sim_mix(uint64_t a, uint64_t b)
{
	uint64_t state = a * 31 + b;

	return rng_next(&state);
}

static UNUSED void sim_born(struct sim *s, unsigned which, uint32_t parent)
{
	unsigned n = s->born++;

	s->number[which] = n;
	s->which[n] = which;
	s->parent[n] = parent;
	s->name[n] = n ? sched_child_name(s->name[parent], ++s->children[parent]) : SCHED_MAIN;
}

static UNUSED void sim_init(struct sim *s, const struct sim_program *p)
{
	memset(s, 0, sizeof(*s));
	s->program = p;
	for (unsigned i = 0; i < SIM_OBJECTS; i++)
		s->owner[i] = SIM_FREE;
	for (unsigned i = 0; i < p->threads; i++)
		s->local[i] = i + 1;
	for (unsigned i = 0; i < p->threads; i++) {
		s->number[i] = SIM_FREE;
		if (!p->thread[i].late)
			sim_born(s, i, 0);
	}
}

static inline bool sim_over(const struct sim *s, unsigned which)
{
	return s->position[which] == s->program->thread[which].length;
}

static inline const struct sched_event *sim_pending(const struct sim *s, unsigned which)
{
	static const struct sched_event none = { .op = SCHED_OP_OTHER };

	return sim_over(s, which) ? &none : &s->program->thread[which].event[s->position[which]];
}

static inline bool sim_enabled(const struct sim *s, unsigned which)
{
	const struct sched_event *e = sim_pending(s, which);

	if (s->number[which] == SIM_FREE || sim_over(s, which))
		return false;
	if (e->op == SCHED_OP_ACQUIRE)
		return s->owner[e->object] == SIM_FREE;
	if (e->op == SCHED_OP_JOIN)
		return sim_over(s, (unsigned)e->object);
	return true;
}

static UNUSED void sim_execute(struct sim *s, unsigned which)
{
	const struct sched_event *e = sim_pending(s, which);
	uint64_t h = sim_mix(s->local[which], e->op);

	assert_true(sim_enabled(s, which));
	s->position[which]++;
	if (e->op == SCHED_OP_ACQUIRE)
		s->owner[e->object] = which;
	if (e->op == SCHED_OP_RELEASE)
		s->owner[e->object] = SIM_FREE;
	if (e->op == SCHED_OP_CREATE)
		sim_born(s, (unsigned)e->object, s->number[which]);
	if (e->op == SCHED_OP_READ) {
		h = sim_mix(h, s->written[e->object]);
		s->read[e->object] += h;
	} else if (e->object && e->op != SCHED_OP_CREATE && e->op != SCHED_OP_JOIN) {
		h = sim_mix(sim_mix(h, s->written[e->object]), s->read[e->object]);
		s->written[e->object] = h;
		s->read[e->object] = 0;
	}
	s->local[which] = h;
}

static inline uint64_t sim_trace(const struct sim *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < s->program->threads; i++)
		sum = sim_mix(sum, s->local[i]);
	return sum;
}

/* Fills `out` with the numbers of the threads that can run, ascending. Returns how many. */
static inline size_t sim_runnable(const struct sim *s, uint32_t *out)
{
	size_t count = 0;

	for (unsigned n = 0; n < s->born; n++)
		if (sim_enabled(s, s->which[n]))
			out[count++] = n;
	return count;
}

/* Makes one run. The caller calls the strategy's begin() before and end() after it. */
static UNUSED void sim_drive(const struct strategy *strategy, void *state,
			     const struct sim_program *program, struct sim_result *r)
{
	uint32_t runnable[SIM_THREADS], running = 0;
	struct sched_event pending[SIM_THREADS];
	struct sim *s = &r->end;
	bool yields = false;
	uint32_t spin_rounds = 0;	/* number of failed reads of a spin in a row */
	size_t count;

	memset(r, 0, sizeof(*r));
	sim_init(s, program);
	while ((count = sim_runnable(s, runnable)) > 0 && !r->endless) {
		struct sched_choice choice = { SIM_FREE, 0 };
		bool runs = false, early = false;

		for (size_t i = 0; i < count; i++)
			runs |= runnable[i] == running;
		for (unsigned n = 0; n < s->born; n++)
			pending[n] = *sim_pending(s, s->which[n]);
		strategy->pick(state, &(struct sched_point){
			.step = r->steps, .running = running, .runs = runs,
			.yields = yields && runs,
			.spin_rounds = spin_rounds, .runnable = runnable, .count = count,
			.threads = s->born,
			.pending = pending, .name = s->name, .context = sim_context }, &choice);
		r->questions++;
		assert_true(choice.steps >= 1);
		assert_true(choice.thread < s->born && sim_enabled(s, s->which[choice.thread]));
		running = choice.thread;
		for (uint64_t i = 0; i < choice.steps && !early && !r->endless; i++) {
			unsigned which = s->which[running], born = s->born;
			const struct sched_event *e = sim_pending(s, which);
			uint32_t now[SIM_THREADS];

			r->thread[r->steps] = running;
			r->event[r->steps++] = *e;
			sim_execute(s, which);
			yields = e->op == SCHED_OP_YIELD;
			if (e->pad[0] && !s->written[e->object]) {
				s->position[which]--;
				yields = true;
				spin_rounds++;
			} else {
				spin_rounds = 0;
			}
			early = yields || !sim_enabled(s, which) || s->born > born ||
				sim_runnable(s, now) > count;
			r->endless = r->steps == SIM_STEPS;
		}
	}
	for (unsigned n = 0; n < s->born; n++) {
		r->stuck |= !sim_over(s, s->which[n]) && !r->endless;
		pending[n] = *sim_pending(s, s->which[n]);
	}
	if (r->stuck && strategy->stuck)
		strategy->stuck(state, &(struct sched_point){
			.step = r->steps, .running = running, .runnable = runnable,
			.threads = s->born, .pending = pending, .name = s->name });
	r->trace = sim_trace(s);
}

struct sim_search {
	const struct strategy *strategy;
	void *state;
	struct sched_run run;
	uint64_t events[SIM_THREADS];
	uint32_t parent[SIM_THREADS];
};

static UNUSED void sim_open(struct sim_search *search, const char *name, struct sched_params params)
{
	memset(search, 0, sizeof(*search));
	search->strategy = strategy_find(name);
	assert_non_null(search->strategy);
	search->state = calloc(1, search->strategy->state_size);
	search->strategy->init(search->state, &params);
}

/* Makes a run, and stores what the next one may know of it. False: that was the last run. */
static UNUSED bool sim_next(struct sim_search *search, const struct sim_program *p,
			    struct sim_result *r)
{
	bool more;

	search->strategy->begin(search->state, &search->run);
	sim_drive(search->strategy, search->state, p, r);
	more = !search->strategy->end || search->strategy->end(search->state);
	search->run.number++;
	if (r->steps > search->run.length)
		search->run.length = r->steps;
	search->run.threads = r->end.born;
	for (unsigned n = 0; n < r->end.born; n++) {
		search->events[n] = r->end.position[r->end.which[n]];
		search->parent[n] = r->end.parent[n];
	}
	search->run.events = search->events;
	search->run.parent = search->parent;
	return more;
}

static UNUSED void sim_close(struct sim_search *search)
{
	free(search->state);
}

/* The threads of a run's steps, as digits. */
static UNUSED const char *sim_text(const struct sim_result *r)
{
	static char text[SIM_STEPS + 1];

	for (unsigned i = 0; i < r->steps; i++)
		text[i] = (char)('0' + r->thread[i]);
	text[r->steps] = 0;
	return text;
}

/*
 * Makes a small program of random reads, writes and critical sections. With `deadlocks`, sections
 * nest two locks in any order.
 */
static UNUSED void sim_random_program(struct sim_program *p, uint64_t *rng, unsigned threads,
				      unsigned length, bool deadlocks)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 0; t < threads; t++) {
		unsigned events = 1 + (unsigned)rng_below(rng, length);

		while (p->thread[t].length < events) {
			uint64_t lock = 10 + rng_below(rng, 2);
			uint64_t kind = rng_below(rng, 6);

			if (kind < 4) {
				sim_add(p, t, kind < 2 ? SCHED_OP_READ : SCHED_OP_WRITE,
					1 + rng_below(rng, 3));
				continue;
			}
			sim_add(p, t, SCHED_OP_ACQUIRE, lock);
			if (deadlocks)
				sim_add(p, t, SCHED_OP_ACQUIRE, 21 - lock);
			sim_add(p, t, SCHED_OP_WRITE, 1 + rng_below(rng, 3));
			if (deadlocks)
				sim_add(p, t, SCHED_OP_RELEASE, 21 - lock);
			sim_add(p, t, SCHED_OP_RELEASE, lock);
		}
	}
}

#endif
