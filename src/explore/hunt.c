#include "explore/hunt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/follow.h"
#include "explore/profile.h"

#define TRACE_PASSES 3u		/* over all profile runs, until nothing more is found shared */
#define PROVE_SHARE 0.75	/* of the runs that are left */

struct hunt {
	struct hunt_config config;
	struct places *places;
	struct search_memory memory;
	struct leads leads;
	struct hunt_stats stats;
	uint8_t *outcomes;	/* of the proving runs: enum lead_outcome */
	uint64_t proofs;	/* how many of them count */
	bool over;		/* the one who asked has enough */
	double began;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *hunt_stage_name(enum hunt_stage stage)
{
	static const char *const names[] = { "profile", "predict", "prove", "search" };

	return names[stage];
}

const struct hunt_stats *hunt_stats(const struct hunt *h)
{
	return &h->stats;
}

struct hunt *hunt_new(const struct hunt_config *config)
{
	struct hunt *h = xcalloc(1, sizeof(*h));

	h->config = *config;
	h->leads.suppress = config->suppress;
	return h;
}

void hunt_free(struct hunt *h)
{
	search_memory_free(&h->memory);
	leads_free(&h->leads);
	free(h->outcomes);
	free(h);
}

/* Every lead is tried once, then each again by the next policy, and so on. */
static struct lead *lead_of_run(const struct hunt *h, uint64_t run)
{
	return h->leads.at[run % h->leads.count];
}

static bool on_found(void *ctx, struct search_failure *f)
{
	struct hunt *h = ctx;
	uint64_t run;

	if (h->stats.stage == HUNT_PROVE && h->outcomes[f->schedule.run] == LEAD_FAILED) {
		f->lead = lead_of_run(h, f->schedule.run);
		lead_goals(f->lead, h->places, &f->schedule);
	}
	run = f->schedule.run;
	h->over |= !h->config.search.found(h->config.search.ctx, f);
	/* Later runs may have ended already, but count only if all failures are wanted. */
	if (h->stats.stage == HUNT_PROVE && h->over && !h->config.search.keep_going)
		h->proofs = run + 1;
	return !h->over;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	struct hunt *h = ctx;

	h->config.search.progress(h->config.search.ctx, stats);
}

/* The part of a search that a stage is; false if nothing is left of the budget. */
static bool begin(struct hunt *h, enum hunt_stage stage, struct search_stats *stats,
		  struct search_config *out)
{
	const struct search_config *c = &h->config.search;

