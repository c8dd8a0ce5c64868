/*
 * Reference of the splits of lifeguard transactions (learn/fold/lifetx.h; Yu and Narayanasamy), as
 * lines "STEP before".
 *
 * For each access slow() computes the graph of all transactions anew, with every edge of program
 * order and of conflicting accesses, and its transitive closure. If the access closes a cycle
 * through its own transaction, it begins a new one. No transaction is ever dropped.
 */
#ifndef REFERENCE_LIFETX_H
#define REFERENCE_LIFETX_H

#include "learn_util.h"

#define STEPS 40

static char *slow(const struct learn_step *s, size_t count)
{
	size_t tx[STEPS], current[8] = { 0 }, next = 1;
	struct buf b = { 0 };

	for (size_t i = 0; i < count; i++) {
		bool reach[STEPS + 9][STEPS + 9] = { { false } };
		size_t *mine = &current[s[i].thread], own;

		if (!*mine)
			*mine = next++;
		tx[i] = own = *mine;
		for (size_t a = 0; a <= i; a++)
			for (size_t c = a + 1; c <= i; c++)
				if (tx[a] != tx[c] && (s[a].thread == s[c].thread ||
				     (s[a].addr == s[c].addr && (s[a].op == IROOT_OP_WRITE ||
								 s[c].op == IROOT_OP_WRITE))))
					reach[tx[a]][tx[c]] = true;
		for (size_t k = 1; k < next; k++)
			for (size_t a = 1; a < next; a++)
				for (size_t c = 1; c < next; c++)
					reach[a][c] |= reach[a][k] && reach[k][c];
		if (reach[own][own]) {
			buf_addf(&b, "%zu before\n", i + 1);
			tx[i] = *mine = next++;
		}
	}
	return sorted(&b);
}

#endif
