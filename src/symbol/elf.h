/*
 * The few facts about an ELF file that are needed to find things in it.
 */
#ifndef SYMBOL_ELF_H
#define SYMBOL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ELF_SEGMENTS 16

struct elf_facts {
	char build_id[64];	/* hex, "" if there is none */
	uint8_t id[31];		/* the same as bytes */
	size_t id_size;
	bool fixed;		/* not position-independent: its addresses are final */
	size_t segments;	/* that are loaded */
	struct {
		uint64_t offset, addr, size;	/* in the file; in memory before the load bias */
	} segment[ELF_SEGMENTS];
};

int elf_read(const char *path, struct elf_facts *out, struct err *err);

#endif
