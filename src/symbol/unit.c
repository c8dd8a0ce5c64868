/*
 * The walk over the entries of a unit: functions, the scopes that qualify their names, variables.
 */
#include "symbol/unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DEPTH_MAX 128	/* of nested entries; a hostile file must not exhaust the stack */

uint64_t unit_number(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute at;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, attribute, &at), &value) != 0)
		return 0;
	return value;
}

static uint32_t add_scope(struct unit *u, const Dwarf_Die *die, uint32_t parent)
{
	u->scopes = xgrow(u->scopes, u->scope_count, &u->scope_capacity,
			     sizeof(*u->scopes));
	u->scopes[u->scope_count] = (struct unit_scope){ .die = *die, .parent = parent };
	return (uint32_t)u->scope_count++;
}

static void add_owner(struct unit *u, const Dwarf_Die *die, uint32_t scope)
{
	if (scope == 0)
		return;
	u->owners = xgrow(u->owners, u->owner_count, &u->owner_capacity,
			     sizeof(*u->owners));
	u->owners[u->owner_count++] = (struct unit_owner){ .entry = die->addr, .scope = scope };
}

static uint32_t find_scope(const struct unit *u, const Dwarf_Die *die)
{
	size_t first = 0, last = u->owner_count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if ((uintptr_t)u->owners[middle].entry < (uintptr_t)die->addr)
			first = middle + 1;
		else
			last = middle;
	}
	if (first < u->owner_count && u->owners[first].entry == die->addr)
		return u->owners[first].scope;
	return 0;
}

static const char *qualify(struct debug *d, const char *scope, const char *name)
{
	size_t first = strlen(scope), second = strlen(name);
	char *text = xmalloc(first + 2 + second + 1);

	memcpy(text, scope, first);
	memcpy(text + first, "::", 2);
	memcpy(text + first + 2, name, second + 1);
	return debug_keep(d, text);
}

static const char *name_at(struct debug *d, Dwarf_Die *die, unsigned depth);

static const char *scope_path(struct debug *d, struct unit *u, uint32_t scope, unsigned depth)
{
	struct unit_scope *s = &u->scopes[scope];
	const char *name;

	if (s->path)
		return s->path;
	name = dwarf_diename(&s->die);
	if (!name)
		name = dwarf_tag(&s->die) == DW_TAG_namespace ? "(anonymous namespace)" :
								"(anonymous)";
	if (depth >= DEPTH_MAX)
		return name;
	/* The body of a method is outside its class; its declaration has the class. */
	if (dwarf_tag(&s->die) == DW_TAG_subprogram && dwarf_diename(&s->die))
		name = name_at(d, &s->die, depth + 1);
	else if (s->parent != 0)
		name = qualify(d, scope_path(d, u, s->parent, depth + 1), name);
	s->path = name;
	return name;
}

static const char *name_at(struct debug *d, Dwarf_Die *die, unsigned depth)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die at = *die;
	Dwarf_Attribute link;
	struct unit *u;
	uint32_t scope;

	if (!name)
		return NULL;
	/* The declaration is in the scope that qualifies the name. */
	for (int i = 0; i < 16; i++) {
		Dwarf_Attribute *found = dwarf_attr(&at, DW_AT_abstract_origin, &link);

		if (!found)
			found = dwarf_attr(&at, DW_AT_specification, &link);
		if (!found || !dwarf_formref_die(found, &at))
			break;
	}
	u = debug_unit_of(d, &at);
	if (!u)
		return name;
	unit_walk(d, u);
	scope = find_scope(u, &at);
	return scope == 0 ? name : qualify(d, scope_path(d, u, scope, depth), name);
}

const char *unit_name(struct debug *d, Dwarf_Die *die)
{
	return name_at(d, die, 0);
}

static void add_function(struct debug *d, struct unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	bool placed = false;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low < d->low || high > d->high)
			continue;
		spans_add(&u->spans, low, high, (uint32_t)u->function_count);
		placed = true;
	}
	if (!placed)
		return;
	u->functions = xgrow(u->functions, u->function_count, &u->function_capacity,
				sizeof(*u->functions));
	u->functions[u->function_count++] = (struct unit_function){ .die = *die };
}

/*
 * Finds the fixed address of a variable. Returns false for other variables, also thread-local ones.
 */
static bool static_address(Dwarf_Die *die, uint64_t *addr)
{
	Dwarf_Attribute location, indirect;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, DW_AT_location, &location) ||
	    dwarf_getlocation(&location, &ops, &count) != 0 || count == 0)
		return false;
	switch (ops[0].atom) {
	case DW_OP_addr:
		*addr = ops[0].number;
		break;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (dwarf_getlocation_attr(&location, &ops[0], &indirect) != 0 ||
		    dwarf_formaddr(&indirect, addr) != 0)
			return false;
		break;
	default:
		return false;
	}
	if (count == 1)
		return true;
	if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
		*addr += ops[1].number;
		return true;
	}
	return false;
}

