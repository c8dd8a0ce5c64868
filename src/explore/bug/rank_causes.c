/*
 * A predicted race or use before initialisation may be only a part of the cause, because its harm
 * depends on values. Example: a thread inserts a row before another empties the table. That happens
 * in half of all runs and fails only if the log has the two operations the other way round. The
 * cause is the broken atomicity of table and log, not the order of the two accesses.
 *
 * An order is not the cause if runs have it and pass. So twelve runs are directed by the predicted
 * order alone. If one has the order and passes, the other orders of the failing run are tested in
 * the same way: predicted ones and atomicity violations, the simplest first, since larger ones only
 * add accesses that are not needed. The first order with which enough runs fail and none passes is
 * the cause. If there is none, the prediction stays the cause.
 *
 * The other orders are also tested if part of the predicted order is in a system header. The cause
 * is in the library only if no order in the program's own files makes runs fail.
 *
 * For patterns whose harm does not depend on values (use after free, deadlocks), a run that passes
 * is no evidence against the order, so these are not tested.
 */
#include "explore/bug/rank_causes.h"

#include "explore/bug/minimise.h"
#include "explore/bug/same_cause.h"

#define RANK_MOST 12u		/* orders tried of each source in alternatives(): bounds time */
#define RANK_ENOUGH 4u		/* of twelve runs that must fail, if pattern_row.enough is 0 */

/* True if the harm of this pattern depends on values in memory. */
static bool by_values(const struct candidate *c)
{
	return pattern_row(c->pattern)->by_values;
}

/* Number of failing runs, of twelve, that make an order a cause; fewer may be chance. */
static unsigned failures_needed(const struct candidate *c)
{
	unsigned enough = pattern_row(c->pattern)->enough;

	return enough ? enough : RANK_ENOUGH;
}

/* Complexity of an order; an order of two variables counts one more. */
static unsigned parts(const struct lead *lead)
{
	return 2u * lead->c.orders + (lead->c.class == CANDIDATE_ATOMICITY2);
}

/*
 * Other orders that the failing run has: predicted ones, and atomicity violations that were
 * predicted or are found in its trace. Sorted by parts(), the likelier first among equal ones.
 */
static size_t alternatives(const struct search_failure *f, const char *trace,
			   const struct leads *leads, struct lead **out)
{
	size_t count = leads_in_trace(leads, trace, by_values, out, RANK_MOST);

	count += leads_in_trace(leads, trace, candidate_breaks_atomicity, out + count, RANK_MOST);
	count += leads_from_failure(leads, trace, f->result.failure, candidate_breaks_atomicity,
				    out + count, RANK_MOST);
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && parts(out[k]) < parts(out[k - 1]); k--) {
			struct lead *swap = out[k];

			out[k] = out[k - 1];
			out[k - 1] = swap;
		}
	return count;
}

/* True if one of the first `count` leads has the same orders. */
static bool is_known(struct lead *const *leads, size_t count, const struct lead *lead,
		     struct places *places)
{
	for (size_t i = 0; i < count; i++)
		if (same_cause_implies(leads[i], lead, places) &&
		    same_cause_implies(lead, leads[i], places))
			return true;
	return false;
}

struct lead *rank_causes_use_after_free(const struct search_failure *f, const char *trace)
{
	const struct leads none = { 0 };
	struct buf user = { 0 };
	struct lead *lead;

	if (f->result.failure != ORACLE_UAF)
		return NULL;
	schedule_path(f->report, f->result.thread, &user);
	lead = lead_from_use_after_free(&none, trace, buf_string(&user), &f->result);
	buf_free(&user);
	return lead;
}

struct lead *rank_causes(struct search_failure *f, const char *trace, const struct leads *leads,
			 struct attempt *a, struct places *places)
{
	struct lead *found[1 + 3 * RANK_MOST], *best = NULL;
	bool in_system_headers =
		f->lead->in_system_headers && f->lead->c.class != CANDIDATE_DEADLOCK;
	struct minimise_tally runs;
	size_t count = 0;

	if (!in_system_headers) {
		if (!by_values(&f->lead->c))
			return NULL;
		minimise_count_directed(f, f->lead, a, places, &runs);
		if (runs.harmless == 0)
			return NULL;
	} else if ((found[0] = rank_causes_use_after_free(f, trace))) {
		count = 1;
	}
	count += alternatives(f, trace, leads, found + count);
	for (size_t i = 0; i < count && !best && !attempt_over(a); i++) {
		if ((in_system_headers && found[i]->in_system_headers) ||
		    is_known(found, i, found[i], places))
			continue;
		minimise_count_directed(f, found[i], a, places, &runs);
		if (runs.failing >= failures_needed(&found[i]->c) && runs.harmless == 0 &&
		    !attempt_over(a)) {
			best = found[i];
			found[i] = NULL;
		}
	}
	for (size_t i = 0; i < count; i++)
		lead_free(found[i]);
	return best;
}
