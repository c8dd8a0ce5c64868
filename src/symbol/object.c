#include "symbol/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "symbol/blocks.h"
#include "trace/read/kinds.h"

/* A place in the source that allocates. Several pcs may be on its line. */
struct alloc_place {
	const char *function, *file;
	unsigned line;
	uint64_t pc;		/* the first seen */
	uint32_t count;		/* allocations so far */
};

struct objects {
	const struct reader *reader;
	struct symbols *symbols;
	struct blocks heap, mappings, stacks;
	struct alloc_place *places;
	size_t place_count, place_capacity;
	struct map place_of_pc;		/* pc to index in `places` */
	struct strmap place_of_line;	/* "FILE:LINE" to index in `places` */
	struct map thread_counts;	/* thread and place to number of allocations */
	struct buf scratch;
};

struct objects *objects_new(const struct reader *r, struct symbols *s)
{
	struct objects *o = xcalloc(1, sizeof(*o));

	o->reader = r;
	o->symbols = s;
	return o;
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	blocks_free(&o->heap);
	blocks_free(&o->mappings);
	blocks_free(&o->stacks);
	map_free(&o->place_of_pc);
	strmap_free(&o->place_of_line);
	map_free(&o->thread_counts);
	buf_free(&o->scratch);
	free(o->places);
	free(o);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t add_place(struct objects *o, uint64_t pc)
{
	struct symbol_frame frame = { .function = "??" };
	struct alloc_place *place;
	uint64_t *index;
	bool added;

	if (o->symbols)
		symbols_frames(o->symbols, pc, &frame, 1);
	if (frame.file) {
		buf_clear(&o->scratch);
		buf_addf(&o->scratch, "%s:%u", frame.file, frame.line);
		index = strmap_put(&o->place_of_line, (const char *)o->scratch.data,
				   o->scratch.size, &added);
		if (!added)
			return (uint32_t)*index;
		*index = o->place_count;
	}
	o->places = xgrow(o->places, o->place_count, &o->place_capacity, sizeof(*o->places));
	place = &o->places[o->place_count];
	*place = (struct alloc_place){
		.function = frame.function,
		.file = frame.file,
		.line = frame.line,
		.pc = pc,
	};
	return (uint32_t)o->place_count++;
}

static uint32_t place_of(struct objects *o, uint64_t pc)
{
	bool added;
	uint64_t *index = map_put(&o->place_of_pc, pc, &added);

	if (added)
		*index = add_place(o, pc);
	return (uint32_t)*index;
}

static void allocate(struct objects *o, struct blocks *blocks, const struct event *ev)
{
	uint32_t place = place_of(o, ev->pc);
	uint64_t *by_thread = map_put(&o->thread_counts, (uint64_t)ev->thread << 32 | place, NULL);
	/* malloc(0) returns an address, too. */
	uint64_t size = ev->arg ? ev->arg : 1;
	struct block *block;

	if (ev->addr == 0 || ev->addr + size < ev->addr)
		return;
	block = blocks_insert(blocks, ev->addr, ev->addr + size);
	block->size = ev->arg;
	block->place = place;
	block->order = ++o->places[place].count;
	block->thread = ev->thread;
	block->thread_order = (uint32_t)++*by_thread;
}

static void start_thread(struct objects *o, const struct event *ev)
{
	if (ev->extra[0] < ev->extra[1])
		blocks_insert(&o->stacks, ev->extra[0], ev->extra[1])->thread = ev->thread;
}

/* Marks the stack of a thread as gone unless another thread has reused its memory. */
static void end_thread(struct objects *o, const struct event *ev)
{
	const struct reader_thread *t = reader_thread(o->reader, ev->thread);
	struct block *stack = t ? blocks_find(&o->stacks, t->stack_low) : NULL;

	if (stack && stack->thread == ev->thread)
		stack->gone = true;
}

static void release(struct objects *o, const struct event *ev)
{
	struct block *block = blocks_find(&o->heap, ev->addr);

	if (block && block->start == ev->addr)
		block->gone = true;
}

static const char *thread_name(const struct objects *o, uint32_t id)
{
	const struct reader_thread *t = reader_thread(o->reader, id);

	return t ? t->name : "?";
}

static void describe_block(struct objects *o, const struct block *block, struct object *out)
{
	const struct alloc_place *place = &o->places[block->place];

	out->offset = out->addr - block->start;
	out->size = block->size;
	out->function = place->function;
	out->file = place->file;
	out->line = place->line;
	out->site = place->pc;
	out->order = block->order;
	out->thread_order = block->thread_order;
	out->thread = block->thread;
	out->thread_name = thread_name(o, block->thread);
	out->gone = block->gone;
}

static bool find_stack(struct objects *o, uint64_t addr, struct object *out)
{
	const struct block *stack = blocks_find(&o->stacks, addr);

	if (!stack)
		return false;
	out->kind = OBJECT_STACK;
	out->offset = addr - stack->start;
	out->size = stack->size;
	out->thread = stack->thread;
	out->thread_name = thread_name(o, stack->thread);
	out->gone = stack->gone;
	return true;
}

static bool find_global(struct objects *o, uint64_t addr, uint64_t size, struct object *out)
{
	struct symbol_variable variable;
	struct symbol_part part;

	if (!o->symbols || !symbols_variable(o->symbols, addr, &variable))
		return false;
	out->kind = OBJECT_GLOBAL;
	out->name = variable.name;
	out->offset = variable.offset;
	out->size = variable.size;
	out->file = variable.file;
	out->line = variable.line;
	if (symbols_part(o->symbols, addr, size, &part)) {
		out->part = part.path;
		out->part_offset = part.offset;
		out->type = part.type;
	}
	return true;
}

static void find_object(struct objects *o, uint64_t addr, uint64_t size, struct object *out)
{
	const struct block *block;

	*out = (struct object){ .kind = OBJECT_RAW, .addr = addr };
	if (addr == 0 || find_stack(o, addr, out))
		return;
	block = blocks_find(&o->heap, addr);
	if (block) {
		out->kind = OBJECT_HEAP;
		describe_block(o, block, out);
	} else if (!find_global(o, addr, size, out) &&
		   (block = blocks_find(&o->mappings, addr)) != NULL) {
		out->kind = OBJECT_MAPPING;
		describe_block(o, block, out);
	}
}

void objects_at(struct objects *o, uint64_t addr, struct object *out)
{
	find_object(o, addr, 0, out);
}

void object_whole(struct object *object)
{
	object->offset = object->part_offset = 0;
	object->part = NULL;
	object->type = NULL;
}

static bool has_address(const struct event *ev)
{
	switch (kind_class(ev->kind)) {
	case TRACE_CLASS_NONE:
		return (ev->kind == TRACE_BLOCKED || ev->kind == TRACE_VALUE) && ev->addr != 0;
	case TRACE_CLASS_FUNC:
	case TRACE_CLASS_THREAD:
	case TRACE_CLASS_PROCESS:
		return false;
	case TRACE_CLASS_SYSTEM:
		return ev->kind == TRACE_FUTEX_WAIT || ev->kind == TRACE_FUTEX_WAKE ||
		       ev->kind == TRACE_FUTEX_REQUEUE;
	default:
		return ev->kind != TRACE_FENCE && ev->addr != 0;
	}
}

bool objects_step(struct objects *o, const struct event *ev, struct object *out)
{
	bool has_addr = has_address(ev);

	if (ev->kind == TRACE_MALLOC)
		allocate(o, &o->heap, ev);
	else if (ev->kind == TRACE_MMAP && ev->result == 0)
		allocate(o, &o->mappings, ev);
	else if (ev->kind == TRACE_THREAD_START)
		start_thread(o, ev);
	if (has_addr && out)
		find_object(o, ev->addr, ev->size, out);
	if (ev->kind == TRACE_FREE)
		release(o, ev);
	else if (ev->kind == TRACE_MUNMAP && ev->result == 0 && ev->addr + ev->arg > ev->addr)
		blocks_remove(&o->mappings, ev->addr, ev->addr + ev->arg);
	else if (ev->kind == TRACE_THREAD_EXIT)
		end_thread(o, ev);
	return has_addr;
}

const char *object_kind_name(enum object_kind kind)
{
	static const char *const name[] = { "raw", "global", "heap", "mapping", "stack" };

	return name[kind];
}

void object_describe(const struct object *object, struct buf *out)
{
	uint64_t offset = object->part ? object->part_offset : object->offset;

	if (object->gone)
		buf_add_text(out, object->kind == OBJECT_STACK ? "ended " : "freed ");
	switch (object->kind) {
	case OBJECT_RAW:
		buf_add_hex(out, object->addr);
		return;
	case OBJECT_STACK:
		buf_add_text(out, "stack of ");
		buf_add_text(out, object->thread_name);
		return;
	case OBJECT_GLOBAL:
		buf_add_text(out, object->name);
		if (object->part)
			buf_add_text(out, object->part);
		break;
	case OBJECT_HEAP:
	case OBJECT_MAPPING:
		buf_add_text(out, object->kind == OBJECT_HEAP ? "heap@" : "mmap@");
		if (object->file) {
			buf_add_text(out, base_name(object->file));
			buf_add_char(out, ':');
			buf_add_dec(out, object->line);
		} else if (strcmp(object->function, "??") != 0) {
			buf_add_text(out, object->function);
		} else {
			buf_add_hex(out, object->site);
		}
		buf_add_char(out, '#');
		buf_add_dec(out, object->order);
		break;
	}
	if (offset != 0) {
		buf_add_char(out, '+');
		buf_add_dec(out, offset);
	}
}
