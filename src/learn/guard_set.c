#include "learn/guard_set.h"

#include <stdlib.h>

#include "base/mem.h"
#include "learn/compile.h"
#include "learn/fold/lifetx.h"

struct guard_set {
	const struct known *k;
	uint32_t *marks;
	struct map orders;	/* P << 32 | I, to enum lifetx_torn */
	/* P << 32 | I that another thread can interrupt harmfully */
	struct map harmful;
	/*
	 * Conflicting pairs by first and by second site. Those of site s begin at
	 * first_after[s] in `after`, and at first_before[s] in `before`.
	 */
	uint32_t *first_after, *first_before;
	const struct known_pair **after, **before;
	/*
	 * Union-find: of a site, another site that accesses the same memory. Roots point at
	 * themselves.
	 */
	uint32_t *variable;
};

static uint64_t key_of(uint32_t p, uint32_t i)
{
	return (uint64_t)p << 32 | i;
}

/* The variable of a site: the root of all sites that accessed the same memory. */
static uint32_t variable_of(struct guard_set *set, uint32_t site)
{
	while (set->variable[site] != site)
		site = set->variable[site] = set->variable[set->variable[site]];
	return site;
}

/*
 * Fills a list of conflicting pairs for each site: with `forward`, those in which the site comes
 * first.
 */
static void list_conflicts(const struct known *k, bool forward, uint32_t **first,
			   const struct known_pair ***items)
{
	uint32_t *at = xcalloc(k->count + 2, sizeof(*at));

	*first = xcalloc(k->count + 2, sizeof(**first));
	*items = xcalloc(k->pair_count + 1, sizeof(**items));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < k->pair_count; i++) {
			const struct known_pair *p = &k->pairs[i];
			uint32_t from = forward ? p->first : p->second;

			if (!(p->how & STORE_CONFLICT))
				continue;
			if (pass == 0)
				(*first)[from + 1]++;
			else
				(*items)[at[from]++] = p;
		}
		for (size_t s = 0; pass == 0 && s < k->count; s++) {
			(*first)[s + 1] += (*first)[s];
			at[s + 1] = (*first)[s + 1];
		}
	}
	free(at);
}

static void guard_set_open(struct guard_set *set, const struct known *k, uint32_t *marks)
{
	*set = (struct guard_set){ .k = k,
				   .marks = marks,
				   .variable = xcalloc(k->count + 1, sizeof(*set->variable)) };
	list_conflicts(k, true, &set->first_after, &set->after);
	list_conflicts(k, false, &set->first_before, &set->before);
	for (uint32_t i = 0; i < k->count; i++)
		set->variable[i] = i;
	for (size_t i = 0; i < k->pair_count; i++)
		if (k->pairs[i].how & STORE_CONFLICT)
			set->variable[variable_of(set, k->pairs[i].first)] =
				variable_of(set, k->pairs[i].second);
	for (size_t i = 0; i < k->order_count; i++)
		/* A new cut lies between the two, so they are not in one transaction any more. */
		if (!(k->sites[k->orders[i].second].cuts & LIFETX_BEFORE))
			*map_put(&set->orders, key_of(k->orders[i].first, k->orders[i].second),
				 NULL) = k->orders[i].how;
}

static void guard_set_close(struct guard_set *set)
{
	free(set->first_after);
	free(set->after);
	free(set->first_before);
	free(set->before);
	free(set->variable);
	map_free(&set->orders);
	map_free(&set->harmful);
}

static bool comes_before(const struct guard_set *set, uint32_t p, uint32_t i)
{
	return map_find(&set->orders, key_of(p, i)) != NULL;
}

/* Union-find of variables that share a gate. */
struct gates {
	uint32_t *group;	/* by variable: its parent, plus 1; 0: no gate */
};

static uint32_t group_of(const struct gates *g, uint32_t variable)
{
	while (g->group[variable] != variable + 1)
		variable = g->group[variable] - 1;
	return variable;
}

static void join(struct gates *g, uint32_t a, uint32_t b)
{
	g->group[a] = g->group[a] ? g->group[a] : a + 1;
	g->group[b] = g->group[b] ? g->group[b] : b + 1;
	g->group[group_of(g, a)] = group_of(g, b) + 1;
}

/* `out` is (P, R), `in` is (R', I). Can the locks let R or R' come between P and I? */
static bool may_interrupt(const struct known_pair *out, const struct known_pair *in, unsigned torn)
{
	return out->how & STORE_RACE || in->how & STORE_RACE || torn;
}

