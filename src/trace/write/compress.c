#include <zstd.h>

#include "trace/write/compress.h"

const void *compressor_chunk(struct compressor *s, struct trace_chunk *chunk, const void *payload,
			     size_t *size)
{
	size_t got, bound = ZSTD_compressBound(*size);

	if (*size < COMPRESS_MIN || chunk->flags & TRACE_CHUNK_ZSTD)
		return payload;
	if (s->skip > 0) {
		s->skip--;
		return payload;
	}
	if (!s->context && !(s->context = ZSTD_createCCtx()))
		return payload;
	buf_clear(&s->out);
	buf_reserve(&s->out, bound);
	got = ZSTD_compressCCtx(s->context, s->out.data, bound, payload, *size, COMPRESS_LEVEL);
	if (ZSTD_isError(got) || got * 100 > *size * COMPRESS_PERCENT) {
		s->skip = s->skip_next;
		s->skip_next =
			s->skip_next < COMPRESS_MAX_SKIP ? 2 * s->skip_next + 1 : COMPRESS_MAX_SKIP;
		return payload;
	}
	s->skip_next = 0;
	chunk->flags |= TRACE_CHUNK_ZSTD;
	chunk->size = (uint32_t)*size;
	*size = got;
	return s->out.data;
}

void compressor_free(struct compressor *s)
{
	ZSTD_freeCCtx(s->context);
	buf_free(&s->out);
	*s = (struct compressor){ 0 };
}
