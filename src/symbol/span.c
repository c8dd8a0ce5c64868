#include "symbol/span.h"

#include <stdlib.h>

#include "base/mem.h"

void spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t id)
{
	if (low >= high)
		return;
	s->items = xgrow(s->items, s->count, &s->capacity, sizeof(*s->items));
	s->items[s->count++] = (struct span){ .low = low, .high = high, .id = id };
}

static int compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

void spans_sort(struct spans *s)
{
	uint64_t reach = 0;

	if (s->count > 0)
		qsort(s->items, s->count, sizeof(*s->items), compare);
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].high > reach)
			reach = s->items[i].high;
		s->items[i].reach = reach;
	}
}

uint32_t spans_find(const struct spans *s, uint64_t addr)
{
	size_t first = 0, last = s->count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (s->items[middle].low <= addr)
			first = middle + 1;
		else
			last = middle;
	}
	while (first > 0 && s->items[first - 1].reach > addr) {
		if (s->items[first - 1].high > addr)
			return s->items[first - 1].id;
		first--;
	}
	return SPAN_NONE;
}

void spans_free(struct spans *s)
{
	free(s->items);
	*s = (struct spans){ 0 };
}
