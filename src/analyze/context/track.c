#include "analyze/context/track.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/context/access.h"
#include "base/hash.h"
#include "base/mem.h"

#define PAGE_SHIFT 12
#define SCALAR 16u	/* bytes: the largest object that one instruction accesses */

void track_init(struct track *t, const struct analysis_context *ctx)
{
	*t = (struct track){ .ctx = ctx };
}

static void thread_free(struct track_thread *self)
{
	clocks_free(&self->clocks);
	clocks_free(&self->fenced);
	clocks_free(&self->loaded);
	free(self->acquired);
	free(self->activations);
	free(self->stacks);
	free(self->user_blocks);
	free(self);
}

void track_free(struct track *t)
{
	for (uint32_t i = 0; i < t->thread_count; i++)
		if (t->threads[i])
			thread_free(t->threads[i]);
	free(t->threads);
	for (size_t i = 0; i < t->sync_count; i++) {
		clocks_free(&t->syncs[i].clocks);
		vclock_free(&t->syncs[i].readers);
		if (t->syncs[i].round)
			clocks_free(t->syncs[i].round);
		free(t->syncs[i].round);
	}
	free(t->syncs);
	map_free(&t->sync_at);
	map_free(&t->sync_pages);
	map_free(&t->files);
	map_free(&t->blocks);
	free(t->benign);
}

struct track_thread *track_thread(struct track *t, uint32_t id)
{
	struct track_thread *self;

	if (id >= TRACK_MAX_THREADS)
		return NULL;
	if (id >= t->thread_count) {
		uint32_t count = id + id / 2 + 16;

		t->threads = xrealloc(t->threads, count * sizeof(*t->threads));
		memset(t->threads + t->thread_count, 0,
		       (count - t->thread_count) * sizeof(*t->threads));
		t->thread_count = count;
	}
	self = t->threads[id];
	if (!self) {
		self = t->threads[id] = xcalloc(1, sizeof(*self));
		self->id = id;
		clocks_tick(&self->clocks, id, CLOCK_STRONG);
	}
	return self;
}

struct sync *track_sync_at(struct track *t, uint64_t addr)
{
	uint32_t *recent = &t->sync_recent[hash_spread(addr) >> 32 & (TRACK_RECENT - 1)];
	uint64_t *number, *page;
	bool added;

	if (*recent && t->syncs[*recent - 1].addr == addr)
		return &t->syncs[*recent - 1];
	number = map_put(&t->sync_at, addr, &added);
	if (added) {
		t->syncs = xgrow(t->syncs, t->sync_count, &t->sync_capacity, sizeof(*t->syncs));
		page = map_put(&t->sync_pages, addr >> PAGE_SHIFT, NULL);
		t->syncs[t->sync_count] = (struct sync){ .addr = addr, .next = (uint32_t)*page };
		*page = *number = ++t->sync_count;
	}
	*recent = (uint32_t)*number;
	return &t->syncs[*number - 1];
}

static void sync_clear(struct sync *s)
{
	clocks_clear(&s->clocks);
	s->readers.count = 0;
	if (s->round)
		clocks_clear(s->round);
	s->owner = s->waiting = s->count = 0;
	s->sem = VIEW_SEM_SIGNAL;
}

void track_forget(struct track *t, uint64_t addr, uint64_t size)
{
	uint64_t first = addr >> PAGE_SHIFT, last = (addr + size - 1) >> PAGE_SHIFT;

	if (size == 0)
		return;
	if (last - first > t->sync_count) {
		for (size_t i = 0; i < t->sync_count; i++)
			if (t->syncs[i].addr - addr < size)
				sync_clear(&t->syncs[i]);
		return;
	}
	for (uint64_t page = first; page <= last; page++) {
		const uint64_t *head = map_find(&t->sync_pages, page);

		for (uint32_t i = head ? (uint32_t)*head : 0; i; i = t->syncs[i - 1].next)
			if (t->syncs[i - 1].addr - addr < size)
				sync_clear(&t->syncs[i - 1]);
	}
}

static void benign_add(struct track *t, uint64_t addr, uint64_t size)
{
	size_t i;

	t->benign = xgrow(t->benign, t->benign_count, &t->benign_capacity, sizeof(*t->benign));
	for (i = t->benign_count++; i > 0 && t->benign[i - 1].addr > addr; i--)
		t->benign[i] = t->benign[i - 1];
	t->benign[i] = (struct benign){ addr, addr + size };
}

