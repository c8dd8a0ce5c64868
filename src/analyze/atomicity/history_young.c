#include "analyze/atomicity/history_inline.h"

#define NUMBERS (1u << 24)
#define STEPS (1u << 16)

/* A write and then a read would need room for the older write. */
static bool fits(const struct history_cell *c, const struct moment *now, unsigned access)
{
	const struct moment *p = &c->last;

	return c->rep_count == 1 && !c->pair_count && !c->older && is_noted(c) &&
	       ((access & ACCESS_WRITE) || !(c->how & ACCESS_WRITE)) &&
	       p->situation == now->situation && p->stack == now->stack &&
	       p->addr == now->addr && p->size == now->size && history_is_even(c, now) &&
	       now->index - p->index < STEPS && now->time - p->time < NUMBERS;
}

bool history_young(struct history *h, struct history_cell *c, const struct history_like *like,
		   const struct history_what *what)
{
	const struct moment *now = like->i;
	uint64_t steps = now->index - c->last.index, time = now->time - c->last.time;
	uint32_t shape;

	if (!fits(c, now, what->access))
		return false;
	shape = history_shape(h, like);
	if (shape >= NUMBERS)
		return false;
	if (now->tag != c->last.tag) {
		history_kinds_note(h, c, now->tag);
		c->rep_count = 2;
	}
	history_paired(h, c, shape, what->access & c->how);
	c->pair_count = 1;
	c->young = 1;
	c->pairs = shape & (NUMBERS - 1);
	c->reps = time & (NUMBERS - 1);
	c->rep_hint = (uint8_t)steps;
	c->pair_hint = (uint8_t)(steps >> 8);
	history_settle(h, c, now, what, true);
	return true;
}
