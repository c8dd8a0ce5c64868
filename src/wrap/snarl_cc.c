/*
 * The snarl-cc executable; under a name that ends in c++ the C++ compiler.
 */
#include <string.h>

#include "wrap/args/rewrite.h"

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "";
	size_t size = strlen(name);

	return wrap_main(argc, argv, size >= 3 && strcmp(name + size - 3, "c++") == 0);
}
