/* The conflict graph of transactions. */
#ifndef LEARN_FOLD_LIFETX_GRAPH_H
#define LEARN_FOLD_LIFETX_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names a node. If the node was freed, the serial differs. */
struct tx_ref {
	uint32_t node;
	uint64_t serial;	/* 0: none */
};

struct tx_edge {
	uint32_t to;
	/* time of its latest access, by the count of the thread whose transaction it leaves */
	uint64_t since;
};

struct tx_node {
	uint64_t serial;	/* 0: free */
	bool ended;
	uint32_t in;		/* number of edges that lead to it */
	uint64_t mark;		/* number of the last search that visited it */
	struct tx_edge *out;
	size_t out_count, out_capacity;
};

/* All zero is empty. */
struct tx_graph {
	struct tx_node *nodes;
	size_t count, capacity;
	uint32_t *free_nodes;	/* indexes of nodes to use again */
	uint32_t *stack;	/* indexes of nodes still to visit */
	size_t free_count, free_capacity, stack_count, stack_capacity;
	uint64_t serial;	/* of the last node */
	uint64_t search;	/* number of the last search */
	size_t live;		/* number of nodes that are not free */
};

struct tx_ref tx_graph_begin(struct tx_graph *g);
void tx_graph_end(struct tx_graph *g, struct tx_ref ref);

/*
 * Adds an edge, or raises the `since` of an existing one. If the edge would close a cycle, adds
 * nothing, returns false, and sets *since to that of the edge that leaves `to` on the cycle.
 */
bool tx_graph_edge(struct tx_graph *g, struct tx_ref from, uint64_t at, struct tx_ref to,
		   uint64_t *since);

void tx_graph_free(struct tx_graph *g);

#endif
