#include "explore/lead/lead.h"

#include <stdlib.h>

#include "analyze/analysis.h"
#include "analyze/candidate_list.h"
#include "analyze/candidate_names.h"
#include "base/hash.h"
#include "base/mem.h"
#include "explore/lead/ineffective_write.h"
#include "explore/lead/use_after_free.h"

#define FRAMES 16	/* inlined frames of one site; more are ignored */

/* A trace and the results of its analysis. */
struct study {
	struct reader *reader;
	struct analysis_context ctx;
	struct findings *found;
	struct names *names;
	const struct suppressions *suppress;
	bool cut;		/* the analysis did not see the whole trace */
};

void lead_free(struct lead *lead)
{
	if (!lead)
		return;
	for (unsigned i = 0; i < CANDIDATE_EVENTS; i++) {
		free(lead->event[i].thread);
		free(lead->event[i].object);
		free(lead->event[i].locks);
	}
	free(lead);
}

struct lead *lead_copy(const struct lead *lead)
{
	struct lead *copy = xcalloc(1, sizeof(*copy));

	*copy = *lead;
	for (unsigned i = 0; i < lead->c.events; i++) {
		copy->event[i].thread = xstrdup(lead->event[i].thread);
		copy->event[i].object = xstrdup(lead->event[i].object);
		copy->event[i].locks = xstrdup(lead->event[i].locks);
	}
	return copy;
}

void leads_free(struct leads *l)
{
	for (size_t i = 0; i < l->count; i++)
		lead_free(l->at[i]);
	for (size_t i = 0; i < l->suppressed_count; i++)
		lead_free(l->suppressed[i]);
	free(l->at);
	free(l->suppressed);
	map_free(&l->known_orders);
	*l = (struct leads){ 0 };
}

static void study_close(struct study *s)
{
	names_free(s->names);
	findings_free(s->found);
	analysis_context_free(&s->ctx);
	reader_close(s->reader);
}

/* Analyses a trace by the analyses `which`, NULL: all. A trace that ends early is no error. */
static int study_read(struct study *s, const char *path, const struct leads *l,
		      const struct analysis *const *which, struct err *err)
{
	struct analysis_stats stats;

	*s = (struct study){ .reader = reader_open(path, err), .suppress = l->suppress };
	if (!s->reader)
		return -1;
	analysis_context_init(&s->ctx);
	s->ctx.deadline = l->deadline;
	s->found = findings_new();
	if (analysis_run(s->reader, which, &s->ctx, s->found, &stats, err) < 0) {
		study_close(s);
		return -1;
	}
	s->cut = stats.cut;
	return 0;
}

/* Resolves the names of threads, objects and sites in the findings. */
static void study_name(struct study *s, const struct leads *l)
{
	struct err err;

	s->names = names_new(s->reader, &s->ctx, true, l->symbols);
	names_learn(s->names, s->found, findings_count(s->found), &err);
}

static int study_open(struct study *s, const char *path, const struct leads *l, struct err *err)
{
	if (study_read(s, path, l, NULL, err) < 0)
		return -1;
	study_name(s, l);
	return 0;
}

/* True if a line of the candidate is in a system header. */
static bool is_in_system_headers(const struct study *s, const struct candidate *c)
{
	struct symbol_frame frames[FRAMES];
	const struct symbol_frame *own;

	for (unsigned i = 0; i < c->events; i++) {
		own = symbol_own_frame(frames,
				       names_frames(s->names, c->event[i].pc, frames, FRAMES));
		if (own->file && symbol_is_systems(own->file))
			return true;
	}
	return false;
}

static void name_event(const struct study *s, const struct candidate_event *e,
		       struct lead_event *out)
{
	const struct reader_thread *thread = reader_thread(s->reader, e->thread);
	size_t count = locks_count(s->ctx.locks, e->lockset);
	struct buf locks = { 0 };
	struct locks_held held;

