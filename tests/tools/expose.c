/*
 * expose STRATEGY RUNS SECONDS SEED PROGRAM [ARGUMENT…]: counts the interleaving roots (iRoots)
 * that a strategy exposes. RUNS or SECONDS 0: no limit. JOBS=N in the environment: runs at a time,
 * default 1. Prints a line at runs 1, 2, 3, 5, 8, 12 … and at the end:
 *
 *	RUNS SECONDS EXPOSED1 … EXPOSED6
 *
 * STRATEGY `chase` is the experiment of the Maple paper: runs with few switches are observed, then
 * every root that they predict and did not expose is chased. The last line then is "chased" and for
 * each idiom the number of chased roots and how many of them were exposed. Exit 1 if the strategy
 * reports a root as exposed that observation of the run does not confirm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "coverage/fold/iroot_fold.h"
#include "explore/cover/expose_active.h"
#include "explore/cover/expose_greedy.h"
#include "explore/search/greybox.h"

#define PROFILES 12u		/* runs observed before the first root is chased, at most */
#define SLICE 8u		/* runs of one way in a row */
#define FADE 0.85		/* weight of older runs in struct shares, per slice */
#define SATURATED 3u	/* observed runs in a row without a newly predicted root that end
				 * observation */

struct known {
	struct expose_target target;
	struct expose_target *listed;	/* copy of `target` that is chased now, or NULL */
	bool predicted, exposed, chased;
};

struct bench {
	struct map at;		/* hash of an iRoot to its index in `roots` plus 1 */
	struct known *roots;
	size_t count, capacity;
	uint64_t exposed[IROOT_IDIOMS + 1];
	uint64_t runs, next;	/* runs made; the run at which the next line is printed */
	unsigned fresh;		/* roots newly predicted since this was set to 0 */
	uint64_t news;		/* exposed roots of all idioms */
	uint64_t denied;	/* roots that the strategy reported as exposed, but observation
				 * did not confirm */
	enum { NEVER, IF_NEW, ALWAYS } predict;	/* are the predictions of a run computed? */
	double began;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void line(const struct bench *b)
{
	printf("%llu %.3f", (unsigned long long)b->runs, now() - b->began);
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		printf(" %llu", (unsigned long long)b->exposed[i]);
	printf("\n");
}

static struct known *find(struct bench *b, const struct iroot *r)
{
	const uint64_t *words = (const uint64_t *)r;
	uint64_t h = 0, *number;

	for (size_t i = 0; i < sizeof(*r) / sizeof(*words); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	number = map_put(&b->at, h, NULL);
	if (!*number) {
		b->roots = xgrow(b->roots, b->count, &b->capacity, sizeof(*b->roots));
		b->roots[b->count] = (struct known){ .target = { .iroot = *r } };
		*number = ++b->count;
	}
	return &b->roots[*number - 1];
}

static void note_run(struct bench *b, const struct search_run *run)
{
	const struct server *s = run->server;
	struct iroot_profile *p = iroot_profile_open((char *)s->block + s->block->profile,
						     s->block->profile_size);
	uint32_t cursor = 0, flags;
	uint64_t before = b->news;
	struct iroot root;

	if (p && b->predict == ALWAYS)
		iroot_profile_finish(p);
	while (p && (flags = iroot_profile_next(p, &cursor, &root))) {
		struct known *k = find(b, &root);

		b->exposed[root.idiom] += !k->exposed && flags & IROOT_EXPOSED;
		b->news += !k->exposed && flags & IROOT_EXPOSED;
		b->fresh += !k->predicted && flags & IROOT_PREDICTED;
		k->exposed |= (flags & IROOT_EXPOSED) != 0;
		if (k->exposed && k->listed)
			k->listed->outcome = EXPOSE_DONE;
		k->predicted |= (flags & IROOT_PREDICTED) != 0;
	}
	/* Predictions are slow to compute; a run that exposes nothing new rarely predicts
	 * anything new. */
	if (p && b->predict == IF_NEW && b->news > before) {
		iroot_profile_finish(p);
		for (cursor = 0; (flags = iroot_profile_next(p, &cursor, &root));)
			if (flags & IROOT_PREDICTED)
				find(b, &root)->predicted = true;
	}
	if (++b->runs >= b->next) {
		line(b);
		b->next += b->next / 2 + 1;
	}
}

/* Handles an event of any search. */
static void note(struct bench *b, int event, const struct search_run *run)
{
	const struct search_listener no_listener = { 0 };

	if (event == SEARCH_ENDED)
		note_run(b, run);
	search_report(event, run, &no_listener);
}

/* Sets the rest of the budget; false: it is used up. */
static bool left(const struct bench *b, const struct search_config *all, struct search_config *out)
{
	const struct search_budget *budget = &all->budget;

	*out = *all;
	out->budget.runs = budget->runs ? budget->runs - b->runs : 0;
	return (!budget->runs || b->runs < budget->runs) && !deadline_over(&budget->deadline);
}

/* Makes runs by the strategy of the plan; `g` belongs to strategy feedback, else NULL. */
static int search(struct bench *b, const struct search_config *config, struct greybox *g,
		  struct err *err)
{
	struct search *s = search_open(config, err);
	struct search_run run;
	int event;

