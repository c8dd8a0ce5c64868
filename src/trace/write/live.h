/*
 * Reads the live memory of a process that has ended (abi/live_memory.h).
 *
 * The process may have been killed at any instruction or may have overwritten the memory:
 * everything is checked. It is read with pread(), because a page of a mapped tmpfs file that does
 * not exist, on a full disk, would kill the reader with SIGBUS.
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

/* An opened live memory. */
struct live {
	int fd;
	uint64_t size;
	struct live_header header;
	struct live_slot *slots;	/* a copy; fewer than LIVE_SLOTS if the file is truncated */
	size_t slot_count;
	uint64_t damaged;		/* number of places that were not valid */
};

/* Returns 1, or 0 if the runtime never initialised it, or -1. Close it only after 1. */
int live_open(struct live *l, const char *path, struct err *err);
void live_close(struct live *l);

/*
 * Finds the next valid chunk of the stash. *position is header.stash_tail at first and moves on.
 * Sets *offset to the chunk's offset in the file. Returns false at the end.
 */
bool live_stash_next(struct live *l, uint64_t *position, struct trace_chunk *chunk,
		     uint64_t *offset);

/* Finds the next valid chunk of the outbox; *position is 0 at first. */
bool live_outbox_next(struct live *l, uint64_t *position, struct trace_chunk *chunk,
		      uint64_t *offset);

/* Copies bytes of the live memory; false if some are not in the file. */
bool live_read(const struct live *l, uint64_t offset, void *to, size_t size);

/*
 * Copies the whole events of a slot's ring. Returns the number of records, at most
 * LIVE_RING_RECORDS. *time is the last time among them, or the slot's if they have none.
 */
size_t live_ring(struct live *l, size_t slot, struct trace_record *records, uint64_t *time);

#endif
