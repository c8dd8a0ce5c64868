#include "analyze/doubt_trace.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/access.h"
#include "base/hash.h"
#include "base/mem.h"

#define FORGET_MAX 65536u	/* bytes; a larger new block drops what is known of all memory */
#define RANGE_MAX 64u		/* granules of one access that are followed */
#define POINTER 8u		/* bytes */
#define BLOCKS_SEARCHED 65536u	/* bounds the work of one look-up */

/*
 * The last write to 8 aligned bytes. Sets of threads have bits by id % 64.
 *
 * A flag is a write by a thread that had not read the bytes before, in the same critical section
 * or since its own last write. A thread that reads a flag comes after the first write that it could
 * have read instead: the first of a row of flags that no thread has read.
 */
struct doubt_write {
	uint64_t index;
	uint64_t first;		/* the first of the row of flags, if `flag` */
	uint64_t readers;	/* threads that read it since they wrote it */
	uint64_t reached;	/* threads that read it since it was written */
	uint64_t behind;	/* threads that have not read an earlier row */
	uint64_t writers;	/* threads that ever wrote it; 1 << id, for ids below 64 */
	uint64_t read_index;	/* the last read by `reader` */
	uint32_t reader;
	size_t held[2];		/* outermost and innermost section of the writer, plus 1; 0: none */
	uint32_t thread;	/* 0: unknown */
	bool pointer;		/* it covers all 8 bytes */
	bool flag;
};

static uint64_t event_key(uint32_t thread, uint64_t index)
{
	return (uint64_t)thread << 44 | index;
}

