/*
 * Loops with accesses whose memory is in part shared, in part private, that are long, or that come when the ring
 * needs attention.
 */
#include "runtime/clock.h"
#include "runtime/entry.h"
#include "runtime/loop.h"

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
static bool tell_group(const struct loop *l, const uint64_t *values, uint64_t from, uint64_t turns)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	struct snarlrt_thread *self = snarlrt_enter();
	uint32_t undecided;
	unsigned count;

	if (!self)
		return true;
	count = loop_group(group, l, values, from, turns, &undecided);
	if (count != 0 && count != LOOP_MIXED)
		append(self, group, count, undecided);
	snarlrt_leave(self);
	return count != LOOP_MIXED;
}

/* One access after the other, as their hooks would have come. */
static void tell_each(const struct loop *l, const uint64_t *values, uint64_t from, uint64_t turns)
{
	for (; turns > 0; turns--, from++)
		for (unsigned i = 0; i < l->accesses; i++) {
			const struct loop_access *a = &l->access[i];

			snarlrt_access(loop_first(a, values) + from * loop_stride(a, values), a->site);
		}
}

/* A loop over memory that is in part shared is one group up to there and another one from there on. */
static void tell_turns(const struct loop *l, const uint64_t *values, uint64_t from, uint64_t turns)
{
	if (tell_group(l, values, from, turns))
		return;
	if (turns > FEW) {
		tell_turns(l, values, from, turns / 2);
		tell_turns(l, values, from + turns / 2, turns - turns / 2);
		return;
	}
	tell_each(l, values, from, turns);
}

void snarlrt_loop_slow(const struct loop *l, const uint64_t *values)
{
	uint64_t turns, some;

	if (!l) {
		snarlrt_deliver_deferred(__snarl_tls.self);
		return;
	}
	turns = loop_turns(l, values);
	for (uint64_t from = 0; from < turns; from += some) {
		some = turns - from < TRACE_LOOP_TURNS ? turns - from : TRACE_LOOP_TURNS;
		tell_turns(l, values, from, some);
	}
}
