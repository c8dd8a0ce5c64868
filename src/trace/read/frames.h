/*
 * Function activations of one thread, in a canonical form.
 *
 * How many entries and exits a trace has depends on how it was recorded (TRACE_UNFILTERED); only
 * activations with other events inside are in every recording. Therefore an entry is delivered just
 * before the first event inside the activation, and an activation without events is left out.
 *
 *   in the trace:  enter f, enter g, exit g, enter h, write x, exit h, exit f
 *   delivered:     enter f, enter h, write x, exit h, exit f
 */
#ifndef TRACE_READ_FRAMES_H
#define TRACE_READ_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "abi/trace_format.h"
#include "base/mem.h"

#define FRAMES_MAX_PENDING (1u << 20)	/* further entries are delivered at once: bounds memory */

/* The activations of one thread. */
struct frames {
	struct trace_record *pending;	/* entries not delivered yet, outermost first */
	size_t count, capacity;
	size_t delivered;		/* number of pending entries delivered already */
	uint32_t depth;			/* delivered activations around the next event */
};

static inline void frames_free(struct frames *f)
{
	free(f->pending);
}

static inline void frames_reset(struct frames *f)
{
	f->count = f->delivered = 0;
	f->depth = 0;
}

/*
 * Returns true if `record` is held back: an entry, or the exit of a pending entry. Otherwise
 * deliver the pending entries, then the record.
 */
static inline bool frames_hold(struct frames *f, const struct trace_record *record)
{
	unsigned kind = trace_site_kind(record->site);

	if (kind == TRACE_FUNC_ENTRY && f->count < FRAMES_MAX_PENDING) {
		f->pending = xgrow(f->pending, f->count, &f->capacity, sizeof(*f->pending));
		f->pending[f->count++] = *record;
		return true;
	}
	if (kind == TRACE_FUNC_EXIT && f->count) {
		f->count--;
		return true;
	}
	return false;
}

/* Returns the next pending entry and sets *depth to its depth; NULL if there is none. */
static inline const struct trace_record *frames_deliver(struct frames *f, uint32_t *depth)
{
	const struct trace_record *r;

	if (!f->count)
		return NULL;
	r = f->pending + f->delivered;
	*depth = f->depth++;
	if (++f->delivered == f->count)
		f->delivered = f->count = 0;
	return r;
}

/* Updates the depth for an event that is delivered now, and returns the event's depth. */
static inline uint32_t frames_apply(struct frames *f, unsigned kind, uint64_t arg)
{
	uint32_t depth = f->depth;

	if (kind == TRACE_FUNC_ENTRY)
		f->depth++;
	else if (kind == TRACE_FUNC_EXIT)
		depth = f->depth -= f->depth > 0;
	else if (kind == TRACE_JUMP && arg < depth)
		f->depth = (uint32_t)arg;
	return depth;
}

#endif
