#include "learn/fold/lifetx.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "learn/fold/lifetx_graph.h"
#include "learn/fold/lifetx_members.h"

/* An event of a thread, as the start of an edge. */
struct tx_point {
	uint32_t thread;
	struct tx_ref tx;
	uint64_t at;		/* time, by the thread's count */
};

struct tx_points {
	struct tx_point *items;	/* the last one of each thread */
	size_t count, capacity;
};

struct cell {
	struct tx_point write;	/* tx.serial 0: no write yet */
	struct tx_points reads;	/* since the write */
};

struct frame {
	uint32_t function;
	uint64_t entered;	/* time, by the thread's count */
	uint64_t path;		/* hash of the calls on the stack */
};

struct thread {
	bool seen;
	struct tx_ref tx;
	uint64_t count;		/* number of its events: the thread's time */
	struct frame *frames;	/* the call stack */
	struct frame *exits;	/* by depth: function that returned last; `entered`: when */
	size_t depth, frame_capacity, exit_count;
	bool cut_next;		/* a cut comes before its next access */
	struct tx_members members;	/* watched accesses of its transaction */
	uint64_t accesses;
	/*
	 * lowest depth of the call stack during its watched accesses; lowest depth since the
	 * last one
	 */
	size_t base, lowest;
	uint32_t holder;	/* function at depth `base` */
};

struct lifetx {
	struct cells cells;
	struct tx_graph graph;
	struct thread *threads;
	size_t thread_count;
	struct tx_points *syncs;
	size_t sync_count, sync_capacity;
	struct map sync_at;	/* address to index in `syncs`, plus 1 */
	struct map created;	/* thread to index in `syncs`, plus 1 */
	uint8_t *cuts, *watched;	/* by site */
	size_t cut_count, watch_count;
	struct learn_pairs members;
	struct tx_orders orders;
};

static void clear(void *item)
{
	free(((struct cell *)item)->reads.items);
}

struct lifetx *lifetx_new(unsigned granularity)
{
	struct lifetx *l = xcalloc(1, sizeof(*l));

	cells_init(&l->cells, granularity, sizeof(struct cell));
	return l;
}

void lifetx_free(struct lifetx *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->thread_count; i++) {
		free(l->threads[i].frames);
		free(l->threads[i].exits);
		tx_members_free(&l->threads[i].members);
	}
	for (size_t i = 0; i < l->sync_count; i++)
		free(l->syncs[i].items);
	cells_free(&l->cells, clear);
	tx_graph_free(&l->graph);
	map_free(&l->sync_at);
	map_free(&l->created);
	learn_pairs_free(&l->members);
	tx_orders_free(&l->orders);
	free(l->threads);
	free(l->syncs);
	free(l->cuts);
	free(l->watched);
	free(l);
}

void lifetx_set_cuts(struct lifetx *l, uint32_t site, unsigned cuts)
{
	l->cuts = xreach(l->cuts, site, &l->cut_count, 1);
	l->cuts[site] |= (uint8_t)cuts;
}

unsigned lifetx_cuts(const struct lifetx *l, uint32_t site)
{
	return site < l->cut_count ? l->cuts[site] : 0;
}

void lifetx_watch(struct lifetx *l, uint32_t site)
{
	l->watched = xreach(l->watched, site, &l->watch_count, 1);
	l->watched[site] = 1;
}

bool lifetx_watches(const struct lifetx *l, uint32_t site)
{
	return site < l->watch_count && l->watched[site];
}

uint32_t lifetx_function(const struct lifetx *l, uint32_t thread)
{
	const struct thread *t = thread < l->thread_count ? &l->threads[thread] : NULL;

	return t && t->depth ? t->frames[t->depth - 1].function : 0;
}

const struct learn_pairs *lifetx_members(const struct lifetx *l)
{
	return &l->members;
}

const struct learn_pairs *lifetx_orders(const struct lifetx *l)
{
	return &l->orders.all;
}

unsigned lifetx_torn(const struct lifetx *l, uint32_t p, uint32_t i)
{
	return (learn_pairs_have(&l->orders.released, p, i) ? LIFETX_RELEASED : 0) |
	       (learn_pairs_have(&l->orders.acquired, p, i) ? LIFETX_ACQUIRED : 0);
}

size_t lifetx_live(const struct lifetx *l)
{
	return l->graph.live;
}

static struct tx_points *sync_of(struct lifetx *l, struct map *map, uint64_t key)
{
	uint64_t *number = map_put(map, key, NULL);

