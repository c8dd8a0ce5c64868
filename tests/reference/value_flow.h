/*
 * Reference of candidate.doubtful (analyze/value_flow.h): can any interleaving of a short trace
 * bring the events of a candidate into the candidate's order?
 *
 * analysis_world keeps all events of the trace. is_possible() searches all interleavings of the
 * threads, depth first. A mutex must be free when it is locked. A read of a flag that leads to one
 * of the candidate's events must see the write that it saw in the trace; a flag is a write by a
 * thread that had not read the location since its own last write there.
 */
#ifndef REFERENCE_VALUE_FLOW_H
#define REFERENCE_VALUE_FLOW_H

#include "analyze_util.h"

#define MAX_EVENTS 40
#define THREADS 4

struct step {
	uint32_t thread;	/* the number that the trace gives it */
	uint16_t kind;
	uint64_t index, addr;
	int from;		/* the write of the flag that this step reads; -1: it reads none */
};

static struct world {
	struct step at[MAX_EVENTS];
	size_t count;
	const struct candidate *c;
	int last[THREADS];	/* for each thread, the last of the candidate's events; -1: none */
	bool done[MAX_EVENTS];
} w;

static void *world_open(const struct analysis_context *ctx)
{
	(void)ctx;
	memset(&w, 0, sizeof(w));
	return &w;
}

static void world_event(void *state, const struct event *ev, const struct view *view,
			struct findings *out)
{
	(void)state;
	(void)out;
	assert_true(w.count < MAX_EVENTS && ev->thread < THREADS);
	w.at[w.count++] = (struct step){ ev->thread, ev->kind, view->index, ev->addr, -1 };
}

static void world_finish(void *state, struct findings *out)
{
	(void)state;
	(void)out;
}

static void world_close(void *state)
{
	(void)state;
}

static const struct analysis analysis_world = {
	.name = "world", .summary = "", .open = world_open, .event = world_event,
	.finish = world_finish, .close = world_close,
};

static bool accesses(const struct step *s, uint64_t addr)
{
	return access_of(s->kind) && s->addr == addr;
}

/* Had the thread not read the location since its own last write there? */
static bool sets_flag(size_t write)
{
	for (size_t i = write; i-- > 0; )
		if (w.at[i].thread == w.at[write].thread && accesses(&w.at[i], w.at[write].addr))
			return w.at[i].kind == TRACE_WRITE;
	return true;
}

static void find_flags(void)
{
	for (size_t i = 0; i < w.count; i++)
		for (size_t k = i; w.at[i].kind == TRACE_READ && k-- > 0; )
			if (w.at[k].kind == TRACE_WRITE && accesses(&w.at[k], w.at[i].addr)) {
				if (w.at[k].thread != w.at[i].thread && sets_flag(k))
					w.at[i].from = (int)k;
				break;
			}
}

/* The step of a candidate's event. */
static int place_of(const struct candidate_event *e)
{
	for (size_t i = 0; i < w.count; i++)
		if (w.at[i].thread == e->thread && w.at[i].index == e->index)
			return (int)i;
	fail_msg("no such event");
	return -1;
}

/* Is the mutex free after the first `count` steps of `order`? */
static bool is_free(uint64_t lock, const int *order, size_t count)
{
	for (size_t i = count; i-- > 0; )
		if (w.at[order[i]].addr == lock && !access_of(w.at[order[i]].kind))
			return w.at[order[i]].kind == TRACE_MUTEX_UNLOCK;
	return true;
}

static int last_write(uint64_t addr, const int *order, size_t count)
{
	for (size_t i = count; i-- > 0; )
		if (w.at[order[i]].kind == TRACE_WRITE && w.at[order[i]].addr == addr)
			return order[i];
	return -1;
}

/*
 * Can the step come next, after the first `count` steps of `order`? Only reads up to the last of
 * the candidate's events of the thread must see the same write as in the trace.
 */
static bool may(size_t place, const int *order, size_t count)
{
	const struct step *s = &w.at[place];

	for (int i = 0; i < w.c->orders; i++)
		if (place_of(&w.c->event[w.c->order[i].second]) == (int)place &&
		    !w.done[place_of(&w.c->event[w.c->order[i].first])])
			return false;
	if (s->kind == TRACE_MUTEX_LOCK)
		return is_free(s->addr, order, count);
	return s->from < 0 || (int)place >= w.last[s->thread] ||
	       last_write(s->addr, order, count) == s->from;
}

static bool is_complete(void)
{
	for (int i = 0; i < w.c->orders; i++)
		if (!w.done[place_of(&w.c->event[w.c->order[i].second])] ||
		    !w.done[place_of(&w.c->event[w.c->order[i].first])])
			return false;
	return true;
}

static size_t next_of(uint32_t thread)
{
	for (size_t i = 0; i < w.count; i++)
		if (w.at[i].thread == thread && !w.done[i])
			return i;
	return w.count;
}

/* Does an interleaving that begins with `order` complete the candidate? */
static bool reaches(int *order, size_t count)
{
	bool good = is_complete();

	for (uint32_t t = 0; t < THREADS && !good; t++) {
		size_t place = next_of(t);

		if (place == w.count || !may(place, order, count))
			continue;
		w.done[place] = true;
		order[count] = (int)place;
		good = reaches(order, count + 1);
		w.done[place] = false;
	}
	return good;
}

static bool is_possible(const struct candidate *c)
{
	int order[MAX_EVENTS];
	size_t count = 0;

	w.c = c;
	memset(w.done, 0, sizeof(w.done));
	for (uint32_t t = 0; t < THREADS; t++)
		w.last[t] = -1;
	for (int i = 0; i < c->orders; i++)
		for (int side = 0; side < 2; side++) {
			int place =
				place_of(&c->event[side ? c->order[i].second : c->order[i].first]);

			if (place > w.last[w.at[place].thread])
				w.last[w.at[place].thread] = place;
		}
	/* The main thread only creates the others. */
	for (size_t i = 0; i < w.count; i++)
		if (!access_of(w.at[i].kind) && w.at[i].kind != TRACE_MUTEX_LOCK &&
		    w.at[i].kind != TRACE_MUTEX_UNLOCK) {
			w.done[i] = true;
			order[count++] = (int)i;
		}
	return reaches(order, count);
}

#endif
