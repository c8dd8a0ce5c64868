/*
 * Compresses chunks with zstd where that saves enough bytes.
 */
#ifndef TRACE_WRITE_COMPRESS_H
#define TRACE_WRITE_COMPRESS_H

#include <stddef.h>

#include "abi/trace_format.h"
#include "base/buf.h"

#define COMPRESS_LEVEL -1	/* shrinks loops as well as level 1 in less than half the time */
#define COMPRESS_MIN 128u	/* bytes; smaller payloads are not compressed */
#define COMPRESS_PERCENT 60u	/* most that may remain: saving less is not worth the time */
#define COMPRESS_MAX_SKIP 15u	/* most chunks not tried after one that did not shrink */

struct compressor {
	void *context;		/* of zstd; NULL before the first use */
	struct buf out;
	unsigned skip;		/* number of chunks not to try next */
	unsigned skip_next;	/* value of `skip` after the next chunk that does not shrink */
};

/*
 * Compresses *size bytes of payload if that saves enough of them. Then it sets chunk->flags and
 * chunk->size, sets *size to the compressed size and returns s->out.data; otherwise it returns
 * `payload`. Call it in the order of the trace: neighbouring chunks compress equally well.
 */
const void *compressor_chunk(struct compressor *s, struct trace_chunk *chunk, const void *payload,
			     size_t *size);
void compressor_free(struct compressor *s);

#endif
