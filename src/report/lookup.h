/*
 * What pcs and memory of a trace are called: by the debug information of its program, or by the labels
 * of a text trace.
 */
#ifndef REPORT_LOOKUP_H
#define REPORT_LOOKUP_H

#include "base/map.h"
#include "report/pool.h"
#include "symbol/object.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

/*
 * Frames of pcs, each looked up once. A label of a text trace that looks like FILE:LINE or
 * FUNCTION:FILE:LINE is such a frame.
 */
struct lookup {
	struct symbols *symbols;
	struct reader *reader;
	struct pool names;	/* of labels */
	struct map index;	/* pc to its place in `frames` */
	struct symbol_frame *frames;
	size_t count, capacity;
};

void lookup_free(struct lookup *l);

/* symbol_own_frame() of a pc; good until the next call. */
const struct symbol_frame *lookup_frame(struct lookup *l, uint64_t pc);

/* Where a block was allocated, if only a label says so. */
void lookup_origin(struct lookup *l, struct object *object);

/* Appends what an object is called, whether it is gone or not. */
void lookup_object(struct lookup *l, const struct object *object, struct buf *out);

#endif
