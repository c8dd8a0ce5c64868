/*
 * Compares orders of events: failures with one cause are one bug, whatever their symptoms are.
 */
#ifndef EXPLORE_BUG_SAME_CAUSE_H
#define EXPLORE_BUG_SAME_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/lead/lead.h"
#include "symbol/program_sites.h"

/*
 * True if two leads are about the same bug: all their events are at the same lines, or they have a
 * variable or lock in common. Two deadlocks need all their locks in common. A deadlock and a lead
 * of another class need all their lines in common.
 */
bool same_cause_matches(const struct lead *a, const struct lead *b, struct places *places);

/*
 * True if each order of `b` is also one of `a`. Orders are equal if both events have the same
 * operation and line; threads and n-th visits do not count.
 */
bool same_cause_implies(const struct lead *a, const struct lead *b, struct places *places);

#endif
