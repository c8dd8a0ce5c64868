#include "explore/hunt/hunt_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define TRACE_PASSES 3u		/* over all profile runs, until nothing more is found shared */
#define OTHERS_MOST 16u		/* runs to find one that passes, if one failed before */
#define WATCH_SHARE 0.25	/* of --time: no further pass after that */
#define PREDICT_SHARE 0.5	/* … no further trace is looked through if that would take longer */

const char *hunt_stage_name(enum hunt_stage stage)
{
	static const char *const names[] = { "profile", "predict", "prove", "search", "cover" };

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
	h->stats.list = &h->leads;
	h->stats.cover = config->cover;
	h->leads.suppress = config->suppress;
	h->none = (struct inputs){ .count = 1 };
	if (!h->config.inputs)
		h->config.inputs = &h->none;
	h->of_input = xcalloc(h->config.inputs->count, sizeof(*h->of_input));
	return h;
}

void hunt_free(struct hunt *h)
{
	search_memory_free(&h->memory);
	search_memory_free(&h->failing);
	leads_free(&h->leads);
	leads_free(&h->others);
	for (size_t i = 0; i < h->config.inputs->count; i++)
		free(h->of_input[i].granules);
	free(h->of_input);
	for (size_t i = 0; i < h->profile_count; i++)
		profile_free(&h->profiles[i]);
	free(h->profiles);
	profile_free(&h->best);
	feedback_free(&h->feedback);
	greybox_free(&h->greybox);
	for (size_t i = 0; i < h->postponed_count; i++)
		search_failure_free(h->postponed[i].failure);
	free(h->postponed);
	free(h);
}

int hunt_select(struct hunt *h, size_t input, struct err *err)
{
	struct search_memory *m = &h->memory;
	struct hunt_granules *old = &h->of_input[h->input], *new = &h->of_input[input];

	if (input != h->input) {
		*old = (struct hunt_granules){ m->granules, m->count, m->capacity };
		m->granules = new->granules;
		m->count = new->count;
		m->capacity = new->capacity;
		*new = (struct hunt_granules){ 0 };
		h->input = input;
	}
	return inputs_select(h->config.inputs, input, err);
}

static void copy_granules(const struct search_memory *from, struct search_memory *to)
{
	size_t size = from->count * sizeof(*from->granules);

	free(to->granules);
	*to = (struct search_memory){ .count = from->count, .capacity = from->count };
	to->granules = xmalloc(size + 1);
	if (size)
		memcpy(to->granules, from->granules, size);
}

/* A failure before anything was predicted: it may be had with more to be seen. */
static struct search_failure *on_early(struct hunt *h, struct search_failure *f)
{
	copy_granules(&h->memory, &h->failing);
	return profile_again(&h->config.search, h->places, &h->failing, f);
}

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	struct hunt *h = ctx;
	bool proving = h->attempts != NULL;
	uint64_t run = f->schedule.run;
	enum search_answer answer;

	if (proving && h->grouping) {
		/* Which of them it was, the next runs will show. */
		h->postponed = xgrow(h->postponed, h->postponed_count, &h->postponed_capacity,
				     sizeof(*h->postponed));
		h->postponed[h->postponed_count++] = (struct hunt_postponed){ f, h->input };
		if (!h->config.search.keep_going)
			hunt_prove_ended(h, run);
		return h->config.search.keep_going ? SEARCH_MORE : SEARCH_ENOUGH;
	}
	if (proving)
		hunt_prove_found(h, f);
	else if (h->stats.stage == HUNT_PROFILE && !h->watched)
		f = on_early(h, f);
	answer = h->config.search.found(h->config.search.ctx, f);
	h->over |= answer == SEARCH_ENOUGH;
	/* Later runs may have ended already, but count only if all failures are wanted. */
	if (proving && h->over && !h->config.search.keep_going)
		hunt_prove_ended(h, run);
	return answer;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	struct hunt *h = ctx;

	h->config.search.progress(h->config.search.ctx, stats);
}

