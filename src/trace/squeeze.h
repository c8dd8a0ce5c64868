/*
 * zstd for chunks at rest, where it pays.
 */
#ifndef TRACE_SQUEEZE_H
#define TRACE_SQUEEZE_H

#include <stddef.h>

#include "base/buf.h"
#include "trace/format.h"

#define SQUEEZE_LEVEL 1
#define SQUEEZE_MIN 128u	/* smaller payloads are left alone */

struct squeeze {
	void *context;
	struct buf out;
};

/*
 * Compresses *size bytes if that saves an eighth of them: then chunk->flags and
 * chunk->size say so, *size is what is left and the result is in s->out.
 * Otherwise returns `payload`.
 */
const void *squeeze_chunk(struct squeeze *s, struct trace_chunk *chunk, const void *payload,
			  size_t *size);
void squeeze_free(struct squeeze *s);

#endif
