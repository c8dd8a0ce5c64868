/*
 * A trace file mapped and its chunks found, without decoding any event.
 *
 * The runtime appends chunks as threads fill them, and may be killed in the
 * middle of one. So the scan never trusts a length it cannot check, and finds
 * the next whole chunk behind a broken place. Whether a broken place is the end
 * of a killed run or damage is decided when all is known: a run that ended in
 * good order and lost nothing has none.
 */
#ifndef TRACE_READ_INDEX_H
#define TRACE_READ_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"
#include "base/err.h"
#include "trace/read/access_groups.h"

/* The key that ends a finished trace: how many chunks come before. */
#define INDEX_TRAILER "finished_chunks"

struct index_chunk {
	uint64_t offset;	/* of its header in the file */
	uint64_t seq;
	uint32_t thread;
};

struct index_meta {
	const char *key, *value;
};

struct index {
	const uint8_t *data;	/* the mapped file */
	uint64_t size;
	struct trace_header header;
	struct index_chunk *events;	/* by thread, then seq; no number twice */
	size_t event_count;
	uint64_t *others;	/* offsets of all other chunks, in file order */
	size_t other_count;
	struct index_meta *metas;	/* in file order, END's too */
	size_t meta_count;
	bool ended;		/* there is an END chunk */
	bool lossy;		/* not all was written */
	struct bunches bunches;	/* once index_read_access_groups has read them */
	uint64_t records;
	uint64_t missing;	/* chunks that holes in the numbers stand for, at least */
	uint64_t torn_bytes;	/* in no whole chunk */
	uint64_t duplicates;
	uint64_t decompressed;	/* bytes made by index_payload; the caller may reset it */
	/* private */
	char **texts;		/* what metas point into */
	size_t text_count;
	void *zstd;
	struct trace_coder **coders;	/* that nobody uses */
	size_t coder_count, coder_capacity;
	size_t coders_made;
};

enum index_option {
	INDEX_LOSSY = 1,	/* broken places are expected: the disk was full */
	INDEX_ALLOW_EMPTY = 2,	/* no header at all reads as a trace without events */
};

#define TEXT_MAGIC "snarl-text"	/* first bytes of a text trace */

/* What the file begins with. */
enum index_type { INDEX_TRACE, INDEX_TEXT, INDEX_FOREIGN };
enum index_type index_type_of(const void *data, size_t size);

/* Maps a whole regular file, NULL data if it is empty. */
int index_map(const char *path, const uint8_t **data, uint64_t *size, struct err *err);

/* On failure nothing has to be closed; *err does not name the file. */
int index_open(struct index *idx, const char *path, unsigned options, struct err *err);

/* The same for a file already mapped, which idx then owns if it succeeds. */
int index_scan(struct index *idx, const uint8_t *data, uint64_t size, unsigned options,
	       struct err *err);
void index_close(struct index *idx);

struct payload {
	const uint8_t *data;
	size_t size;
	uint8_t *owned;		/* to be freed; NULL if data lies in the file */
};

/* A chunk known to the index: header and checked, decompressed payload. */
int index_payload(struct index *idx, uint64_t offset, struct trace_chunk *chunk,
		  struct payload *out, struct err *err);
void payload_free(struct payload *p);

/*
 * To decode a chunk with, after trace_coder_init(). They are large: one that is given back serves the
 * next, which may be of another thread.
 */
struct trace_coder *index_take_coder(struct index *idx);
void index_give_coder(struct index *idx, struct trace_coder *coder);

/* Reads what records of kind BUNCH stand for. */
int index_read_access_groups(struct index *idx, struct err *err);

/* The header at a known chunk's offset (files do not align them). */
static inline struct trace_chunk index_header(const struct index *idx, uint64_t offset)
{
	struct trace_chunk chunk;

	__builtin_memcpy(&chunk, idx->data + offset, sizeof(chunk));
	return chunk;
}

/* NULL if absent. */
const char *index_meta(const struct index *idx, const char *key);

/*
 * Whether the bytes are a chunk: all of its header, and its payload within
 * `size`. The payload's check is the caller's if with_payload is false.
 */
bool index_chunk_valid(const uint8_t *data, uint64_t size, bool with_payload);

#endif
