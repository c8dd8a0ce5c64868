#include "cmd/learn_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/plural.h"
#include "explore/attempt.h"
#include "explore/plain.h"
#include "explore/profile.h"

/*
 * On a busy machine, or with small inputs, threads may never meet in parallel runs, and what
 * never had the chance to be broken is no invariant. One run in so many is controlled,
 * therefore, with few switches: a short run is hardly changed, in a long one all meet all.
 */
#define MEETING_EVERY 4u
#define MEETING_PERMILLE 10u

/*
 * Are there still invariants that others could break, one more in so many, and at last all, are probes, with many
 * switches: what these break, and pass, is none. They teach nothing else: a guard should not be
 * used to what hardly ever happens.
 */
#define PROBE_EVERY 4u
#define PROBE_STABLE 2u	/* so many times --stable have to break nothing more */

#define TROUBLE 5u	/* runs in a row that could not be made, and it is given up */

enum way { PARALLEL, MEETING, SCHEDULE, PROBE };

/* What the runs have in common. */
struct runs {
	const struct learn_runs *o;
	struct session *s;
	struct learner *l;
	struct learn_tally *t;
	struct search_memory memory;
	struct search_config config;
	char *path;		/* of the trace */
	char *input;
	bool can_control;
	uint64_t probes;	/* made so far */
};

void learn_add_news(struct learn_tally *t, const struct store_news *n)
{
	t->passed++;
	t->quiet = store_news_sum(n) ? 0 : t->quiet + 1;
	t->all.sites += n->sites;
	t->all.broken += n->broken;
	t->all.pairs += n->pairs;
	t->all.expected += n->expected;
	t->all.cuts += n->cuts;
	t->all.triples += n->triples;
	t->all.others += n->others;
}

/* A probe says nothing of what other runs may still teach. */
static void add_probe(struct learn_tally *t, const struct store_news *n)
{
	uint64_t quiet = t->quiet;

	learn_add_news(t, n);
	t->quiet = quiet;
	t->probes = n->broken ? 0 : t->probes + 1;
}

static void show_progress(struct session *s, const struct learn_tally *t, bool probing)
{
	struct search_stats stats = { .runs = t->made, .failed = t->made - t->passed,
				      .seconds = attempt_now() - s->began };
	uint64_t quiet = probing ? t->probes : t->quiet;

	snprintf(s->progress.note, sizeof(s->progress.note), "%llu place%s, nothing new for %llu %s%s; ",
		 (unsigned long long)t->all.sites, plural(t->all.sites), (unsigned long long)quiet,
		 probing ? "probe" : "run", plural(quiet));
	progress_show(&s->progress, &stats);
}

static enum way choose(const struct runs *r)
{
	const struct learn_tally *t = r->t;

	if (r->o->schedules)
		return SCHEDULE;
	if (r->o->parallel || !r->can_control)
		return PARALLEL;
	if (t->probing && r->o->stable && t->quiet >= r->o->stable)
		return PROBE;
	if (t->made % MEETING_EVERY == 1)
		return MEETING;
	return t->probing && t->made % PROBE_EVERY == 3 ? PROBE : PARALLEL;
}

static uint32_t switches(struct runs *r, enum way way)
{
	/* Few switches show what users will see, many what else there is. */
	static const uint32_t schedules[] = { 0, 100, 0, 400 }, probes[] = { 100, 250, 50, 400 };

	if (way == SCHEDULE)
		return schedules[r->t->made % ARRAY_SIZE(schedules)];
	return way == PROBE ? probes[r->probes++ % ARRAY_SIZE(probes)] : MEETING_PERMILLE;
}

/* One run to a trace, if it passed; there may be one if not. */
static int make_run(struct runs *r, enum way way, bool *passed, struct err *err)
{
	struct search_failure *failure = NULL;
	struct oracle_result result;
	int code;

	unlink(r->path);
	if (way == PARALLEL) {
		code = plain_trace(&r->s->target, &r->s->oracle, r->o->explore.timeout, r->path, &result, err);
		*passed = code == 0 && result.verdict == ORACLE_PASSED;
		return code;
	}
	r->config.switch_permille = switches(r, way);
	code = profile_trace(&r->config, &r->memory, r->t->made, NULL, r->path, &r->s->stats, &failure, NULL, err);
	*passed = code == 0 && !failure;
	if (failure)
		search_failure_free(failure);
	return code;
}

