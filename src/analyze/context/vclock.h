/*
 * Vector clocks over threads' dense numbers (trace ids). Absent components are 0.
 */
#ifndef ANALYZE_CONTEXT_VCLOCK_H
#define ANALYZE_CONTEXT_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct vclock {
	uint32_t count;		/* components there are */
	uint32_t capacity;
	uint64_t *at;		/* by thread id */
	uint64_t changes;	/* made so far, or tried: the same as before, the same clock */
};

void vclock_free(struct vclock *v);
/* All components are 0 again, and take no memory; it is the same clock, changed. */
void vclock_empty(struct vclock *v);
void vclock_copy(struct vclock *to, const struct vclock *from);
void vclock_join(struct vclock *to, const struct vclock *from);
void vclock_tick(struct vclock *v, uint32_t thread);
/* The component becomes `value` if it is lower. */
void vclock_raise(struct vclock *v, uint32_t thread, uint64_t value);
bool vclock_leq(const struct vclock *a, const struct vclock *b);

static inline uint64_t vclock_get(const struct vclock *v, uint32_t thread)
{
	return thread < v->count ? v->at[thread] : 0;
}

/* An event of `thread` at its time `epoch` happened before whoever has the clock `v`. */
static inline bool vclock_saw(const struct vclock *v, uint32_t thread, uint64_t epoch)
{
	return epoch <= vclock_get(v, thread);
}

#endif
