/*
 * What is at an address at the current position in a trace: a global variable, a heap block, a
 * mapping or a stack.
 *
 * The caller passes all events of a trace in order: blocks appear and disappear with malloc and
 * free, stacks with threads. Freed blocks and the stacks of ended threads keep their description,
 * marked `gone`, until the memory is reused. Unmapped memory has no description.
 */
#ifndef SYMBOL_OBJECT_H
#define SYMBOL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

enum object_kind {
	OBJECT_RAW,		/* nothing is known about it */
	OBJECT_GLOBAL,
	OBJECT_HEAP,
	OBJECT_MAPPING,		/* created by mmap */
	OBJECT_STACK,
};

struct object {
	enum object_kind kind;
	uint64_t addr;
	uint64_t offset;	/* of the address in the variable, block or stack */
	uint64_t size;		/* of the variable, block or stack */
	const char *name;	/* global: the variable's; else NULL */
	const char *part;	/* global: member or element, ".head", "[3].len"; NULL: unknown */
	uint64_t part_offset;	/* of the address in that part */
	const struct symbol_type *type;	/* of that part; NULL: unknown */
	const char *function;	/* heap, mapping: function that allocated it; may be "??" */
	const char *file;	/* where it was declared or allocated; NULL: unknown */
	unsigned line;
	uint64_t site;		/* heap, mapping: pc of the allocation */
	uint32_t order;		/* heap, mapping: number of the allocation at file:line, from 1 */
	uint32_t thread_order;	/* number among those by its thread: the same in every run */
	uint32_t thread;	/* heap, mapping: allocated it; stack: owns it */
	const char *thread_name;
	bool gone;		/* heap: it was freed; stack: its thread has ended */
};

struct objects;

/* The reader and the symbols must outlive the result. If `s` is NULL, names are addresses. */
struct objects *objects_new(const struct reader *r, struct symbols *s);
void objects_free(struct objects *o);

/*
 * Processes the next event. Fills `out`, if not NULL, with the object at its address: for malloc
 * the new block, for free the block before it is freed. Returns false if the event has no address
 * in memory.
 */
bool objects_step(struct objects *o, const struct event *ev, struct object *out);

/*
 * Finds the object at an address after the events so far. Strings are valid as long as `o` and `s`.
 */
void objects_at(struct objects *o, uint64_t addr, struct object *out);

/* Returns "global", "heap", "mapping", "stack" or "raw". */
const char *object_kind_name(enum object_kind kind);

/* Turns a part of a variable, block or stack into the whole. */
void object_whole(struct object *object);

/*
 * Appends the short form: `balance`, `queue.head`, `slots[3].len`, `buffer+8`, `heap@q.c:31#2+8`,
 * `mmap@q.c:40#1`, `stack of 0.1`, `0x7f12a0`. If it is gone, `freed heap@q.c:31#2` or `ended
 * stack of 0.1`.
 */
void object_describe(const struct object *object, struct buf *out);

#endif
