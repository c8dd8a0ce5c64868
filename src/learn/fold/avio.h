/*
 * Access-interleaving invariants (AVIO: Lu, Tucek, Qin and Zhou, ASPLOS 2006): two accesses of
 * a thread to the same memory, p and then i with none of its own in between, that no other
 * thread's access r breaks apart unserializably:
 *
 *	R W R   the two reads disagree		W W R   the read misses the thread's own write
 *	R W W   based on a stale read		W R W   an intermediate value leaks
 *
 * With several remote accesses in between, the last write counts; for W … W the first of all, if
 * that is a read. There p is the thread's last write, even if it read since what it had written:
 * that it looks at its own intermediate value does not keep others from seeing it. This fold finds what is broken in one run; whoever has many of these knows
 * which i it never happens to.
 */
#ifndef LEARN_FOLD_AVIO_H
#define LEARN_FOLD_AVIO_H

#include "learn/fold/fold_common.h"

enum avio_pattern { AVIO_RWR, AVIO_WWR, AVIO_RWW, AVIO_WRW, AVIO_PATTERNS };

const char *avio_pattern_name(enum avio_pattern pattern);	/* "RWR", … */

/* By sites; the rest is of the first time. */
struct avio_triple {
	uint32_t p, r, i;	/* sites */
	enum avio_pattern pattern;
	uint64_t count;
	uint32_t local, remote;	/* threads */
	uint64_t addr;		/* the first byte of i's access in the cell */
	uint64_t p_at, r_at, i_at;	/* learn_step.at */
};

struct avio;

struct avio *avio_new(unsigned granularity);
void avio_free(struct avio *a);
void avio_step(struct avio *a, const struct learn_step *s);

/* In the order in which they first came about. */
size_t avio_count(const struct avio *a);
const struct avio_triple *avio_at(const struct avio *a, size_t i);

#endif
