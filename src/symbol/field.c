/*
 * Finds the member or element of a variable at an offset, from the variable's type: "[3].len".
 *
 * The path ends before a union or a bit field, because several members may be meant. Members with
 * reserved names (_M_i of std::atomic) are not named, but followed to the type.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/unit.h"

/* Bounds against damaged debug information: */
#define DEPTH_MAX 32u		/* nested types */
#define DIMENSIONS_MAX 8u	/* of an array */
#define ENUM_MAX 4096u		/* enumerators kept of a type */

/* The way down from a variable to the part at an offset. */
struct walk {
	Dwarf_Die type;		/* of the part reached so far */
	uint64_t offset;	/* of the address in that part */
	uint64_t size;		/* of the access; 0: any */
	struct buf path;	/* the names on the way: "[3].len" */
	uint64_t path_offset;	/* offset of the address in the part that `path` names */
	bool unnamed;		/* a member with a reserved name was passed: `path` is final */
	bool through_typedef;	/* the type was reached through a typedef */
};

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute at;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &at), type) != NULL;
}

/* Replaces typedefs and qualified types by the types they stand for. Returns false for void. */
static bool strip_qualifiers(struct walk *w)
{
	for (unsigned i = 0; i < DEPTH_MAX; i++)
		switch (dwarf_tag(&w->type)) {
		case DW_TAG_typedef:
			w->through_typedef = true;	/* fall through */
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			if (!type_of(&w->type, &w->type))
				return false;
			break;
		default:
			return true;
		}
	return false;
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* Is the access within [at, at + size) of the part? */
static bool covers(const struct walk *w, uint64_t at, uint64_t size)
{
	return w->offset >= at && w->offset < at + size && w->offset - at + w->size <= size;
}

/* Sets *at to the offset of a member. Returns false for bit fields and static members. */
static bool member_offset(Dwarf_Die *member, uint64_t *at)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_hasattr(member, DW_AT_bit_size) || dwarf_hasattr(member, DW_AT_declaration) ||
	    !dwarf_attr(member, DW_AT_data_member_location, &attribute) ||
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*at = value;
	return true;
}

static bool is_reserved(const char *name)
{
	return strncmp(name, "__", 2) == 0 || strncmp(name, "_M_", 3) == 0;
}

/* Goes down to the member or base class at the offset. */
static bool enter_member(struct walk *w)
{
	Dwarf_Die member, type;
	const char *name;
	uint64_t at;

	if (dwarf_child(&w->type, &member) != 0)
		return false;
	do {
		int tag = dwarf_tag(&member);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !member_offset(&member, &at) || !type_of(&member, &type) ||
		    !covers(w, at, size_of(&type)))
			continue;
		name = tag == DW_TAG_member ? dwarf_diename(&member) : NULL;
		w->unnamed = w->unnamed || (name && is_reserved(name));
		w->offset -= at;
		w->type = type;
		w->through_typedef = false;
		if (name && !w->unnamed) {
			buf_addf(&w->path, ".%s", name);
			w->path_offset = w->offset;
		}
		return true;
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

/*
 * Fills the sizes of the dimensions and returns their number. The first may be open: its size is 0.
 */
static size_t dimensions(Dwarf_Die *array, uint64_t *counts)
{
	Dwarf_Attribute at;
	Dwarf_Word value;
	Dwarf_Die child;
	size_t n = 0;

	if (dwarf_child(array, &child) != 0)
		return 0;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type || n == DIMENSIONS_MAX)
			continue;
		counts[n] = 0;
		if (dwarf_formudata(dwarf_attr(&child, DW_AT_count, &at), &value) == 0)
			counts[n] = value;
		else if (dwarf_formudata(dwarf_attr(&child, DW_AT_upper_bound, &at), &value) == 0)
			counts[n] = value + 1;
		n++;
	} while (dwarf_siblingof(&child, &child) == 0);
	return n;
}

/* Goes down to the array element at the offset. */
static bool enter_element(struct walk *w)
{
	uint64_t counts[DIMENSIONS_MAX], size, index;
	size_t n = dimensions(&w->type, counts);
	Dwarf_Die type;

	if (n == 0 || !type_of(&w->type, &type) || (size = size_of(&type)) == 0)
		return false;
	index = w->offset / size;
	if (!covers(w, index * size, size))
		return false;
	for (size_t i = 0; i < n && !w->unnamed; i++) {
		uint64_t stride = 1;

		for (size_t k = i + 1; k < n; k++)
			stride *= counts[k];
		if (stride == 0)
			return false;
		buf_addf(&w->path, "[%llu]", (unsigned long long)(index / stride));
		index %= stride;
	}
	w->offset %= size;
	if (!w->unnamed)
		w->path_offset = w->offset;
	w->type = type;
	w->through_typedef = false;
	return true;
}

