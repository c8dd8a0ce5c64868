/*
 * The index of a mapped trace file: where its chunks are. No event is decoded.
 *
 * The runtime appends chunks as threads fill them and may be killed while it writes one.
 * Therefore the scan trusts no length without a check, and resynchronises at the next valid chunk
 * header after invalid bytes. Whether invalid bytes are damage is decided at the end of the scan:
 * a run that ended in good order and lost nothing leaves none.
 */
#ifndef TRACE_READ_INDEX_H
#define TRACE_READ_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/trace_format.h"
#include "base/err.h"
#include "trace/read/access_groups.h"

/* Key of the last chunk of a finished trace; its value is the number of chunks before it. */
#define INDEX_TRAILER "finished_chunks"

/* A chunk of events. */
struct index_chunk {
	uint64_t offset;	/* of the header in the file */
	uint64_t seq;
	uint32_t thread;
};

/* A key and its value. */
struct index_meta {
	const char *key, *value;
};

/* An indexed trace file. */
struct index {
	const uint8_t *data;	/* the mapped file */
	uint64_t size;
	struct trace_header header;
	struct index_chunk *events;	/* sorted by thread, then seq; no duplicates */
	size_t event_count;
	uint64_t *others;	/* offsets of all other chunks, in file order */
	size_t other_count;
	struct index_meta *metas;	/* of META and END chunks, in file order */
	size_t meta_count;
	bool ended;		/* there is an END chunk */
	bool lossy;		/* records may be missing: killed, still running, or lost_records */
	struct access_groups access_groups;	/* filled by index_read_access_groups() */
	uint64_t records;
	uint64_t missing;	/* chunks missing in gaps between seq numbers, at least */
	uint64_t torn_bytes;	/* bytes outside of valid chunks */
	uint64_t duplicates;	/* chunks left out because their seq was there before */
	uint64_t decompressed;	/* bytes made by index_payload(); the caller may reset it */
	/* private */
	char **texts;		/* the memory that metas point into */
	size_t text_count;
	void *zstd;
	struct trace_coder **coders;	/* free list of index_take_coder() */
	size_t coder_count, coder_capacity;
	size_t coders_made;	/* allocated in all */
};

enum index_option {
	INDEX_LOSSY = 1,	/* invalid bytes and missing chunks are no errors */
	INDEX_ALLOW_EMPTY = 2,	/* a file without a whole header is a trace without events */
};

#define TEXT_MAGIC "snarl-text"	/* first bytes of a text trace */

/* The kind of a file, by its first bytes. */
enum index_type { INDEX_TRACE, INDEX_TEXT, INDEX_FOREIGN };
enum index_type index_type_of(const void *data, size_t size);

/* Maps a whole regular file; *data is NULL if it is empty. *err does not name the file. */
int index_map(const char *path, const uint8_t **data, uint64_t *size, struct err *err);

/* Maps and scans a file. After a failure nothing has to be closed; *err does not name the file. */
int index_open(struct index *idx, const char *path, unsigned options, struct err *err);

/* Scans a file that is already mapped. If it succeeds, idx owns the mapping. */
int index_scan(struct index *idx, const uint8_t *data, uint64_t size, unsigned options,
	       struct err *err);
void index_close(struct index *idx);

/* The payload of a chunk. */
struct payload {
	const uint8_t *data;
	size_t size;
	uint8_t *owned;		/* decompressed copy; NULL if data lies in the mapped file */
};

/* Reads a chunk of the index: its header and its payload, checked and decompressed. */
int index_payload(struct index *idx, uint64_t offset, struct trace_chunk *chunk,
		  struct payload *out, struct err *err);
void payload_free(struct payload *p);

/*
 * A coder for decoding a chunk; call trace_coder_init() first. Coders have 70 KB, so those given
 * back are reused, for chunks of any thread.
 */
struct trace_coder *index_take_coder(struct index *idx);
void index_give_coder(struct index *idx, struct trace_coder *coder);

/* Reads the access groups that records of kind BUNCH refer to. */
int index_read_access_groups(struct index *idx, struct err *err);

/* The header of the chunk at `offset`, copied because files do not align it. */
static inline struct trace_chunk index_header(const struct index *idx, uint64_t offset)
{
	struct trace_chunk chunk;

	__builtin_memcpy(&chunk, idx->data + offset, sizeof(chunk));
	return chunk;
}

/* The first value of a key, NULL if absent. */
const char *index_meta(const struct index *idx, const char *key);

/*
 * Whether `data` begins with a chunk: a valid header, and a payload that ends within `size`. The
 * payload's check sum is verified only if with_payload is set.
 */
bool index_chunk_valid(const uint8_t *data, uint64_t size, bool with_payload);

#endif