	while ((event = search_next(s, &run, err)) > 0) {
		if (g)
			greybox_event(g, config->plan.seed, event, &run);
		note(b, event, &run);
	}
	search_close(s);
	return event;
}

/* Makes runs with few switches, until they predict nothing new. */
static int watch_calm(struct bench *b, const struct search_config *all, struct err *err)
{
	struct search_config config;
	unsigned without_new = 0;

	b->predict = ALWAYS;
	while (b->runs < PROFILES && without_new < SATURATED && left(b, all, &config)) {
		struct search_run run;
		struct search *s;
		int event;

		b->fresh = 0;
		config.budget.runs = 1;
		s = search_open(&config, err);
		while ((event = search_next(s, &run, err)) > 0) {
			if (event == SEARCH_BEGIN)
				profile_shape(1, b->runs, server_request(run.server));
			note(b, event, &run);
		}
		search_close(s);
		if (event < 0)
			return -1;
		without_new = b->fresh ? 0 : without_new + 1;
	}
	for (size_t i = 0; i < b->count; i++)
		b->roots[i].chased = b->roots[i].predicted && !b->roots[i].exposed;
	b->predict = NEVER;
	return 0;
}

static int try_all(struct bench *b, const struct search_config *config, struct expose_target *list,
		   size_t count, struct err *err)
{
	struct expose *a = expose_open(config, EXPOSE_TRIES, list, count);
	struct search_run run;
	int event;

	while ((event = expose_next(a, &run, err)) > 0)
		note(b, event, &run);
	expose_close(a);
	return event;
}

static int chase(struct bench *b, const struct search_config *config, struct err *err)
{
	struct expose_target *list = xcalloc(b->count + 1, sizeof(*list));
	size_t *from = xcalloc(b->count + 1, sizeof(*from)), count = 0;
	int result;

	for (size_t i = 0; i < b->count; i++)
		if (b->roots[i].predicted && !b->roots[i].exposed) {
			from[count] = i;
			b->roots[i].listed = &list[count];
			list[count++] = b->roots[i].target;
		}
	result = try_all(b, config, list, count, err);
	for (size_t i = 0; i < count; i++) {
		b->denied += list[i].outcome == EXPOSE_DONE && !b->roots[from[i]].exposed;
		b->roots[from[i]].target = list[i];
		b->roots[from[i]].listed = NULL;
	}
	free(list);
	free(from);
	return result;
}

static int greedy(struct bench *b, const struct search_config *all, struct err *err)
{
	struct iroot *list = xcalloc(b->count + 1, sizeof(*list));
	struct search_config config = *all;
	size_t count = 0;
	uint64_t first = b->runs;
	struct expose_greedy *g;
	struct search *s;
	struct search_run run;
	int event = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->roots[i].predicted && !b->roots[i].exposed)
			list[count++] = b->roots[i].target.iroot;
	if (count) {
		g = expose_greedy_new(list, count, &config);
		s = search_open(&config, err);
		while ((event = search_next(s, &run, err)) > 0) {
			if (event == SEARCH_BEGIN)
				expose_greedy_begin(g, first, &run);
			note(b, event, &run);
		}
		search_close(s);
		expose_greedy_free(g);
	}
	free(list);
	return event;
}

/* What the next slice does: search by feedback, chase single roots, or run greedy for all roots. */
enum way { LOOK, CHASE, GREEDY, WAYS };

/* runs of each way and roots they exposed; older ones count less */
struct shares {
	double runs[WAYS], news[WAYS];
	size_t spent[WAYS];	/* number of known roots when the way had nothing to do; 0: it
				 * had */
};

/* The way with the most newly exposed roots per run lately; a way not used for long gets another
 * chance. */
static enum way choose(const struct shares *s, size_t known)
{
	enum way best = LOOK;

