/*
 * Addresses of the running target as places in its sources, for people, and
 * back. With address randomisation off they are the same in every run.
 */
#ifndef SYMBOL_PROGRAM_SITES_H
#define SYMBOL_PROGRAM_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "symbol/symbol.h"

struct places_module {
	char *path;
	char build_id[64];	/* hex, or "" */
	uint64_t base;		/* load bias */
	uint64_t start, end;
};

struct places {
	struct symbols *symbols;
	struct places_module *modules;	/* in the order they were seen */
	size_t count, capacity;
};

void places_init(struct places *p);
void places_free(struct places *p);

/* Adds what is mapped in that process and not known yet. A process that is gone adds nothing. */
void places_read(struct places *p, pid_t pid);

/* A library that a run opened. */
void places_add_module(struct places *p, const char *path, uint64_t base);

/* Without a process to look at: the program alone, where it is loaded without randomisation. */
void places_add_program(struct places *p, const char *path);

/* The module of a pc, or NULL. */
const struct places_module *places_module(const struct places *p, uint64_t pc);

/* Is it code of the program itself, not of a library? */
bool places_in_program(const struct places *p, uint64_t pc);

/* The pc of an offset in a module of that build; 0 if there is none. */
uint64_t places_find(const struct places *p, const char *build_id, uint64_t offset);

/* The frame to show: symbol_own_frame(). */
void places_frame(struct places *p, uint64_t pc, struct symbol_frame *out);

/* Appends "bank.c:41 (deposit)", "deposit in bank+0x1234" or "0x7f…". */
void places_describe(struct places *p, uint64_t pc, struct buf *out);

/* Is it a variable of the program? */
bool places_knows(struct places *p, uint64_t addr);

/* Appends the name of what lies at an address: "balance", "table+16 (bank.c:7)" or "0x…". */
void places_object(struct places *p, uint64_t addr, struct buf *out);

#endif
