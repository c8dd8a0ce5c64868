#include "explore/hunt/hunt_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "explore/target/leftovers.h"

#define TRACE_PASSES 3u		/* most times to record the profile runs of an input */
#define PASSING_RUNS_MOST 16u	/* to find a passing run after a failure in the profile stage */
#define PROFILE_SHARE 0.25	/* of --time: after that no further pass begins */
#define PREDICT_SHARE 0.5	/* of --time for all analyses; of the time left for each of them */

const char *hunt_stage_name(enum hunt_stage stage)
{
	static const char *const names[] = { "profile", "predict", "prove", "search", "cover" };

	return names[stage];
}

const struct hunt_stats *hunt_stats(const struct hunt *h)
{
	return &h->stats;
}

void hunt_free(struct hunt *h)
{
	search_memory_free(&h->memory);
	search_memory_free(&h->failing);
	leads_free(&h->leads);
	leads_free(&h->passing_leads);
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

/*
 * Makes a run again that failed in the profile stage, while shared memory was still being
 * discovered. Now all of that memory is known, so the run's trace has all accesses to it.
 */
static struct search_failure *repeat_early_failure(struct hunt *h, struct search_failure *f)
{
	copy_granules(&h->memory, &h->failing);
	return profile_again(&h->config.search, &h->failing, f);
}

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	struct hunt *h = ctx;
	bool proving = h->attempts != NULL;
	uint64_t run = f->schedule.run;
	enum search_answer answer;

	if (proving && h->grouping) {
		/* The runs with one lead each will show which of the group it was. */
		h->postponed = xgrow(h->postponed, h->postponed_count, &h->postponed_capacity,
				     sizeof(*h->postponed));
		h->postponed[h->postponed_count++] = (struct hunt_postponed){ f, h->input };
		if (!h->config.search.plan.keep_going)
			hunt_prove_end_at(h, run);
		return h->config.search.plan.keep_going ? SEARCH_MORE : SEARCH_ENOUGH;
	}
	if (proving)
		hunt_prove_attribute(h, f);
	else if (h->stats.stage == HUNT_PROFILE && !h->passing_known)
		f = repeat_early_failure(h, f);
	answer = h->config.listener.found(h->config.listener.ctx, f);
	h->stopped |= answer == SEARCH_ENOUGH;
	/* With -j, later runs may have ended already; they count only with --keep-going. */
	if (proving && h->stopped && !h->config.search.plan.keep_going)
		hunt_prove_end_at(h, run);
	return answer;
}

static void on_inconclusive(void *ctx, const struct search_failure *f)
{
	const struct search_listener *l = &((const struct hunt *)ctx)->config.listener;

	if (l->inconclusive)
		l->inconclusive(l->ctx, f);
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	const struct search_listener *l = &((const struct hunt *)ctx)->config.listener;

	if (l->progress)
		l->progress(l->ctx, stats);
}

struct hunt *hunt_new(const struct hunt_config *config)
{
	struct hunt *h = xcalloc(1, sizeof(*h));

	h->config = *config;
	h->places = config->search.program.places;
	h->runs = config->search.stats;
	h->listener = (struct search_listener){ .found = on_found, .progress = on_progress,
						.inconclusive = on_inconclusive, .ctx = h };
	h->stats.list = &h->leads;
	h->stats.cover = config->cover;
	h->leads.suppress = config->suppress;
	h->late = deadline_extend(&config->search.budget.deadline, DEADLINE_GRACE);
	h->leads.deadline = h->passing_leads.deadline = &h->late;
	h->no_inputs = (struct inputs){ .count = 1 };
	if (!h->config.inputs)
		h->config.inputs = &h->no_inputs;
	h->of_input = xcalloc(h->config.inputs->count, sizeof(*h->of_input));
	return h;
}

bool hunt_begin(struct hunt *h, enum hunt_stage stage, struct search_config *out)
{
	const struct search_budget *all = &h->config.search.budget;
	struct search_budget *left = &out->budget;

	h->runs->seconds = clock_seconds() - h->began;
	*out = h->config.search;
	out->plan.strategy = strategy_find("random");
	out->memory = &h->memory;
	left->runs = all->runs > h->runs->runs ? all->runs - h->runs->runs : 0;
	h->stats.stage = stage;
	return !h->stopped && !search_stats_hopeless(h->runs, all) &&
	       (!all->runs || left->runs > 0) && !deadline_over(&all->deadline);
}

void hunt_report(struct hunt *h, struct search_failure *f)
{
	uint64_t identity;

	oracle_refine(&f->result, f->report, h->places);
	identity = oracle_identity(&f->result, h->places);
	if (search_memory_wants(&h->memory, identity))
		search_memory_answer(&h->memory, identity, on_found(h, f));
	else
		search_failure_free(f);
}

char *hunt_folder(struct err *err)
{
	char *folder = leftovers_template("hunt");

	if (mkdtemp(folder))
		return folder;
	err_set(err, "cannot make the folder %s for traces: %s", folder, strerror(errno));
	free(folder);
	return NULL;
}

/*
 * Records passing runs and adds their leads to `out`. Each begins with the shared memory that
 * the failing run knew.
 */
