#include "symbol/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef char *demangle_fn(const char *name, char *buffer, size_t *size, int *status);

/*
 * Uses the demangler of the C++ library, which is installed wherever a C++ program runs. It is
 * loaded at run time, so that the tool need not be linked with it.
 */
char *demangle(const char *name)
{
	static demangle_fn *undo;
	static int tried;
	int status = -1;
	const char *end;
	char *text;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	if (!tried) {
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

		tried = 1;
		if (!library)
			library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **)&undo = dlsym(library, "__cxa_demangle");
	}
	if (!undo)
		return NULL;
	text = undo(name, NULL, NULL, &status);
	if (status != 0 && (end = strchr(name, '.')) != NULL) {
		/* A part or a copy that the compiler made: f.part.0, table.1 */
		char *start = xstrndup(name, (size_t)(end - name));

		text = undo(start, NULL, NULL, &status);
		free(start);
	}
	return status == 0 ? text : NULL;
}
