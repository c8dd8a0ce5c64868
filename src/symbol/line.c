/*
 * Line tables and file names of a unit.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/unit.h"

static int compare_rows(const void *a, const void *b)
{
	const struct unit_row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;	/* an end comes before the start of the next sequence */
	return (x->order > y->order) - (x->order < y->order);
}

static bool rows_sorted(const struct unit *u)
{
	for (size_t i = 1; i < u->row_count; i++)
		if (compare_rows(&u->rows[i - 1], &u->rows[i]) > 0)
			return false;
	return true;
}

static void read_row(struct debug *d, struct unit *u, Dwarf_Line *line)
{
	struct unit_row *row = &u->rows[u->row_count];
	Dwarf_Files *files;
	Dwarf_Addr addr;
	size_t file = 0;
	int number = 0, column = 0;
	bool end = false;

	if (!line || dwarf_lineaddr(line, &addr) != 0)
		return;
	/* The end of a sequence may be the address after the last instruction. */
	if (addr < d->low || addr > d->high)
		return;
	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	dwarf_lineendsequence(line, &end);
	dwarf_line_file(line, &files, &file);
	*row = (struct unit_row){
		.addr = addr,
		.order = (uint32_t)u->row_count,
		.file = (uint32_t)file,
		.line = (uint32_t)number,
		.column = column > UINT16_MAX ? 0 : (uint16_t)column,
		.end = end,
	};
	u->row_count++;
}

static void read_lines(struct debug *d, struct unit *u)
{
	Dwarf_Lines *lines;
	size_t count;

	u->lines_read = true;
	if (dwarf_getsrclines(&u->die, &lines, &count) != 0 || count == 0)
		return;
	u->rows = xcalloc(count, sizeof(*u->rows));
	for (size_t i = 0; i < count; i++)
		read_row(d, u, dwarf_onesrcline(lines, i));
	if (!rows_sorted(u))
		qsort(u->rows, u->row_count, sizeof(*u->rows), compare_rows);
}

const struct unit_row *unit_line(struct debug *d, struct unit *u, uint64_t addr)
{
	size_t first = 0, last;

	if (!u->lines_read)
		read_lines(d, u);
	last = u->row_count;
	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (u->rows[middle].addr <= addr)
			first = middle + 1;
		else
			last = middle;
	}
	if (first == 0 || u->rows[first - 1].end)
		return NULL;
	return &u->rows[first - 1];
}

/* Removes "." and, except at the start of a relative path, ".." from a path, in place. */
static void clean_path(char *path)
{
	char *start = path + (path[0] == '/'), *in = start, *out = start;
	char *floor = start;	/* ".." does not remove what is before this */

	for (;;) {
		size_t length;
		bool up;

		while (*in == '/')
			in++;
		length = strcspn(in, "/");
		if (length == 0)
			break;
		up = length == 2 && in[0] == '.' && in[1] == '.';
		if (up && out > floor) {
			while (out > floor && *--out != '/')
				;
		} else if (!(length == 1 && in[0] == '.')) {
			if (out > start)
				*out++ = '/';
			memmove(out, in, length);
			out += length;
			if (up)
				floor = out;
		}
		in += length;
	}
	*out = '\0';
}

/*
 * The name relative to the folder of compilation if it is below it, as it was given to the
 * compiler.
 */
static const char *shorten(struct debug *d, struct unit *u, const char *full)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(
		dwarf_attr_integrate(&u->die, DW_AT_comp_dir, &attribute));
	char *path = xstrdup(full), *base;
	size_t length;

	clean_path(path);
	if (folder && folder[0] == '/') {
		base = xstrdup(folder);
		clean_path(base);
		length = strlen(base);
		if (length > 1 && strncmp(path, base, length) == 0 && path[length] == '/' &&
		    path[length + 1])
			memmove(path, path + length + 1, strlen(path + length + 1) + 1);
		free(base);
	}
	return debug_keep(d, path);
}

const char *unit_file(struct debug *d, struct unit *u, uint64_t number)
{
	Dwarf_Files *files;
	const char *full;
	size_t count;

	if (dwarf_getsrcfiles(&u->die, &files, &count) != 0 || number >= count)
		return NULL;
	if (!u->files) {
		u->files = xcalloc(count, sizeof(*u->files));
		u->file_count = count;
	}
	if (number >= u->file_count)
		return NULL;
	if (!u->files[number]) {
		full = dwarf_filesrc(files, number, NULL, NULL);
		if (!full || strcmp(full, "???") == 0)
			return NULL;
		u->files[number] = shorten(d, u, full);
	}
	return u->files[number];
}
