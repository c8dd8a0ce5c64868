#include "symbol/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/program_note.h"
#include "base/file.h"

#define NOTES_MAX 4096u	/* bytes of notes in which the build-id is looked for */

static void take_id(struct elf_facts *out, const uint8_t *id, size_t size)
{
	if (size > sizeof(out->id))
		size = sizeof(out->id);
	memcpy(out->id, id, size);
	out->id_size = size;
	for (size_t i = 0; i < size; i++)
		snprintf(out->build_id + 2 * i, 3, "%02x", id[i]);
}

static void read_notes(int fd, const Elf64_Phdr *ph, struct elf_facts *out)
{
	uint8_t data[NOTES_MAX];
	size_t size = ph->p_filesz < sizeof(data) ? ph->p_filesz : sizeof(data), at = 0;
	ssize_t got = pread(fd, data, size, (off_t)ph->p_offset);
	size_t align = ph->p_align == 8 ? 8 : 4;

	if (got < 0)
		return;
	size = (size_t)got;
	while (at + sizeof(Elf64_Nhdr) <= size) {
		Elf64_Nhdr note;
		size_t name, desc, next;

		memcpy(&note, data + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + ((note.n_namesz + align - 1) & ~(align - 1));
		next = desc + ((note.n_descsz + align - 1) & ~(align - 1));
		if (desc > size || note.n_descsz > size - desc)
			return;
		if (note.n_type == PROGRAM_NOTE_TYPE &&
		    note.n_namesz == sizeof(PROGRAM_NOTE_NAME) &&
		    memcmp(data + name, PROGRAM_NOTE_NAME, sizeof(PROGRAM_NOTE_NAME)) == 0)
			out->has_runtime = true;
		if (out->id_size == 0 && note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(data + name, "GNU", 4) == 0) {
			take_id(out, data + desc, note.n_descsz);
		}
		at = next;
	}
}

static int read_headers(int fd, struct elf_facts *out)
{
	Elf64_Ehdr eh;

	if (pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (eh.e_type != ET_EXEC && eh.e_type != ET_DYN))
		return -1;
	out->fixed = eh.e_type == ET_EXEC;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) !=
		    (ssize_t)sizeof(ph))
			return -1;
		if (ph.p_type == PT_NOTE)
			read_notes(fd, &ph, out);
		if (ph.p_type != PT_LOAD || out->segments == ELF_SEGMENTS)
			continue;
		out->segment[out->segments].offset = ph.p_offset;
		out->segment[out->segments].addr = ph.p_vaddr;
		out->segment[out->segments++].size = ph.p_memsz;
	}
	return 0;
}

int elf_read(const char *path, struct elf_facts *out, struct err *err)
{
	int fd = file_open_regular(path), result;

	*out = (struct elf_facts){ 0 };
	if (fd < 0)
		return err_set(err, "cannot open %s: %s", path, strerror(errno));
	result = read_headers(fd, out);
	close(fd);
	return result < 0 ? err_set(err, "%s is not a 64-bit ELF program", path) : 0;
}