	for (enum way w = CHASE; w < WAYS; w++)
		if (s->spent[w] != known &&
		    (s->news[w] + 1) / (s->runs[w] + 1) > (s->news[best] + 1) / (s->runs[best] + 1))
			best = w;
	return best;
}

static void note_way(struct shares *s, enum way way, uint64_t runs, uint64_t news, size_t known)
{
	for (enum way w = LOOK; w < WAYS; w++) {
		s->runs[w] *= FADE;
		s->news[w] *= FADE;
	}
	s->runs[way] += (double)runs;
	s->news[way] += (double)news;
	s->spent[way] = runs ? 0 : known;
}

/* A slice of the strategy feedback, whose state continues from slice to slice. */
static int look(struct bench *b, const struct search_config *all, struct greybox *g,
		struct err *err)
{
	struct search_config config = *all;
	uint64_t runs = all->stats->runs;
	int result;

	greybox_config(&config);
	result = search(b, &config, g, err);
	g->base += all->stats->runs - runs;
	return result;
}

static int active(struct bench *b, const struct search_config *all, struct err *err)
{
	/* High start values let each way run once. */
	struct shares shares = { .news = { 1e9, 1e8, 1e8 } };
	struct greybox g = { .base = 0 };
	struct search_config config;
	int result = 0;

	while (result == 0 && left(b, all, &config)) {
		uint64_t runs = b->runs, news = b->news;
		enum way way = choose(&shares, b->count);

		if (!config.budget.runs || config.budget.runs > SLICE)
			config.budget.runs = SLICE;
		b->predict = way == CHASE ? NEVER : runs == 0 ? ALWAYS : IF_NEW;
		result = way == LOOK ? look(b, &config, &g, err) :
			 way == GREEDY ? greedy(b, &config, err) : chase(b, &config, err);
		if (shares.news[way] >= 1e6)
			shares.news[way] = 0;
		note_way(&shares, way, b->runs - runs, b->news - news, b->count);
	}
	greybox_free(&g);
	return result;
}

static void chased(const struct bench *b)
{
	uint64_t all[IROOT_IDIOMS + 1] = { 0 }, got[IROOT_IDIOMS + 1] = { 0 };

	for (size_t i = 0; i < b->count; i++) {
		uint64_t idiom = b->roots[i].target.iroot.idiom;

		all[idiom] += b->roots[i].chased;
		got[idiom] += b->roots[i].chased && b->roots[i].exposed;
	}
	printf("chased");
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		printf(" %llu %llu", (unsigned long long)all[i], (unsigned long long)got[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct bench b = { .next = 1, .began = now() };
	struct search_config config = { 0 };
	struct search_memory memory = { 0 };
	struct search_stats stats = { 0 };
	struct greybox greybox = { .base = 0 };
	struct oracle oracle = { 0 };
	struct places places;
	struct target target;
	struct err err = { "" };
	const char *jobs = getenv("JOBS");
	bool chases = argc > 1 && strcmp(argv[1], "chase") == 0;
	int result;

	if (argc < 6) {
		fprintf(stderr, "usage: expose STRATEGY RUNS SECONDS SEED PROGRAM [ARGUMENT…]\n");
		return 2;
	}
	config = (struct search_config){
		.program = { .server = { .target = &target,
					 .timeout = 20,
					 .profile_size = IROOT_MEMORY,
					 .plan_size = GREYBOX_PLAN_SIZE },
			     .oracle = &oracle,
			     .places = &places },
		.plan = { .strategy = strategy_find(chases ? "active" : argv[1]),
			  .seed = strtoull(argv[4], NULL, 10),
			  .jobs = jobs ? (unsigned)atoi(jobs) : 1,
			  .keep_going = true,
			  .flags = CTL_PROFILE,
			  .max_steps = 20000000 },
		.budget = { .runs = strtoull(argv[2], NULL, 10),
			    .deadline = deadline_within(&(struct deadline){ 0 },
							strtod(argv[3], NULL)) },
		.memory = &memory,
		.stats = &stats,
	};
	places_init(&places);
	if (!config.plan.strategy || target_init(&target, argv + 5, NULL, &err) < 0) {
		fprintf(stderr, "expose: %s\n",
			config.plan.strategy ? err.text : "no such strategy");
		return 2;
	}
	if (chases)
		result = watch_calm(&b, &config, &err) < 0 ? -1 : chase(&b, &config, &err);
	else if (strcmp(argv[1], "active") == 0)
		result = active(&b, &config, &err);
	else if (strcmp(argv[1], "feedback") == 0)
		result = look(&b, &config, &greybox, &err);
	else
		result = search(&b, &config, NULL, &err);
	line(&b);
	if (chases)
		chased(&b);
	if (result < 0)
		fprintf(stderr, "expose: %s\n", err.text);
	if (b.denied)
		fprintf(stderr, "expose: %llu roots were not exposed that active says were\n",
			(unsigned long long)b.denied);
	return result < 0 || b.denied;
}
