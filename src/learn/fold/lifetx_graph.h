/*
 * The conflict graph of transactions.
 */
#ifndef LEARN_FOLD_LIFETX_GRAPH_H
#define LEARN_FOLD_LIFETX_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node, as long as it is there: one that has gone is known by its serial number. */
struct tx_ref {
	uint32_t node;
	uint64_t serial;	/* 0: none */
};

struct tx_edge {
	uint32_t to;
	uint64_t since;		/* when the last access that made it was: by its thread's count */
};

struct tx_node {
	uint64_t serial;	/* 0: free */
	bool ended;
	uint32_t in;		/* edges into it */
	uint64_t mark;		/* of the last search that came here */
	struct tx_edge *out;
	size_t out_count, out_capacity;
};

/* All zero is empty. */
struct tx_graph {
	struct tx_node *nodes;
	size_t count, capacity;
	uint32_t *spare, *stack;
	size_t spare_count, spare_capacity, stack_count, stack_capacity;
	uint64_t serial, search;
	size_t live;
};

struct tx_ref tx_graph_begin(struct tx_graph *g);
void tx_graph_end(struct tx_graph *g, struct tx_ref ref);

/*
 * Adds an edge unless there is one, whose `since` it then brings up to date. If it would
 * close a cycle, nothing is added and *since is set to when the edge that leaves `to` came about: false.
 */
bool tx_graph_edge(struct tx_graph *g, struct tx_ref from, uint64_t at, struct tx_ref to, uint64_t *since);

void tx_graph_free(struct tx_graph *g);

#endif
