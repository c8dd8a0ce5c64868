/*
 * Finding the spans of a block. Which sites a list leaves out is not known here, so what others have between two members
 * may be silent; only what is of the same memory surely is not.
 */
#include "wrap/bunch_internal.h"

/* Whether the hooks are of one structure, if not so close that they are one bunch. */
static bool is_near(const struct bunch_hook *a, const struct bunch_hook *b)
{
	int64_t distance;

	return a->at.known && b->at.known && linear_distance(&a->at, &b->at, &distance);
}

/* Rows stay what they are, so a span ends with one. */
static void cut(const struct bunch_block *block, struct bunch_span *s)
{
	while (s->row.count > 0 && !(s->member[s->last] && block->hook[s->last].last)) {
		if (s->member[s->last])
			s->row.count--;
		s->member[s->last--] = false;
	}
	s->silent = s->row.count ? s->last - s->first + 1 - s->row.count : 0;
}

/* False: there is none that is more than a row. */
static bool find_span(const struct bunch_block *block, unsigned first, struct bunch_span *s)
{
	const struct bunch_hook *start = &block->hook[first];
	unsigned others = 0;

	*s = (struct bunch_span){ .first = first, .last = first, .row = { .count = 1, .member = { start->member } } };
	s->member[first] = true;
	for (unsigned i = first + 1; i < block->count; i++) {
		const struct bunch_hook *hook = &block->hook[i];

		s->member[i] = bunch_join(&s->row, start, hook);
		if (!s->member[i] && (hook->alone || is_near(start, hook) || ++others > BUNCH_SILENT))
			break;
		s->last = i;
	}
	cut(block, s);
	return s->row.count > 1 && s->silent > 0;
}

unsigned bunch_find_spans(const struct bunch_block *block, struct bunch_span spans[BUNCH_SPANS])
{
	bool taken[BUNCH_BLOCK] = { false };
	unsigned count = 0;

	for (unsigned i = 0; i < block->count && count < BUNCH_SPANS; i++) {
		struct bunch_span *s = &spans[count];

		if (taken[i] || !block->hook[i].first || !block->hook[i].suits || !find_span(block, i, s))
			continue;
		for (unsigned k = s->first; k <= s->last; k++)
			taken[k] = taken[k] || s->member[k];
		count++;
	}
	return count;
}
