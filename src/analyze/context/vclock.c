#include "analyze/context/vclock.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void vclock_free(struct vclock *v)
{
	free(v->at);
	*v = (struct vclock){ 0 };
}

void vclock_empty(struct vclock *v)
{
	free(v->at);
	*v = (struct vclock){ .changes = v->changes + 1 };
}

static void reserve(struct vclock *v, uint32_t count)
{
	if (count > v->capacity) {
		v->capacity = count < 8 ? 8 : count + count / 8;
		v->at = xrealloc(v->at, v->capacity * sizeof(*v->at));
	}
}

/* New components are 0. */
static void widen(struct vclock *v, uint32_t count)
{
	if (count <= v->count)
		return;
	reserve(v, count);
	memset(v->at + v->count, 0, (count - v->count) * sizeof(*v->at));
	v->count = count;
}

void vclock_copy(struct vclock *to, const struct vclock *from)
{
	to->changes++;
	reserve(to, from->count);
	to->count = from->count;
	if (from->count)
		memcpy(to->at, from->at, from->count * sizeof(*to->at));
}

/* Branch-free, because the result of the comparison cannot be predicted. */
static void raise_each(uint64_t *to, const uint64_t *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = to[i] > from[i] ? to[i] : from[i];
}

/*
 * Handles four components at a time, which pays with hundreds of threads; returns the number done.
 * Signed comparison is right because clocks stay below 2^63.
 */
static __attribute__((target("avx2"))) uint32_t raise_fours(uint64_t *to, const uint64_t *from,
							    uint32_t count)
{
	int64_t a __attribute__((vector_size(32))), b __attribute__((vector_size(32)));
	uint32_t i;

	for (i = 0; i + 4 <= count; i += 4) {
		memcpy(&a, to + i, sizeof(a));
		memcpy(&b, from + i, sizeof(b));
		a = (a & (a > b)) | (b & ~(a > b));
		memcpy(to + i, &a, sizeof(a));
	}
	return i;
}

void vclock_join(struct vclock *to, const struct vclock *from)
{
	uint32_t done = 0;

	if (from->count == 0)
		return;
	to->changes++;
	widen(to, from->count);
	if (from->count >= 8 && __builtin_cpu_supports("avx2"))
		done = raise_fours(to->at, from->at, from->count);
	raise_each(to->at + done, from->at + done, from->count - done);
}

void vclock_tick(struct vclock *v, uint32_t thread)
{
	v->changes++;
	widen(v, thread + 1);
	v->at[thread]++;
}

void vclock_raise(struct vclock *v, uint32_t thread, uint64_t value)
{
	if (value <= vclock_get(v, thread))
		return;
	v->changes++;
	widen(v, thread + 1);
	v->at[thread] = value;
}

bool vclock_leq(const struct vclock *a, const struct vclock *b)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (a->at[i] > vclock_get(b, i))
			return false;
	return true;
}