static int learn_from(struct runs *r, enum way way, bool passed, struct err *err)
{
	struct learn_tally *t = r->t;
	uint64_t seed = r->o->explore.seed + t->made - 1;
	struct store_news news;
	uint64_t wanted;
	bool probe;
	int code;

	if (passed && way != PROBE) {
		code = learner_trace(r->l, r->path, r->input, way == PARALLEL ? "parallel" : "controlled", seed,
				     &news, err);
		if (code == 0)
			learn_add_news(t, &news);
	} else if (passed) {
		code = learner_probe(r->l, r->path, r->input, true, seed, &news, err);
		if (code == 0)
			add_probe(t, &news);
	} else {
		/* What is left of a run that failed may be damaged. */
		if (access(r->path, R_OK) == 0)
			learner_probe(r->l, r->path, r->input, false, seed, &news, err);
		code = 0;
	}
	if (code < 0)
		return code;
	/* Also after the last one fell: if what broke it does harm, a run will fail. */
	code = store_unbroken(r->l->store, r->l->program, r->o->threshold, err);
	t->probing |= code > 0;
	wanted = code > 0 ? PROBE_STABLE * r->o->stable : r->o->stable;
	probe = t->probing && r->can_control && !r->o->schedules && !r->o->parallel;
	t->settled = r->o->stable && t->quiet >= r->o->stable &&
		     (!probe || t->probes >= wanted);
	return code < 0 ? -1 : 0;
}

static char *join(char *const *words)
{
	struct buf b = { 0 };

	for (; *words; words++)
		buf_addf(&b, "%s%s", b.size ? " " : "", *words);
	buf_string(&b);
	return (char *)b.data;
}

static bool time_is_up(const struct runs *r)
{
	const struct explore_options *e = &r->o->explore;

	return session_interrupted || (e->seconds > 0 && attempt_now() - r->s->began >= e->seconds) ||
	       (e->runs && r->t->made >= e->runs);
}

static int make_runs(struct runs *r, struct err *err)
{
	struct learn_tally *t = r->t;
	unsigned trouble = 0;
	int code = 0;

	while (code == 0 && !t->settled && !time_is_up(r)) {
		enum way way = choose(r);
		bool passed = false;

		code = make_run(r, way, &passed, err);
		/* Not every program can be; parallel runs will do then. */
		if (code < 0 && way != PARALLEL && way != SCHEDULE) {
			r->can_control = false;
			code = 0;
			progress_clear(&r->s->progress);
			if (!r->o->explore.quiet && !session_interrupted)
				fprintf(stderr, "snarl: all runs in parallel from here on: %s\n", err->text);
			continue;
		}
		/* Ctrl-C reaches the program, too. */
		if (session_interrupted)
			return 0;
		t->made++;
		/* A run may have been too long; if that goes on, there is more to it. */
		trouble = code < 0 ? trouble + 1 : 0;
		if (code == 0)
			code = learn_from(r, way, passed, err);
		else if (t->made > 1 && trouble < TROUBLE)
			code = 0;
		show_progress(r->s, t, way == PROBE && r->o->stable && t->quiet >= r->o->stable);
	}
	return code;
}

int learn_make_runs(const struct learn_runs *o, struct session *s, struct learner *l, struct learn_tally *t,
		    struct err *err)
{
	struct runs r = { .o = o, .s = s, .l = l, .t = t, .can_control = true,
			  .path = xasprintf("%s/learn-%d.snarl", o->explore.out, (int)getpid()),
			  .input = join(o->explore.program + 1) };
	int code;

	session_config(s, &r.config);
	r.config.keep_failing = true;
	code = make_runs(&r, err);
	progress_clear(&s->progress);
	unlink(r.path);
	search_memory_free(&r.memory);
	free(r.input);
	free(r.path);
	return code;
}
