/*
 * Between the parts of bunch_transform: a bunch is found (bunch.c), maybe as a span (bunch_span.c), and written
 * (bunch_write.c).
 *
 * A span is a bunch with other hooks between its members. These cannot be told with it, so it takes a list of sites that has
 * switched all of them off: they are silent. Its hooks stay where they are, with bunches of their own; before the first there
 * is a nop, of which the runtime makes a jump to the check and the copy without hooks, which are behind the last.
 */
#ifndef WRAP_BUNCH_INTERNAL_H
#define WRAP_BUNCH_INTERNAL_H

#include "base/buf.h"
#include "wrap/hook.h"
#include "wrap/linear.h"

#define BUNCH_ACCESSES 15
#define BUNCH_GRANULES 4	/* what one load of the shadow shows */
#define BUNCH_BLOCK 48		/* hooks that are looked at together */
#define BUNCH_SPANS 6		/* of these, at most */
#define BUNCH_SILENT 12		/* hooks of others in a span */

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

/* A hook of straight-line code. */
struct bunch_hook {
	struct bunch_member member;
	struct linear at;		/* its address */
	bool suits;			/* may be in a bunch */
	bool alone;			/* nor is anything told over it */
	bool first, last;		/* of a row, which may have but this one */
	char label[32];			/* behind it, unless it has its own */
};

struct bunch_block {
	unsigned count;
	struct bunch_hook hook[BUNCH_BLOCK];
};

struct bunch_span {
	unsigned first, last;		/* of the block */
	unsigned silent;
	bool member[BUNCH_BLOCK];
	struct bunch_row row;		/* the members */
	size_t number;
};

/* How many granules the bunch lies in at most. */
unsigned bunch_granules(const struct bunch_row *b);

/* Takes a hook into the row that `first` began; false: it does not belong there. */
bool bunch_join(struct bunch_row *b, const struct bunch_hook *first, const struct bunch_hook *hook);

/* The spans of a block whose rows are known, by their first hooks; returns how many. */
unsigned bunch_find_spans(const struct bunch_block *block, struct bunch_span spans[BUNCH_SPANS]);

/* Writes what takes the place of the lines from the first hook to `end`. */
void bunch_write(const struct asmtext *t, const struct bunch_row *b, bool pic, size_t number, struct buf *out);

/* Before the first hook of a span, and behind the last one of a row of them that overlap; the last span ends there. */
void bunch_write_gate(const struct bunch_span *s, struct buf *out);
void bunch_write_spans(const struct asmtext *t, const struct bunch_block *block, const struct bunch_span *spans, unsigned count,
		       bool pic, struct buf *out);

/* Once behind all: hands the module's descriptors to the runtime. */
void bunch_write_constructor(struct buf *out);

#endif
