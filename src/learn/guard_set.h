/*
 * Which transactions need a guard.
 *
 * A transaction can be interrupted harmfully only if there are P before I in it and another thread's R and R',
 * of one visit, that may come after P and before I: a circle. Two variables make no difference to that: P
 * and R may be of one, I and R' of another. But R cannot come between P and I if a lock excludes it from P and all
 * locks of P are still held at I; nor R' if one excludes it from I and none of I's was taken since P.
 *
 * If R' comes before R, and is of another variable than P, each of the two may have begun before it meets
 * the other, and neither can wait for the other's end any more: such ones have a gate.
 */
#ifndef LEARN_GUARD_SET_H
#define LEARN_GUARD_SET_H

#include "learn/rule_database.h"

/* Of a site. */
struct guard_set_gate {
	uint16_t number;	/* from 1 on; 0: none */
	bool cut;		/* it takes a lock, and a transaction ends before that: … */
	bool no_cut;		/* … instead of before this one */
};

/* Adds RULES_IN_TX, RULES_HOLDS_TX, RULES_REMOTE to marks by site. `gates` may be NULL. */
void guard_set_mark(const struct known *k, uint32_t *marks, struct guard_set_gate *gates);

#endif
