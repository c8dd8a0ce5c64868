#include "symbol/image.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "symbol/debug.h"
#include "symbol/demangle.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct file {
	int fd;			/* -1: not open */
	Elf *elf;
};

/* A function or variable of the symbol table. */
struct elf_symbol {
	const char *name;
	uint64_t low, size;
	bool demangle_tried;
	char *demangled;	/* NULL: not tried, or not a C++ name */
};

struct image {
	struct file main;
	struct file debug_file;	/* the separate file with debug information, if any */
	Dwarf *dwarf;
	struct debug *debug;	/* NULL: none, or not yet read */
	bool loaded;		/* symbols and debug information were read */
	uint64_t low, high;	/* range of the code */
	struct elf_symbol *symbols;
	size_t symbol_count, symbol_capacity;
	struct spans functions, objects;
	char *path;
	unsigned shares;	/* references besides the first */
};

static void file_close(struct file *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct file){ .fd = -1 };
}

static int file_open(struct file *f, const char *path, struct err *err)
{
	*f = (struct file){ .fd = file_open_regular(path) };
	if (f->fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || gelf_getclass(f->elf) != ELFCLASS64) {
		file_close(f);
		return err_set(err, "%s: not a 64-bit ELF file", path);
	}
	return 0;
}

static bool same_build(Elf *elf, const uint8_t *build_id, size_t size)
{
	const void *found;
	ssize_t found_size = dwelf_elf_gnu_build_id(elf, &found);

	if (!build_id || size == 0)
		return true;
	return found_size == (ssize_t)size && memcmp(found, build_id, size) == 0;
}

static bool has_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *text;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		text = elf_strptr(elf, names, header.sh_name);
		if (text && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

static void find_code(struct image *image)
{
	size_t count;

	image->low = UINT64_MAX;
	if (elf_getphdrnum(image->main.elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(image->main.elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    !(p.p_flags & PF_X) || p.p_vaddr + p.p_memsz < p.p_vaddr)
			continue;
		if (p.p_vaddr < image->low)
			image->low = p.p_vaddr;
		if (p.p_vaddr + p.p_memsz > image->high)
			image->high = p.p_vaddr + p.p_memsz;
	}
}

struct image *image_open(const char *path, const uint8_t *build_id, size_t build_id_size,
			 struct err *err)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->main.fd = image->debug_file.fd = -1;
	elf_version(EV_CURRENT);
	if (file_open(&image->main, path, err) < 0)
		goto fail;
	if (!same_build(image->main.elf, build_id, build_id_size)) {
		err_set(err, "%s is not the file that was recorded (build-id differs)", path);
		goto fail;
	}
	image->path = xstrdup(path);
	find_code(image);
	return image;
fail:
	image_close(image);
	return NULL;
}

struct image *image_share(struct image *image, const uint8_t *build_id, size_t build_id_size)
{
	if (!build_id || !build_id_size || !same_build(image->main.elf, build_id, build_id_size))
		return NULL;
	image->shares++;
	return image;
}

void image_close(struct image *image)
{
	if (!image || image->shares-- > 0)
		return;
	debug_close(image->debug);
	if (image->dwarf)
		dwarf_end(image->dwarf);
	for (size_t i = 0; i < image->symbol_count; i++)
		free(image->symbols[i].demangled);
	free(image->symbols);
	spans_free(&image->functions);
	spans_free(&image->objects);
	file_close(&image->main);
	file_close(&image->debug_file);
	free(image->path);
	free(image);
}

/* Opens a separate debug file if it is of the same build and has debug information or symbols. */
static bool try_debug_file(struct image *image, const char *path, const uint8_t *build_id,
			   size_t size)
{
	if (file_open(&image->debug_file, path, NULL) < 0)
		return false;
	if (same_build(image->debug_file.elf, build_id, size) &&
	    (has_section(image->debug_file.elf, ".debug_info") ||
	     has_section(image->debug_file.elf, ".symtab")))
		return true;
	file_close(&image->debug_file);
	return false;
}

/* Looks for the debug file where gdb does: by build-id, then by the name in .gnu_debuglink. */
static void find_debug_file(struct image *image)
{
	char path[2 * 4096 + 64], hex[2 * 64 + 1];
	const void *id = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(image->main.elf, &id);
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(image->main.elf, &crc);
	const char *slash = strrchr(image->path, '/');
	int folder = slash ? (int)(slash - image->path) : 1;

	if (size < 2 || size > 64)
		size = 0;
	for (ssize_t i = 0; i < size; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)id)[i]);
	if (size > 0) {
		snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
		if (try_debug_file(image, path, id, (size_t)size))
			return;
	}
	if (!name || strchr(name, '/'))
		return;
	for (int i = 0; i < 3; i++) {
		static const char *const format[] = {
			"%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s",
		};

		if ((size_t)snprintf(path, sizeof(path), format[i], folder,
				     slash ? image->path : ".", name) >= sizeof(path))
			continue;
		if (strcmp(path, image->path) != 0 &&
		    try_debug_file(image, path, id, (size_t)size))
			return;
	}
}

