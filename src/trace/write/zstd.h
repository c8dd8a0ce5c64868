/*
 * zstd for chunks at rest, where it pays.
 */
#ifndef TRACE_WRITE_ZSTD_H
#define TRACE_WRITE_ZSTD_H

#include <stddef.h>

#include "abi/trace_format.h"
#include "base/buf.h"

#define SQUEEZE_LEVEL -1	/* loops shrink as well as by 1, in less than half the time */
#define SQUEEZE_MIN 128u	/* smaller payloads are left alone */
#define SQUEEZE_PERCENT 60u	/* what may be left at most; somebody waits meanwhile */
#define SQUEEZE_SKIP 15u	/* after chunks that did not shrink, so many at most are not tried */

struct squeeze {
	void *context;
	struct buf out;
	unsigned skip, skip_next;
};

/*
 * Compresses *size bytes if that saves enough of them: then chunk->flags and
 * chunk->size say so, *size is what is left and the result is in s->out.
 * Otherwise returns `payload`. Chunks come in the order of the trace: neighbours shrink alike.
 */
const void *squeeze_chunk(struct squeeze *s, struct trace_chunk *chunk, const void *payload,
			  size_t *size);
void squeeze_free(struct squeeze *s);

#endif
