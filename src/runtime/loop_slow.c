/*
 * Loops whose memory is not all private or shared, that are long, or that come when the ring needs
 * attention; and what the list of sites says of them.
 */
#include "runtime/clock.h"
#include "runtime/entry.h"
#include "runtime/loop.h"
#include "runtime/shadow.h"
#include "runtime/sites.h"

#define CACHED 4096u
#define FEW 8u		/* turns that are not worth a group of their own */

/* Nobody's or ours, and not cut: an access to it is told, but may be dropped later. */
static inline bool is_undecided(uint64_t addr)
{
	uint16_t seen = __atomic_load_n(loop_shadow(addr), __ATOMIC_RELAXED);

	return seen == 0 || seen == __snarl_tls.own_uncut;
}

/* All of it is shared or another thread's, which our touch makes shared; and some is the latter. */
static bool is_others(uint64_t addr, uint64_t stride, uint64_t turns, unsigned size)
{
	bool found = false;

	for (; turns > 0; turns--, addr += stride) {
		if (addr >= LOOP_USER_END - size)
			return false;
		for (uint16_t *s = loop_shadow(addr); s <= loop_shadow(addr + size - 1); s++) {
			uint16_t seen = __atomic_load_n(s, __ATOMIC_RELAXED);

			if (seen == SHADOW_SHARED)
				continue;
			if (seen == 0 || (seen | 1) == __snarl_tls.own)
				return false;
			found = true;
		}
	}
	return found;
}

/* Where one thread's memory is handed to another, this spares telling each access by itself. */
static bool share_others(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	bool found = false;

	for (unsigned i = 0; i < l->accesses; i++) {
		const struct loop_access *a = &l->access[i];
		uint64_t stride = loop_stride(a, values), addr = loop_first(a, values) + from * stride;
		unsigned size = loop_access_size(a);

		if (!(on >> i & 1) || !is_others(addr, stride, turns, size))
			continue;
		for (uint64_t n = turns; n > 0; n--, addr += stride)
			shadow_touch(addr, size);
		found = true;
	}
	return found;
}

/* Some access is undecided at both ends: it will be so in parts of the loop, too. */
static bool is_hopeless(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	for (unsigned i = 0; i < l->accesses; i++) {
		const struct loop_access *a = &l->access[i];
		uint64_t stride = loop_stride(a, values), first = loop_first(a, values) + from * stride;
		uint64_t last = first + (turns - 1) * stride;

		if (on >> i & 1 && ((first | last) >= LOOP_USER_END || (is_undecided(first) && is_undecided(last))))
			return true;
	}
	return false;
}

/* As in loop.c. */
static void append(struct snarlrt_thread *self, const struct trace_record *group, unsigned count)
{
	uintptr_t page;

	snarlrt_tell_frames(self);
	page = (uintptr_t)__snarl_tls.cur / STAMP_BYTES;
	snarlrt_append(self, group, count);
	if (loop_is_long(group) || (uintptr_t)__snarl_tls.cur / STAMP_BYTES != page) {
		struct trace_record stamp = { clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };

		snarlrt_append(self, &stamp, 1);
	}
}

/* False: each access has to be told by itself. */
static bool tell_group(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	struct snarlrt_thread *self = snarlrt_enter();
	unsigned count;

	if (!self)
		return true;
	count = loop_group(group, l, values, on, from, turns);
	if (count == LOOP_MIXED && share_others(l, values, on, from, turns))
		count = loop_group(group, l, values, on, from, turns);
	if (count != 0 && count != LOOP_MIXED)
		append(self, group, count);
	snarlrt_leave(self);
	return count != LOOP_MIXED;
}

/* What a hook does in the commonest cases, between enter and leave; false: nothing was done. */
static inline bool tell_quick(uint64_t addr, uint64_t site, unsigned size)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	uint16_t seen;

	if (addr >= LOOP_USER_END || addr % 8 + size > 8 || tls->frame != tls->told)
		return false;
	seen = __atomic_load_n(loop_shadow(addr), __ATOMIC_RELAXED);
	if (seen == tls->own)
		return true;
	if ((seen != SHADOW_SHARED && seen != tls->own_uncut) || seen == 0 || !snarlrt_append_quick(addr, site))
		return false;
	tls->undecided += seen != SHADOW_SHARED;
	return true;
}

/* One access after the other, as their hooks would have come. */
static void tell_each(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	struct { uint64_t addr, stride, site; unsigned size; } access[TRACE_LOOP_ACCESSES];
	struct snarlrt_thread *self = snarlrt_enter();
	unsigned count = 0;

	for (unsigned i = 0; i < l->accesses; i++) {
		const struct loop_access *a = &l->access[i];
		uint64_t stride = loop_stride(a, values);

		if (!(on >> i & 1))
			continue;
		access[count].addr = loop_first(a, values) + from * stride;
		access[count].stride = stride;
		access[count].site = loop_site(a);
		access[count++].size = loop_access_size(a);
	}
	for (; self && turns > 0; turns--)
		for (unsigned i = 0; self && i < count; i++) {
			uint64_t addr = access[i].addr;

			access[i].addr += access[i].stride;
			if (likely(tell_quick(addr, access[i].site, access[i].size)))
				continue;
			snarlrt_leave(self);
			snarlrt_access(addr, access[i].site);
			self = snarlrt_enter();
		}
	if (self)
		snarlrt_leave(self);
}

/* A loop over memory that is in part shared is one group up to there and another one from there on. */
static void tell_turns(const struct loop *l, const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	if (tell_group(l, values, on, from, turns))
		return;
	if (turns > FEW && !is_hopeless(l, values, on, from, turns)) {
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
static uint64_t cache[CACHED] SNARLRT_BIG;

static uint64_t *cache_of(const struct loop *l)
{
	return &cache[(uintptr_t)l >> 3 & (CACHED - 1)];
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
		if (!snarlrt_sites_off(l->access[i].site))
			on |= 1u << i;
	__atomic_store_n(cache_of(l), (uintptr_t)l >> 15 << 32 | on, __ATOMIC_RELAXED);
	return on;
}

void loop_sites_forget(void)
{
	for (unsigned i = 0; i < CACHED; i++)
		__atomic_store_n(&cache[i], 0, __ATOMIC_RELAXED);
}