	for (size_t i = 0; i < count; i++) {
		locks_at(s->ctx.locks, e->lockset, i, &held);
		/* The lock that this event acquires was not held before. */
		if (held.lock != e->addr || held.acquired_pc != e->pc)
			buf_addf(&locks, "%s%s", locks.size ? ", " : "",
				 names_lock(s->names, e, i));
	}
	out->thread = xstrdup(thread ? thread->name : "?");
	out->object = xstrdup(names_object(s->names, e));
	out->locks = xstrdup(buf_string(&locks));
	buf_free(&locks);
}

static struct lead *lead_new(const struct study *s, const struct candidate *c)
{
	struct lead *lead = xcalloc(1, sizeof(*lead));

	lead->c = *c;
	lead->in_system_headers = is_in_system_headers(s, c);
	lead->suppressed = suppress_candidate(s->suppress, s->names, &s->ctx, c);
	for (unsigned i = 0; i < c->events; i++)
		name_event(s, &c->event[i], &lead->event[i]);
	return lead;
}

/* Hash of the threads and sites of all orders; n-th visits do not count. */
static uint64_t hash_orders(const struct lead *lead)
{
	uint64_t sum = lead->c.orders;

	for (unsigned i = 0; i < lead->c.orders; i++) {
		const struct sched_order *o = &lead->order[i];

		sum += hash_add(hash_add(hash_add(hash_add(1, o->first.thread), o->first.site),
					 o->second.thread),
				o->second.site);
	}
	return sum;
}

/* Adds a lead, or frees it if it cannot be planned or has the orders of an earlier one. */
static void add(struct leads *l, struct lead *lead)
{
	bool added = false;

	if (lead_plan(lead))
		map_put(&l->known_orders, hash_orders(lead), &added);
	if (!added) {
		lead_free(lead);
		return;
	}
	if (lead->suppressed != SUPPRESS_NOTHING) {
		l->suppressed = xgrow(l->suppressed, l->suppressed_count, &l->suppressed_capacity,
				      sizeof(*l->suppressed));
		l->suppressed[l->suppressed_count++] = lead;
		return;
	}
	lead->number = l->count;
	lead->profile = l->profile;
	l->at = xgrow(l->at, l->count, &l->capacity, sizeof(*l->at));
	l->at[l->count++] = lead;
}

int leads_add_trace(struct leads *l, const char *path, struct err *err)
{
	struct hunt_list list;
	struct study s;

	if (study_open(&s, path, l, err) < 0)
		return -1;
	prune_list(s.found, true, &list);
	rank_list(&list, NULL);
	l->cut += s.cut;
	l->predicted += list.predicted;
	l->seen += list.dropped[DROP_SEEN];
	l->doubtful += list.doubtful;
	for (size_t i = 0; i < list.count; i++)
		if (!candidate_is_result(list.at[i]))
			add(l, lead_new(&s, list.at[i]));
	hunt_list_free(&list);
	study_close(&s);
	return 0;
}

static int by_score(const void *a, const void *b)
{
	const struct lead *x = *(struct lead *const *)a, *y = *(struct lead *const *)b;
	double first = x->c.score + x->site_bonus, second = y->c.score + y->site_bonus;

	if (first != second)
		return first > second ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Fills `outcomes` with the highest outcome of a lead for each site. */
static void site_outcomes(const struct leads *l, struct map *outcomes)
{
	for (size_t i = 0; i < l->count; i++)
		for (unsigned e = 0; e < l->at[i]->c.events; e++) {
			uint64_t *best = map_put(outcomes, l->at[i]->c.event[e].pc, NULL);

			if (l->at[i]->outcome > *best)
				*best = l->at[i]->outcome;
		}
}

static double site_bonus(const struct lead *lead, const struct map *outcomes)
{
	uint64_t best = LEAD_UNTRIED;

	for (unsigned e = 0; e < lead->c.events; e++)
		if (*map_find(outcomes, lead->c.event[e].pc) > best)
			best = *map_find(outcomes, lead->c.event[e].pc);
	return best == LEAD_FAILED ? 2 : best == LEAD_HARMLESS ? 0.5 : 0;
}

void leads_sort(struct leads *l)
{
	struct map outcomes = { 0 };

	site_outcomes(l, &outcomes);
	for (size_t i = 0; i < l->count; i++)
		l->at[i]->site_bonus = site_bonus(l->at[i], &outcomes);
	map_free(&outcomes);
	if (l->count)
		qsort(l->at, l->count, sizeof(struct lead *), by_score);
}

void leads_keep(struct leads *l, bool (*wanted)(void *ctx, const struct lead *lead), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++)
		if (wanted(ctx, l->at[i]))
			l->at[kept++] = l->at[i];
		else
			lead_free(l->at[i]);
	l->count = kept;
}