	if (!*number) {
		l->syncs = xgrow(l->syncs, l->sync_count, &l->sync_capacity, sizeof(*l->syncs));
		l->syncs[l->sync_count] = (struct tx_points){ 0 };
		*number = ++l->sync_count;
	}
	return &l->syncs[*number - 1];
}

static void set_point(struct tx_points *d, const struct tx_point *point)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].thread == point->thread) {
			d->items[i] = *point;
			return;
		}
	d->items = xgrow(d->items, d->count, &d->capacity, sizeof(*d->items));
	d->items[d->count++] = *point;
}

/*
 * Adds the members of a transaction, or of an iteration, that ends. A single watched access is no
 * member.
 */
static void keep_members(struct lifetx *l, struct thread *t)
{
	if (t->accesses >= 2 && t->holder)
		for (size_t i = 0; i < t->members.count; i++)
			learn_pairs_add(&l->members, t->holder, t->members.items[i].site);
	tx_members_clear(&t->members);
	t->accesses = 0;
	t->holder = 0;
}

static void split(struct lifetx *l, struct thread *t)
{
	struct tx_ref old = t->tx;
	uint64_t since;

	keep_members(l, t);
	t->tx = tx_graph_begin(&l->graph);
	tx_graph_edge(&l->graph, old, t->count, t->tx, &since);
	tx_graph_end(&l->graph, old);
}

/*
 * Places a cut between the thread's time `since` and now. `site` 0: the event is no access, so
 * the cut comes before the next one.
 */
static void place_cut(struct lifetx *l, struct thread *t, uint64_t since, uint32_t site)
{
	for (size_t i = 0; i < t->depth; i++)
		if (t->frames[i].entered > since) {
			lifetx_set_cuts(l, t->frames[i].function, LIFETX_ENTRY);
			return;
		}
	if (t->depth < t->exit_count && t->exits[t->depth].entered > since)
		lifetx_set_cuts(l, t->exits[t->depth].function, LIFETX_EXIT);
	else if (site)
		lifetx_set_cuts(l, site, LIFETX_BEFORE);
	else
		t->cut_next = true;
}

static void follow(struct lifetx *l, const struct tx_point *from, uint32_t thread, uint32_t site)
{
	struct thread *t = &l->threads[thread];
	uint64_t since;

	if (!from->tx.serial || from->thread == thread)
		return;
	if (tx_graph_edge(&l->graph, from->tx, from->at, t->tx, &since))
		return;
	place_cut(l, t, since, site);
	split(l, t);
	tx_graph_edge(&l->graph, from->tx, from->at, t->tx, &since);
}

static void follow_all(struct lifetx *l, const struct tx_points *d, uint32_t thread)
{
	for (size_t i = 0; i < d->count; i++)
		follow(l, &d->items[i], thread, 0);
}

static struct thread *thread_of(struct lifetx *l, uint32_t id)
{
	struct thread *t;
	const uint64_t *made;

	l->threads = xreach(l->threads, id, &l->thread_count, sizeof(*l->threads));
	t = &l->threads[id];
	if (!t->seen) {
		t->seen = true;
		t->tx = tx_graph_begin(&l->graph);
		made = map_find(&l->created, id);
		if (made)
			follow_all(l, &l->syncs[*made - 1], id);
	}
	return t;
}

static uint64_t path_of(const struct thread *t, uint64_t pc)
{
	uint64_t path = t->depth ? t->frames[t->depth - 1].path : 0;

	return hash_spread(path ^ pc) + (path >> 29);
}

/* Accesses of different iterations of a loop are not listed as members together. */
static void take_lock(struct lifetx *l, struct thread *t, const struct learn_step *s)
{
	uint64_t path = path_of(t, s->pc);

	if (s->pc && tx_members_starts_iteration(&t->members, s->addr, path))
		keep_members(l, t);
	tx_members_acquire(&t->members, s->addr, path, t->count);
}

static void watched_access(struct lifetx *l, struct thread *t, uint32_t site)
{
	if (!t->accesses) {
		t->base = t->depth;
	} else if (t->lowest < t->base) {
		t->base = t->lowest;
	}
	t->lowest = t->depth;
	t->holder = t->base ? t->frames[t->base - 1].function : 0;
	t->accesses++;
	tx_members_add(&t->members, &l->orders, site, t->count);
}

