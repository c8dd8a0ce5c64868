/*
 * The folders in which the sources of a program were compiled, where relative file names start.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "symbol/symbol.h"

bool symbol_folders(const char *program, bool (*each)(void *ctx, const char *folder), void *ctx)
{
	int fd = file_open_regular(program);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	const char *last = "";
	Dwarf_CU *unit = NULL;
	bool found = false;
	Dwarf_Die die;

	while (dwarf && !found &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Attribute attribute;
		const char *folder = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));

		if (!folder || *folder != '/' || strcmp(folder, last) == 0)
			continue;	/* units of one folder are mostly adjacent */
		last = folder;
		found = each(ctx, folder);
	}
	if (dwarf)
		dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
	return found;
}