/*
 * True if the candidate may be the cause: it happened in the trace. A predicted deadlock need not
 * have happened completely, since it prevents its own last event.
 */
static bool explains(const struct candidate *c, enum oracle_failure failure)
{
	if (c->class == CANDIDATE_DEADLOCK)
		return oracle_is_stuck(failure);
	return c->seen && c->class != CANDIDATE_MISUSE;
}

double lead_fitness(const struct candidate *c, unsigned orders, enum oracle_failure failure)
{
	bool memory = failure == ORACLE_UAF || failure == ORACLE_DOUBLE_FREE;
	bool same = c->class == CANDIDATE_DEADLOCK || (memory && c->class == CANDIDATE_ORDER);

	/*
	 * Use before initialisation cannot cause a use after free. Setting a pointer to NULL after
	 * free() looks like its first write.
	 */
	if (memory && c->pattern == PATTERN_BEFORE_INIT)
		return 0;
	/*
	 * c->score is low if the candidate happened in the trace, since it needs no run. As a cause
	 * it is likelier then. A candidate of the failure's kind (deadlock, memory) goes first.
	 */
	return c->score + (c->seen ? 1 : 0) + 2 * orders + (same ? 100 : 0);
}

struct lead *lead_from_failure(const struct leads *l, const char *path, enum oracle_failure failure,
			       double *fitness)
{
	const struct candidate *best = NULL;
	struct lead *lead = NULL;
	struct hunt_list list;
	bool *unchanged;
	struct study s;
	struct err err;

	*fitness = 0;
	if (study_open(&s, path, l, &err) < 0)
		return NULL;
	prune_list(s.found, false, &list);
	rank_list(&list, NULL);
	unchanged = ineffective_write_find(path, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct candidate *c = list.at[i];
		double fits = lead_fitness(c, c->seen ? c->orders : 0, failure) -
			      (is_in_system_headers(&s, c) ? LEAD_SYSTEM_PENALTY : 0);

		if (explains(c, failure) && !unchanged[i] && fits > *fitness) {
			*fitness = fits;
			best = c;
		}
	}
	if (best)
		lead = lead_new(&s, best);
	free(unchanged);
	hunt_list_free(&list);
	study_close(&s);
	return lead;
}

struct lead *lead_from_use_after_free(const struct leads *l, const char *path, const char *user,
				      const struct oracle_result *failure)
{
	const struct analysis *const none[] = { NULL };
	struct lead *lead = NULL;
	struct candidate c;
	struct study s;
	struct err err;

	if (study_read(&s, path, l, none, &err) < 0)
		return NULL;
	if (use_after_free_candidate(s.reader, user, failure, &c)) {
		findings_add(s.found, &c);
		study_name(&s, l);
		lead = lead_new(&s, &c);
		/* The trace has no event of the use, so its object is named after the block. */
		free(lead->event[1].object);
		lead->event[1].object = c.addr == c.event[0].addr ? xstrdup(lead->event[0].object) :
			xasprintf("%s+%llu", lead->event[0].object,
				  (unsigned long long)(c.addr - c.event[0].addr));
		if (!lead_plan(lead)) {
			lead_free(lead);
			lead = NULL;
		}
	}
	study_close(&s);
	return lead;
}

