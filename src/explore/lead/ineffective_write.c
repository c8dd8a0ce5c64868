/*
 * Reads the values of accesses from the trace of a failure. A `value` event follows its access and
 * has no number of its own: candidate_event.index counts all other events of the thread.
 */
#include "explore/lead/ineffective_write.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/read/reader.h"

#define WORD 8u		/* bytes of one value event */

/* Value of an access; `known`: the trace has it. */
struct seen {
	uint64_t addr, value;
	bool known;
};

/* Values of the accesses that matter. */
struct values {
	struct map at;		/* key_of() of an event -> its index in `seen`, plus 1 */
	struct seen *seen;
	size_t count, capacity;
};

/* True if the candidate can be checked. It must have occurred only once: others may do harm. */
static bool is_checked(const struct candidate *c)
{
	const struct candidate_event *e = c->event;

	return c->seen && c->count == 1 &&
	       (c->pattern == PATTERN_RWR || c->pattern == PATTERN_RWW) && e[0].addr == e[1].addr &&
	       e[0].size == e[1].size && e[0].size <= WORD;
}

static uint64_t key_of(uint32_t thread, uint64_t index)
{
	return (uint64_t)thread << 44 | index;
}

/* Adds an access whose value is needed. */
static void want(struct values *v, const struct candidate_event *e)
{
	uint64_t *number = map_put(&v->at, key_of(e->thread, e->index), NULL);

	if (*number)
		return;
	v->seen = xgrow(v->seen, v->count, &v->capacity, sizeof(*v->seen));
	v->seen[v->count++] = (struct seen){ .addr = e->addr };
	*number = v->count;
}

static const struct seen *value_at(const struct values *v, const struct candidate_event *e)
{
	return &v->seen[*map_find(&v->at, key_of(e->thread, e->index)) - 1];
}

static void read_values(struct values *v, struct reader *r)
{
	struct map indexes = { 0 };	/* by thread: number of events so far, values left out */
	struct event ev;
	struct err err;

	while (reader_next(r, &ev, &err) > 0) {
		uint64_t *index = map_put(&indexes, ev.thread, NULL);
		const uint64_t *number;

		*index += ev.kind != TRACE_VALUE;
		number = *index ? map_find(&v->at, key_of(ev.thread, *index - 1)) : NULL;
		if (!number || v->seen[*number - 1].addr != ev.addr ||
		    (ev.kind != TRACE_VALUE && ev.kind != TRACE_ATOMIC_LOAD &&
		     ev.kind != TRACE_ATOMIC_STORE))
			continue;
		v->seen[*number - 1].value = ev.arg;
		v->seen[*number - 1].known = true;
	}
	map_free(&indexes);
}

bool *ineffective_write_find(const char *path, const struct hunt_list *list)
{
	bool *out = xcalloc(list->count + 1, sizeof(*out));
	struct values v = { 0 };
	struct reader *r = NULL;
	struct err err;

	for (size_t i = 0; i < list->count; i++)
		for (unsigned e = 0; is_checked(list->at[i]) && e < 2; e++)
			want(&v, &list->at[i]->event[e]);
	if (v.count)
		r = reader_open(path, &err);
	if (r)
		read_values(&v, r);
	for (size_t i = 0; r && i < list->count; i++) {
		const struct candidate *c = list->at[i];
		const struct seen *found, *left;

		if (!is_checked(c))
			continue;
		found = value_at(&v, &c->event[0]);
		left = value_at(&v, &c->event[1]);
		out[i] = found->known && left->known && found->value == left->value;
	}
	reader_close(r);
	map_free(&v.at);
	free(v.seen);
	return out;
}
