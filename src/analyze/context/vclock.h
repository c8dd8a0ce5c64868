/*
 * Vector clocks, indexed by trace id of the thread (small, dense numbers). Components that are not
 * stored are 0.
 */
#ifndef ANALYZE_CONTEXT_VCLOCK_H
#define ANALYZE_CONTEXT_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct vclock {
	uint32_t count;		/* components stored */
	uint32_t capacity;
	uint64_t *at;		/* by thread id */
	uint64_t changes;	/* number of calls that may have changed the clock */
};

void vclock_free(struct vclock *v);

/* Sets all components to 0 and frees their memory; counts as a change. */
void vclock_empty(struct vclock *v);

void vclock_copy(struct vclock *to, const struct vclock *from);
void vclock_join(struct vclock *to, const struct vclock *from);

/* Adds 1 to the component of `thread`. */
void vclock_tick(struct vclock *v, uint32_t thread);

/* Sets the component of `thread` to `value` if it is lower. */
void vclock_raise(struct vclock *v, uint32_t thread, uint64_t value);

/* Whether each component of `a` is at most that of `b`. */
bool vclock_leq(const struct vclock *a, const struct vclock *b);

static inline uint64_t vclock_get(const struct vclock *v, uint32_t thread)
{
	return thread < v->count ? v->at[thread] : 0;
}

/* Whether an event of `thread` at its own time `epoch` happened before the point with clock `v`. */
static inline bool vclock_saw(const struct vclock *v, uint32_t thread, uint64_t epoch)
{
	return epoch <= vclock_get(v, thread);
}

#endif
