#include "learn/detect.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/object.h"

const char *detect_rank_name(enum detect_rank rank)
{
	static const char *const names[DETECT_RANKS] = { "broken", "new", "untrained", "known" };

	return names[rank];
}

int detect_open(struct detect *d, struct store *store, const char *program, unsigned granularity,
		struct err *err)
{
	struct known k;
	int result = store_load(store, program, &k, err);

	*d = (struct detect){ .learner = { .store = store, .granularity = granularity } };
	/* Sites that only the traces have get a number, too; detect_close() undoes that. */
	if (result == 0)
		result = store_begin(store, err);
	if (result == 0) {
		d->learner.program = store_program(store, k.program, err);
		result = d->learner.program < 0 ? -1 : 0;
		d->program = xstrdup(k.program);
	}
	known_free(&k);
	return result;
}

void detect_close(struct detect *d)
{
	if (d->learner.store)
		store_rollback(d->learner.store);
	for (size_t i = 0; i < d->count; i++) {
		for (unsigned e = 0; e < DETECT_EVENTS; e++)
			free(d->items[i].event[e].thread);
		free(d->items[i].object);
	}
	free(d->items);
	free(d->program);
	known_free(&d->known);
	learner_close(&d->learner);
	*d = (struct detect){ 0 };
}

static struct detect_item *find(struct detect *d, const struct detect_item *like)
{
	for (size_t i = 0; i < d->count; i++) {
		struct detect_item *item = &d->items[i];
		bool same = item->events == like->events && item->pattern == like->pattern;

		for (unsigned e = 0; same && e < like->events; e++)
			same = item->event[e].id == like->event[e].id;
		if (same)
			return item;
	}
	return NULL;
}

/* An event of an item whose thread, object and value are not known yet. */
struct wanted {
	uint64_t at;		/* number of the event in the trace */
	size_t item;		/* index in detect.items */
	unsigned event;		/* index in detect_item.event */
};

struct wants {
	struct wanted *items;
	size_t count, capacity;
};

