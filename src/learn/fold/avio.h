/*
 * Access-interleaving invariants (AVIO: Lu, Tucek, Qin and Zhou, ASPLOS 2006). A thread accesses
 * memory at p and then at i, with none of its own accesses to it in between. Another thread's
 * access r breaks the pair if it comes in between and no serial order gives the same result:
 *
 * 	R W R   the two reads disagree		W W R   the read misses the thread's own write
 * 	R W W   based on a stale read		W R W   an intermediate value leaks
 *
 * Of several remote accesses in between, the last write is r. For W R W it is the first of all, if
 * that is a read. There p is the thread's last write, even if the thread itself read the value
 * since: that does not hide the intermediate value from others.
 *
 * This fold finds the broken pairs of one run. The sites i that no passing run breaks have an
 * invariant.
 */
#ifndef LEARN_FOLD_AVIO_H
#define LEARN_FOLD_AVIO_H

#include "learn/fold/fold_common.h"

enum avio_pattern { AVIO_RWR, AVIO_WWR, AVIO_RWW, AVIO_WRW, AVIO_PATTERNS };

const char *avio_pattern_name(enum avio_pattern pattern);	/* "RWR" and so on */

/*
 * One way to break a pair, by sites. `count` is over the whole run, the other members are of the
 * first time.
 */
struct avio_triple {
	uint32_t p, r, i;	/* sites */
	enum avio_pattern pattern;
	uint64_t count;
	uint32_t local, remote;	/* threads */
	uint64_t addr;		/* first byte in the cell that i accesses */
	uint64_t p_at, r_at, i_at;	/* learn_step.at of the three accesses */
};

struct avio;

struct avio *avio_new(unsigned granularity);
void avio_free(struct avio *a);
void avio_step(struct avio *a, const struct learn_step *s);

/* The triples of the run, in the order of their first occurrence. */
size_t avio_count(const struct avio *a);
const struct avio_triple *avio_at(const struct avio *a, size_t i);

#endif
