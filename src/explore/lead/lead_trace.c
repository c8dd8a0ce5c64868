/*
 * Finds the events of a lead in a trace.
 *
 * An event of a trace is identified by its thread and its index: the number of events that the
 * thread has before it, calls and returns included, `value` events left out. That is the `index` of
 * candidate.h and of `snarl analyze --json`. A lead names its events by thread, pc and n-th visit.
 * Since these names hold in every run, each stands for one event of the trace, or for none.
 */
#include <string.h>

#include "base/mem.h"
#include "explore/lead/lead.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"

/* The event of the trace that an event of the lead names. */
struct found {
	uint64_t position;	/* number among all events of the trace */
	uint64_t addr, size;
	uint32_t thread;	/* id in the trace; 0: the trace does not have the event */
	uint16_t kind;		/* enum trace_kind */
};

/* Counts the visit. Sets `found` and `index` of each event of the lead that `ev` is. */
static void match_event(const struct lead *lead, uint64_t *visits, struct found *found,
			uint64_t *index, const struct event *ev, const char *thread,
			uint64_t position, uint64_t number)
{
	for (unsigned i = 0; i < lead->c.events; i++) {
		const struct candidate_event *e = &lead->c.event[i];

		if (e->pc != ev->pc || strcmp(lead->event[i].thread, thread) != 0 ||
		    ++visits[i] != (e->nth ? e->nth : 1) || ev->kind == TRACE_BLOCKED)
			continue;
		found[i] = (struct found){ position, ev->addr, ev->size, ev->thread, ev->kind };
		index[i] = number;
	}
}

/* True if no second event came before its first. The run may have ended before either. */
static bool has_orders(const struct candidate *c, const struct found *found)
{
	for (unsigned i = 0; i < c->orders; i++) {
		const struct found *first = &found[c->order[i].first];
		const struct found *second = &found[c->order[i].second];

		if (second->thread && (!first->thread || second->position < first->position))
			return false;
	}
	return true;
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + (b_size ? b_size : 1) && b < a + (a_size ? a_size : 1);
}

/*
 * True if events i and k accessed the same memory in the run that predicted the lead, but other
 * memory in this one: their names fit by chance, for example in two iterations over a list.
 */
static bool is_elsewhere(const struct candidate *c, const struct found *found, unsigned i,
			 unsigned k)
{
	const struct candidate_event *a = &c->event[i], *b = &c->event[k];

	return overlap(a->addr, a->size, b->addr, b->size) &&
	       !overlap(found[i].addr, found[i].size, found[k].addr, found[k].size) &&
	       found[i].addr - found[k].addr != a->addr - b->addr;
}

/* Drops each event that accesses other memory than an earlier event of the lead. */
static void drop_elsewhere(const struct lead *lead, const struct found *found, uint64_t *index)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead_events(lead, events);

	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (index[events[i]] != LEAD_NO_EVENT &&
			    index[events[k]] != LEAD_NO_EVENT &&
			    is_elsewhere(&lead->c, found, events[i], events[k]))
				index[events[i]] = LEAD_NO_EVENT;
}

bool lead_locate(const struct lead *lead, const char *trace, uint64_t *index)
{
	struct found found[CANDIDATE_EVENTS] = { { 0 } };
	uint64_t visits[CANDIDATE_EVENTS] = { 0 };
	const struct reader_thread *thread;
	struct map counts = { 0 };	/* by thread id: number of events so far */
	struct event ev;
	struct err err;
	struct reader *r = reader_open(trace, &err);

	for (unsigned i = 0; i < CANDIDATE_EVENTS; i++)
		index[i] = LEAD_NO_EVENT;
	if (!r)
		return false;
	reader_leave_out_values(r);
	for (uint64_t position = 0; reader_next(r, &ev, &err) > 0; position++) {
		uint64_t number = (*map_put(&counts, ev.thread, NULL))++;

		thread = ev.pc ? reader_thread(r, ev.thread) : NULL;
		if (thread)
			match_event(lead, visits, found, index, &ev, thread->name, position,
				    number);
	}
	/* A thread whose last event begins a wait is still waiting at the end of the run. */
	for (unsigned i = 0; i < lead->c.events; i++)
		if (found[i].thread && found[i].kind == TRACE_COND_WAIT &&
		    *map_find(&counts, found[i].thread) == index[i] + 1)
			index[i] = LEAD_NO_EVENT;
	drop_elsewhere(lead, found, index);
	map_free(&counts);
	reader_close(r);
	return has_orders(&lead->c, found);
}
