/*
 * Checks the schedule parser with arbitrary bytes. If they parse, writing and parsing them again
 * must give the same text. Shared by the fuzzer and the unit tests.
 */
#ifndef FUZZ_SCHEDULE_H
#define FUZZ_SCHEDULE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/schedule/schedule.h"

static void fuzz_schedule(const uint8_t *data, size_t size)
{
	struct schedule s;
	struct buf first = { 0 }, second = { 0 };
	struct err err = { "" };
	char *copy = malloc(size ? size : 1);	/* exact size: ASan detects reads beyond it */

	memcpy(copy, data, size);
	if (schedule_parse(&s, copy, size, "f", &err) < 0) {
		if (strncmp(err.text, "f:", 2) != 0 || strchr(err.text, '\n'))
			abort();
		free(copy);
		return;
	}
	free(copy);
	schedule_text(&s, &first);
	schedule_free(&s);
	if (schedule_parse(&s, (const char *)first.data, first.size, "f", &err) < 0) {
		fprintf(stderr, "%s\n%s", err.text, buf_string(&first));
		abort();
	}
	schedule_text(&s, &second);
	if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0)
		abort();
	schedule_free(&s);
	buf_free(&first);
	buf_free(&second);
}

#endif
