/*
 * The last pruning, over the candidates of all analyses. The analyses have pruned by clocks and
 * locks (findings_pruned()); this step needs only the list: seen, contradictory, equal orders.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_list.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

/* Whether the wanted orders and the threads' own orders form a cycle. */
bool candidate_is_impossible(const struct candidate *c)
{
	bool before[CANDIDATE_EVENTS][CANDIDATE_EVENTS] = { { false } };

	for (int i = 0; i < c->orders; i++)
		before[c->order[i].first][c->order[i].second] = true;
	for (int a = 0; a < c->events; a++)
		for (int b = 0; b < c->events; b++)
			before[a][b] |= c->event[a].thread == c->event[b].thread &&
					c->event[a].index < c->event[b].index;
	for (int k = 0; k < c->events; k++)
		for (int a = 0; a < c->events; a++)
			for (int b = 0; b < c->events; b++)
				before[a][b] |= before[a][k] && before[k][b];
	for (int a = 0; a < c->events; a++)
		if (before[a][a])
			return true;
	return false;
}

/*
 * A hash of the set of wanted orders, by threads and sites, without the pattern. It includes orders
 * that the trace has already, because these distinguish a triple from a pair.
 */
uint64_t candidate_hash_orders(const struct candidate *c)
{
	uint64_t set = c->orders;

	for (int i = 0; i < c->orders; i++) {
		const struct candidate_event *a = &c->event[c->order[i].first];
		const struct candidate_event *b = &c->event[c->order[i].second];

		set += hash_add(hash_add(hash_add(hash_add(1, a->thread), a->pc), b->thread),
				b->pc);
	}
	return set;
}

/* Of two candidates with the same orders, the heavier one describes the harm better. */
static int class_weight(const struct candidate *c)
{
	static const int weights[] = {
		[CANDIDATE_RACE] = 1, [CANDIDATE_ATOMICITY] = 3, [CANDIDATE_ATOMICITY2] = 2,
		[CANDIDATE_DEADLOCK] = 5, [CANDIDATE_ORDER] = 4, [CANDIDATE_MISUSE] = 6,
	};

	return weights[c->class];
}

void prune_list(struct findings *f, bool total, struct hunt_list *out)
{
	struct map known = { 0 };	/* candidate_hash_orders() to index in out->at, plus 1 */
	size_t count = findings_count(f);

	*out = (struct hunt_list){ .predicted = count };
	out->at = xcalloc(count + 1, sizeof(struct candidate *));
	for (int why = 0; why < PRUNE_REASONS; why++)
		out->predicted += findings_pruned_count(f, (enum prune_reason)why);
	for (size_t i = 0; i < count; i++) {
		struct candidate *c = findings_at(f, i);
		uint64_t *same;

		if (candidate_is_result(c)) {
			out->at[out->count++] = c;
			continue;
		}
		if (c->seen && total) {
			out->dropped[DROP_SEEN]++;
			continue;
		}
		if (candidate_is_impossible(c)) {
			out->dropped[DROP_IMPOSSIBLE]++;
			continue;
		}
		same = map_put(&known, candidate_hash_orders(c), NULL);
		if (!*same) {
			out->at[out->count++] = c;
			*same = out->count;
			continue;
		}
		out->dropped[DROP_SAME]++;
		if (class_weight(c) > class_weight(out->at[*same - 1]))
			out->at[*same - 1] = c;
	}
	for (size_t i = 0; i < out->count; i++)
		out->doubtful += out->at[i]->doubtful;
	map_free(&known);
}

void hunt_list_free(struct hunt_list *l)
{
	free(l->at);
	*l = (struct hunt_list){ 0 };
}
