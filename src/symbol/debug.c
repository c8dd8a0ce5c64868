#include "symbol/debug.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/unit.h"

#define FRAMES_MAX 64	/* depth of nested inlined calls; deeper ones are left out */

const char *debug_keep(struct debug *d, char *text)
{
	d->strings = xgrow(d->strings, d->string_count, &d->string_capacity,
			      sizeof(*d->strings));
	d->strings[d->string_count++] = text;
	return text;
}

static int compare_units(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return ((uintptr_t)x->die.cu > (uintptr_t)y->die.cu) -
	       ((uintptr_t)x->die.cu < (uintptr_t)y->die.cu);
}

struct unit *debug_unit_of(struct debug *d, const Dwarf_Die *die)
{
	struct unit key = { .die = *die };

	if (d->unit_count == 0)
		return NULL;
	return bsearch(&key, d->units, d->unit_count, sizeof(*d->units), compare_units);
}

static void list_units(struct debug *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
		d->units = xgrow(d->units, d->unit_count, &d->unit_capacity,
				    sizeof(*d->units));
		d->units[d->unit_count] = (struct unit){ .die = die, .skeleton = die };
		if (type == DW_UT_skeleton && split.addr)
			d->units[d->unit_count].die = split;
		d->unit_count++;
	}
	if (d->unit_count > 0)
		qsort(d->units, d->unit_count, sizeof(*d->units), compare_units);
}

/* Adds the ranges of a unit's code. Returns false if the unit has none. */
static bool span_unit(struct debug *d, uint32_t index)
{
	Dwarf_Die *die = &d->units[index].skeleton;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	bool said = false;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		said = true;
		if (low >= d->low && high <= d->high)
			spans_add(&d->spans, low, high, index);
	}
	return said;
}

struct debug *debug_open(Dwarf *dwarf, uint64_t low, uint64_t high)
{
	struct debug *d = xcalloc(1, sizeof(*d));

	d->dwarf = dwarf;
	d->low = low;
	d->high = high;
	list_units(d);
	for (size_t i = 0; i < d->unit_count; i++) {
		struct unit *u = &d->units[i];

		if (dwarf_tag(&u->die) != DW_TAG_compile_unit || span_unit(d, (uint32_t)i))
			continue;
		unit_walk(d, u);
		for (size_t k = 0; k < u->spans.count; k++)
			spans_add(&d->spans, u->spans.items[k].low, u->spans.items[k].high,
				  (uint32_t)i);
	}
	spans_sort(&d->spans);
	return d;
}

void debug_close(struct debug *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->unit_count; i++) {
		struct unit *u = &d->units[i];

		for (size_t k = 0; k < u->function_count; k++) {
			free(u->functions[k].calls);
			free(u->functions[k].ranges);
		}
		spans_free(&u->spans);
		free(u->functions);
		free(u->scopes);
		free(u->owners);
		free(u->rows);
		free(u->files);
	}
	for (size_t i = 0; i < d->string_count; i++)
		free(d->strings[i]);
	free(d->strings);
	free(d->units);
	free(d->variables);
	free(d->parts);
	map_free(&d->part_of);
	spans_free(&d->spans);
	spans_free(&d->variable_spans);
	free(d);
}

/* Finds the inlined calls that contain addr, the outermost first, and returns their number. */
static size_t find_calls(const struct unit_function *f, uint64_t addr, uint32_t *out)
{
	uint32_t around = SPAN_NONE;
	size_t n = 0;

	for (size_t i = 0; i < f->range_count && n < FRAMES_MAX; i++) {
		const struct span *r = &f->ranges[i];

		if (addr < r->low || addr >= r->high || f->calls[r->id].parent != around)
			continue;
		around = r->id;
		out[n++] = around;
	}
	return n;
}

static size_t function_frames(struct debug *d, struct unit *u, struct unit_function *f,
			      uint64_t addr, struct symbol_frame at, struct symbol_frame *out,
			      size_t max)
{
	uint32_t calls[FRAMES_MAX];
	size_t n, count = 0;

	unit_expand(d, f);
	n = find_calls(f, addr, calls);
	while (n > 0 && count + 1 < max) {
		struct unit_call *call = &f->calls[calls[--n]];

		if (!call->name)
			call->name = unit_name(d, &call->die);
		at.function = call->name;
		at.begin = unit_begin(d, &call->die);
		at.inlined = true;
		out[count++] = at;
		/* The place of the call is the place in the function that contains the call. */
		at.file = unit_file(d, u, unit_number(&call->die, DW_AT_call_file));
		at.line = (unsigned)unit_number(&call->die, DW_AT_call_line);
		at.column = (unsigned)unit_number(&call->die, DW_AT_call_column);
	}
	while (n-- > 0) {
		/* No room for these calls: the outermost one has the place in the function. */
		struct unit_call *call = &f->calls[calls[n]];

		at.file = unit_file(d, u, unit_number(&call->die, DW_AT_call_file));
		at.line = (unsigned)unit_number(&call->die, DW_AT_call_line);
		at.column = (unsigned)unit_number(&call->die, DW_AT_call_column);
	}
	if (!f->name)
		f->name = unit_name(d, &f->die);
	at.function = f->name;
	at.begin = unit_begin(d, &f->die);
	at.inlined = false;
	out[count++] = at;
	return count;
}

size_t debug_frames(struct debug *d, uint64_t addr, struct symbol_frame *out, size_t max)
{
	uint32_t index = spans_find(&d->spans, addr);
	struct symbol_frame at = { 0 };
	const struct unit_row *row;
	struct unit *u;

	if (index == SPAN_NONE)
		return 0;
	u = &d->units[index];
	unit_walk(d, u);
	row = unit_line(d, u, addr);
	if (row) {
		at.file = unit_file(d, u, row->file);
		at.line = row->line;
		at.column = row->column;
	}
	index = spans_find(&u->spans, addr);
	if (index != SPAN_NONE)
		return function_frames(d, u, &u->functions[index], addr, at, out, max);
	if (!row)
		return 0;
	out[0] = at;
	return 1;
}

bool debug_variable(struct debug *d, uint64_t addr, struct symbol_variable *out)
{
	struct debug_variable *v;
	uint32_t index;

	if (!d->walked) {
		for (size_t i = 0; i < d->unit_count; i++)
			unit_walk(d, &d->units[i]);
		spans_sort(&d->variable_spans);
		d->walked = true;
	}
	index = spans_find(&d->variable_spans, addr);
	if (index == SPAN_NONE)
		return false;
	v = &d->variables[index];
	if (!v->name)
		unit_describe(d, v);
	*out = (struct symbol_variable){
		.name = v->name,
		.offset = addr - v->low,
		.size = v->size,
		.file = v->file,
		.line = v->line,
	};
	return true;
}
