/*
 * snarl doctor --file: whether a program or library is a production build, from its table of
 * functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/production_table.h"
#include "base/json.h"
#include "base/map.h"
#include "cmd/cmd.h"
#include "cmd/doctor/doctor.h"

/* Counts of the table of a production build, abi/production_table.h. */
struct table {
	bool there;		/* the file has a table */
	uint64_t pairs;		/* functions that can be switched */
	uint64_t inner;		/* functions instrumented for calls from instrumented ones */
	uint64_t plain;		/* functions without an instrumented copy */
};

static void read_records(const Elf_Data *data, uint64_t addr, struct table *t)
{
	struct map inner = { 0 };

	for (size_t at = 0; at + sizeof(struct dual_record) <= data->d_size;
	     at += sizeof(struct dual_record)) {
		struct dual_record r;

		memcpy(&r, (const char *)data->d_buf + at, sizeof(r));
		if (r.kind == DUAL_PAIR)
			t->pairs++;
		else if (r.kind == DUAL_COUNT)
			t->plain += r.size;
		else if (r.kind == DUAL_INNER)	/* one record for each call */
			map_put(&inner, addr + at + offsetof(struct dual_record, inst) +
						(uint64_t)(int64_t)r.inst, NULL);
	}
	t->inner = map_count(&inner);
	map_free(&inner);
}

static int read_table(Elf *elf, struct table *t)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
		return -1;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header))
			return -1;
		name = elf_strptr(elf, names, header.sh_name);
		data = elf_rawdata(section, NULL);
		if (!name || strcmp(name, DUAL_SECTION) != 0 || !data || !data->d_buf)
			continue;
		t->there = true;
		read_records(data, header.sh_addr, t);
	}
	return 0;
}

static void print(const char *path, const struct table *t, bool json)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	if (!json && t->there) {
		printf("%s: a production build: %lu functions can be switched, %lu more are "
		       "instrumented for their callers, %lu stay plain\n",
		       path, (unsigned long)t->pairs, (unsigned long)t->inner,
		       (unsigned long)t->plain);
	} else if (!json) {
		printf("%s: not a production build\n", path);
	} else {
		json_open(&j, NULL, '{');
		json_text(&j, "file", path);
		json_bool(&j, "production", t->there);
		json_number(&j, "switchable", t->pairs);
		json_number(&j, "inner", t->inner);
		json_number(&j, "plain", t->plain);
		json_close(&j, '}');
		puts(buf_string(&out));
	}
	buf_free(&out);
}

int doctor_file(const char *path, bool json)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	struct table t = { 0 };
	Elf *elf;

	if (fd < 0)
		return cmd_fail(&cmd_doctor, "cannot open %s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	result = elf ? read_table(elf, &t) : -1;
	elf_end(elf);
	close(fd);
	if (result)
		return cmd_fail(&cmd_doctor, "%s is not an ELF program or library", path);
	print(path, &t, json);
	return cmd_flush(&cmd_doctor, CMD_OK);
}