static void add_symbol(struct image *image, const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	struct spans *spans;

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		spans = &image->functions;
	else if (type == STT_OBJECT || type == STT_COMMON)
		spans = &image->objects;
	else
		return;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 || !name || !*name)
		return;
	image->symbols = xgrow(image->symbols, image->symbol_count, &image->symbol_capacity,
			       sizeof(*image->symbols));
	image->symbols[image->symbol_count] = (struct elf_symbol){
		.name = name,
		.low = symbol->st_value,
		.size = symbol->st_size,
	};
	spans_add(spans, symbol->st_value,
		  symbol->st_value + (symbol->st_size ? symbol->st_size : 1),
		  (uint32_t)image->symbol_count++);
}

static bool read_symbols(struct image *image, Elf *elf, unsigned type)
{
	Elf_Scn *section = NULL;
	bool found = false;

	while (elf && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		size_t count;

		if (!gelf_getshdr(section, &header) || header.sh_type != type ||
		    header.sh_entsize == 0)
			continue;
		data = elf_getdata(section, NULL);
		if (!data)
			continue;
		count = data->d_size / sizeof(Elf64_Sym);
		for (size_t i = 1; i < count; i++) {
			GElf_Sym symbol;

			if (!gelf_getsym(data, (int)i, &symbol))
				continue;
			add_symbol(image, &symbol,
				   elf_strptr(elf, header.sh_link, symbol.st_name));
			found = true;
		}
	}
	return found;
}

/* Extends functions without a size, frequent in hand-written assembly, up to the next function. */
static void stretch_functions(struct image *image)
{
	struct spans *s = &image->functions;

	spans_sort(s);
	for (size_t i = 0; i < s->count; i++) {
		struct elf_symbol *symbol = &image->symbols[s->items[i].id];
		size_t next = i + 1;

		if (symbol->size != 0)
			continue;
		while (next < s->count && s->items[next].low == symbol->low)
			next++;
		s->items[i].high = next < s->count ? s->items[next].low : image->high;
		if (s->items[i].high <= symbol->low)
			s->items[i].high = symbol->low + 1;
	}
	spans_sort(s);
}

static void image_load(struct image *image)
{
	Elf *elf = image->main.elf;

	if (image->loaded)
		return;
	image->loaded = true;
	if (!has_section(elf, ".debug_info"))
		find_debug_file(image);
	if (!read_symbols(image, elf, SHT_SYMTAB) &&
	    !read_symbols(image, image->debug_file.elf, SHT_SYMTAB))
		read_symbols(image, elf, SHT_DYNSYM);
	stretch_functions(image);
	spans_sort(&image->objects);
	if (image->debug_file.elf && has_section(image->debug_file.elf, ".debug_info"))
		elf = image->debug_file.elf;
	if (!has_section(elf, ".debug_info"))
		return;
	image->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (image->dwarf)
		image->debug = debug_open(image->dwarf, image->low, image->high);
}

static const char *symbol_name(struct elf_symbol *symbol)
{
	if (!symbol->demangle_tried) {
		symbol->demangle_tried = true;
		symbol->demangled = demangle(symbol->name);
	}
	return symbol->demangled ? symbol->demangled : symbol->name;
}

size_t image_frames(struct image *image, uint64_t addr, struct symbol_frame *out, size_t max)
{
	size_t count = 0;
	uint32_t id;

	image_load(image);
	if (image->debug)
		count = debug_frames(image->debug, addr, out, max);
	if (count == 0)
		out[count++] = (struct symbol_frame){ 0 };
	if (!out[count - 1].function) {
		id = spans_find(&image->functions, addr);
		if (id != SPAN_NONE)
			out[count - 1].function = symbol_name(&image->symbols[id]);
	}
	for (size_t i = 0; i < count; i++)
		if (!out[i].function)
			out[i].function = "??";
	return count;
}

bool image_variable(struct image *image, uint64_t addr, struct symbol_variable *out)
{
	struct elf_symbol *symbol;
	uint32_t id;

	image_load(image);
	if (image->debug && debug_variable(image->debug, addr, out))
		return true;
	id = spans_find(&image->objects, addr);
	if (id == SPAN_NONE)
		return false;
	symbol = &image->symbols[id];
	*out = (struct symbol_variable){
		.name = symbol_name(symbol),
		.offset = addr - symbol->low,
		.size = symbol->size,
	};
	return true;
}

bool image_part(struct image *image, uint64_t addr, uint64_t size, struct symbol_part *out)
{
	image_load(image);
	return image->debug && debug_part(image->debug, addr, size, out);
}
