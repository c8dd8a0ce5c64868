/*
 * A binary min-heap of streams, ordered by the time of their next event, then by stream number.
 */
#ifndef TRACE_READ_MERGE_HEAP_H
#define TRACE_READ_MERGE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
	uint64_t key;		/* time of the stream's next event */
	size_t stream;		/* index in reader.streams */
};

static inline bool heap_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->stream < b->stream;
}

/* Restores the heap order after the key of entry `at` grew. */
static inline void heap_sift(struct heap_entry *heap, size_t count, size_t at)
{
	struct heap_entry e = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && heap_before(&heap[child + 1], &heap[child]))
			child++;
		if (!heap_before(&heap[child], &e))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = e;
}

#endif
