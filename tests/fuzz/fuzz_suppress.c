/*
 * Any bytes as a suppression file: what is read must match names without a crash, and in
 * time that does not explode; what is not read has a line that says why.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppressions *s = suppress_new();
	char *copy = malloc(size ? size : 1);	/* of exactly that size, so that ASan sees a byte too far */
	struct err err = { "" };

	memcpy(copy, data, size);
	if (suppress_parse(s, "f", copy, size, &err) < 0) {
		if (strncmp(err.text, "f:", 2) != 0 || strchr(err.text, '\n'))
			abort();
	} else {
		for (unsigned type = 0; type < SUPPRESS_TYPES; type++) {
			if (suppress_name(s, type, ""))
				abort();
			suppress_name(s, type, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
			suppress_name(s, type, "queue<int>::put(int)");
		}
	}
	free(copy);
	suppress_free(s);
	return 0;
}
