/*
 * What a program prints: the beginning and the end are kept, of everything the
 * size and a hash, so that gigabytes do no harm.
 */
#ifndef EXPLORE_TARGET_CAPTURE_H
#define EXPLORE_TARGET_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define CAPTURE_HEAD (1u << 20)
#define CAPTURE_TAIL (64u << 10)

struct capture {
	struct buf head;	/* the first bytes, `limit` at most */
	struct buf tail;	/* a ring of CAPTURE_TAIL with the last that are not in `head` */
	size_t limit;		/* 0: CAPTURE_HEAD */
	uint64_t size;		/* of everything */
	uint64_t hash;		/* of everything; capture_clear() makes it that of nothing */
};

/* All zero must be cleared before use. The limit stays. */
void capture_clear(struct capture *c);
void capture_free(struct capture *c);
void capture_add(struct capture *c, const void *data, size_t size);
void capture_copy(struct capture *to, const struct capture *from);

/* Reads what is there without waiting for more; false at the end of the pipe. */
int capture_drain(struct capture *c, int fd);

/* Appends what is kept to *out, with a line about what is missing in between. */
void capture_text(const struct capture *c, struct buf *out);

#endif
