/*
 * Compares failures by what failed and where in the program's own code. Causes found afterwards may
 * be incidental: the same failure can be explained by several orders.
 */
#ifndef EXPLORE_BUG_SAME_FAILURE_H
#define EXPLORE_BUG_SAME_FAILURE_H

#include "explore/search/oracle.h"

/*
 * True if two uses after free (or double frees) are one bug: the same block was freed at the same
 * line, or use and free are in the same two functions. A thread that is not joined before main
 * frees what it uses fails at many lines.
 */
bool same_failure_of_memory(const struct oracle_result *a, const struct oracle_result *b,
			    struct places *places);

/*
 * True if in both a thread crashed or used what is gone while another one had called exit() or
 * returned from main: the process must not end while that thread runs.
 */
bool same_failure_at_exit(const struct oracle_result *a, const struct oracle_result *b);

/*
 * True if both failed in the same way in the same functions. Assertions have to be the same, and
 * exit statuses.
 */
bool same_failure_symptom(const struct oracle_result *a, const struct oracle_result *b,
			  struct places *places);

#endif
