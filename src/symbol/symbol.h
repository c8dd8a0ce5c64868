/*
 * Addresses to names: functions with inlined frames, and global variables.
 *
 * Builds its own indexes over elfutils' libdw, once for each module, because clang writes no
 * .debug_aranges, and libdw's search for scopes is slow and misses inlined frames in LTO binaries.
 * For a module without debug information, the symbol table is used.
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
	const char *file;	/* NULL: unknown; relative if below the folder of compilation */
	unsigned line, column;	/* 0: unknown */
	unsigned begin;		/* first line of the function; 0: unknown */
	bool inlined;		/* into the next frame */
};

struct symbol_variable {
	const char *name;
	uint64_t offset;	/* of the address in the variable */
	uint64_t size;
	const char *file;	/* where it is declared; NULL: no debug information */
	unsigned line;
};

enum symbol_type_kind {
	SYMBOL_OTHER,
	SYMBOL_SIGNED, SYMBOL_UNSIGNED, SYMBOL_CHAR, SYMBOL_BOOL, SYMBOL_FLOAT, SYMBOL_POINTER,
	SYMBOL_ENUM,
};

struct symbol_enumerator {
	const char *name;
	uint64_t value;
};

/* A type whose values can be shown: no structures and arrays. */
struct symbol_type {
	enum symbol_type_kind kind;
	uint64_t size;
	struct symbol_enumerator *enumerators;
	size_t enumerator_count;
};

/* A member or an element of a variable. */
struct symbol_part {
	const char *path;	/* ".head", "[3].len"; "": the variable itself */
	uint64_t offset;	/* of the address in that part */
	const struct symbol_type *type;	/* NULL: unknown, or not a type whose values can be shown */
};

struct symbols;

struct symbols *symbols_new(void);

/*
 * symbols_add() takes files that are in `other` from there instead of reading them again. `other`
 * must exist until the last symbols_add().
 */
void symbols_share(struct symbols *s, const struct symbols *other);
void symbols_free(struct symbols *s);

/*
 * Adds a module mapped at [start, end) with the load bias `base`. It hides earlier modules that it
 * overlaps: they were unloaded. Fails if the file cannot be read or, unless build_id is NULL, has
 * another build-id because it was rebuilt; even then symbols_module() finds the module.
 * Strings in results are valid as long as `s`. Debug information is read at the first look-up.
 */
int symbols_add(struct symbols *s, const char *path, const uint8_t *build_id,
		size_t build_id_size, uint64_t base, uint64_t start, uint64_t end,
		struct err *err);

/*
 * Fills the frames of a pc, the innermost first, and returns their number, at least 1; max is at
 * least 1. A pc of a trace is the address after the instruction, so pc - 1 is looked up.
 */
size_t symbols_frames(struct symbols *s, uint64_t pc, struct symbol_frame *out, size_t max);

/*
 * Returns the frame that reports show: the innermost frame in a source of the program, not in a
 * header of the system with inlined functions such as std::mutex::lock; else the innermost with a
 * source; else the first.
 */
const struct symbol_frame *symbol_own_frame(const struct symbol_frame *frames, size_t count);

/* Is the file part of the system, by its path? */
bool symbol_is_systems(const char *file);

/* Finds the global or static variable at an address. A static of a function is `function::name`. */
bool symbols_variable(struct symbols *s, uint64_t addr, struct symbol_variable *out);

/*
 * Finds the smallest member or element of the variable at `addr` that contains `size` bytes from
 * there (0: any size). Returns false if the variable's type is unknown.
 */
bool symbols_part(struct symbols *s, uint64_t addr, uint64_t size, struct symbol_part *out);

/* Appends a value of `size` bytes, up to 8, formatted by its type; `t` may be NULL. */
void symbol_value(const struct symbol_type *t, uint64_t value, uint64_t size, struct buf *out);

/*
 * Returns the path of a pc's module and sets *offset to the address in the file; NULL if no module
 * has the pc.
 */
const char *symbols_module(struct symbols *s, uint64_t pc, uint64_t *offset);

/*
 * Calls each() for the folders in which the program's sources were compiled, until it returns true.
 * Returns whether it did. A folder may come twice. Without debug information there are none.
 */
bool symbol_folders(const char *program, bool (*each)(void *ctx, const char *folder), void *ctx);

#endif
