#include "explore/bug/nearest_passing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/bug/minimise.h"
#include "explore/search/replay_trace.h"
#include "symbol/object.h"
#include "trace/read/kinds.h"

struct finder {
	const struct schedule *failing;
	struct attempt *attempt;
	struct sched_turn *turns;	/* turns of the failing run, as positions */
	struct sched_turn *plan;	/* turns of the run to try */
	size_t count;		/* number of `turns` */
	struct schedule best;	/* the nearest passing run so far */
	size_t different;	/* different_turns() of it */
	bool found;		/* `best` is set */
};

/* Distance of two runs: the number of turns of both after their common beginning. */
static size_t different_turns(const struct schedule *a, const struct schedule *b)
{
	size_t same = 0;

	while (same < a->turn_count && same < b->turn_count &&
	       a->turns[same].kind == b->turns[same].kind &&
	       a->turns[same].steps == b->turns[same].steps &&
	       strcmp(a->threads.items[a->turns[same].thread],
		      b->threads.items[b->turns[same].thread]) == 0)
		same++;
	return a->turn_count - same + b->turn_count - same;
}

/* Makes a run by the first `count` turns of f->plan. Keeps it if it passes and is the nearest. */
static void try_turns(struct finder *f, size_t count)
{
	struct attempt *a = f->attempt;
	struct schedule now = { 0 };
	size_t different;

	if (attempt_over(a))
		return;
	attempt_prepare(a, "loose")->flags |= CTL_HASH;
	if (!attempt_plan(a, f->plan, count, NULL, 0) || attempt_run(a) ||
	    a->got.verdict != ORACLE_PASSED || a->server.block->report.turns_lost)
		return;
	schedule_copy_header(&now, f->failing);
	schedule_set_turns(&now, a->server.block);
	different = different_turns(f->failing, &now);
	if (f->found && different >= f->different) {
		schedule_free(&now);
		return;
	}
	schedule_free(&f->best);
	f->best = now;
	f->different = different;
	f->found = true;
}

static bool is_run(const struct finder *f, size_t i)
{
	return i < f->count && f->turns[i].kind == SCHED_TURN_RUN;
}

static void copy_turns(struct finder *f)
{
	memcpy(f->plan, f->turns, f->count * sizeof(*f->plan));
}

/*
 * Tries runs that are like the failing one up to the switch before turn `at`. The thread of the
 * turn before runs on until it blocks, or to the end of its next turn; or turns `at` and `at` + 1
 * swap.
 */
static void try_at(struct finder *f, size_t at)
{
	if (at > 0 && is_run(f, at - 1)) {
		size_t next = at;

		copy_turns(f);
		f->plan[at - 1].steps = SCHED_NO_LIMIT;
		try_turns(f, f->count);
		while (next < f->count &&
		       (!is_run(f, next) || f->turns[next].name != f->turns[at - 1].name))
			next++;
		copy_turns(f);
		if (next < f->count) {
			f->plan[at - 1].steps = f->turns[next].steps;
			try_turns(f, f->count);
		}
	}
	if (is_run(f, at) && is_run(f, at + 1)) {
		copy_turns(f);
		f->plan[at] = f->turns[at + 1];
		f->plan[at + 1] = f->turns[at];
		try_turns(f, f->count);
	}
}

/* Tries runs without preemption, each with another thread first. */
static void try_without_preemption(struct finder *f)
{
	try_turns(f, 0);
	for (size_t i = 0; i < f->count && !f->found; i++)
		if (is_run(f, i)) {
			f->plan[0] = f->turns[0];
			f->plan[0].steps = SCHED_NO_LIMIT;
			f->plan[1] = f->turns[i];
			f->plan[1].steps = SCHED_NO_LIMIT;
			try_turns(f, 2);
		}
}

static bool always_passes(const struct finder *f, unsigned times, const struct places *places)
{
	struct oracle_result got = { 0 };
	struct replay replay = { 0 };
	struct oracle oracle;
	unsigned good = 0;

	oracle_from(&oracle, &f->best);
	oracle.ignore = f->attempt->config.replay.ignore;
	if (replay_open(&replay, &f->attempt->config.replay, &f->best, f->attempt->err) == 0)
		while (good < times &&
		       replay_once(&replay, &f->best, places, &oracle, &got, f->attempt->err) ==
			       0 &&
		       got.verdict == ORACLE_PASSED)
			good++;
	replay_close(&replay);
	return good == times;
}

