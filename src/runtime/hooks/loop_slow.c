/*
 * The slow path of loops: loops whose memory is partly shared and partly cut, loops with more than
 * TRACE_LOOP_ITERATIONS iterations, and loops that find the ring full.
 */
#include "runtime/hooks/entry.h"
#include "runtime/hooks/loop.h"
#include "runtime/record/clock.h"
#include "runtime/record/ring.h"

#define FEW 8u		/* most iterations that are recorded access by access */

/* Appends a group, and a time stamp as append() of loop.c does; flushes the ring if it is full. */
static void append(struct snarlrt_thread *self, const struct trace_record *group, unsigned count,
		   uint32_t undecided)
{
	uintptr_t page;

	snarlrt_emit_calls(self);
	page = (uintptr_t)__snarl_tls.cur / STAMP_BYTES;
	snarlrt_append(self, group, count);
	loop_count_events(self, group, count, undecided);
	if (loop_is_long(group) || (uintptr_t)__snarl_tls.cur / STAMP_BYTES != page) {
		struct trace_record stamp = { clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };

		snarlrt_append(self, &stamp, 1);
	}
}

/*
 * Records a group of up to `iterations` iterations, beginning with iteration `from`. Returns the
 * number of iterations that are done; 0: the memory is mixed, and fewer must be tried.
 */
static uint64_t record_group(const struct loop *l, const uint64_t *values, uint64_t from,
			     uint64_t iterations)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	struct snarlrt_thread *self = snarlrt_enter();
	uint64_t covered = iterations;
	uint32_t undecided;
	unsigned count;

	if (!self)
		return iterations;
	count = loop_make_group(group, l, values, from, &covered, &undecided);
	if (count == LOOP_MIXED || (covered < iterations && covered < FEW))
		covered = 0;
	else if (count != 0)
		append(self, group, count, undecided);
	snarlrt_leave(self);
	return covered;
}

/* Records access by access in program order, as the hooks would have done. */
static void record_each(const struct loop *l, const uint64_t *values, uint64_t from,
			uint64_t iterations)
{
	for (; iterations > 0; iterations--, from++)
		for (unsigned i = 0; i < l->accesses; i++) {
			const struct loop_access *a = &l->access[i];

			snarlrt_access(loop_first_address(a, values) +
					       from * loop_stride(a, values), a->site);
		}
}

/*
 * Records a loop as one or more groups. An attempt updates the shadow for all iterations that it
 * tries, but may record fewer, if the memory is mixed. To save useless work, the next attempt is
 * bounded (`most`): to four times the iterations recorded, or if there were none, to a quarter of
 * those tried. After an attempt that recorded all, the bound doubles.
 */
void snarlrt_loop_slow(const struct loop *l, const uint64_t *values)
{
	uint64_t iterations, done, most = TRACE_LOOP_ITERATIONS;

	if (!l) {
		snarlrt_deliver_deferred(__snarl_tls.self);
		return;
	}
	iterations = loop_iterations(l, values);
	for (uint64_t from = 0; from < iterations; from += done) {
		uint64_t tried = iterations - from < most ? iterations - from : most;

		done = record_group(l, values, from, tried);
		if (done == 0 && tried <= FEW) {
			record_each(l, values, from, tried);
			done = tried;
		}
		if (done < tried)
			most = 4 * done > FEW ? 4 * done : tried / 4 > FEW ? tried / 4 : FEW;
		else
			most *= 2;
		if (most > TRACE_LOOP_ITERATIONS)
			most = TRACE_LOOP_ITERATIONS;
	}
}
