/*
 * A loop of several blocks, written twice as others are (loops.h).
 */
#ifndef WRAP_LOOPS_REGION_H
#define WRAP_LOOPS_REGION_H

#include "wrap/loops_internal.h"

/* The text, and what is known of its symbols. */
struct loops_text {
	const struct asmtext *t;
	const bool *named;		/* code or data that is loaded refers to it, … */
	const uint32_t *references;	/* … so often */
};

struct loops_region {
	uint32_t first, last;		/* lines */
	uint32_t header;		/* the line of the label by which it is entered */
	uint32_t out;			/* symbol that the one way out leads to; 0: behind the last line */
	uint32_t out_line;		/* … and the jump */
	bool follow_stack;
	struct loops_loop loop;
	struct linear_turn end;		/* of a turn */
};

/* False: the lines are no such loop. The last one is a jump to the first one, a label. */
bool loops_region_find(struct loops_region *r, const struct loops_text *x, uint32_t first, uint32_t last, bool follow_stack);

/*
 * What comes before the loop with hooks, and behind it. In between are the lines, as loops_region_line writes them where
 * no inner loop is there twice.
 */
void loops_region_begin(const struct loops_region *r, const struct asmtext *t, bool pic, size_t number, struct buf *out);
void loops_region_line(const struct loops_region *r, const struct asmtext *t, uint32_t line, size_t number, struct buf *out);
void loops_region_end(const struct loops_region *r, const struct asmtext *t, size_t number, struct buf *out);

#endif