static void record_passing_runs(struct hunt *h, struct leads *out)
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
	config.plan.strategy = strategy_find("pos");
	config.memory = &memory;
	config.stats = &stats;
	for (unsigned i = 0; folder && !deadline_over(&config.budget.deadline) &&
			     (i < h->config.profiles || (!passed && i < PASSING_RUNS_MOST)); i++) {
		char *path = xasprintf("%s/%u", folder, i);
		/* If runs with few switches all fail, runs by the strategy follow. */
		struct profile_order order = { .run = i, .by_strategy = i >= h->config.profiles,
					       .path = path };
		struct search_failure *failure = NULL;
		struct profile made;

		memory.count = h->failing.count;
		if (profile_trace(&config, &order, &failure, &made, &err) == 0 && !failure) {
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
	if (!h->passing_known) {
		h->passing_leads.suppress = h->leads.suppress;
		record_passing_runs(h, &h->passing_leads);
	}
	h->passing_known = true;
	return &h->passing_leads;
}

bool hunt_record_run(struct hunt *h, const struct search_config *config,
		     const struct profile_order *order)
{
	struct search_failure *failure;
	struct profile made;
	struct err err;

	unlink(order->path);
	if (profile_trace(config, order, &failure, &made, &err) < 0) {
		snprintf(h->stats.no_trace, sizeof(h->stats.no_trace), "%.250s", err.text);
		profile_free(&made);
		return false;
	}
	if (failure) {
		profile_free(&made);
		hunt_report(h, failure);
		return false;
	}
	made.input = h->input;
	h->profiles =
		xgrow(h->profiles, h->profile_count, &h->profile_capacity, sizeof(*h->profiles));
	h->profiles[h->profile_count++] = made;
	return true;
}

int hunt_predict(struct hunt *h, const char *path, size_t profile)
{
	struct deadline part = deadline_share(&h->config.search.budget.deadline, PREDICT_SHARE);
	enum hunt_stage stage = h->stats.stage;
	struct err err;
	int result;

	h->stats.stage = HUNT_PREDICT;
	h->leads.profile = profile;
	h->leads.deadline = &part;
	result = leads_add_trace(&h->leads, path, &err);
	h->leads.deadline = &h->late;
	h->stats.cut = h->leads.cut;
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

/* Records the profile runs of the current input; they replace the profiles from `first` on. */
static void record_profiles(struct hunt *h, const char *folder, size_t first)
{
	struct search_config config;

	while (h->profile_count > first) {
		char *path = xasprintf("%s/%zu", folder, --h->profile_count);

		profile_free(&h->profiles[h->profile_count]);
		unlink(path);
		free(path);
	}
	for (unsigned i = 0; i < h->config.profiles && hunt_begin(h, HUNT_PROFILE, &config); i++) {
		char *path = xasprintf("%s/%zu", folder, h->profile_count);
		struct profile_order order = { .run = i, .path = path };

		if (!hunt_record_run(h, &config, &order))
			unlink(path);
		free(path);
	}
}

/* True if `more` seconds from now less than this share of the time will be used. */
static bool has_time(const struct hunt *h, double share, double more)
{
	double used = clock_seconds() - h->began;
	double left = deadline_left(&h->config.search.budget.deadline);

	return used + more < (used + left) * share;
}

/* Analyses the traces of the profiles from `first` on: at least one, the others if time allows. */
static void predict_profiles(struct hunt *h, const char *folder, size_t first)
{
	const struct deadline *end = &h->config.search.budget.deadline;
	double longest = 0;

	h->stats.stage = HUNT_PREDICT;
	for (size_t i = first; i < h->profile_count; i++) {
		char *path = xasprintf("%s/%zu", folder, i);
		double began = clock_seconds();

		if (!h->stopped && !deadline_over(end) &&
		    (i == first || has_time(h, PREDICT_SHARE, longest))) {
			on_progress(h, h->runs);
			hunt_predict(h, path, i);
		}
		longest = clock_seconds() - began > longest ? clock_seconds() - began : longest;
		unlink(path);
		free(path);
	}
}

/* Makes runs with few switches, to find out which memory is shared. */
static int learn_shared(struct hunt *h, struct search_config *config, struct err *err)
{
	struct search_run run;
	struct search *s;
	int event;

	if (!config->budget.runs || config->budget.runs > h->config.profiles)
		config->budget.runs = h->config.profiles;
	s = search_open(config, err);
	while ((event = search_next(s, &run, err)) > 0)
		if (event == SEARCH_BEGIN)
			profile_shape(config->plan.seed, run.number, server_request(run.server));
		else
			search_report(event, &run, &h->listener);
	search_close(s);
	return event;
}

/* The stages profile and predict for the current input. */
static int profile_input(struct hunt *h, const char *folder, struct err *err)
{
	size_t first = h->profile_count;
	struct search_config config;
	int result = hunt_begin(h, HUNT_PROFILE, &config) ? learn_shared(h, &config, err) : 0;

	for (unsigned pass = 0; result == 0 && !h->stopped && pass < TRACE_PASSES; pass++) {
		size_t known = h->memory.count;

		record_profiles(h, folder, first);
		if (h->profile_count == first || h->memory.count == known ||
		    !has_time(h, PROFILE_SHARE, 0))
			break;
	}
	if (result < 0)
		h->stopped = true;
	predict_profiles(h, folder, first);
	return result;
}

/* The stages profile and predict for all inputs. */
static int profile(struct hunt *h, struct err *err)
{
	char *folder = hunt_folder(err);
	int result = folder ? 0 : -1;

	for (size_t i = 0; result == 0 && !h->stopped && i < h->config.inputs->count; i++) {
		result = hunt_select(h, i, err);
		if (result == 0)
			result = profile_input(h, folder, err);
	}
	if (folder)
		rmdir(folder);
	free(folder);
	hunt_sort(h);
	return result;
}

int hunt_run(struct hunt *h, struct err *err)
{
	h->began = clock_seconds();
	h->leads.symbols = h->passing_leads.symbols = h->places->symbols;
	if (profile(h, err) < 0 || hunt_prove(h, HUNT_TRIES_FIRST, err) < 0)
		return -1;
	return h->config.cover ? hunt_cover(h, err) : hunt_search(h, err);
}
