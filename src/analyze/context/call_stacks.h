/*
 * Interned call stacks. They form a tree of calls: a stack is the number of a node, 0 is the root.
 */
#ifndef ANALYZE_CONTEXT_CALL_STACKS_H
#define ANALYZE_CONTEXT_CALL_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);

/* The stack of a function that is called from `caller_pc` while the stack is `stack`. */
uint32_t stacks_call(struct stacks *s, uint32_t stack, uint64_t caller_pc);

/* Writes at most `max` pcs of callers, innermost first; returns their number. */
size_t stacks_pcs(const struct stacks *s, uint32_t stack, uint64_t *out, size_t max);

#endif
