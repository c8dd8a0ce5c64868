/*
 * A unit of debug information: a compiled source file. Private to debug.c, field.c, line.c and
 * unit.c.
 */
#ifndef SYMBOL_UNIT_H
#define SYMBOL_UNIT_H

#include "base/map.h"
#include "symbol/debug.h"

/* A namespace, class or function that qualifies names; scope 0 is the unit itself. */
struct unit_scope {
	Dwarf_Die die;
	const char *path;	/* qualified name; NULL: not yet made */
	uint32_t parent;	/* index of the scope around it */
};

/* The scope in which an entry was declared. Sorted by `entry`. */
struct unit_owner {
	const void *entry;
	uint32_t scope;
};

/* A row of the line table. */
struct unit_row {
	uint64_t addr;
	uint32_t order;		/* rank in the table: the last row of an address is valid */
	uint32_t file, line;
	uint16_t column;
	bool end;		/* end of a sequence: no line from here on */
};

/* A call that was inlined. */
struct unit_call {
	Dwarf_Die die;
	const char *name;	/* NULL: not yet made */
	uint32_t parent;	/* index of the call around it; SPAN_NONE: the function itself */
};

struct unit_function {
	Dwarf_Die die;
	const char *name;	/* qualified; NULL: not yet made */
	bool expanded;		/* `calls` and `ranges` are filled */
	struct unit_call *calls;	/* outer ones first */
	size_t call_count, call_capacity;
	struct span *ranges;	/* of the calls, in their order; id: index in `calls` */
	size_t range_count, range_capacity;
};

struct unit {
	Dwarf_Die die;		/* has the entries; of a split unit, the half in the .dwo file */
	Dwarf_Die skeleton;	/* has the ranges of the code; `die` unless the unit is split */
	bool walked;		/* functions, scopes and owners are filled */
	bool lines_read;	/* `rows` is filled */
	struct spans spans;	/* of the functions; id: index in `functions` */
	struct unit_function *functions;
	size_t function_count, function_capacity;
	struct unit_scope *scopes;
	size_t scope_count, scope_capacity;
	struct unit_owner *owners;
	size_t owner_count, owner_capacity;
	struct unit_row *rows;
	size_t row_count;
	const char **files;	/* [file_count] names by file number; NULL: not yet made */
	size_t file_count;
};

struct debug_variable {
	Dwarf_Die die;
	const char *name;	/* NULL: not yet made; then `file` is not set, either */
	const char *file;
	unsigned line;
	uint64_t low, size;
};

struct debug {
	Dwarf *dwarf;
	uint64_t low, high;	/* range of the code */
	struct unit *units;	/* sorted by die.cu */
	size_t unit_count, unit_capacity;
	struct spans spans;	/* of the units; id: index in `units` */
	bool walked;		/* all units are walked, so that the variables are complete */
	struct spans variable_spans;
	struct debug_variable *variables;
	size_t variable_count, variable_capacity;
	struct map part_of;	/* address and size to index in `parts` */
	struct symbol_part *parts;
	size_t part_count, part_capacity;
	char **strings;		/* freed by debug_close() */
	size_t string_count, string_capacity;
};

/* Takes ownership of `text` and returns it. */
const char *debug_keep(struct debug *d, char *text);

/* Returns the unit of an entry. It may differ from the unit whose entry refers to it. */
struct unit *debug_unit_of(struct debug *d, const Dwarf_Die *die);

/* Fills the unit's functions and scopes, and adds its variables to d. Idempotent. */
void unit_walk(struct debug *d, struct unit *u);

/* Returns the name of a function or variable, qualified by namespaces, classes and functions. */
const char *unit_name(struct debug *d, Dwarf_Die *die);

/* Fills f->calls and f->ranges. Idempotent. */
void unit_expand(struct debug *d, struct unit_function *f);

/* Returns the row of an address, or NULL. */
const struct unit_row *unit_line(struct debug *d, struct unit *u, uint64_t addr);

/*
 * Returns the name of a file, relative if it is below the folder of compilation; NULL if unknown.
 */
const char *unit_file(struct debug *d, struct unit *u, uint64_t number);

/* Returns the first line of a function, 0 if unknown. */
unsigned unit_begin(struct debug *d, Dwarf_Die *die);

/* Returns the value of a numeric attribute, 0 if it is absent. */
uint64_t unit_number(Dwarf_Die *die, unsigned attribute);

/* Fills v->name, v->file and v->line. */
void unit_describe(struct debug *d, struct debug_variable *v);

#endif
