/*
 * The modules of a running target, and the source places of its addresses. snarl runs targets
 * without address randomisation, so that the addresses of one run are valid in all runs.
 */
#ifndef SYMBOL_PROGRAM_SITES_H
#define SYMBOL_PROGRAM_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "symbol/symbol.h"

/* A program or library in the target's memory. */
struct places_module {
	char *path;
	char build_id[64];	/* in hex; "" if it has none */
	uint64_t base;		/* load bias */
	uint64_t start, end;	/* the range of all its segments */
};

struct places {
	struct symbols *symbols;
	struct places_module *modules;	/* in the order in which they were added */
	size_t count, capacity;
};

void places_init(struct places *p);
void places_free(struct places *p);

/* Adds the modules of a process that are new. Adds nothing if the process has ended. */
void places_read(struct places *p, pid_t pid);

/* Adds a library that a run loaded at that base. */
void places_add_module(struct places *p, const char *path, uint64_t base);

/* Adds the program at the base where Linux loads it without randomisation. */
void places_add_program(struct places *p, const char *path);

/* Returns the module of a pc, or NULL. */
const struct places_module *places_module(const struct places *p, uint64_t pc);

/* Is it code of the program itself, not of a library? */
bool places_in_program(const struct places *p, uint64_t pc);

/* Returns the pc of an offset in the module of that build-id, or 0 if there is no such module. */
uint64_t places_find(const struct places *p, const char *build_id, uint64_t offset);

/* Fills the frame of a pc that reports show: symbol_own_frame(). */
void places_frame(struct places *p, uint64_t pc, struct symbol_frame *out);

/* Appends the place of a pc: "bank.c:41 (deposit)", "deposit in bank+0x1234" or "0x7f12a0". */
void places_describe(struct places *p, uint64_t pc, struct buf *out);

/* Is a global variable at the address? */
bool places_knows(struct places *p, uint64_t addr);

/* Appends the variable at an address, "balance" or "table+16 (bank.c:7)", or else the address. */
void places_object(struct places *p, uint64_t addr, struct buf *out);

#endif