static void read_enumerators(struct debug *d, Dwarf_Die *type, struct symbol_type *out)
{
	size_t capacity = 0;
	Dwarf_Attribute at;
	Dwarf_Sword value;
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_enumerator || !dwarf_diename(&child) ||
		    out->enumerator_count == ENUM_MAX ||
		    dwarf_formsdata(dwarf_attr(&child, DW_AT_const_value, &at), &value) != 0)
			continue;
		out->enumerators = xgrow(out->enumerators, out->enumerator_count, &capacity,
					 sizeof(*out->enumerators));
		out->enumerators[out->enumerator_count++] =
			(struct symbol_enumerator){ dwarf_diename(&child), (uint64_t)value };
	} while (dwarf_siblingof(&child, &child) == 0);
	debug_keep(d, (char *)out->enumerators);
}

static enum symbol_type_kind base_kind(Dwarf_Die *type, bool renamed)
{
	switch (unit_number(type, DW_AT_encoding)) {
	case DW_ATE_boolean:
		return SYMBOL_BOOL;
	case DW_ATE_float:
		return SYMBOL_FLOAT;
	case DW_ATE_signed_char:	/* int8_t and uint8_t are numbers */
		return renamed ? SYMBOL_SIGNED : SYMBOL_CHAR;
	case DW_ATE_unsigned_char:
		return renamed ? SYMBOL_UNSIGNED : SYMBOL_CHAR;
	case DW_ATE_signed:
		return SYMBOL_SIGNED;
	case DW_ATE_unsigned:
		return SYMBOL_UNSIGNED;
	default:
		return SYMBOL_OTHER;
	}
}

/* Returns the type of the part reached, or NULL if values of it cannot be shown. */
static const struct symbol_type *value_type(struct debug *d, struct walk *w)
{
	struct symbol_type t = { .size = size_of(&w->type) }, *kept;

	switch (dwarf_tag(&w->type)) {
	case DW_TAG_base_type:
		t.kind = base_kind(&w->type, w->through_typedef);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t.kind = SYMBOL_POINTER;
		t.size = 8;
		break;
	case DW_TAG_enumeration_type:
		t.kind = SYMBOL_ENUM;
		read_enumerators(d, &w->type, &t);
		break;
	default:
		return NULL;
	}
	if (w->offset != 0 || t.kind == SYMBOL_OTHER)
		return NULL;
	kept = xmalloc(sizeof(*kept));
	*kept = t;
	return (const struct symbol_type *)debug_keep(d, (char *)kept);
}

static void find_part(struct debug *d, struct debug_variable *v, uint64_t addr, uint64_t size,
		 struct symbol_part *out)
{
	struct walk w = { .offset = addr - v->low, .size = size, .path_offset = addr - v->low };
	bool down = type_of(&v->die, &w.type);

	for (unsigned i = 0; i < DEPTH_MAX && down && strip_qualifiers(&w); i++)
		switch (dwarf_tag(&w.type)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			down = enter_member(&w);
			break;
		case DW_TAG_array_type:
			down = enter_element(&w);
			break;
		default:
			out->type = value_type(d, &w);
			down = false;
		}
	out->offset = w.path_offset;
	if (w.path.size)
		out->path = debug_keep(d, xstrdup(buf_string(&w.path)));
	buf_free(&w.path);
}

bool debug_part(struct debug *d, uint64_t addr, uint64_t size, struct symbol_part *out)
{
	struct symbol_variable whole;
	uint64_t *part;
	uint32_t index;
	bool added;

	if (!debug_variable(d, addr, &whole))
		return false;
	index = spans_find(&d->variable_spans, addr);
	if (size > UINT16_MAX)
		size = UINT16_MAX;
	part = map_put(&d->part_of, addr ^ size << 48, &added);
	if (added) {
		*part = d->part_count;
		d->parts = xgrow(d->parts, d->part_count, &d->part_capacity, sizeof(*d->parts));
		d->parts[d->part_count] = (struct symbol_part){ .path = "" };
		find_part(d, &d->variables[index], addr, size, &d->parts[d->part_count++]);
	}
	*out = d->parts[*part];
	return true;
}
