/*
 * Addresses to names: functions with inlined frames, and global variables.
 *
 * Own indexes over elfutils' libdw, built once per module: clang writes no
 * .debug_aranges, and libdw's scope walk is slow and misses inlined frames in
 * LTO binaries. A module without DWARF falls back to its symbol table.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct symbol_frame {
	const char *function;	/* never NULL: "??" if unknown; C++ names demangled */
	const char *file;	/* NULL if unknown; relative where below the folder of compilation */
	unsigned line, column;	/* 0 if unknown */
	unsigned begin;		/* line on which the function begins; 0 if unknown */
	bool inlined;		/* into the next frame */
};

struct symbol_variable {
	const char *name;
	uint64_t offset;	/* of the address into it */
	uint64_t size;
	const char *file;	/* NULL if no debug information */
	unsigned line;
};

enum symbol_type_kind {
	SYMBOL_OTHER,
	SYMBOL_SIGNED, SYMBOL_UNSIGNED, SYMBOL_CHAR, SYMBOL_BOOL, SYMBOL_FLOAT, SYMBOL_POINTER, SYMBOL_ENUM,
};

struct symbol_enumerator {
	const char *name;
	uint64_t value;
};

/* Of what a value can be shown of: no structures, no arrays. */
struct symbol_type {
	enum symbol_type_kind kind;
	uint64_t size;
	struct symbol_enumerator *enumerators;
	size_t enumerator_count;
};

/* A member or an element of a variable. */
struct symbol_part {
	const char *path;	/* ".head", "[3].len"; "": the variable itself */
	uint64_t rest;		/* of the address into that part */
	const struct symbol_type *type;	/* NULL: unknown, or not of one value */
};

struct symbols;

struct symbols *symbols_new(void);

/* Files that `other` knows by now are not read again when they are added; until then it must stay. */
void symbols_share(struct symbols *s, const struct symbols *other);
void symbols_free(struct symbols *s);

/*
 * A module mapped at [start, end) with the load bias `base`; one that overlaps
 * earlier ones took their place. build_id may be NULL; if the file's differs,
 * -1: the program was rebuilt since. After -1 symbols_module() still knows it.
 * Strings in results live as long as `s`. The DWARF is read at the first look-up.
 */
int symbols_add(struct symbols *s, const char *path, const uint8_t *build_id,
		size_t build_id_size, uint64_t base, uint64_t start, uint64_t end,
		struct err *err);

/*
 * Innermost frame first; returns how many, at least 1 (max is at least 1). The
 * pc is one of a trace, just after the instruction meant: pc - 1 is looked up.
 */
size_t symbols_frames(struct symbols *s, uint64_t pc, struct symbol_frame *out, size_t max);

/*
 * Which of them people want to see: the innermost with a source that is not a header of
 * the system, whose inlined functions (std::mutex::lock, atoi) are nobody's own; else the
 * innermost with a source; else the first.
 */
const struct symbol_frame *symbol_own_frame(const struct symbol_frame *frames, size_t count);

/* A header of the system, by its path. */
bool symbol_is_systems(const char *file);

/* A global or static variable at that address; a function's own is `function::name`. */
bool symbols_variable(struct symbols *s, uint64_t addr, struct symbol_variable *out);

/* The part of that variable which holds `size` bytes from there; 0: the smallest. False if types are not known. */
bool symbols_part(struct symbols *s, uint64_t addr, uint64_t size, struct symbol_part *out);

/* Appends a value of `size` bytes, up to 8, as people write it; `t` may be NULL. */
void symbol_value(const struct symbol_type *t, uint64_t value, uint64_t size, struct buf *out);

/* The module's path and the address within the file; NULL if in none. */
const char *symbols_module(struct symbols *s, uint64_t pc, uint64_t *offset);

/*
 * Calls `each` for the folders that sources of the program were compiled in, until it returns
 * true; then so does this. Some may come twice. None if there is no debug information.
 */
bool symbol_folders(const char *program, bool (*each)(void *ctx, const char *folder), void *ctx);

#endif
