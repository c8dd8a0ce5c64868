/*
 * The order that explains a failure: which one does its trace have that passing runs do not have?
 * cause.c weighs the answer against the lead that the run was made for, if any. Candidates are the
 * leads of the hunt, which other runs predicted, and what the analyses find in the trace of the
 * failure itself.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "explore/lead/lead.h"
#include "trace/read/reader.h"

#define LEADS_MAX 4096u		/* leads of each list to search a trace for: bounds time */

/* State of one order of a lead while a trace is read. */
struct progress {
	uint64_t first, second;	/* number of visits of each event's thread to its site */
	bool first_happened;
	bool second_followed;	/* the second event happened after the first */
	bool reversed;		/* the second event happened before the first */
};

/* State of the orders of one lead. */
struct followed {
	struct progress order[CANDIDATE_EVENTS];
};

/* Counts visits to the site of `name`; true if this is its n-th. */
static bool is_nth_visit(const struct sched_name *name, uint64_t thread, uint64_t site,
			 uint64_t *count)
{
	return name->thread == thread && name->site == site && ++*count == name->nth;
}

/* Updates the orders of a lead by an event of the trace. */
static void follow(const struct lead *lead, struct followed *f, uint64_t thread, uint64_t site)
{
	for (unsigned i = 0; i < lead->c.orders; i++) {
		struct progress *p = &f->order[i];

		if (is_nth_visit(&lead->order[i].second, thread, site, &p->second)) {
			p->second_followed = p->first_happened;
			p->reversed = !p->first_happened;
		}
		if (is_nth_visit(&lead->order[i].first, thread, site, &p->first))
			p->first_happened = true;
	}
}

/* Number of leads to search a trace for: the best of l->at, then of l->suppressed. */
static size_t searched_count(const struct leads *l)
{
	return (l->count < LEADS_MAX ? l->count : LEADS_MAX) +
	       (l->suppressed_count < LEADS_MAX ? l->suppressed_count : LEADS_MAX);
}

static const struct lead *searched_lead(const struct leads *l, size_t i)
{
	size_t first = l->count < LEADS_MAX ? l->count : LEADS_MAX;

	return i < first ? l->at[i] : l->suppressed[i - first];
}

/* Follows the first `count` leads through a trace in one pass. */
static void follow_all(const struct leads *l, size_t count, struct reader *r, struct followed *f)
{
	struct map sites = { 0 };
	struct event ev;
	struct err err;

	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < searched_lead(l, i)->c.orders; k++) {
			map_put(&sites, searched_lead(l, i)->order[k].first.site, NULL);
			map_put(&sites, searched_lead(l, i)->order[k].second.site, NULL);
		}
	while (reader_next(r, &ev, &err) == 1) {
		const struct reader_thread *thread;
		uint64_t name;

		if (!map_find(&sites, ev.pc))
			continue;
		thread = reader_thread(r, ev.thread);
		if (!thread || !schedule_path_hash(thread->name, &name))
			continue;
		for (size_t i = 0; i < count; i++)
			follow(searched_lead(l, i), &f[i], name, ev.pc);
	}
	map_free(&sites);
}

/*
 * How likely the orders of a lead are the cause; higher is likelier, -1: they are not. All first
 * events must have happened. A second event may be missing, since the run may have ended before it;
 * that lowers the likelihood, and is normal for deadlocks.
 */
static double likelihood(const struct lead *lead, const struct followed *f,
			 enum oracle_failure failure)
{
	unsigned came_about = 0;

	for (unsigned i = 0; i < lead->c.orders; i++) {
		if (!f->order[i].first_happened || f->order[i].reversed)
			return -1;
		came_about += f->order[i].second_followed;
	}
	if (lead->c.class == CANDIDATE_DEADLOCK && !oracle_is_stuck(failure))
		return -1;
	return lead_fitness(&lead->c, came_about, failure) -
	       (lead->outcome == LEAD_HARMLESS ? 5 : 0) -
	       (lead->in_system_headers ? LEAD_SYSTEM_PENALTY : 0);
}

/* Follows the leads through a trace. NULL if it cannot be read. The caller frees the result. */
static struct followed *follow_trace(const struct leads *l, size_t count, const char *path)
{
	struct followed *followed;
	struct err err;
	struct reader *r = count ? reader_open(path, &err) : NULL;

	if (!r)
		return NULL;
	reader_until(r, l->deadline);
	followed = xcalloc(count + 1, sizeof(*followed));
	follow_all(l, count, r, followed);
	reader_close(r);
	return followed;
}

size_t leads_in_trace(const struct leads *l, const char *path,
		      bool (*wanted)(const struct candidate *c), struct lead **out, size_t most)
{
	size_t count = l->count < LEADS_MAX ? l->count : LEADS_MAX, made = 0;
	struct followed *followed = follow_trace(l, count, path);

	for (size_t i = 0; followed && i < count && made < most; i++) {
		const struct lead *lead = l->at[i];
		unsigned came_about = 0;

		for (unsigned k = 0; k < lead->c.orders; k++)
			came_about += followed[i].order[k].second_followed;
		if (lead->c.orders && came_about == lead->c.orders && wanted(&lead->c))
			out[made++] = lead_copy(lead);
	}
	free(followed);
	return made;
}

/* Copy of the likeliest lead; *most becomes its likelihood. NULL: none is likelier than *most. */
static struct lead *likeliest_lead(const struct leads *l, const char *path,
				   enum oracle_failure failure, double *most)
{
	size_t count = searched_count(l);
	struct followed *followed = follow_trace(l, count, path);
	const struct lead *best = NULL;

	for (size_t i = 0; followed && i < count; i++) {
		double score = likelihood(searched_lead(l, i), &followed[i], failure);

		if (score > *most) {
			*most = score;
			best = searched_lead(l, i);
		}
	}
	free(followed);
	return best ? lead_copy(best) : NULL;
}

struct lead *leads_explain(const struct leads *l, const char *path, enum oracle_failure failure)
{
	double by_others = 0, by_itself = 0;
	struct lead *others = likeliest_lead(l, path, failure, &by_others);
	struct lead *itself = lead_from_failure(l, path, failure, &by_itself);

	if (itself && by_itself >= by_others) {
		lead_free(others);
		return itself;
	}
	lead_free(itself);
	return others;
}