static void want(struct doubt_trace *t, const struct candidate_event *e)
{
	bool added;
	uint64_t *number = map_put(&t->wanted_at, event_key(e->thread, e->index), &added);

	if (!added)
		return;
	t->wanted = xgrow(t->wanted, t->wanted_count, &t->wanted_capacity, sizeof(*t->wanted));
	t->wanted[t->wanted_count++] = (struct doubt_wanted){ .thread = e->thread,
							      .index = e->index, .addr = e->addr };
	*number = t->wanted_count;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void want_all(struct doubt_trace *t, const struct findings *f)
{
	for (size_t i = 0; i < findings_count(f); i++) {
		const struct candidate *c = findings_at((struct findings *)f, i);

		for (uint8_t e = 0; e < c->events; e++)
			want(t, &c->event[e]);
	}
	t->addrs = xcalloc(t->wanted_count + 1, sizeof(*t->addrs));
	for (size_t i = 0; i < t->wanted_count; i++)
		t->addrs[i] = t->wanted[i].addr;
	if (t->wanted_count)
		qsort(t->addrs, t->wanted_count, sizeof(*t->addrs), by_number);
}

static struct doubt_thread *thread_of(struct doubt_trace *t, uint32_t id)
{
	t->threads = xreach(t->threads, id, &t->thread_count, sizeof(*t->threads));
	return &t->threads[id];
}

static struct doubt_write *write_at(struct doubt_trace *t, uint64_t granule)
{
	uint64_t *number = map_put(&t->granules, granule, NULL);

	if (!*number) {
		t->writes = xgrow(t->writes, t->write_count, &t->write_capacity,
				  sizeof(*t->writes));
		t->writes[t->write_count] = (struct doubt_write){ 0 };
		*number = ++t->write_count;
	}
	return &t->writes[*number - 1];
}

static void add_edge(struct doubt_trace *t, const struct doubt_edge *e)
{
	if (t->edge_count == DOUBT_MAX_EDGES) {
		t->full = true;
		return;
	}
	t->edges = xgrow(t->edges, t->edge_count, &t->edge_capacity, sizeof(*t->edges));
	t->edges[t->edge_count++] = *e;
}

/* The writer's section of a lock that the reader holds as well; NULL: none. */
static const struct doubt_section *common_section(struct doubt_trace *t,
						  const struct doubt_write *w,
						  const struct doubt_thread *reader)
{
	const struct doubt_thread *writer = thread_of(t, w->thread);

	for (unsigned i = 0; i < 2; i++)
		for (size_t k = 0; w->held[i] && k < reader->held_count; k++)
			if (writer->sections[w->held[i] - 1].lock ==
			    reader->sections[reader->held[k]].lock)
				return &writer->sections[w->held[i] - 1];
	return NULL;
}

static void note_read(struct doubt_trace *t, const struct event *ev, uint64_t index,
		      struct doubt_write *w, bool whole)
{
	const struct doubt_section *section;
	uint64_t bit = 1ull << (ev->thread & 63), from = w->index;
	bool certain, behind = w->behind & bit;

	w->readers |= bit;
	w->reader = ev->thread;
	w->read_index = index;
	if (!w->thread || w->thread == ev->thread)
		return;
	w->reached |= bit;
	w->behind &= ~bit;
	section = common_section(t, w, &t->threads[ev->thread]);
	certain = t->total || section;
	/* The reader got the lock when the whole section was over. */
	if (section && section->last != UINT64_MAX)
		from = section->last;
	if (certain && w->flag && !behind)
		vclock_raise(&t->threads[ev->thread].seen, w->thread,
			     (w->first == w->index ? from : w->first) + 1);
	if (!whole || !w->pointer)
		return;
	add_edge(t, &(struct doubt_edge){ w->thread, ev->thread, from, index, certain });
	for (uint32_t id = 1; id < 64 && !certain; id++)
		if (w->writers >> id & 1 && id != w->thread && id != ev->thread)
			add_edge(t, &(struct doubt_edge){ id, ev->thread, 0, index, false });
}

static void note_write(struct doubt_trace *t, const struct event *ev, uint64_t index,
		       struct doubt_write *w, bool whole)
{
	const struct doubt_thread *self = &t->threads[ev->thread];
	uint64_t bit = 1ull << (ev->thread & 63);
	bool reads = access_of(ev->kind) & ACCESS_READ, row = w->flag && w->thread == ev->thread;

	if (self->held_count)
		w->flag = !reads && !(w->readers & bit && (w->reader != ev->thread ||
				      w->read_index >= self->sections[self->held[0]].first));
	else
		w->flag = !(w->readers & bit);
	if (!row || w->reached) {
		w->first = index;
		w->behind = w->thread ? w->behind | ~w->reached : 0;
		w->reached = 0;
	}
	/* As in value_flow.c: an exchange knows the value. */
	if (!reads)
		w->readers &= ~bit;
	w->writers |= ev->thread < 64 ? bit : 1;	/* 1: unknown threads */
	w->thread = ev->thread;
	w->index = index;
	w->pointer = whole;
	w->held[0] = self->held_count ? self->held[0] + 1 : 0;
	w->held[1] = self->held_count ? self->held[self->held_count - 1] + 1 : 0;
}

static void note_access(struct doubt_trace *t, const struct event *ev, uint64_t index)
{
	struct doubt_thread *self = &t->threads[ev->thread];
	unsigned access = access_of(ev->kind);
	uint64_t end = ev->addr + ev->size, first = ev->addr / 8;

	for (uint64_t n = first; n * 8 < end && n < first + RANGE_MAX; n++) {
		struct doubt_write *w = write_at(t, n);
		bool whole = n * 8 >= ev->addr && n * 8 + POINTER <= end;

		if (access & ACCESS_READ)
			note_read(t, ev, index, w, whole);
		if (access & ACCESS_WRITE)
			note_write(t, ev, index, w, whole);
	}
	if (!self->held_count)
		return;
	if (t->access_count >= DOUBT_MAX_ACCESSES) {
		t->full = true;
		return;
	}
	t->access_count++;
	self->accesses = xgrow(self->accesses, self->access_count, &self->access_capacity,
			       sizeof(*self->accesses));
	self->accesses[self->access_count++] = (struct doubt_access){
		index, ev->addr, ev->size, ev->pc, access };
}

static void forget(struct doubt_trace *t, uint64_t addr, uint64_t size)
{
	if (size > FORGET_MAX) {
		map_free(&t->granules);
		t->granules = (struct map){ 0 };
		t->write_count = 0;
		return;
	}
	for (uint64_t n = addr / 8; n * 8 < addr + size; n++) {
		const uint64_t *number = map_find(&t->granules, n);

		if (number)
			t->writes[*number - 1] = (struct doubt_write){ 0 };
	}
}

/* Notes a new block if a wanted event's address is in it. */
static void note_block(struct doubt_trace *t, const struct event *ev, uint64_t index)
{
	size_t low = 0, high = t->wanted_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->addrs[middle] < ev->addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->wanted_count || t->addrs[low] >= ev->addr + ev->arg)
		return;
	t->blocks = xgrow(t->blocks, t->block_count, &t->block_capacity, sizeof(*t->blocks));
	t->blocks[t->block_count++] = (struct doubt_block){
		ev->addr, ev->addr + ev->arg, index, t->position, ev->thread };
}

