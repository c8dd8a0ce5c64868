#include "learn/fold/lifetx_graph.h"

#include <stdlib.h>

#include "base/mem.h"

struct tx_ref tx_graph_begin(struct tx_graph *g)
{
	uint32_t number;

	if (g->free_count) {
		number = g->free_nodes[--g->free_count];
	} else {
		g->nodes = xgrow(g->nodes, g->count, &g->capacity, sizeof(*g->nodes));
		number = (uint32_t)g->count++;
		g->nodes[number] = (struct tx_node){ 0 };
	}
	g->nodes[number].serial = ++g->serial;
	g->live++;
	return (struct tx_ref){ number, g->serial };
}

static struct tx_node *find(struct tx_graph *g, struct tx_ref ref)
{
	return ref.serial && g->nodes[ref.node].serial == ref.serial ? &g->nodes[ref.node] : NULL;
}

static void push(struct tx_graph *g, uint32_t node)
{
	g->stack = xgrow(g->stack, g->stack_count, &g->stack_capacity, sizeof(*g->stack));
	g->stack[g->stack_count++] = node;
}

void tx_graph_end(struct tx_graph *g, struct tx_ref ref)
{
	struct tx_node *n = find(g, ref);

	if (!n)
		return;
	n->ended = true;
	g->stack_count = 0;
	if (!n->in)
		push(g, ref.node);
	while (g->stack_count) {
		uint32_t number = g->stack[--g->stack_count];

		n = &g->nodes[number];
		for (size_t i = 0; i < n->out_count; i++) {
			struct tx_node *to = &g->nodes[n->out[i].to];

			if (--to->in == 0 && to->ended)
				push(g, n->out[i].to);
		}
		n->out_count = 0;
		n->serial = 0;
		n->ended = false;
		g->live--;
		g->free_nodes = xgrow(g->free_nodes, g->free_count, &g->free_capacity,
				      sizeof(*g->free_nodes));
		g->free_nodes[g->free_count++] = number;
	}
}

/* Does a path lead from `start` to `goal`? A node marked by this search does not lead there. */
static bool leads(struct tx_graph *g, uint32_t start, uint32_t goal)
{
	g->stack_count = 0;
	push(g, start);
	while (g->stack_count) {
		uint32_t number = g->stack[--g->stack_count];
		struct tx_node *n = &g->nodes[number];

		if (number == goal)
			return true;
		if (n->mark == g->search)
			continue;
		n->mark = g->search;
		for (size_t i = 0; i < n->out_count; i++)
			push(g, n->out[i].to);
	}
	return false;
}

bool tx_graph_edge(struct tx_graph *g, struct tx_ref from, uint64_t at, struct tx_ref to,
		   uint64_t *since)
{
	struct tx_node *f = find(g, from), *t = find(g, to);

	if (!f || !t || f == t)
		return true;
	for (size_t i = 0; i < f->out_count; i++)
		if (f->out[i].to == to.node) {
			f->out[i].since = at > f->out[i].since ? at : f->out[i].since;
			return true;
		}
	g->search++;
	/* The latest edge on a cycle: the later the cut, the smaller the piece that is cut off. */
	for (size_t i = t->out_count; i > 0; i--)
		if (leads(g, t->out[i - 1].to, from.node)) {
			*since = t->out[i - 1].since;
			return false;
		}
	f->out = xgrow(f->out, f->out_count, &f->out_capacity, sizeof(*f->out));
	f->out[f->out_count++] = (struct tx_edge){ to.node, at };
	t->in++;
	return true;
}

void tx_graph_free(struct tx_graph *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->nodes[i].out);
	free(g->nodes);
	free(g->free_nodes);
	free(g->stack);
}
