/*
 * Loops with accesses whose memory is in part shared, in part private, that are long, or that come when the ring
 * needs attention; and what the list of sites says of them.
 */
#include "runtime/clock.h"
#include "runtime/entry.h"
#include "runtime/loop.h"
#include "runtime/sites.h"

#define FEW 8u		/* turns that are not worth a group of their own */

/* As in loop.c. */
static void append(struct snarlrt_thread *self, const struct trace_record *group, unsigned count, uint32_t undecided)
{
	uintptr_t page;

	snarlrt_tell_frames(self);
	page = (uintptr_t)__snarl_tls.cur / STAMP_BYTES;
	snarlrt_append(self, group, count);
	loop_count(self, group, count, undecided);
	if (loop_is_long(group) || (uintptr_t)__snarl_tls.cur / STAMP_BYTES != page) {
		struct trace_record stamp = { clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };

		snarlrt_append(self, &stamp, 1);
	}
}

/* False: it has to be told in parts. */
static bool tell_group(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	struct snarlrt_thread *self = snarlrt_enter();
	uint32_t undecided;
	unsigned count;

	if (!self)
		return true;
	count = loop_group(group, l, values, on, from, turns, &undecided);
	if (count != 0 && count != LOOP_MIXED)
		append(self, group, count, undecided);
	snarlrt_leave(self);
	return count != LOOP_MIXED;
}

/* One access after the other, as their hooks would have come. */
static void tell_each(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	for (; turns > 0; turns--, from++)
		for (unsigned i = 0; i < l->accesses; i++) {
			const struct loop_access *a = &l->access[i];

			if (on >> i & 1)
				snarlrt_access(loop_first(a, values) + from * loop_stride(a, values), a->site);
		}
}

/* A loop over memory that is in part shared is one group up to there and another one from there on. */
static void tell_turns(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	if (tell_group(l, values, on, from, turns))
		return;
	if (turns > FEW) {
		tell_turns(l, values, on, from, turns / 2);
		tell_turns(l, values, on, from + turns / 2, turns - turns / 2);
		return;
	}
	tell_each(l, values, on, from, turns);
}

void snarlrt_loop_slow(const struct loop *l, const uint64_t *values)
{
	uint64_t turns, some;
	uint32_t on = ~0u;

	if (!l) {
		snarlrt_deliver_deferred(__snarl_tls.self);
		return;
	}
	turns = loop_turns(l, values);
	if (snarlrt_loop_lists && !loop_sites_cached(l, &on))
		on = loop_sites_find(l);
	for (uint64_t from = 0; from < turns; from += some) {
		some = turns - from < TRACE_LOOP_TURNS ? turns - from : TRACE_LOOP_TURNS;
		tell_turns(l, values, on, from, some);
	}
}

bool snarlrt_loop_lists;

/* By bits 3 to 14 of the loop's address: the rest of it, and the accesses that are on. */
uint64_t snarlrt_loop_cache[LOOP_CACHED] SNARLRT_BIG;

static uint64_t *cache_of(const struct loop *l)
{
	return &snarlrt_loop_cache[(uintptr_t)l >> 3 & (LOOP_CACHED - 1)];
}

bool loop_sites_cached(const struct loop *l, uint32_t *on)
{
	uint64_t seen = __atomic_load_n(cache_of(l), __ATOMIC_RELAXED);

	*on = (uint32_t)seen;
	return seen >> 32 == (uintptr_t)l >> 15;
}

uint32_t loop_sites_find(const struct loop *l)
{
	uint32_t on = 0;

	for (unsigned i = 0; i < l->accesses; i++)
		if (!snarlrt_sites_off(l->access[i].site & TRACE_ADDR_MASK))
			on |= 1u << i;
	__atomic_store_n(cache_of(l), (uintptr_t)l >> 15 << 32 | on, __ATOMIC_RELAXED);
	return on;
}

void loop_sites_forget(void)
{
	for (unsigned i = 0; i < LOOP_CACHED; i++)
		__atomic_store_n(&snarlrt_loop_cache[i], 0, __ATOMIC_RELAXED);
}