/* Marks P, I and all R and R' that close a cycle with them. */
static void close_cycles(struct guard_set *set, struct gates *g, uint32_t p, uint32_t i,
			 unsigned torn)
{
	for (uint32_t a = set->first_after[p]; a < set->first_after[p + 1]; a++)
		for (uint32_t b = set->first_before[i]; b < set->first_before[i + 1]; b++) {
			uint32_t r = set->after[a]->second, other = set->before[b]->first;
			bool before = comes_before(set, other, r);

			if ((r != other && !before && !comes_before(set, r, other)) ||
			    !may_interrupt(set->after[a], set->before[b], torn))
				continue;
			*map_put(&set->harmful, key_of(p, i), NULL) = 1;
			set->marks[p] |= RULES_IN_TX;
			set->marks[i] |= RULES_IN_TX;
			set->marks[r] |= RULES_REMOTE;
			set->marks[other] |= RULES_REMOTE;
			if (before && variable_of(set, p) != variable_of(set, other))
				join(g, variable_of(set, p), variable_of(set, other));
		}
}

/*
 * A function holds a transaction of the guard set if both sites of a pair are its members.
 * Members are sorted by function.
 */
static void mark_holders(struct guard_set *set)
{
	const struct known *k = set->k;

	for (size_t i = 0, end; i < k->member_count; i = end) {
		uint32_t function = k->members[i].first;

		for (end = i; end < k->member_count && k->members[end].first == function; end++)
			;
		for (size_t a = i; a < end; a++)
			for (size_t b = i; b < end && !(set->marks[function] & RULES_HOLDS_TX); b++)
				if (map_find(&set->harmful,
					     key_of(k->members[a].second, k->members[b].second)))
					set->marks[function] |= RULES_HOLDS_TX;
	}
}

static void number_gates(struct guard_set *set, const struct gates *g, struct guard_set_gate *gates)
{
	uint32_t *number = xcalloc(set->k->count + 1, sizeof(*number)), count = 0;

	for (uint32_t s = 0; s < set->k->count; s++) {
		uint32_t variable = variable_of(set, s), group;

		if (!(set->marks[s] & RULES_IN_TX) || !g->group[variable])
			continue;
		group = group_of(g, variable);
		if (!number[group] && count < UINT16_MAX)
			number[group] = ++count;
		gates[s].number = (uint16_t)number[group];
	}
	free(number);
}

/* Gives sites that take locks in a cycle one gate, and makes them a transaction. */
static void mark_cycles(struct guard_set *set, struct gates *g)
{
	for (size_t i = 0; i < set->k->lock_count; i++) {
		const struct known_pair *c = &set->k->locks[i];

		if (!(c->how & STORE_CYCLE))
			continue;
		join(g, c->first, c->second);
		set->marks[c->first] |= RULES_IN_TX;
		set->marks[c->second] |= RULES_IN_TX;
		*map_put(&set->harmful, key_of(c->first, c->second), NULL) = 1;
	}
}

/* Moves gates to the sites that take locks: a thread must pass the gate before it has the lock. */
static void move_gates(const struct guard_set *set, struct guard_set_gate *gates)
{
	for (size_t i = 0; i < set->k->lock_count; i++) {
		const struct known_pair *e = &set->k->locks[i];

		if (!(e->how & STORE_OUTERMOST) || !gates[e->second].number ||
		    gates[e->first].number)
			continue;
		gates[e->first].number = gates[e->second].number;
		set->marks[e->first] |= RULES_IN_TX;
	}
}

/*
 * Moves cuts to the sites that take locks, too. Otherwise a thread could leave the gate while it
 * holds the lock, come back, and find another thread inside that waits for the lock.
 */
static void move_cuts(const struct guard_set *set, struct guard_set_gate *gates)
{
	for (size_t i = 0; i < set->k->lock_count; i++) {
		const struct known_pair *e = &set->k->locks[i];

		if (!(e->how & STORE_OUTERMOST) || !gates[e->first].number ||
		    !(set->k->sites[e->second].cuts & LIFETX_BEFORE))
			continue;
		gates[e->first].cut = true;
		gates[e->second].no_cut = true;
	}
}

void guard_set_mark(const struct known *k, uint32_t *marks, struct guard_set_gate *gates)
{
	struct gates g = { xcalloc(k->count + 1, sizeof(*g.group)) };
	struct guard_set set;

	guard_set_open(&set, k, marks);
	for (size_t i = 0; i < k->order_count; i++)
		if (comes_before(&set, k->orders[i].first, k->orders[i].second))
			close_cycles(&set, &g, k->orders[i].first, k->orders[i].second,
				     k->orders[i].how);
	mark_cycles(&set, &g);
	mark_holders(&set);
	if (gates) {
		number_gates(&set, &g, gates);
		move_gates(&set, gates);
		move_cuts(&set, gates);
	}
	guard_set_close(&set);
	free(g.group);
}
