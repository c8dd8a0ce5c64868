/*
 * Loops with accesses whose memory is in part shared, in part private, that are long, or that come when the ring
 * needs attention.
 */
#include "runtime/hooks/entry.h"
#include "runtime/hooks/loop.h"
#include "runtime/record/clock.h"
#include "runtime/record/ring.h"

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

/* Of so many turns, how many were told, from the first one on; 0: it is not known how many could be at once. */
static uint64_t tell_group(const struct loop *l, const uint64_t *values, uint64_t from, uint64_t turns)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	struct snarlrt_thread *self = snarlrt_enter();
	uint64_t some = turns;
	uint32_t undecided;
	unsigned count;

	if (!self)
		return turns;
	count = loop_group(group, l, values, from, &some, &undecided);
	if (count == LOOP_MIXED || (some < turns && some < FEW))
		some = 0;
	else if (count != 0)
		append(self, group, count, undecided);
	snarlrt_leave(self);
	return some;
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

/*
 * A loop over memory that is in part shared is one group up to there and another one from there on. The other accesses
 * are looked at in all turns that are tried: not many more than will be told.
 */
void snarlrt_loop_slow(const struct loop *l, const uint64_t *values)
{
	uint64_t turns, told, most = TRACE_LOOP_TURNS;

	if (!l) {
		snarlrt_deliver_deferred(__snarl_tls.self);
		return;
	}
	turns = loop_turns(l, values);
	for (uint64_t from = 0; from < turns; from += told) {
		uint64_t some = turns - from < most ? turns - from : most;

		told = tell_group(l, values, from, some);
		if (told == 0 && some <= FEW) {
			tell_each(l, values, from, some);
			told = some;
		}
		if (told < some)
			most = 4 * told > FEW ? 4 * told : some / 4 > FEW ? some / 4 : FEW;
		else
			most *= 2;
		if (most > TRACE_LOOP_TURNS)
			most = TRACE_LOOP_TURNS;
	}
}