	stats->seconds = now() - h->began;
	*out = *c;
	out->strategy = strategy_find("random");
	out->memory = &h->memory;
	out->progress = c->progress ? on_progress : NULL;
	out->found = on_found;
	out->ctx = h;
	out->runs = c->runs > stats->runs ? c->runs - stats->runs : 0;
	out->seconds = c->seconds > 0 ? c->seconds - stats->seconds : 0;
	h->stats.stage = stage;
	return !h->over && !(c->stop && *c->stop) && (!c->runs || out->runs > 0) &&
	       (c->seconds <= 0 || out->seconds > 0);
}

static void shape_profile(void *ctx, uint64_t run, struct server *s)
{
	struct hunt *h = ctx;

	profile_shape(h->config.search.seed, run, server_request(s));
}

/* A failure outside a search. */
static void tell(struct hunt *h, struct search_failure *f)
{
	bool added;

	oracle_refine(&f->result, f->report, h->places);
	map_put(&h->memory.identities, oracle_identity(&f->result, h->places), &added);
	if (added)
		on_found(h, f);
	else
		search_failure_free(f);
}

static char *make_folder(struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = xasprintf("%s/snarl-hunt-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(folder))
		return folder;
	err_set(err, "cannot make the folder %s for traces: %s", folder, strerror(errno));
	free(folder);
	return NULL;
}

/* The runs that pass, with the memory known to be shared when another one failed. */
static void watch_others(struct hunt *h, struct leads *out)
{
	size_t size = h->memory.count * sizeof(*h->memory.granules);
	struct search_memory memory = { 0 };
	struct search_stats stats = { 0 };
	struct err err;
	char *folder = make_folder(&err);

	memory.granules = xmalloc(size + 1);
	memory.capacity = h->memory.count;
	if (size)
		memcpy(memory.granules, h->memory.granules, size);
	for (unsigned i = 0; folder && i < h->config.profiles; i++) {
		char *path = xasprintf("%s/%u", folder, i);
		struct search_failure *failure = NULL;

		memory.count = h->memory.count;
		if (profile_trace(&h->config.search, &memory, i, path, &stats, &failure, &err) == 0 &&
		    !failure)
			leads_add_trace(out, path, &err);
		if (failure)
			search_failure_free(failure);
		unlink(path);
		free(path);
	}
	if (folder)
		rmdir(folder);
	free(folder);
	search_memory_free(&memory);
	leads_sort(out);
}

struct lead *hunt_explain(void *ctx, const struct search_failure *f, const char *trace)
{
	struct hunt *h = ctx;
	struct leads others = { .suppress = h->leads.suppress };
	struct lead *lead;

	if (h->stats.stage == HUNT_PROFILE)
		watch_others(h, &others);
	lead = leads_explain(h->stats.stage == HUNT_PROFILE ? &others : &h->leads, trace,
			     f->result.failure);
	leads_free(&others);
	return lead;
}

/* One pass over the profile runs; how many traces there are. */
static unsigned trace_all(struct hunt *h, const char *folder, struct search_stats *stats)
{
	struct search_config config;
	unsigned traces = 0;

	for (unsigned i = 0; i < h->config.profiles && begin(h, HUNT_PROFILE, stats, &config); i++) {
		char *path = xasprintf("%s/%u", folder, i);
		struct search_failure *failure;
		struct err err;

		unlink(path);
		if (profile_trace(&config, &h->memory, i, path, stats, &failure, &err) < 0)
			snprintf(h->stats.no_trace, sizeof(h->stats.no_trace), "%.250s", err.text);
		else if (failure)
			tell(h, failure);
		else
			traces++;
		free(path);
	}
	return traces;
}

static void predict(struct hunt *h, const char *folder)
{
	h->stats.stage = HUNT_PREDICT;
	for (unsigned i = 0; i < h->config.profiles; i++) {
		volatile sig_atomic_t *stop = h->config.search.stop;
		char *path = xasprintf("%s/%u", folder, i);
		bool wanted = !h->over && !(stop && *stop) && access(path, F_OK) == 0;
		struct err err;

		if (wanted && leads_add_trace(&h->leads, path, &err) < 0)
			snprintf(h->stats.no_trace, sizeof(h->stats.no_trace), "%.250s", err.text);
		unlink(path);
		free(path);
	}
	if (h->config.wanted)
		leads_keep(&h->leads, h->config.wanted, h->config.ctx);
	leads_sort(&h->leads);
	h->stats.predicted = h->leads.predicted;
	h->stats.suppressed = h->leads.suppressed_count;
	h->stats.leads = h->stats.left = h->leads.count;
}

/* Watches the program and finds leads. */
static int profile(struct hunt *h, struct search_stats *stats, struct err *err)
{
	struct search_config config;
	char *folder;
	int result = 0;

	if (begin(h, HUNT_PROFILE, stats, &config)) {
		config.shape = shape_profile;
		if (!config.runs || config.runs > h->config.profiles)
			config.runs = h->config.profiles;
		result = search_run(&config, h->places, stats, err);
	}
	if (result < 0 || h->over)
		return result;
	folder = make_folder(err);
	if (!folder)
		return -1;
	for (unsigned pass = 0; pass < TRACE_PASSES; pass++) {
		size_t known = h->memory.count;

		if (!trace_all(h, folder, stats) || h->memory.count == known)
			break;
	}
	predict(h, folder);
	rmdir(folder);
	free(folder);
	return 0;
}

static void shape_proof(void *ctx, uint64_t run, struct server *s)
{
	struct hunt *h = ctx;

	follow_shape(lead_of_run(h, run), run / h->leads.count, s);
}

static void note_proof(void *ctx, uint64_t run, const struct server *s,
		       const struct oracle_result *result)
{
	struct hunt *h = ctx;

	h->outcomes[run] = follow_outcome(lead_of_run(h, run), s, result);
	h->stats.left -= run < h->leads.count && h->stats.left > 0;
	h->stats.proved += h->outcomes[run] == LEAD_FAILED;
}

/* Of the runs that count, whoever made them: the same for any number of jobs. */
static void count_leads(struct hunt *h)
{
	struct hunt_stats *st = &h->stats;

	for (uint64_t i = 0; i < h->proofs; i++) {
		struct lead *lead = lead_of_run(h, i);

		if (h->outcomes[i] > lead->outcome)
			lead->outcome = h->outcomes[i];
	}
	st->left = st->proved = 0;
	for (size_t i = 0; i < h->leads.count; i++)
		switch (h->leads.at[i]->outcome) {
		case LEAD_UNTRIED: st->left++; break;
		case LEAD_UNREACHED: st->unreached++; break;
		case LEAD_INFEASIBLE: st->infeasible++; break;
		case LEAD_HARMLESS: st->harmless++; break;
		case LEAD_FAILED: st->proved++; break;
		}
}

static int prove(struct hunt *h, struct search_stats *stats, struct err *err)
{
	uint64_t wanted = h->leads.count * FOLLOW_ROUNDS;
	struct search_config config;
	int result;

	if (!h->leads.count || !begin(h, HUNT_PROVE, stats, &config))
		return 0;
	if (config.runs && (double)wanted > (double)config.runs * PROVE_SHARE)
		wanted = (uint64_t)((double)config.runs * PROVE_SHARE) + 1;
	if (config.seconds > 0)
		config.seconds *= PROVE_SHARE;
	config.runs = wanted;
	config.learned = true;
	config.shape = shape_proof;
	config.judged = note_proof;
	config.server.plan_size = FOLLOW_PLAN_SIZE;
	h->outcomes = xcalloc(wanted, 1);
	h->proofs = wanted;
	result = search_run(&config, h->places, stats, err);
	count_leads(h);
	return result;
}

static void shape_search(void *ctx, uint64_t run, struct server *s)
{
	static const struct {
		const char *strategy;
		uint32_t depth;
	} ways[] = { { "pct", 3 }, { "pos", 0 }, { "random", 0 } };
	struct ctl_request *q = server_request(s);

	(void)ctx;
	snprintf(q->strategy, sizeof(q->strategy), "%s", ways[run % ARRAY_SIZE(ways)].strategy);
	q->depth = ways[run % ARRAY_SIZE(ways)].depth;
}

int hunt_run(struct hunt *h, struct places *places, struct search_stats *stats, struct err *err)
{
	struct search_config config;

	h->began = now();
	h->places = places;
	if (profile(h, stats, err) < 0 || prove(h, stats, err) < 0)
		return -1;
	if (!begin(h, HUNT_SEARCH, stats, &config))
		return 0;
	config.shape = shape_search;
	return search_run(&config, h->places, stats, err);
}
