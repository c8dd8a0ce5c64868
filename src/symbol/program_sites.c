#include "symbol/program_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/elf.h"

#define PIE_BASE 0x555555554000ull	/* load address of Linux on x86-64 without randomisation */
#define FRAMES 16	/* inlined frames of a pc among which the one to show is chosen */

void places_init(struct places *p)
{
	*p = (struct places){ .symbols = symbols_new() };
}

void places_free(struct places *p)
{
	symbols_free(p->symbols);
	for (size_t i = 0; i < p->count; i++)
		free(p->modules[i].path);
	free(p->modules);
	*p = (struct places){ 0 };
}

static void add(struct places *p, const char *path, const struct elf_facts *facts, uint64_t base)
{
	struct places_module *m;
	uint64_t start = UINT64_MAX, end = 0;
	struct err err;

	for (size_t i = 0; i < facts->segments; i++) {
		uint64_t from = base + facts->segment[i].addr, to = from + facts->segment[i].size;

		start = from < start ? from : start;
		end = to > end ? to : end;
	}
	for (size_t i = 0; i < p->count; i++)
		if (p->modules[i].base == base && strcmp(p->modules[i].path, path) == 0)
			return;
	p->modules = xgrow(p->modules, p->count, &p->capacity, sizeof(*p->modules));
	m = &p->modules[p->count++];
	*m = (struct places_module){
		.path = xstrdup(path), .base = base, .start = start, .end = end
	};
	snprintf(m->build_id, sizeof(m->build_id), "%s", facts->build_id);
	/* A failure only means that the module has no symbols. */
	symbols_add(p->symbols, path, facts->id_size ? facts->id : NULL, facts->id_size, base,
		    start, end, &err);
}

void places_add_module(struct places *p, const char *path, uint64_t base)
{
	struct elf_facts facts;
	struct err err;

	if (elf_read(path, &facts, &err) == 0)
		add(p, path, &facts, base);
}

void places_add_program(struct places *p, const char *path)
{
	struct elf_facts facts;
	struct err err;

	if (elf_read(path, &facts, &err) == 0)
		add(p, path, &facts, facts.fixed ? 0 : PIE_BASE);
}

static void add_mapping(struct places *p, const char *path, uint64_t start, uint64_t offset)
{
	struct elf_facts facts;
	struct err err;

	for (size_t i = 0; i < p->count; i++)
		if (start >= p->modules[i].start && start < p->modules[i].end)
			return;
	if (elf_read(path, &facts, &err) < 0)
		return;
	for (size_t i = 0; i < facts.segments; i++)
		if ((facts.segment[i].offset & ~4095ull) == offset) {
			add(p, path, &facts, start - (facts.segment[i].addr & ~4095ull));
			return;
		}
}

void places_read(struct places *p, pid_t pid)
{
	char name[64], line[4400];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		uint64_t start, end, offset;
		char mode[8];
		int path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &start, &end,
			   mode, &offset, &path) >= 4 &&
		    path > 0 && line[path] == '/' && mode[2] == 'x')
			add_mapping(p, line + path, start, offset);
	}
	fclose(f);
}

const struct places_module *places_module(const struct places *p, uint64_t pc)
{
	for (size_t i = p->count; i-- > 0;)
		if (pc >= p->modules[i].start && pc < p->modules[i].end)
			return &p->modules[i];
	return NULL;
}

bool places_in_program(const struct places *p, uint64_t pc)
{
	const struct places_module *m = places_module(p, pc);

	return m && (m->base == 0 || m->base == PIE_BASE);
}

uint64_t places_find(const struct places *p, const char *build_id, uint64_t offset)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct places_module *m = &p->modules[i];

		if (strcmp(m->build_id, build_id) == 0 && offset < m->end - m->base)
			return m->base + offset;
	}
	return 0;
}

void places_frame(struct places *p, uint64_t pc, struct symbol_frame *out)
{
	struct symbol_frame frames[FRAMES];
	size_t count = symbols_frames(p->symbols, pc, frames, FRAMES);

	*out = *symbol_own_frame(frames, count);
}

void places_describe(struct places *p, uint64_t pc, struct buf *out)
{
	const struct places_module *m = places_module(p, pc);
	struct symbol_frame f;

	places_frame(p, pc, &f);
	if (f.file && f.line) {
		buf_addf(out, "%s:%u (%s)", f.file, f.line, f.function);
	} else if (m) {
		const char *slash = strrchr(m->path, '/');

		if (strcmp(f.function, "??") != 0)
			buf_addf(out, "%s in ", f.function);
		buf_addf(out, "%s+0x%" PRIx64, slash ? slash + 1 : m->path, pc - m->base);
	} else {
		buf_add_hex(out, pc);
	}
}

bool places_knows(struct places *p, uint64_t addr)
{
	struct symbol_variable v;

	return symbols_variable(p->symbols, addr, &v);
}

void places_object(struct places *p, uint64_t addr, struct buf *out)
{
	struct symbol_part part = { .path = "" };
	struct symbol_variable v;

	if (!symbols_variable(p->symbols, addr, &v)) {
		buf_add_hex(out, addr);
		return;
	}
	if (!symbols_part(p->symbols, addr, 0, &part))
		part.offset = v.offset;
	buf_addf(out, "%s%s", v.name, part.path);
	if (part.offset)
		buf_addf(out, "+%" PRIu64, part.offset);
	if (v.file && v.line)
		buf_addf(out, " (%s:%u)", v.file, v.line);
}