/* Whether the last benign range that begins at or before the access contains it. */
static bool benign_covers(const struct track *t, const struct event *ev)
{
	size_t low = 0, high = t->benign_count;
	const struct benign *b;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->benign[middle].addr <= ev->addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	b = &t->benign[low - 1];
	if (b->end - b->addr == 1 && ev->addr == b->addr)
		return ev->size <= SCALAR;	/* AnnotateBenignRace() gives no size */
	return ev->addr + ev->size <= b->end;
}

static void benign_forget(struct track *t, uint64_t addr, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->benign_count; i++)
		if (t->benign[i].addr - addr >= size)
			t->benign[kept++] = t->benign[i];
	t->benign_count = kept;
}

/*
 * A clock has a component for every thread so far. If the clocks of joined threads were kept,
 * memory would grow with the square of the number of threads.
 */
void track_retire(struct track_thread *gone)
{
	if (gone->retired)
		return;
	for (unsigned i = 0; i < CLOCKS; i++)
		gone->own[i] = vclock_get(&gone->clocks.at[i], gone->id);
	clocks_empty(&gone->clocks);
	clocks_empty(&gone->fenced);
	clocks_empty(&gone->loaded);
	gone->retired = true;
}

/*
 * A joined thread has a further event: the trace is wrong. The thread's clocks begin again with its
 * own components; those of other threads are lost.
 */
static void revive(struct track_thread *self)
{
	for (unsigned i = 0; i < CLOCKS; i++)
		vclock_raise(&self->clocks.at[i], self->id, self->own[i]);
	self->retired = false;
}

/* Sets view.gone_addr and view.gone_size if the history of some memory ends with this event. */
static void memory_step(struct track *t, const struct event *ev)
{
	const struct reader_thread *thread;
	uint64_t *size;

	switch (ev->kind) {
	case TRACE_MALLOC: case TRACE_MMAP:
		if (ev->result != 0)
			return;
		if (ev->kind == TRACE_MALLOC)
			*map_put(&t->blocks, ev->addr, NULL) = ev->arg;
		t->view.gone_addr = ev->addr;
		t->view.gone_size = ev->arg;
		break;
	case TRACE_FREE:
		size = map_find(&t->blocks, ev->addr);
		if (!size)
			return;
		t->view.gone_addr = ev->addr;
		t->view.gone_size = *size;
		*size = 0;
		break;
	case TRACE_MUNMAP:
		t->view.gone_addr = ev->addr;
		t->view.gone_size = ev->result == 0 ? ev->arg : 0;
		break;
	case TRACE_THREAD_START: case TRACE_THREAD_EXIT:
		thread = reader_thread(t->ctx->reader, ev->thread);
		if (!thread || thread->stack_high <= thread->stack_low)
			return;
		t->view.gone_addr = thread->stack_low;
		t->view.gone_size = thread->stack_high - thread->stack_low;
		break;
	default:
		return;
	}
	if (t->view.gone_size > 0 && t->benign_count > 0)
		benign_forget(t, t->view.gone_addr, t->view.gone_size);
}

static void call_push(struct track *t, struct track_thread *self, const struct event *ev)
{
	uint32_t stack;

	if (self->depth > ev->depth)
		self->depth = ev->depth;
	stack = self->depth ? self->stacks[self->depth - 1] : 0;
	self->activations = xgrow(self->activations, self->depth, &self->depth_capacity,
				  sizeof(*self->activations));
	self->stacks = xgrow(self->stacks, self->depth, &self->stacks_capacity,
			     sizeof(*self->stacks));
	self->stacks[self->depth] = stacks_call(t->ctx->stacks, stack, ev->addr);
	self->activations[self->depth++] = ++t->next_block;
}

static void call_before(struct track *t, struct track_thread *self, const struct event *ev)
{
	switch (ev->kind) {
	case TRACE_BLOCK_BEGIN:
		self->user_blocks = xgrow(self->user_blocks, self->user_count,
					  &self->user_capacity, sizeof(*self->user_blocks));
		self->user_blocks[self->user_count++] = ++t->next_block;
		break;
	case TRACE_IGNORE_BEGIN:
		for (unsigned bit = 0; bit < 3; bit++)
			self->ignoring[bit] += ev->detail >> bit & 1;
		break;
	case TRACE_BENIGN:
		if (ev->arg > 0)
			benign_add(t, ev->addr, ev->arg);
		break;
	}
}

static void call_after(struct track_thread *self, const struct event *ev)
{
	size_t depth = self->depth;

	switch (ev->kind) {
	case TRACE_FUNC_EXIT:
		depth = ev->depth;
		break;
	case TRACE_JUMP:
		depth = ev->arg;
		break;
	case TRACE_BLOCK_END:
		self->user_count -= self->user_count > 0;
		break;
	case TRACE_IGNORE_END:
		for (unsigned bit = 0; bit < 3; bit++)
			if (ev->detail >> bit & 1 && self->ignoring[bit] > 0)
				self->ignoring[bit]--;
		break;
	}
	if (depth < self->depth)
		self->depth = depth;
}

