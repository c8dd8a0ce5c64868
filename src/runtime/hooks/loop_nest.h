/*
 * Nests of loops: an inner loop that an outer one repeats appends nearly equal groups of records.
 * Such rounds become one nest in the ring (abi/loop_group.h). From the third one on, a round costs
 * little more than a comparison for each look (wrap/loops/loops_end.c, loop_end_x86_64.S).
 *
 * A nest begins when a loop appends its second group, if both groups have the same number of
 * iterations and the same accesses to shared memory. There may be up to NEST_BEFORE plain accesses
 * to shared memory before each group. Before the loop's code appends another group, it compares the
 * addresses with those that the next round should have. If they are equal, the nest's number of
 * rounds grows, and the accesses before the loop are removed from the ring. Any other record ends
 * the nest: tls.cur then differs from snarlrt_nest.next.
 *
 * Example: for (i = 0; i < 30; i++) for (j = 0; j < 100; j++) m[i][j] = 0; where a row of the
 * shared array m has 1024 ints. It leaves four records instead of 30 groups of two:
 *
 *	{ 30 rounds, LOOP, detail TRACE_NEST | 0 accesses before the group }
 *	{ 100 iterations, LOOP, 1 access }
 *	{ m | 4 << 48, WRITE of 4 bytes }
 *	{ 4096 is added to the address in each round, LOOP, detail 0 }
 */
#ifndef RUNTIME_HOOKS_LOOP_NEST_H
#define RUNTIME_HOOKS_LOOP_NEST_H

#include "runtime/record/nest.h"

/*
 * Completes a group that may be the second of a nest: compiled code has written its accesses, from
 * tls.cur to `end`. `last` is the number of its iterations less one. Called by __snarl_loop_close
 * while tls.busy. Uses no vector registers.
 */
SNARLRT_HIDDEN void snarlrt_nest_second(struct trace_record *end, uint32_t last);

/* The nest has its maximum number of rounds: ends it and appends a time stamp. */
SNARLRT_HIDDEN void snarlrt_nest_full(void);

#endif
