/*
 * Names of the pcs and objects of a trace: from the program's debug information, or from the labels
 * of a trace that was made from text.
 */
#ifndef REPORT_LOOKUP_H
#define REPORT_LOOKUP_H

#include "base/map.h"
#include "report/pool.h"
#include "symbol/object.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

/*
 * A cache of frames by pc. A label FILE:LINE or FUNCTION:FILE:LINE of a text trace makes a frame;
 * any other label of a pc is the name of its function.
 */
struct lookup {
	struct symbols *symbols;
	struct reader *reader;
	struct pool names;	/* texts taken from labels */
	struct map index;	/* pc to index in `frames` */
	struct symbol_frame *frames;
	size_t count, capacity;
};

void lookup_free(struct lookup *l);

/* Returns symbol_own_frame() of a pc. The pointer is valid until the next call. */
const struct symbol_frame *lookup_frame(struct lookup *l, uint64_t pc);

/* Fills in where a block was allocated if the debug information lacks it and a label has it. */
void lookup_origin(struct lookup *l, struct object *object);

/* Appends the name of an object, the same whether it was freed or not. */
void lookup_object(struct lookup *l, const struct object *object, struct buf *out);

#endif
