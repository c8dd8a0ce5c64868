/* What rule_database.c and rule_database_load.c share. */
#ifndef LEARN_RULE_DATABASE_INTERNAL_H
#define LEARN_RULE_DATABASE_INTERNAL_H

#include "base/db.h"
#include "learn/rule_database.h"

/* Named after the table they concern; texts[] in rule_database.c has the SQL. */
enum statement {
	/* Statements that add one row, or count in it, and what they need for that. */
	PROGRAM,
	SITE,
	PLACE,
	PASSED,
	FAILED,
	TRIPLE,
	FOLLOWS,
	MEET,
	LOCAL,
	BETWEEN,
	MEMBER,
	ORDER,
	FORGET_ORDER,
	BEFORE,
	LOCK,
	NEAR,
	VISIT,
	CUT,
	RUN,
	BUILD,
	HAS_BUILD,
	FORGET_BUILDS,
	AT,
	UNBROKEN,
	ANY_RUN,
	/* Statements that read all rows. */
	PROGRAMS,
	SITES,
	PLACES,
	PAIRS,
	LOCALS,
	BETWEENS,
	MEMBERS,
	ORDERS,
	LOCKS,
	NEARS,
	VISITS,
	TRIPLES,
	RUNS,
	STATEMENTS
};

struct store {
	struct db db;
};

#endif
