/*
 * Interned call stacks: a tree of calls, a number for each node; 0 is the root.
 */
#ifndef ANALYZE_CONTEXT_CALL_STACKS_H
#define ANALYZE_CONTEXT_CALL_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);

/* The function called from `caller_pc` within `stack`. */
uint32_t stacks_call(struct stacks *s, uint32_t stack, uint64_t caller_pc);

/* Innermost first; returns how many. */
size_t stacks_pcs(const struct stacks *s, uint32_t stack, uint64_t *out, size_t max);

#endif
