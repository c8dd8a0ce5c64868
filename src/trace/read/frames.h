/*
 * Function activations of one thread, in canonical form.
 *
 * Recording with and without the filter tells different entries and exits:
 * only those around something kept are told for sure. So an entry is delivered
 * just before the first event inside, and an activation in which nothing
 * happened is not delivered at all.
 */
#ifndef TRACE_READ_FRAMES_H
#define TRACE_READ_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "abi/trace_format.h"
#include "base/mem.h"

#define FRAMES_MAX_PENDING (1u << 20)

struct frames {
	struct trace_record *pending;	/* entries not delivered yet, outermost first */
	size_t count, capacity;
	size_t told;			/* of these, delivered just now */
	uint32_t depth;			/* delivered ones around the next event */
};

static inline void frames_free(struct frames *f)
{
	free(f->pending);
}

static inline void frames_reset(struct frames *f)
{
	f->count = f->told = 0;
	f->depth = 0;
}

/* True: keep `record` back. False: deliver what is pending (if any), then it. */
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

/* The next pending entry to deliver, NULL if there is none. *depth is its event's. */
static inline const struct trace_record *frames_deliver(struct frames *f, uint32_t *depth)
{
	const struct trace_record *r;

	if (!f->count)
		return NULL;
	r = f->pending + f->told;
	*depth = f->depth++;
	if (++f->told == f->count)
		f->told = f->count = 0;
	return r;
}

/* Around the event itself, which is delivered now. */
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