bool hunt_begin(struct hunt *h, enum hunt_stage stage, struct search_stats *stats,
		struct search_config *out)
{
	const struct search_config *c = &h->config.search;

	stats->seconds = clock_seconds() - h->began;
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

void hunt_tell(struct hunt *h, struct search_failure *f)
{
	uint64_t identity;

	oracle_refine(&f->result, f->report, h->places);
	identity = oracle_identity(&f->result, h->places);
	if (search_memory_wants(&h->memory, identity))
		search_memory_told(&h->memory, identity, on_found(h, f));
	else
		search_failure_free(f);
}

char *hunt_folder(struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = xasprintf("%s/snarl-hunt-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(folder))
		return folder;
	err_set(err, "cannot make the folder %s for traces: %s", folder, strerror(errno));
	free(folder);
	return NULL;
}

/* Some runs that pass, with the memory known to be shared when another one failed. */
static void watch_others(struct hunt *h, struct leads *out)
{
	struct search_config config = h->config.search;
	struct search_memory memory = { 0 };
	struct search_stats stats = { 0 };
	unsigned passed = 0;
	struct err err;
	char *folder = hunt_folder(&err);

	if (!h->failing.granules)
		copy_granules(&h->memory, &h->failing);
	copy_granules(&h->failing, &memory);
	for (unsigned i = 0; folder && (i < h->config.profiles || (!passed && i < OTHERS_MOST)); i++) {
		char *path = xasprintf("%s/%u", folder, i);
		struct search_failure *failure = NULL;
		struct profile made;

		/* Those with few switches may all fail. */
		config.by_strategy = i >= h->config.profiles;
		config.strategy = strategy_find("pos");
		memory.count = h->failing.count;
		if (profile_trace(&config, &memory, i, NULL, path, &stats, &failure, &made,
				  &err) == 0 && !failure) {
			passed++;
			leads_add_trace(out, path, &err);
		}
		if (failure)
			search_failure_free(failure);
		profile_free(&made);
		unlink(path);
		free(path);
	}
	if (folder)
		rmdir(folder);
	free(folder);
	search_memory_free(&memory);
	leads_sort(out);
}

const struct leads *hunt_leads(void *ctx)
{
	struct hunt *h = ctx;

	if (h->stats.stage != HUNT_PROFILE || h->leads.count)
		return &h->leads;
	if (!h->watched) {
		h->others.suppress = h->leads.suppress;
		watch_others(h, &h->others);
	}
	h->watched = true;
	return &h->others;
}

struct lead *hunt_explain(void *ctx, const struct search_failure *f, const char *trace)
{
	return leads_explain(hunt_leads(ctx), trace, f->result.failure);
}

int hunt_watch(struct hunt *h, const struct search_config *config, uint64_t run,
	       const struct profile *again, const char *path, struct search_stats *stats)
{
	struct search_failure *failure;
	struct profile made;
	struct err err;

	unlink(path);
	if (profile_trace(config, &h->memory, run, again, path, stats, &failure, &made, &err) < 0) {
		snprintf(h->stats.no_trace, sizeof(h->stats.no_trace), "%.250s", err.text);
		profile_free(&made);
		return 0;
	}
	if (failure) {
		profile_free(&made);
		hunt_tell(h, failure);
		return 0;
	}
	made.input = h->input;
	h->profiles = xgrow(h->profiles, h->profile_count, &h->profile_capacity, sizeof(*h->profiles));
	h->profiles[h->profile_count++] = made;
	return 1;
}

int hunt_predict(struct hunt *h, const char *path, size_t profile)
{
	enum hunt_stage stage = h->stats.stage;
	struct err err;
	int result;

	h->stats.stage = HUNT_PREDICT;
	h->leads.source = profile;
	result = leads_add_trace(&h->leads, path, &err);
	if (result < 0)
		snprintf(h->stats.no_trace, sizeof(h->stats.no_trace), "%.250s", err.text);
	h->stats.predicted = h->leads.predicted;
	h->stats.seen = h->leads.seen;
	h->stats.doubtful = h->leads.doubtful;
	h->stats.stage = stage;
	return result;
}

void hunt_sort(struct hunt *h)
{
	if (h->config.wanted)
		leads_keep(&h->leads, h->config.wanted, h->config.ctx);
	leads_sort(&h->leads);
	h->stats.suppressed = h->leads.suppressed_count;
	h->stats.leads = h->leads.count;
	hunt_count(h);
}

/* One pass over the profile runs of an input; profiles from `first` on are theirs. */
static void trace_all(struct hunt *h, const char *folder, size_t first, struct search_stats *stats)
{
	struct search_config config;

	while (h->profile_count > first) {
		char *path = xasprintf("%s/%zu", folder, --h->profile_count);

		profile_free(&h->profiles[h->profile_count]);
		unlink(path);
		free(path);
	}
	for (unsigned i = 0; i < h->config.profiles && hunt_begin(h, HUNT_PROFILE, stats, &config); i++) {
		char *path = xasprintf("%s/%zu", folder, h->profile_count);

		if (!hunt_watch(h, &config, i, NULL, path, stats))
			unlink(path);
		free(path);
	}
}

/* Have less than this share of the time been used, or would be in `more` seconds? */
static bool has_time(const struct hunt *h, double share, double more)
{
	double all = h->config.search.seconds;

	return all <= 0 || clock_seconds() - h->began + more < all * share;
}

/* Looks through the traces of the runs from `first` on: one at least, the others if there is time. */
static void predict_all(struct hunt *h, const char *folder, size_t first, struct search_stats *stats)
{
	volatile sig_atomic_t *stop = h->config.search.stop;
	double longest = 0;

	h->stats.stage = HUNT_PREDICT;
	for (size_t i = first; i < h->profile_count; i++) {
		char *path = xasprintf("%s/%zu", folder, i);
		double began = clock_seconds();

		if (!h->over && !(stop && *stop) && (i == first || has_time(h, PREDICT_SHARE, longest))) {
			if (h->config.search.progress)
				on_progress(h, stats);
			hunt_predict(h, path, i);
		}
		longest = clock_seconds() - began > longest ? clock_seconds() - began : longest;
		unlink(path);
		free(path);
	}
}

/* Watches the program with the input selected, and finds leads. */
static int profile_input(struct hunt *h, const char *folder, struct search_stats *stats, struct err *err)
{
	size_t first = h->profile_count;
	struct search_config config;
	int result = 0;

	if (hunt_begin(h, HUNT_PROFILE, stats, &config)) {
		config.shape = shape_profile;
		if (!config.runs || config.runs > h->config.profiles)
			config.runs = h->config.profiles;
		result = search_run(&config, h->places, stats, err);
	}
	for (unsigned pass = 0; result == 0 && !h->over && pass < TRACE_PASSES; pass++) {
		size_t known = h->memory.count;

		trace_all(h, folder, first, stats);
		if (h->profile_count == first || h->memory.count == known ||
		    !has_time(h, WATCH_SHARE, 0))
			break;
	}
	if (result < 0)
		h->over = true;
	predict_all(h, folder, first, stats);
	return result;
}

static int profile(struct hunt *h, struct search_stats *stats, struct err *err)
{
	char *folder = hunt_folder(err);
	int result = folder ? 0 : -1;

	for (size_t i = 0; result == 0 && !h->over && i < h->config.inputs->count; i++) {
		result = hunt_select(h, i, err);
		if (result == 0)
			result = profile_input(h, folder, stats, err);
	}
	if (folder)
		rmdir(folder);
	free(folder);
	hunt_sort(h);
	return result;
}

int hunt_run(struct hunt *h, struct places *places, struct search_stats *stats, struct err *err)
{
	h->began = clock_seconds();
	h->places = places;
	h->leads.symbols = h->others.symbols = places->symbols;
	if (profile(h, stats, err) < 0 || hunt_prove(h, HUNT_TRIES_FIRST, stats, err) < 0)
		return -1;
	return h->config.cover ? hunt_cover(h, stats, err) : hunt_search(h, stats, err);
}