static int by_at(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Adds an item, or counts it again. An item has the names and values of its first occurrence, so
 * these are wanted only then.
 */
static void add(struct detect *d, const struct detect_item *new, const uint64_t *at,
		struct wants *w)
{
	struct detect_item *item = find(d, new);

	if (item) {
		item->traces += item->last != d->traces;
		item->last = d->traces;
		item->count += new->count;
		return;
	}
	d->items = xgrow(d->items, d->count, &d->capacity, sizeof(*d->items));
	d->items[d->count] = *new;
	d->items[d->count].traces = 1;
	d->items[d->count].last = d->traces;
	for (unsigned e = 0; at && e < new->events; e++) {
		w->items = xgrow(w->items, w->count, &w->capacity, sizeof(*w->items));
		w->items[w->count++] = (struct wanted){ at[e], d->count, e };
	}
	d->count++;
}

static struct symbols *symbols_of(const struct reader *r)
{
	const struct reader_info *info = reader_info(r);
	struct symbols *s = symbols_new();

	for (size_t i = 0; i < info->module_count; i++) {
		const struct reader_module *m = &info->modules[i];

		symbols_add(s, m->path, m->build_id, m->build_id_size, m->base, m->start, m->end,
			    NULL);
	}
	return s;
}

/* Sets the thread of an event, and the object of the item if the event is the last one. */
static void name_event(struct detect *d, const struct wanted *w, const struct event *ev,
		       const struct object *object, const struct reader *r)
{
	struct detect_item *item = &d->items[w->item];
	const struct reader_thread *thread = reader_thread(r, ev->thread);
	struct detect_event *e = &item->event[w->event];
	struct buf text = { 0 };

	e->thread = xstrdup(thread ? thread->name : "?");
	if (w->event != item->events - 1)
		return;
	object_describe(object, &text);
	item->object = xstrdup(buf_string(&text));
	buf_free(&text);
}

/*
 * Reads the trace again, to set names and values of the wanted events. The value of an access is in
 * the next event of its thread.
 */
static int find_wanted(struct detect *d, struct reader *r, struct wants *w, struct err *err)
{
	struct symbols *symbols = symbols_of(r);
	struct objects *objects = objects_new(r, symbols);
	/* by thread: index in `w`, plus 1, whose value comes next; or 0 */
	uint64_t *waiting = NULL, at = 0;
	size_t threads = 0, next = 0;
	struct event ev;
	int got = reader_rewind(r, err) < 0 ? -1 : 1;

	if (w->count > 1)
		qsort(w->items, w->count, sizeof(*w->items), by_at);
	while (got > 0 && (got = reader_next(r, &ev, err)) > 0) {
		struct object object;
		bool named = objects_step(objects, &ev, &object);

		waiting = xreach(waiting, ev.thread, &threads, sizeof(*waiting));
		if (ev.kind == TRACE_VALUE && waiting[ev.thread]) {
			uint64_t want_at = w->items[waiting[ev.thread] - 1].at;

			for (size_t i = waiting[ev.thread] - 1;
			     i < w->count && w->items[i].at == want_at; i++) {
				struct detect_event *e =
					&d->items[w->items[i].item].event[w->items[i].event];

				e->value = ev.arg;
				e->has_value = true;
			}
		}
		waiting[ev.thread] = 0;
		if (next < w->count && w->items[next].at == at)
			waiting[ev.thread] = next + 1;
		for (; next < w->count && w->items[next].at == at; next++)
			if (named)
				name_event(d, &w->items[next], &ev, &object, r);
		at++;
	}
	free(waiting);
	objects_free(objects);
	symbols_free(symbols);
	return got;
}

static void take(struct detect *d, const struct training_run *run, const struct learner_site *at,
		 struct wants *w)
{
	const struct learn_pairs *pairs = pset_pairs(run->pset);

	for (size_t i = 0; i < avio_count(run->avio); i++) {
		const struct avio_triple *t = avio_at(run->avio, i);
		struct detect_item item = { .events = 3, .pattern = t->pattern, .count = t->count,
					    .event = { { .id = at[t->p].id }, { .id = at[t->r].id },
						       { .id = at[t->i].id } } };

		add(d, &item, (uint64_t[]){ t->p_at, t->r_at, t->i_at }, w);
	}
	for (size_t i = 0; d->pairs && i < pairs->count; i++) {
		struct detect_item item = { .events = 2, .count = 1,
					    .event = { { .id = at[pairs->items[i].first].id },
						       { .id = at[pairs->items[i].second].id } } };

		add(d, &item, NULL, w);
	}
}

int detect_trace(struct detect *d, const char *path, struct err *err)
{
	struct reader *r = reader_open(path, err);
	struct learner_site *at = NULL;
	struct training_run run = { 0 };
	struct wants w = { 0 };
	int result = -1;

	if (!r)
		return -1;
	if (training_run_read(&run, r, d->learner.granularity, TRAINING_RUN_DETECT, 0, NULL, err) ==
	    0) {
		at = xcalloc(run.sites.count + 1, sizeof(*at));
		result = learner_sites(&d->learner, &run, r, at, err);
	}
	if (result == 0) {
		take(d, &run, at, &w);
		result = find_wanted(d, r, &w, err);
		d->traces++;
	}
	free(at);
	free(w.items);
	training_run_free(&run);
	reader_close(r);
	return result;
}

/* Did a passing run do the same? */
static bool was_seen(const struct known *k, const struct detect_item *item)
{
	uint32_t at[DETECT_EVENTS];

	for (unsigned e = 0; e < item->events; e++)
		at[e] = (uint32_t)(item->event[e].site - k->sites);
	if (item->events == 2) {
		for (size_t i = 0; i < k->pair_count; i++)
			if (k->pairs[i].first == at[0] && k->pairs[i].second == at[1] &&
			    k->pairs[i].seen)
				return true;
		return false;
	}
	for (size_t i = 0; i < k->triple_count; i++)
		if (k->triples[i].p == at[0] && k->triples[i].r == at[1] &&
		    k->triples[i].i == at[2] && k->triples[i].pattern == item->pattern)
			return true;
	return false;
}

/* Were the first and the last site a local pair in enough passing runs? */
static bool was_trained(const struct known *k, const struct detect_item *item)
{
	uint32_t p = (uint32_t)(item->event[0].site - k->sites),
		 last = (uint32_t)(item->event[2].site - k->sites);

	for (size_t i = 0; i < k->local_count; i++)
		if (k->locals[i].p == p && k->locals[i].i == last)
			return learnt_often(k, &k->locals[i]);
	return false;
}

static enum detect_rank rank(const struct known *k, const struct detect_item *item,
			     uint64_t threshold)
{
	const struct known_site *last = item->event[item->events - 1].site;

	if (!last->runs)
		return DETECT_UNTRAINED;
	if (item->events == 3 && known_holds(last, threshold) && was_trained(k, item))
		return DETECT_BROKEN;
	if (was_seen(k, item))
		return DETECT_KNOWN;
	/*
	 * The predecessor set of M is known, and P is not in it. That is no surprise if no
	 * passing run reached P.
	 */
	return item->events == 2 && item->event[0].site->runs ? DETECT_BROKEN : DETECT_NEW;
}

static int by_rank(const void *a, const void *b)
{
	const struct detect_item *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	if (x->traces != y->traces)
		return x->traces > y->traces ? -1 : 1;
	if (x->runs != y->runs)
		return x->runs > y->runs ? -1 : 1;
	for (unsigned e = x->events; e > 0; e--)
		if (x->event[e - 1].id != y->event[e - 1].id)
			return x->event[e - 1].id < y->event[e - 1].id ? -1 : 1;
	return 0;
}

int detect_finish(struct detect *d, uint64_t threshold, struct err *err)
{
	/* Load the database only now, so that it has the sites of the traces, too. */
	if (store_load(d->learner.store, d->program, &d->known, err) < 0)
		return -1;
	for (size_t i = 0; i < d->count; i++) {
		struct detect_item *item = &d->items[i];

		for (unsigned e = 0; e < item->events; e++)
			item->event[e].site =
				&d->known.sites[*map_find(&d->known.at,
							  (uint64_t)item->event[e].id) -
						1];
		item->runs = item->event[item->events - 1].site->runs;
		item->rank = rank(&d->known, item, threshold);
		d->ranks[item->rank]++;
	}
	if (d->count > 1)
		qsort(d->items, d->count, sizeof(*d->items), by_rank);
	return 0;
}
