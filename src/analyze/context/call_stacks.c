/*
 * The nodes of the tree are in one array. A hash table by (parent, caller) finds the child.
 */
#include "analyze/context/call_stacks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

struct node {
	uint64_t caller_pc;
	uint32_t parent;
};

struct stacks {
	struct node *nodes;	/* 0 is the root */
	size_t count, capacity;
	uint32_t *table;	/* numbers of nodes, 0: free */
	size_t table_size;	/* a power of two, at least twice `count` */
};

struct stacks *stacks_new(void)
{
	struct stacks *s = xcalloc(1, sizeof(*s));

	s->nodes = xgrow(NULL, 0, &s->capacity, sizeof(*s->nodes));
	s->nodes[s->count++] = (struct node){ 0 };
	s->table_size = 1024;
	s->table = xcalloc(s->table_size, sizeof(*s->table));
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	free(s->nodes);
	free(s->table);
	free(s);
}

/* The table entry of that node, or the free entry where it belongs. */
static uint32_t *node_slot(const struct stacks *s, uint32_t parent, uint64_t pc)
{
	uint64_t hash = hash_spread(pc ^ (uint64_t)parent << 40 ^ parent);
	size_t i = hash >> 20 & (s->table_size - 1);

	while (s->table[i] && (s->nodes[s->table[i]].caller_pc != pc ||
			       s->nodes[s->table[i]].parent != parent))
		i = (i + 1) & (s->table_size - 1);
	return &s->table[i];
}

static void grow_table(struct stacks *s)
{
	free(s->table);
	s->table_size *= 2;
	s->table = xcalloc(s->table_size, sizeof(*s->table));
	for (uint32_t i = 1; i < s->count; i++)
		*node_slot(s, s->nodes[i].parent, s->nodes[i].caller_pc) = i;
}

uint32_t stacks_call(struct stacks *s, uint32_t stack, uint64_t caller_pc)
{
	uint32_t *at = node_slot(s, stack, caller_pc);

	if (*at)
		return *at;
	if (s->count * 2 >= s->table_size) {
		grow_table(s);
		at = node_slot(s, stack, caller_pc);
	}
	s->nodes = xgrow(s->nodes, s->count, &s->capacity, sizeof(*s->nodes));
	s->nodes[s->count] = (struct node){ .caller_pc = caller_pc, .parent = stack };
	return *at = (uint32_t)s->count++;
}

size_t stacks_pcs(const struct stacks *s, uint32_t stack, uint64_t *out, size_t max)
{
	size_t n = 0;

	for (; stack && n < max; stack = s->nodes[stack].parent)
		out[n++] = s->nodes[stack].caller_pc;
	return n;
}