void passing_find(struct passing *p, const struct schedule *failing, struct attempt *a,
		  unsigned replays, const struct places *places)
{
	struct finder f = { .failing = failing, .attempt = a };
	unsigned before = a->runs;

	f.count = minimise_positions(failing, &f.turns);
	f.plan = xcalloc(f.count + 2, sizeof(*f.plan));
	/* The longer the common beginning the nearer the run, so the last switch is tried first. */
	for (size_t at = f.count; at-- > 0 && !f.found;)
		try_at(&f, at);
	if (!f.found && f.count > 0)
		try_without_preemption(&f);
	p->runs = a->runs - before;
	p->found = f.found && always_passes(&f, replays, places);
	if (p->found) {
		p->replays = replays;
		p->schedule = f.best;
	} else {
		schedule_free(&f.best);
	}
	free(f.turns);
	free(f.plan);
}

/* One of the two traces that are compared. */
struct side {
	struct reader *reader;
	struct objects *objects;
	struct event ev;	/* the current event */
	struct object object;	/* object of the event, if has_object */
	bool has_object;
	bool has_event;		/* false: the trace is at its end */
};

/* Advances to the next event that is no call or return: these may differ without harm. */
static void advance(struct side *s)
{
	struct err err;

	do {
		s->has_event = reader_next(s->reader, &s->ev, &err) > 0;
		if (s->has_event)
			s->has_object = objects_step(s->objects, &s->ev, &s->object);
	} while (s->has_event && kind_class(s->ev.kind) == TRACE_CLASS_FUNC);
}

static const char *thread_of(const struct side *s)
{
	const struct reader_thread *t = reader_thread(s->reader, s->ev.thread);

	return t ? t->name : "?";
}

static bool same_event(const struct side *a, const struct side *b)
{
	return a->has_event && b->has_event && a->ev.kind == b->ev.kind && a->ev.pc == b->ev.pc &&
	       a->ev.addr == b->ev.addr && strcmp(thread_of(a), thread_of(b)) == 0;
}

static char *object_of(const struct side *s)
{
	const struct reader_thread *other;
	struct buf text = { 0 };
	char *result = NULL;

	if (trace_roles(s->ev.kind) & ROLE_THREAD) {
		other = reader_thread(s->reader, (uint32_t)s->ev.arg);
		return other ? xasprintf("thread %s", other->name) : NULL;
	}
	if (s->has_object) {
		object_describe(&s->object, &text);
		result = xstrdup(buf_string(&text));
	}
	buf_free(&text);
	return result;
}

static void describe(const struct side *s, struct places *places, struct passing_event *out)
{
	struct symbol_frame frame = { 0 };

	out->present = s->has_event;
	if (!s->has_event)
		return;
	if (s->ev.pc)
		places_frame(places, s->ev.pc, &frame);
	out->thread = xstrdup(thread_of(s));
	out->op = xstrdup(kind_name(s->ev.kind));
	out->object = object_of(s);
	out->function = frame.function ? xstrdup(frame.function) : NULL;
	out->file = frame.file ? xstrdup(frame.file) : NULL;
	out->line = frame.line;
}

static bool open_side(struct side *s, const char *path, struct places *places)
{
	struct err err;

	s->reader = reader_open(path, &err);
	if (!s->reader)
		return false;
	reader_leave_out_values(s->reader);
	s->objects = objects_new(s->reader, places->symbols);
	advance(s);
	return true;
}

static void close_side(struct side *s)
{
	if (!s->reader)
		return;
	objects_free(s->objects);
	reader_close(s->reader);
}

static void compare(struct passing *p, struct places *places, const char *path, const char *failing)
{
	struct side a = { 0 }, b = { 0 };

	if (open_side(&a, failing, places) && open_side(&b, path, places)) {
		for (p->event = 1; same_event(&a, &b); p->event++) {
			advance(&a);
			advance(&b);
		}
		p->differs = a.has_event || b.has_event;
		describe(&a, places, &p->in_failing);
		describe(&b, places, &p->in_passing);
	}
	close_side(&a);
	close_side(&b);
}

void passing_trace(struct passing *p, const struct replay_config *config, struct places *places,
		   const char *path, const char *failing)
{
	struct err err;

	p->traced = p->found && replay_record(config, &p->schedule, places, path, true, &err) == 0;
	if (p->traced && failing)
		compare(p, places, path, failing);
}

static void event_free(struct passing_event *e)
{
	free(e->thread);
	free(e->op);
	free(e->object);
	free(e->function);
	free(e->file);
}

void passing_free(struct passing *p)
{
	schedule_free(&p->schedule);
	event_free(&p->in_failing);
	event_free(&p->in_passing);
	*p = (struct passing){ 0 };
}
