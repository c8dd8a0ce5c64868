/*
 * Captured output of a program. Memory is bounded: only the first and the last part are kept, plus
 * the size and a hash of everything.
 */
#ifndef EXPLORE_TARGET_CAPTURE_H
#define EXPLORE_TARGET_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define CAPTURE_HEAD (1u << 20)	/* default of `limit` */
#define CAPTURE_CHECK (64u << 20)	/* `limit` for a --check command, which reads all of it */
#define CAPTURE_TAIL (64u << 10)	/* enough for the messages before a crash */

struct capture {
	struct buf head;	/* the first bytes, at most `limit` */
	struct buf tail;	/* ring: the last CAPTURE_TAIL bytes that are not in `head` */
	size_t limit;		/* 0: CAPTURE_HEAD */
	uint64_t size;		/* of all output */
	uint64_t hash;		/* FNV-1a of all output */
};

/* Empties a capture and keeps its limit. Call it once before use on an all-zero capture. */
void capture_clear(struct capture *c);
void capture_free(struct capture *c);
void capture_add(struct capture *c, const void *data, size_t size);
void capture_copy(struct capture *to, const struct capture *from);

/* Reads what a non-blocking pipe holds. Returns 0 at the end of the pipe, else 1. */
int capture_drain(struct capture *c, int fd);

/* Appends the kept output to *out, with a line that counts the bytes dropped in between. */
void capture_text(const struct capture *c, struct buf *out);

#endif
