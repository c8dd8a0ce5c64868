/*
 * Which failures are one bug: those of one cause, whatever they look like.
 */
#ifndef EXPLORE_BUG_SAME_CAUSE_H
#define EXPLORE_BUG_SAME_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/lead/lead.h"
#include "symbol/program_sites.h"

/*
 * Are two candidates about the same? They are if they tell of the same memory or lock, or
 * of the same lines. A deadlock is about its whole circle of locks.
 */
bool same_cause_matches(const struct lead *a, const struct lead *b, struct places *places);

/*
 * Does a run that has the orders of `a` have those of `b`? By operations and lines, whichever
 * threads take part and however often they were there.
 */
bool same_cause_implies(const struct lead *a, const struct lead *b, struct places *places);

#endif
