/*
 * What an address is at a moment of the run: a variable, a heap block, a
 * thread's stack.
 *
 * A fold over the events of a trace, from the first one on: blocks come and go
 * with malloc and free, stacks with threads. Memory given back keeps its name
 * until it is used for something else, marked `gone`.
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
	OBJECT_MAPPING,		/* by mmap */
	OBJECT_STACK,
};

struct object {
	enum object_kind kind;
	uint64_t addr;
	uint64_t offset, size;	/* into and of the whole */
	const char *name;	/* global: the variable's; else NULL */
	const char *part;	/* global: ".head", "[3].len"; NULL: not known, `offset` says it */
	uint64_t rest;		/* … of the address into that part */
	const struct symbol_type *type;	/* of the part; NULL: unknown */
	const char *function;	/* heap, mapping: that allocated it; may be "??" */
	const char *file;	/* where declared or allocated; NULL if unknown */
	unsigned line;
	uint64_t site;		/* heap, mapping: pc of the allocation */
	uint32_t order;		/* heap, mapping: n-th from that place in the run, from 1 */
	uint32_t thread_order;	/* n-th from that place by that thread: the same in every run */
	uint32_t thread;	/* heap, mapping: that allocated it; stack: whose it is */
	const char *thread_name;
	bool gone;		/* freed, unmapped, thread ended */
};

struct objects;

/* Both outlive it. `s` may be NULL: sites are then shown as numbers. */
struct objects *objects_new(const struct reader *r, struct symbols *s);
void objects_free(struct objects *o);

/*
 * The next event; says what its address is: for malloc the new block, for free
 * the one that goes. False if the kind has no address in memory. `out` may be NULL: nobody asks.
 */
bool objects_step(struct objects *o, const struct event *ev, struct object *out);

/* What any address is after the events so far. Strings live as long as `o` and `s`. */
void objects_at(struct objects *o, uint64_t addr, struct object *out);

/* "global", "heap", "mapping", "stack", "raw". */
const char *object_kind_name(enum object_kind kind);

/* Makes it the variable, block or stack itself. */
void object_whole(struct object *object);

/* Short form: `balance`, `queue.head`, `slots[3].len`, `buffer+8`, `heap@q.c:31#2+8`, `stack of 0.1`, `0x7f12…`. */
void object_describe(const struct object *object, struct buf *out);

#endif