/* A candidate and its lead_fitness(). */
struct fitting {
	const struct candidate *c;
	double fits;
};

static int by_fitness(const void *a, const void *b)
{
	const struct fitting *x = a, *y = b;

	return x->fits > y->fits ? -1 : x->fits < y->fits;
}

size_t leads_from_failure(const struct leads *l, const char *path, enum oracle_failure failure,
			  bool (*wanted)(const struct candidate *c), struct lead **out, size_t most)
{
	struct fitting *fitting;
	struct hunt_list list;
	bool *unchanged;
	size_t count = 0, made = 0;
	struct study s;
	struct err err;

	if (study_open(&s, path, l, &err) < 0)
		return 0;
	prune_list(s.found, false, &list);
	rank_list(&list, NULL);
	unchanged = ineffective_write_find(path, &list);
	fitting = xcalloc(list.count + 1, sizeof(*fitting));
	for (size_t i = 0; i < list.count; i++)
		if (explains(list.at[i], failure) && wanted(list.at[i]) && !unchanged[i])
			fitting[count++] = (struct fitting){
				list.at[i], lead_fitness(list.at[i], list.at[i]->orders, failure),
			};
	qsort(fitting, count, sizeof(*fitting), by_fitness);
	for (size_t i = 0; i < count && made < most; i++) {
		struct lead *lead = lead_new(&s, fitting[i].c);

		if (lead_plan(lead))
			out[made++] = lead;
		else
			lead_free(lead);
	}
	free(fitting);
	free(unchanged);
	hunt_list_free(&list);
	study_close(&s);
	return made;
}

const char *lead_outcome_name(enum lead_outcome outcome)
{
	static const char *const names[] = { "untried", "unreached", "infeasible", "harmless",
					     "proved" };

	return names[outcome];
}

const char *lead_outcome_text(const struct lead *lead)
{
	static const char *const why[] = {
		"the budget was used up before its turn",
		"no run came to all of its events",
		"all threads that could run had to be held: the event they wait for needs one of "
		"them to go on",
		"the order came about, and no run failed",
		"a run failed in this order",
	};

	return why[lead->outcome];
}

bool leads_any_in_trace(const struct leads *l, const char *path,
		    bool (*is)(void *ctx, const struct lead *lead), void *ctx)
{
	struct study s;
	struct err err;
	bool found = false;

	if (study_open(&s, path, l, &err) < 0)
		return false;
	for (size_t i = 0; i < findings_count(s.found) && !found; i++) {
		const struct candidate *c = findings_at(s.found, i);
		struct lead *lead = c->seen ? lead_new(&s, c) : NULL;

		found = lead && is(ctx, lead);
		lead_free(lead);
	}
	study_close(&s);
	return found;
}

const char *lead_class(const struct lead *lead)
{
	return candidate_class_name(lead->c.class == CANDIDATE_ATOMICITY2 ? CANDIDATE_ATOMICITY :
									    lead->c.class);
}

size_t lead_events(const struct lead *lead, uint8_t *out)
{
	const struct candidate *c = &lead->c;
	bool done[CANDIDATE_EVENTS] = { false };
	size_t count = 0;

	/* Lock operations at which a thread only waits are left out. */
	for (unsigned i = 0; i < c->events; i++)
		if (c->hold[i] >= 0)
			done[c->hold[i]] = true;
	for (bool more = true; more;) {
		more = false;
		for (uint8_t i = 0; i < c->events && !more; i++) {
			bool ready = !done[i];

			for (unsigned k = 0; k < c->orders; k++)
				ready &= c->order[k].second != i || done[c->order[k].first];
			for (unsigned k = 0; k < c->events; k++)
				ready &= done[k] || c->event[k].thread != c->event[i].thread ||
					 c->event[k].index >= c->event[i].index;
			if (ready) {
				out[count++] = i;
				done[i] = more = true;
			}
		}
	}
	return count;
}