static void begin_section(struct doubt_thread *self, const struct event *ev, uint64_t lock,
			  uint64_t index)
{
	struct doubt_section s = { .lock = lock, .first = index, .last = UINT64_MAX,
				   .pc = ev->pc };

	if (ev->depth < self->depth)
		s.stack = self->stacks[ev->depth];
	if (trace_roles(ev->kind) & ROLE_WAIT_END)
		for (size_t i = self->section_count; i-- > 0;)
			if (self->sections[i].lock == lock) {
				s.from_wait = self->sections[i].to_wait;
				s.pc = self->sections[i].pc;
				s.stack = self->sections[i].stack;
				break;
			}
	if (self->held_count == ARRAY_SIZE(self->held))
		return;
	if (!self->held_count) {
		self->kept = self->access_count;
		self->is_wanted = false;
	}
	self->sections = xgrow(self->sections, self->section_count, &self->section_capacity,
			       sizeof(*self->sections));
	self->held[self->held_count++] = self->section_count;
	self->sections[self->section_count++] = s;
}

static void end_section(struct doubt_trace *t, struct doubt_thread *self, const struct event *ev,
			uint64_t lock, uint64_t index)
{
	size_t i = self->held_count;

	while (i > 0 && self->sections[self->held[i - 1]].lock != lock)
		i--;
	if (i == 0)
		return;
	self->sections[self->held[i - 1]].last = index;
	if (trace_roles(ev->kind) & ROLE_WAIT_BEGIN) {
		self->sections[self->held[i - 1]].to_wait = true;
		map_put(&t->waits, self->sections[self->held[i - 1]].pc, NULL);
	}
	memmove(&self->held[i - 1], &self->held[i],
		(self->held_count - i) * sizeof(self->held[0]));
	self->held_count--;
	if (!self->held_count && !self->is_wanted) {
		t->access_count -= self->access_count - self->kept;
		self->access_count = self->kept;
	}
}

static void note_thread(struct doubt_trace *t, const struct event *ev, uint64_t index)
{
	uint32_t other = (uint32_t)ev->arg;

	thread_of(t, other);
	if (ev->kind == TRACE_THREAD_CREATE)
		add_edge(t, &(struct doubt_edge){ ev->thread, other, index, 0, true });
	else if (ev->kind == TRACE_THREAD_JOIN)
		add_edge(t, &(struct doubt_edge){ other, ev->thread, t->threads[other].index,
						  index, true });
}

static void note_event(struct doubt_trace *t, const struct event *ev, uint64_t index)
{
	unsigned roles = trace_roles(ev->kind);
	struct doubt_thread *self = &t->threads[ev->thread];
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);

	if (ev->kind == TRACE_FUNC_ENTRY) {
		self->stacks = xreach(self->stacks, ev->depth + 1, &self->depth,
				      sizeof(*self->stacks));
		self->stacks[ev->depth + 1] = hash_add(self->stacks[ev->depth], ev->addr);
	}
	if (roles & (ROLE_ACQUIRE | ROLE_WAIT_END) && trace_acquired(ev->kind, ev->result))
		begin_section(self, ev, lock, index);
	if (roles & (ROLE_RELEASE | ROLE_WAIT_BEGIN))
		end_section(t, self, ev, lock, index);
	if (roles & ROLE_ALLOC && ev->result == 0) {
		forget(t, ev->addr, ev->arg);
		note_block(t, ev, index);
	}
	if (roles & ROLE_THREAD && ev->result == 0 && ev->arg)
		note_thread(t, ev, index);
}

/* Whether the thread wrote the first of the event's bytes since they were allocated. */
static bool has_written(const struct doubt_trace *t, const struct event *ev)
{
	const uint64_t *number = map_find(&t->granules, ev->addr / 8);

	return number && ev->thread < 64 && t->writes[*number - 1].writers >> ev->thread & 1;
}

