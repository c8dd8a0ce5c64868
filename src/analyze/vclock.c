#include "analyze/vclock.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void vclock_free(struct vclock *v)
{
	free(v->at);
	*v = (struct vclock){ 0 };
}

/* New components are 0. */
static void widen(struct vclock *v, uint32_t count)
{
	if (count > v->capacity) {
		v->capacity = count < 8 ? 8 : count + count / 2;
		v->at = xrealloc(v->at, v->capacity * sizeof(*v->at));
	}
	if (count > v->count) {
		memset(v->at + v->count, 0, (count - v->count) * sizeof(*v->at));
		v->count = count;
	}
}

void vclock_copy(struct vclock *to, const struct vclock *from)
{
	to->count = 0;
	widen(to, from->count);
	if (from->count)
		memcpy(to->at, from->at, from->count * sizeof(*to->at));
}

void vclock_join(struct vclock *to, const struct vclock *from)
{
	widen(to, from->count);
	for (uint32_t i = 0; i < from->count; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
}

void vclock_tick(struct vclock *v, uint32_t thread)
{
	widen(v, thread + 1);
	v->at[thread]++;
}

void vclock_raise(struct vclock *v, uint32_t thread, uint64_t value)
{
	if (value <= vclock_get(v, thread))
		return;
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
