/*
 * The guard set: the transactions that snarl guard has to protect.
 *
 * Another thread interrupts a transaction harmfully if the two close a cycle: the transaction
 * accesses P and then I, the other thread's transaction or access makes R and R', R comes after P,
 * and R' before I. P and R access one variable, I and R' one, maybe another. R cannot come between
 * P and I if a lock excludes R from P, and all locks of P are still held at I. R' cannot if a lock
 * excludes it from I, and all locks of I were held since P.
 *
 * If R' comes before R, and P and R' access different variables, each transaction may have begun
 * before it meets the other. Then neither can wait for the other's end. Such transactions share a
 * gate: a lock of guard that admits one of them at a time.
 */
#ifndef LEARN_GUARD_SET_H
#define LEARN_GUARD_SET_H

#include "learn/rule_database.h"

/* The gate of a site; and whether a cut moved to the site, or away from it. */
struct guard_set_gate {
	uint16_t number;	/* of the gate, from 1; 0: none */
	bool cut;	/* the site takes a lock: the cut of an access under this lock moved here */
	bool no_cut;	/* the cut before this access moved to the site that takes its lock */
};

/* Adds RULES_IN_TX, RULES_HOLDS_TX and RULES_REMOTE to `marks`, by site. `gates` may be NULL. */
void guard_set_mark(const struct known *k, uint32_t *marks, struct guard_set_gate *gates);

#endif
