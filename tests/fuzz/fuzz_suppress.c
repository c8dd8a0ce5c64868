/*
 * Parses any bytes as a suppression file. If they parse, matching names must not crash or take
 * exponential time; if not, the message must name a line and a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppressions *s = suppress_new();
	char *copy = malloc(size ? size : 1);	/* exact size: ASan detects reads beyond it */
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
