/* Makes single-pair cells. history_expand() (history_cell.c) turns them into cells with units. */
#include "analyze/atomicity/history_inline.h"

#define NUMBERS (1u << 24) /* exclusive limit of shape numbers and time differences */
#define STEPS (1u << 16) /* exclusive limit of index differences */

/*
 * True if the cell can encode `now` as second access. A read after a write does not fit: the cell
 * would have to keep the write, too.
 */
static bool fits(const struct history_cell *c, const struct access_context *now, unsigned access)
{
	const struct access_context *p = &c->last;

	return c->rep_count == 1 && !c->pair_count && !c->older_write && is_noted(c) &&
	       ((access & ACCESS_WRITE) || !(c->last_flags & ACCESS_WRITE)) &&
	       p->sync_state == now->sync_state && p->stack == now->stack && p->addr == now->addr &&
	       p->size == now->size && history_is_exact(c, now) && now->index - p->index < STEPS &&
	       now->time - p->time < NUMBERS;
}

bool history_note_single_pair(struct history *h, struct history_cell *c,
			      const struct history_probe *probe,
			      const struct history_signature *signature)
{
	const struct access_context *now = probe->i;
	uint64_t steps = now->index - c->last.index, time = now->time - c->last.time;
	uint32_t shape;

	if (!fits(c, now, signature->access))
		return false;
	shape = history_shape(h, probe);
	if (shape >= NUMBERS)
		return false;
	if (now->tag != c->last.tag) {
		history_kinds_note(h, c, now->tag);
		c->rep_count = 2;
	}
	history_pair_noted(h, c, shape, signature->access & c->last_flags);
	c->pair_count = 1;
	c->single_pair = 1;
	c->pairs = shape & (NUMBERS - 1);
	c->reps = time & (NUMBERS - 1);
	c->rep_hint = (uint8_t)steps;
	c->pair_hint = (uint8_t)(steps >> 8);
	history_set_last(h, c, now, signature, true);
	return true;
}