static uint32_t ignored(const struct track_thread *self)
{
	return (self->ignoring[0] > 0) | (self->ignoring[1] > 0) << 1 |
	       (self->ignoring[2] > 0) << 2;
}

static void view_fill_calls(struct view *v, const struct track_thread *self)
{
	v->activations = self->activations;
	v->activation_count = (uint32_t)self->depth;
	v->stack = self->depth ? self->stacks[self->depth - 1] : 0;
	v->block = self->user_count ? self->user_blocks[self->user_count - 1] :
		   self->depth ? self->activations[self->depth - 1] : 0;
}

static void view_fill(struct track *t, struct track_thread *self)
{
	struct view *v = &t->view;

	t->self = self;
	v->thread = self->id;
	v->strong = &self->clocks.at[CLOCK_STRONG];
	v->order = &self->clocks.at[CLOCK_ORDER];
	v->full = &self->clocks.at[CLOCK_FULL];
	v->strong_epoch = vclock_get(v->strong, self->id);
	v->order_epoch = vclock_get(v->order, self->id);
	v->epoch = vclock_get(v->full, self->id);
	v->lockset = self->lockset;
	v->acquired = self->acquired;
	v->user_block = self->user_count ? self->user_blocks[0] : 0;
	view_fill_calls(v, self);
	v->ignore = ignored(self);
}

/* Whether the event changes only the locks held, and the order that they make. */
static bool only_locks(const struct event *ev)
{
	return ev->kind == TRACE_MUTEX_LOCK || ev->kind == TRACE_MUTEX_UNLOCK;
}

/* Updates what a lock event changes; fills the view if it was of another thread. */
static void view_locks(struct track *t, struct track_thread *self)
{
	struct view *v = &t->view;

	if (v->thread != self->id || t->benign_count > 0) {
		view_fill(t, self);
		return;
	}
	v->lockset = self->lockset;
	v->acquired = self->acquired;
	if (!t->no_full)
		v->epoch = vclock_get(v->full, self->id);
}

/* Whether the event changes nothing but the active functions. */
static bool only_calls(const struct event *ev)
{
	return ev->kind == TRACE_FUNC_ENTRY || ev->kind == TRACE_FUNC_EXIT;
}

/* Updates what a call or return changes; fills the view if it was of another thread. */
static void view_calls(struct track *t, struct track_thread *self)
{
	struct view *v = &t->view;

	if (v->thread != self->id || t->benign_count > 0) {
		view_fill(t, self);
		return;
	}
	view_fill_calls(v, self);
}

void track_skip(struct track *t, uint32_t thread, uint64_t count)
{
	track_thread(t, thread)->index += count;
}

const struct view *track_before(struct track *t, const struct event *ev)
{
	struct track_thread *self = ev->thread < t->thread_count ? t->threads[ev->thread] : NULL;

	if (!self && !(self = track_thread(t, ev->thread)))
		return NULL;
	if (self->retired)
		revive(self);
	if (track_is_plain(ev)) {
		if (t->view.thread != ev->thread)
			view_fill(t, self);
		else if (t->benign_count > 0)
			t->view.ignore = ignored(self);
	} else if (only_locks(ev)) {
		track_mutex_before(t, self, ev);
		view_locks(t, self);
	} else if (only_calls(ev)) {
		if (ev->kind == TRACE_FUNC_ENTRY)
			call_push(t, self, ev);
		view_calls(t, self);
	} else {
		memory_step(t, ev);
		call_before(t, self, ev);
		track_acquire(t, self, ev);
		view_fill(t, self);
	}
	if (t->benign_count > 0 && access_of(ev->kind) && benign_covers(t, ev))
		t->view.ignore |= 3;
	t->view.index = self->index++;
	return &t->view;
}

void track_after(struct track *t, const struct event *ev)
{
	struct track_thread *self = t->threads[ev->thread];

	if (track_is_plain(ev))
		return;
	if (only_locks(ev)) {
		track_mutex_after(t, self, ev);
		view_locks(t, self);
		return;
	}
	if (only_calls(ev)) {
		call_after(self, ev);
		view_calls(t, self);
		return;
	}
	track_release(t, self, ev);
	call_after(self, ev);
	self->ended |= ev->kind == TRACE_THREAD_EXIT;
	if (t->view.gone_size > 0)
		track_forget(t, t->view.gone_addr, t->view.gone_size);
	t->view.gone_size = 0;
	t->view.sem = VIEW_SEM_SIGNAL;
	t->view.thread = 0;	/* the view is out of date */
}