static uint64_t type_size(Dwarf_Die *die)
{
	Dwarf_Attribute at;
	Dwarf_Die type;
	Dwarf_Word size;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &at), &type) ||
	    dwarf_aggregate_size(&type, &size) != 0)
		return 0;
	return size;
}

/* An attribute of an entry or of its declaration; *from is the unit of the entry that has it. */
static uint64_t inherited(struct debug *d, Dwarf_Die *die, unsigned attribute, struct unit **from)
{
	Dwarf_Attribute at;
	Dwarf_Word value;
	Dwarf_Die owner;

	if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &at), &value) != 0)
		return 0;
	*from = NULL;
	if (dwarf_cu_die(at.cu, &owner, NULL, NULL, NULL, NULL, NULL, NULL))
		*from = debug_unit_of(d, &owner);
	return value;
}

unsigned unit_begin(struct debug *d, Dwarf_Die *die)
{
	struct unit *from;

	return (unsigned)inherited(d, die, DW_AT_decl_line, &from);
}

void unit_describe(struct debug *d, struct debug_variable *v)
{
	struct unit *from = NULL;
	uint64_t file = inherited(d, &v->die, DW_AT_decl_file, &from);

	v->name = unit_name(d, &v->die);
	if (from)
		v->file = unit_file(d, from, file);
	v->line = (unsigned)inherited(d, &v->die, DW_AT_decl_line, &from);
}

static void add_variable(struct debug *d, Dwarf_Die *die)
{
	uint64_t addr, size;

	if (!static_address(die, &addr) || addr == 0 || !dwarf_diename(die))
		return;
	size = type_size(die);
	d->variables = xgrow(d->variables, d->variable_count, &d->variable_capacity,
				sizeof(*d->variables));
	d->variables[d->variable_count] =
		(struct debug_variable){ .die = *die, .low = addr, .size = size };
	spans_add(&d->variable_spans, addr, addr + (size ? size : 1),
		  (uint32_t)d->variable_count++);
}

static void walk(struct debug *d, struct unit *u, Dwarf_Die *parent, uint32_t scope,
		 unsigned depth);

static void visit(struct debug *d, struct unit *u, Dwarf_Die *die, uint32_t scope, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		add_owner(u, die, scope);
		add_function(d, u, die);
		/* The body of a function may contain static variables and local classes. */
		if (dwarf_haschildren(die) > 0 && !dwarf_hasattr(die, DW_AT_declaration))
			walk(d, u, die, dwarf_diename(die) ? add_scope(u, die, scope) : scope,
			     depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_module:
		if (dwarf_haschildren(die) > 0)
			walk(d, u, die, add_scope(u, die, scope), depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_common_block:
		walk(d, u, die, scope, depth);
		break;
	case DW_TAG_member:
		/* A static member of a class, up to DWARF 4. */
		if (dwarf_hasattr(die, DW_AT_declaration))
			add_owner(u, die, scope);
		break;
	case DW_TAG_variable:
		add_owner(u, die, scope);
		if (dwarf_hasattr(die, DW_AT_location))
			add_variable(d, die);
		break;
	}
}

static void walk(struct debug *d, struct unit *u, Dwarf_Die *parent, uint32_t scope,
		 unsigned depth)
{
	Dwarf_Die die;

	if (depth >= DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do
		visit(d, u, &die, scope, depth + 1);
	while (dwarf_siblingof(&die, &die) == 0);
}

void unit_walk(struct debug *d, struct unit *u)
{
	if (u->walked)
		return;
	u->walked = true;
	add_scope(u, &u->die, 0);
	walk(d, u, &u->die, 0, 0);
	spans_sort(&u->spans);
}

static void add_call(struct debug *d, struct unit_function *f, Dwarf_Die *die, uint32_t parent)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	uint32_t id = (uint32_t)f->call_count;

	f->calls = xgrow(f->calls, f->call_count, &f->call_capacity, sizeof(*f->calls));
	f->calls[f->call_count++] = (struct unit_call){ .die = *die, .parent = parent };
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low < d->low || high > d->high || low >= high)
			continue;
		f->ranges = xgrow(f->ranges, f->range_count, &f->range_capacity,
				     sizeof(*f->ranges));
		f->ranges[f->range_count++] =
			(struct span){ .low = low, .high = high, .id = id };
	}
}

static void expand(struct debug *d, struct unit_function *f, Dwarf_Die *parent, uint32_t call,
		   unsigned depth)
{
	Dwarf_Die die;

	if (depth >= DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		uint32_t inner = call;
		int tag = dwarf_tag(&die);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
		    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
			continue;
		if (tag == DW_TAG_inlined_subroutine) {
			inner = (uint32_t)f->call_count;
			add_call(d, f, &die, call);
		}
		expand(d, f, &die, inner, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

void unit_expand(struct debug *d, struct unit_function *f)
{
	if (f->expanded)
		return;
	f->expanded = true;
	expand(d, f, &f->die, SPAN_NONE, 0);
}