static void read_event(struct doubt_trace *t, const struct event *ev)
{
	struct doubt_thread *self = thread_of(t, ev->thread);
	uint64_t index = self->index++;
	const uint64_t *number = map_find(&t->wanted_at, event_key(ev->thread, index));

	t->position++;
	if (number) {
		t->wanted[*number - 1].wrote = has_written(t, ev);
		vclock_copy(&t->wanted[*number - 1].seen, &self->seen);
	}
	self->is_wanted |= number != NULL;
	if (access_of(ev->kind) && ev->size)
		note_access(t, ev, index);
	else if (!(trace_roles(ev->kind) & (ROLE_READ | ROLE_WRITE)))
		note_event(t, ev, index);
	if (!number)
		return;
	self = &t->threads[ev->thread];
	self->is_wanted = true;
	t->wanted[*number - 1].position = t->position;
	t->wanted[*number - 1].addr = ev->addr;
}

int doubt_trace_read(struct doubt_trace *t, struct reader *trace, const struct findings *f,
		     struct err *err)
{
	struct event ev;
	int got;

	*t = (struct doubt_trace){ .total = reader_info(trace)->header->flags & TRACE_TOTAL_ORDER };
	want_all(t, f);
	if (reader_rewind(trace, err) < 0)
		return -1;
	while ((got = reader_next(trace, &ev, err)) > 0) {
		if (t->full || t->position == DOUBT_MAX_EVENTS)
			return -1;
		read_event(t, &ev);
	}
	return got;
}

void doubt_trace_free(struct doubt_trace *t)
{
	for (size_t i = 0; i < t->thread_count; i++) {
		free(t->threads[i].sections);
		free(t->threads[i].accesses);
		free(t->threads[i].stacks);
		vclock_free(&t->threads[i].seen);
	}
	for (size_t i = 0; i < t->wanted_count; i++)
		vclock_free(&t->wanted[i].seen);
	free(t->threads);
	free(t->wanted);
	free(t->addrs);
	free(t->edges);
	free(t->blocks);
	free(t->writes);
	map_free(&t->wanted_at);
	map_free(&t->granules);
	map_free(&t->waits);
}

const struct doubt_wanted *doubt_wanted(const struct doubt_trace *t,
					const struct candidate_event *e)
{
	const uint64_t *number = map_find(&t->wanted_at, event_key(e->thread, e->index));

	return number && t->wanted[*number - 1].position ? &t->wanted[*number - 1] : NULL;
}

const struct doubt_section *doubt_section(const struct doubt_trace *t, uint32_t thread,
					  uint64_t lock, uint64_t index)
{
	const struct doubt_thread *self = &t->threads[thread];
	size_t low = 0, high = self->section_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (self->sections[middle].first <= index)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0)
		if (self->sections[low].lock == lock)
			return self->sections[low].last >= index ? &self->sections[low] : NULL;
	return NULL;
}

bool doubt_waits(const struct doubt_trace *t, const struct doubt_section *s)
{
	return map_find(&t->waits, s->pc) != NULL;
}

bool doubt_owns(const struct doubt_trace *t, const struct candidate_event *e)
{
	const uint64_t *number = map_find(&t->granules, e->addr / 8);

	return number && e->thread < 64 && t->writes[*number - 1].writers == 1ull << e->thread;
}

const struct doubt_block *doubt_block(const struct doubt_trace *t, const struct doubt_wanted *w)
{
	size_t low = 0, high = t->block_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->blocks[middle].position < w->position)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned i = 0; i < BLOCKS_SEARCHED && low-- > 0; i++)
		if (t->blocks[low].addr <= w->addr && w->addr < t->blocks[low].end)
			return &t->blocks[low];
	return NULL;
}

const struct doubt_access *doubt_accesses(const struct doubt_trace *t, uint32_t thread,
					  uint64_t from, const struct doubt_access **end)
{
	const struct doubt_thread *self = &t->threads[thread];
	size_t low = 0, high = self->access_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (self->accesses[middle].index < from)
			low = middle + 1;
		else
			high = middle;
	}
	*end = self->accesses + self->access_count;
	return self->accesses + low;
}
