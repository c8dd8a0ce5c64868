/*
 * Between the two halves of bunch_transform: a bunch is found (bunch.c), and written
 * (bunch_write.c).
 */
#ifndef WRAP_BUNCH_INTERNAL_H
#define WRAP_BUNCH_INTERNAL_H

#include "base/buf.h"
#include "wrap/hook.h"

#define BUNCH_ACCESSES 15
#define BUNCH_GRANULES 4	/* what one load of the shadow shows */

struct bunch_member {
	uint32_t line;			/* of the hook */
	struct asmtext_word site;	/* its label; empty: one has to be put behind the line */
	unsigned op, size;
	bool wide;			/* as in hook.h */
	int distance;			/* from the first one's address */
};

/* A bunch if it has two members or more. */
struct bunch_row {
	unsigned count;
	struct bunch_member member[BUNCH_ACCESSES];
	uint32_t end;			/* the line behind the last hook and its label */
};

/* How many granules the bunch lies in at most. */
unsigned bunch_granules(const struct bunch_row *b);

/* Writes what takes the place of the lines from the first hook to `end`. */
void bunch_write(const struct asmtext *t, const struct bunch_row *b, bool pic, size_t number, struct buf *out);

/* Once behind all: hands the module's descriptors to the runtime. */
void bunch_write_constructor(struct buf *out);

#endif
