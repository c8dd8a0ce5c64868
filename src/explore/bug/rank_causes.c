/*
 * Two accesses in the wrong order (a race, a use before the first write) do harm by what is
 * in memory, so that the same two may be part of something larger: a row is inserted before
 * the table is emptied in half of all runs, and all is well unless the log has it the
 * other way round. What is too early then is not the use.
 *
 * An order is not the cause if runs have it and pass. So a dozen runs are directed by the
 * predicted order alone. If it comes about in one that passes, the same question is put to
 * what else the failing run has: other orders that were predicted, and ways in which
 * atomicity is broken, the simplest first, since the others only add what is not needed.
 * The first that makes runs fail, and lets none pass, is told. If there is none, the
 * prediction stays: it is no worse, and was made before the run.
 *
 * The same is asked where part of the order is in headers of the system: that two calls
 * of a library met there is told only if nothing in the program's own files makes it fail.
 *
 * Use after free, deadlocks and the like do harm whatever the values are: that a run
 * passes says nothing against them.
 */
#include "explore/bug/rank_causes.h"

#include "explore/bug/minimise.h"
#include "explore/bug/same_cause.h"

#define RANK_MOST 12u		/* of each kind */
#define RANK_ENOUGH 4u

static bool by_values(const struct candidate *c)
{
	return pattern_row(c->pattern)->by_values;
}

/* Runs of a dozen that have to fail: fewer may be chance, unless the order is the failure. */
static unsigned failures_needed(const struct candidate *c)
{
	unsigned enough = pattern_row(c->pattern)->enough;

	return enough ? enough : RANK_ENOUGH;
}

/* How many things have to come together. */
static unsigned parts(const struct lead *lead)
{
	return 2u * lead->c.orders + (lead->c.class == CANDIDATE_ATOMICITY2);
}

/* What else the failing run has; by parts, and as likely as they were found. */
static size_t alternatives(const struct search_failure *f, const char *trace,
			   const struct leads *leads, struct lead **out)
{
	size_t count = leads_in_trace(leads, trace, by_values, out, RANK_MOST);

	count += leads_in_trace(leads, trace, candidate_breaks_atomicity, out + count, RANK_MOST);
	count += leads_from_failure(leads, trace, f->result.failure, candidate_breaks_atomicity, out + count,
				  RANK_MOST);
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && parts(out[k]) < parts(out[k - 1]); k--) {
			struct lead *swap = out[k];

			out[k] = out[k - 1];
			out[k - 1] = swap;
		}
	return count;
}

static bool is_known(struct lead *const *leads, size_t count, const struct lead *lead,
		     struct places *places)
{
	for (size_t i = 0; i < count; i++)
		if (same_cause_implies(leads[i], lead, places) && same_cause_implies(lead, leads[i], places))
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
	bool in_system_headers = f->lead->in_system_headers && f->lead->c.class != CANDIDATE_DEADLOCK;
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
		if ((in_system_headers && found[i]->in_system_headers) || is_known(found, i, found[i], places))
			continue;
		minimise_count_directed(f, found[i], a, places, &runs);
		if (runs.failing >= failures_needed(&found[i]->c) && runs.harmless == 0 && !attempt_over(a)) {
			best = found[i];
			found[i] = NULL;
		}
	}
	for (size_t i = 0; i < count; i++)
		lead_free(found[i]);
	return best;
}
