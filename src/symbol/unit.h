/*
 * One unit of debug information, private to debug.c and its neighbours.
 */
#ifndef SYMBOL_UNIT_H
#define SYMBOL_UNIT_H

#include "base/map.h"
#include "symbol/debug.h"

/* A namespace, class or function that names are qualified with; 0 is the unit itself. */
struct unit_scope {
	Dwarf_Die die;
	const char *path;	/* NULL until asked for */
	uint32_t parent;
};

/* In which scope an entry was declared. In ascending order of `entry`. */
struct unit_owner {
	const void *entry;
	uint32_t scope;
};

struct unit_row {
	uint64_t addr;
	uint32_t order;		/* among rows of one address the last counts */
	uint32_t file, line;
	uint16_t column;
	bool end;		/* nothing is known from here on */
};

/* A function inlined at one place. */
struct unit_call {
	Dwarf_Die die;
	const char *name;	/* NULL until asked for */
	uint32_t parent;	/* the call around it, SPAN_NONE: the function itself */
};

struct unit_function {
	Dwarf_Die die;
	const char *name;	/* qualified; NULL until asked for */
	bool expanded;		/* calls and their ranges are known */
	struct unit_call *calls;	/* outer ones first */
	size_t call_count, call_capacity;
	struct span *ranges;	/* of the calls, in their order; id is the call */
	size_t range_count, range_capacity;
};

struct unit {
	Dwarf_Die die;		/* of a split unit the half in the .dwo file, which has the entries */
	Dwarf_Die outer;	/* else the same: knows where the code is */
	bool walked, read_lines;
	struct spans spans;	/* of the functions */
	struct unit_function *functions;
	size_t function_count, function_capacity;
	struct unit_scope *scopes;
	size_t scope_count, scope_capacity;
	struct unit_owner *owners;
	size_t owner_count, owner_capacity;
	struct unit_row *rows;
	size_t row_count;
	const char **files;	/* shortened names, by number; NULL until asked for */
	size_t file_count;
};

struct debug_variable {
	Dwarf_Die die;
	const char *name;	/* NULL until asked for, as is the file */
	const char *file;
	unsigned line;
	uint64_t low, size;
};

struct debug {
	Dwarf *dwarf;
	uint64_t low, high;
	struct unit *units;	/* ascending by die.cu */
	size_t unit_count, unit_capacity;
	struct spans spans;	/* of the units */
	bool walked;		/* all of them, so that variables are complete */
	struct spans variable_spans;
	struct debug_variable *variables;
	size_t variable_count, variable_capacity;
	struct map part_of;	/* address and size to number in `parts` */
	struct symbol_part *parts;
	size_t part_count, part_capacity;
	char **strings;		/* made here, freed at the end */
	size_t string_count, string_capacity;
};

/* Takes over `text`. */
const char *debug_keep(struct debug *d, char *text);

/* The unit an entry belongs to, which may be another than the one that led to it. */
struct unit *debug_unit_of(struct debug *d, const Dwarf_Die *die);

/* Fills functions and scopes, and adds the unit's variables to d. Idempotent. */
void unit_walk(struct debug *d, struct unit *u);

/* A function's or variable's name with namespaces, classes and function around it. */
const char *unit_name(struct debug *d, Dwarf_Die *die);

/* Calls f->calls and f->ranges into being. Idempotent. */
void unit_expand(struct debug *d, struct unit_function *f);

/* The row an address belongs to, NULL if none. */
const struct unit_row *unit_line(struct debug *d, struct unit *u, uint64_t addr);

/* Relative to the folder of compilation where it lies below. NULL if unknown. */
const char *unit_file(struct debug *d, struct unit *u, uint64_t number);

/* The line on which a function begins, 0 if unknown. */
unsigned unit_begin(struct debug *d, Dwarf_Die *die);

/* An attribute's number, 0 if absent. */
uint64_t unit_number(Dwarf_Die *die, unsigned attribute);

/* Fills name, file and line. */
void unit_describe(struct debug *d, struct debug_variable *v);

#endif