static void access_cell(struct lifetx *l, uint64_t number, const struct learn_step *s)
{
	struct cell *c = cells_get(&l->cells, number);
	struct thread *t = &l->threads[s->thread];
	struct tx_point point = { .thread = s->thread };

	follow(l, &c->write, s->thread, s->site);
	if (s->op == IROOT_OP_WRITE) {
		for (size_t i = 0; i < c->reads.count; i++)
			follow(l, &c->reads.items[i], s->thread, s->site);
		c->reads.count = 0;
	}
	point.tx = t->tx;
	point.at = t->count;
	if (s->op == IROOT_OP_WRITE)
		c->write = point;
	else
		set_point(&c->reads, &point);
}

void lifetx_touch(struct lifetx *l, const struct learn_step *s)
{
	for (uint64_t i = cells_first(&l->cells, s->addr);
	     s->size && i <= cells_last(&l->cells, s->addr, s->size); i++)
		access_cell(l, i, s);
}

static void access_memory(struct lifetx *l, const struct learn_step *s)
{
	struct thread *t = &l->threads[s->thread];

	if (t->cut_next)
		lifetx_set_cuts(l, s->site, LIFETX_BEFORE);
	else if (lifetx_cuts(l, s->site) & LIFETX_BEFORE)
		split(l, t);
	t->cut_next = false;
	lifetx_touch(l, s);
	if (lifetx_watches(l, s->site))
		watched_access(l, t, s->site);
}

void lifetx_step(struct lifetx *l, const struct learn_step *s, bool blocks)
{
	struct thread *t = thread_of(l, s->thread);
	struct tx_point point;

	t->count++;
	if (blocks)
		split(l, t);
	point = (struct tx_point){ .thread = s->thread, .tx = t->tx, .at = t->count };
	switch (s->op) {
	case IROOT_OP_READ: case IROOT_OP_WRITE: access_memory(l, s); break;
	case IROOT_OP_FRESH: cells_forget(&l->cells, s->addr, s->size, clear); break;
	case IROOT_OP_RELEASE: tx_members_release(&t->members, s->addr, blocks); break;
	case IROOT_OP_ACQUIRE: case IROOT_OP_ACQUIRE_SHARED: take_lock(l, t, s); break;
	case IROOT_OP_WAIT: case IROOT_OP_BARRIER_LEAVE:
		follow_all(l, sync_of(l, &l->sync_at, s->addr), s->thread);
		break;
	case IROOT_OP_SIGNAL: case IROOT_OP_BARRIER_ENTER:
		set_point(sync_of(l, &l->sync_at, s->addr), &point);
		break;
	case IROOT_OP_CREATE: set_point(sync_of(l, &l->created, s->addr), &point); break;
	case IROOT_OP_JOIN:
		if (s->addr < l->thread_count && l->threads[s->addr].seen) {
			struct thread *joined = &l->threads[s->addr];

			point = (struct tx_point){ .thread = (uint32_t)s->addr,
						      .tx = joined->tx,
						      .at = joined->count };
			follow(l, &point, s->thread, 0);
			/* The thread has ended, even if the trace does not have its end. */
			keep_members(l, joined);
			tx_graph_end(&l->graph, joined->tx);
		}
		break;
	}
}

void lifetx_enter(struct lifetx *l, uint32_t thread, uint32_t function, uint64_t caller)
{
	struct thread *t = thread_of(l, thread);
	uint64_t path = path_of(t, caller);

	t->count++;
	if (lifetx_cuts(l, function) & LIFETX_ENTRY)
		split(l, t);
	t->frames = xgrow(t->frames, t->depth, &t->frame_capacity, sizeof(*t->frames));
	t->frames[t->depth++] = (struct frame){ function, t->count, path };
}

void lifetx_exit(struct lifetx *l, uint32_t thread)
{
	struct thread *t = thread_of(l, thread);
	uint32_t function;

	t->count++;
	if (!t->depth)
		return;
	function = t->frames[--t->depth].function;
	t->exits = xreach(t->exits, t->depth, &t->exit_count, sizeof(*t->exits));
	t->exits[t->depth] = (struct frame){ .function = function, .entered = t->count };
	if (t->depth < t->lowest)
		t->lowest = t->depth;
	if (lifetx_cuts(l, function) & LIFETX_EXIT)
		split(l, t);
}

void lifetx_unwind(struct lifetx *l, uint32_t thread, size_t depth)
{
	while (thread_of(l, thread)->depth > depth)
		lifetx_exit(l, thread);
}

void lifetx_forget(struct lifetx *l, uint64_t addr, uint64_t size)
{
	cells_forget(&l->cells, addr, size, clear);
}

void lifetx_finish(struct lifetx *l)
{
	for (size_t i = 0; i < l->thread_count; i++)
		if (l->threads[i].seen)
			keep_members(l, &l->threads[i]);
}
