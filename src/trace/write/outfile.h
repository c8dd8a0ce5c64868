/*
 * A file that appears whole or not at all: written under a temporary name in the same folder,
 * then renamed. The first failure is remembered and reported by outfile_commit().
 */
#ifndef TRACE_WRITE_OUTFILE_H
#define TRACE_WRITE_OUTFILE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"
#include "base/buf.h"
#include "base/err.h"

/* A file being written. */
struct outfile {
	char *path, *temporary;
	int fd;
	int error;		/* errno of the first failure */
	uint64_t size;		/* bytes appended so far */
	struct buf pending;	/* bytes not written yet */
};

/* Creates the temporary file. Returns -1 and sets *err if it cannot. */
int outfile_open(struct outfile *o, const char *path, struct err *err);

/* Appends bytes. */
void outfile_write(struct outfile *o, const void *data, size_t size);

/* Overwrites bytes that were appended before. */
void outfile_patch(struct outfile *o, uint64_t offset, const void *data, size_t size);

/* Appends a chunk. Sets its magic, `stored` and check sums, and `size` unless it is compressed. */
void outfile_chunk(struct outfile *o, struct trace_chunk *chunk, const void *payload,
		   size_t stored);

/* Renames the file into place or, if anything failed, removes it and sets *err. Closes it. */
int outfile_commit(struct outfile *o, struct err *err);

/* Removes the file and closes it. */
void outfile_abort(struct outfile *o);

#endif
