/*
 * A file that appears whole or not at all: written beside its place under
 * another name, then renamed. Failures are kept and told at the end.
 */
#ifndef TRACE_WRITE_OUTFILE_H
#define TRACE_WRITE_OUTFILE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"
#include "base/buf.h"
#include "base/err.h"

struct outfile {
	char *path, *temporary;
	int fd;
	int error;		/* errno of the first failure */
	uint64_t size;		/* written so far */
	struct buf pending;
};

int outfile_open(struct outfile *o, const char *path, struct err *err);
void outfile_write(struct outfile *o, const void *data, size_t size);

/* Over what was written before; not counted. */
void outfile_patch(struct outfile *o, uint64_t offset, const void *data, size_t size);

/* A chunk: fills magic and checks (and the sizes, unless TRACE_CHUNK_ZSTD is set). */
void outfile_chunk(struct outfile *o, struct trace_chunk *chunk, const void *payload,
		   size_t stored);

/* Renames it into place, or removes it and says why. Closes either way. */
int outfile_commit(struct outfile *o, struct err *err);
void outfile_abort(struct outfile *o);

#endif
