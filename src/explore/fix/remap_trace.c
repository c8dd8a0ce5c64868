/*
 * Reads a trace for remap: adds to each event its names and the locks that its thread holds.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/hash.h"
#include "base/mem.h"
#include "explore/fix/remap.h"
#include "symbol/object.h"
#include "trace/read/reader.h"

struct thread {
	uint64_t index;		/* number of its events so far */
	struct remap_lock *held;	/* locks that it holds, in the order taken */
	size_t held_count, held_capacity;
};

struct reading {
	struct reader *reader;
	struct places *places;
	struct objects *objects;
	struct thread *threads;	/* indexed by thread id */
	size_t thread_count;
	struct map visits;	/* (thread, pc) to number of visits */
	struct map frames;	/* pc to index in `frame`, plus 1 */
	struct symbol_frame *frame;
	size_t frame_count, frame_capacity;
	struct map names;	/* (pc, address) to index in `name`, plus 1 */
	char **name;
	size_t name_count, name_capacity;
};

static struct thread *thread_of(struct reading *rd, uint32_t id)
{
	size_t count = rd->thread_count;

	if (id >= count) {
		rd->thread_count = id + 1 > 2 * count ? id + 1 : 2 * count;
		rd->threads = xrealloc(rd->threads, rd->thread_count * sizeof(*rd->threads));
		memset(rd->threads + count, 0, (rd->thread_count - count) * sizeof(*rd->threads));
	}
	return &rd->threads[id];
}

static const struct symbol_frame *frame_of(struct reading *rd, uint64_t pc)
{
	bool added;
	uint64_t *at = map_put(&rd->frames, pc, &added);

	if (added) {
		rd->frame =
			xgrow(rd->frame, rd->frame_count, &rd->frame_capacity, sizeof(*rd->frame));
		places_frame(rd->places, pc, &rd->frame[rd->frame_count++]);
		*at = rd->frame_count;
	}
	return &rd->frame[*at - 1];
}

/* The name of the object that `pc` accessed when it first accessed this address. */
static const char *name_of(struct reading *rd, const struct event *ev, const struct object *object)
{
	bool added;
	uint64_t *at = map_put(&rd->names, hash_add(hash_spread(ev->pc), ev->addr), &added);

	if (added) {
		struct buf text = { 0 };

		object_describe(object, &text);
		rd->name = xgrow(rd->name, rd->name_count, &rd->name_capacity, sizeof(*rd->name));
		rd->name[rd->name_count++] = xstrdup(buf_string(&text));
		*at = rd->name_count;
		buf_free(&text);
	}
	return rd->name[*at - 1];
}

static void release(struct thread *t, uint64_t lock)
{
	for (size_t i = t->held_count; i-- > 0;)
		if (t->held[i].addr == lock) {
			memmove(t->held + i, t->held + i + 1,
				(t->held_count - i - 1) * sizeof(*t->held));
			t->held_count--;
			return;
		}
}

static void acquire(struct thread *t, const struct remap_observed *seen, uint64_t lock)
{
	t->held = xgrow(t->held, t->held_count, &t->held_capacity, sizeof(*t->held));
	t->held[t->held_count++] = (struct remap_lock){ .pc = seen->pc,
							.nth = seen->nth,
							.index = seen->index,
							.addr = lock,
							.kind = seen->kind,
							.object = seen->object };
}

static void follow_locks(struct thread *t, const struct event *ev,
			 const struct remap_observed *seen)
{
	unsigned roles = trace_roles(ev->kind);
	uint64_t lock = trace_lock(ev->kind, ev->addr, ev->arg);

	if (roles & ROLE_WAIT_BEGIN || (roles & ROLE_RELEASE && !ev->result))
		release(t, lock);
	else if (roles & ROLE_WAIT_END || (roles & ROLE_ACQUIRE && !ev->result))
		acquire(t, seen, lock);
}

static void step(struct reading *rd, struct remap *const *r, size_t count, const struct event *ev)
{
	const struct reader_thread *thread = reader_thread(rd->reader, ev->thread);
	struct thread *t = thread_of(rd, ev->thread);
	struct remap_observed seen = {
		.thread = thread ? thread->name : "?", .id = ev->thread, .kind = ev->kind,
		.index = t->index++, .pc = ev->pc, .addr = ev->addr,
		.nth = ++*map_put(&rd->visits, hash_add(hash_spread(ev->pc), ev->thread), NULL),
	};
	bool wanted = trace_roles(ev->kind) & (ROLE_ACQUIRE | ROLE_WAIT_END);
	const struct symbol_frame *frame;
	struct object object;
	bool has = objects_step(rd->objects, ev, &object);

	for (size_t i = 0; i < count && !wanted; i++)
		wanted = remap_wants_kind(r[i], ev->kind);
	/* One event of any other kind per thread and pc shows that the function was run. */
	if (!wanted && seen.nth > 1) {
		follow_locks(t, ev, &seen);
		return;
	}
	if (!has)
		objects_at(rd->objects, ev->addr, &object);
	frame = frame_of(rd, ev->pc);
	seen.function = frame->function;
	seen.file = frame->file;
	seen.line = frame->line;
	seen.object = name_of(rd, ev, &object);
	seen.locks = t->held;
	seen.lock_count = t->held_count;
	for (size_t i = 0; i < count && ev->pc; i++)
		remap_observe(r[i], &seen);
	follow_locks(t, ev, &seen);
}

static void close_all(struct reading *rd)
{
	for (size_t i = 0; i < rd->thread_count; i++)
		free(rd->threads[i].held);
	for (size_t i = 0; i < rd->name_count; i++)
		free(rd->name[i]);
	free(rd->threads);
	free(rd->frame);
	free(rd->name);
	map_free(&rd->visits);
	map_free(&rd->frames);
	map_free(&rd->names);
	objects_free(rd->objects);
	reader_close(rd->reader);
}

int remap_read(struct remap *const *r, size_t count, const char *path, struct places *places,
	       struct err *err)
{
	struct reading rd = { .places = places, .reader = reader_open(path, err) };
	const struct reader_info *info;
	struct event ev;
	int got;

	if (!rd.reader)
		return -1;
	reader_leave_out_values(rd.reader);
	info = reader_info(rd.reader);
	for (size_t i = 0; i < info->module_count; i++)
		places_add_module(places, info->modules[i].path, info->modules[i].base);
	rd.objects = objects_new(rd.reader, places->symbols);
	while ((got = reader_next(rd.reader, &ev, err)) > 0)
		step(&rd, r, count, &ev);
	for (size_t i = 0; i < count && got == 0; i++)
		remap_end_trace(r[i]);
	close_all(&rd);
	return got;
}
