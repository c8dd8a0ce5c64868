/*
 * The note by which the tool recognises a program that contains the runtime, without running it. It
 * is in a loaded segment, so that strip(1) keeps it.
 */
#ifndef ABI_PROGRAM_NOTE_H
#define ABI_PROGRAM_NOTE_H

#include <stdint.h>

#define PROGRAM_NOTE_NAME "snarl"	/* with its NUL, and padded to 8 bytes */
#define PROGRAM_NOTE_TYPE 1u
#define PROGRAM_NOTE_SECTION ".note.snarl"

struct program_note {
	uint32_t name_size, desc_size, type;	/* as Elf64_Nhdr */
	char name[8];
	uint32_t version;	/* the description; raised when the layout of this note changes */
};

#define PROGRAM_NOTE { 6, 4, PROGRAM_NOTE_TYPE, PROGRAM_NOTE_NAME, 1 }

#endif
