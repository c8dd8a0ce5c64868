/*
 * What a process left in its live memory (abi/run_options.h). It may have been
 * killed at any moment or have written over it: nothing is believed unchecked.
 * Read with pread, since a mapping of a full tmpfs could kill the reader.
 */
#ifndef TRACE_WRITE_LIVE_H
#define TRACE_WRITE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/live_memory.h"
#include "abi/trace_format.h"
#include "base/buf.h"
#include "base/err.h"

struct live {
	int fd;
	uint64_t size;
	struct live_header header;
	struct live_slot *slots;	/* those that are in the file */
	size_t slot_count;
	uint64_t damaged;		/* places that were not what they should be */
};

/* 1; 0 if the runtime never got to set it up; -1. Close in the first case. */
int live_open(struct live *l, const char *path, struct err *err);
void live_close(struct live *l);

/*
 * Walks the stash: *position is where to look, from header.stash_tail. True and a
 * whole, checked chunk with its place in the file; false at the end.
 */
bool live_stash_next(struct live *l, uint64_t *position, struct trace_chunk *chunk,
		     uint64_t *offset);

/* The same for the outbox; *position begins at 0. */
bool live_out_next(struct live *l, uint64_t *position, struct trace_chunk *chunk, uint64_t *offset);

/* Bytes of the live memory; false if they are not all there. */
bool live_read(const struct live *l, uint64_t offset, void *to, size_t size);

/*
 * The whole events in a slot's ring; returns how many records, at most
 * LIVE_RING_RECORDS. *time is the last time told there, or the slot's.
 */
size_t live_ring(struct live *l, size_t slot, struct trace_record *records, uint64_t *time);

#endif
