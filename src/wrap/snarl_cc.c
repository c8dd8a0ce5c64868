/*
 * The executables snarl-cc and snarl-c++: if its name ends in c++, it compiles C++.
 */
#include <string.h>

#include "wrap/args/rewrite.h"

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "";
	size_t size = strlen(name);

	return wrap_main(argc, argv, size >= 3 && strcmp(name + size - 3, "c++") == 0);
}
