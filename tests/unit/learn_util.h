/*
 * Helpers for tests of src/learn: steps written by hand, and random steps. The site of a step is
 * its number, from 1, unless a test sets it.
 */
#ifndef LEARN_UTIL_H
#define LEARN_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "learn/fold/fold_common.h"

#define UNUSED __attribute__((unused))

/*
 * "1R0": thread 1 reads cell 0. R, W: accesses; A, U: acquires, releases lock 0. Steps are
 * separated by blanks.
 */
static UNUSED size_t parse_steps(const char *text, struct learn_step *out)
{
	size_t count = 0;

	for (const char *p = text; *p; p++) {
		struct learn_step *s = &out[count];

		if (*p == ' ')
			continue;
		*s = (struct learn_step){ .thread = (uint32_t)(p[0] - '0'),
					  .size = 8,
					  .at = ++count };
		s->op = p[1] == 'R' ? IROOT_OP_READ : p[1] == 'W' ? IROOT_OP_WRITE :
			p[1] == 'A' ? IROOT_OP_ACQUIRE : IROOT_OP_RELEASE;
		s->addr = 0x1000 + 8 * (uint64_t)(p[2] - '0');
		s->site = p[1] == 'R' || p[1] == 'W' ? (uint32_t)count : 0;
		p += 2;
	}
	return count;
}

static UNUSED uint64_t test_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

static UNUSED void random_steps(struct learn_step *out, size_t count, unsigned threads,
				unsigned cells, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (struct learn_step){
			.thread = 1 + (uint32_t)(test_random(state) % threads),
			.op = test_random(state) % 2 ? IROOT_OP_READ : IROOT_OP_WRITE,
			.addr = 0x1000 + 8 * (test_random(state) % cells), .size = 8,
			.site = (uint32_t)i + 1, .at = i + 1,
		};
}

static UNUSED int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in sorted order, to compare the results of two algorithms. */
static UNUSED char *sorted(struct buf *b)
{
	char *lines[4096], *text = strdup(buf_string(b)), *save = NULL;
	size_t count = 0;
	struct buf out = { 0 };

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), by_text);
	for (size_t i = 0; i < count; i++)
		buf_addf(&out, "%s\n", lines[i]);
	free(text);
	buf_free(b);
	buf_string(&out);
	return (char *)out.data;
}

#endif
