/*
 * Facts of an ELF file that map addresses in memory to addresses in the file: build-id and
 * segments.
 */
#ifndef SYMBOL_ELF_H
#define SYMBOL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ELF_SEGMENTS 16

struct elf_facts {
	char build_id[64];	/* in hex; "" if there is none */
	uint8_t id[31];		/* the build-id as bytes */
	size_t id_size;
	bool has_runtime;	/* it contains the runtime (abi/program_note.h) */
	bool fixed;		/* not position-independent: the load bias is 0 */
	size_t segments;	/* number of loaded segments */
	struct {
		uint64_t offset;	/* in the file */
		uint64_t addr, size;	/* in memory, before the load bias */
	} segment[ELF_SEGMENTS];
};

int elf_read(const char *path, struct elf_facts *out, struct err *err);

#endif
