#include "report/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "explore/schedule/schedule.h"
#include "trace/read/kinds.h"

/*
 * An event of a goal: the nth execution of the instruction at `offset` of a module by one thread.
 */
struct goal {
	uint64_t offset;
	uint64_t nth;		/* from 1; 0: no goal */
	uint64_t seen;		/* executions of the instruction in the trace so far */
};

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static size_t site_count(const struct report_bug *b)
{
	return b->site_count < EVENTS_MAX ? b->site_count : EVENTS_MAX;
}

/* Assigns the event to the first site that it fits and that has no other event yet. */
static void add_goal(const struct report_bug *b, struct goal *goals, const struct schedule_event *e)
{
	for (size_t i = 0; i < site_count(b); i++) {
		const struct report_site *s = &b->sites[i];

		if (!s->cause || s->pending || s->at.line != e->line ||
		    !same_text(s->thread, e->thread) || !same_text(s->op, e->op) ||
		    !same_text(s->object, e->object) ||
		    (goals[i].nth && (goals[i].nth != e->nth || goals[i].offset != e->offset)))
			continue;
		goals[i] = (struct goal){ e->offset, e->nth, 0 };
		return;
	}
}

static void read_goals(const struct report_bug *b, struct goal *goals)
{
	char *path = xasprintf("%s/schedule.txt", b->path);
	struct schedule s = { 0 };
	struct err err;

	if (schedule_read(&s, path, &err) == 0)
		for (size_t i = 0; i < s.goal_count; i++) {
			add_goal(b, goals, &s.goals[i].first);
			add_goal(b, goals, &s.goals[i].second);
		}
	schedule_free(&s);
	free(path);
}

static bool is_goal(struct goal *g, const struct report_site *s, const struct event *ev,
		    struct symbols *symbols)
{
	uint64_t offset;

	return g->nth && symbols_module(symbols, ev->pc, &offset) && offset == g->offset &&
	       ++g->seen == g->nth && same_text(s->op, kind_name(ev->kind));
}

int events_find(const struct report_bug *b, struct reader *r, struct symbols *symbols,
		struct events_found *out, struct err *err)
{
	struct goal goals[EVENTS_MAX] = { { 0 } };
	struct map counts = { 0 };	/* events so far, by thread id */
	const struct reader_thread *t;
	uint64_t ordinal = 0, index;
	struct event ev;
	int got;

	if (!b->has_indexes)
		read_goals(b, goals);
	while ((got = reader_next(r, &ev, err)) > 0) {
		if (ev.kind == TRACE_VALUE)
			continue;
		index = (*map_put(&counts, ev.thread, NULL))++;
		t = reader_thread(r, ev.thread);
		for (size_t i = 0; t && i < site_count(b); i++)
			if (same_text(b->sites[i].thread, t->name) &&
			    (b->sites[i].index == index ||
			     is_goal(&goals[i], &b->sites[i], &ev, symbols)))
				out[i] = (struct events_found){ true, ordinal, ev.addr, ev.size };
		ordinal++;
	}
	map_free(&counts);
	return got;
}
