#include "explore/train/training_runs.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/pause.h"
#include "explore/search/observe.h"
#include "explore/search/parallel_run.h"
#include "explore/target/orphans.h"

/*
 * On a busy machine, or with small inputs, the threads of parallel runs may hardly overlap. But an
 * invariant is worth something only if other threads had the chance to break it. So one run in
 * FEW_SWITCHES_EVERY is controlled, with few random switches: these hardly change a short run, and
 * in a long run every thread meets every other.
 */
#define FEW_SWITCHES_EVERY 4u

/*
 * While there are invariants that other threads could break, one run in PROBE_EVERY is a probe; in
 * the end all are. Probes use strategies that leave out few interleavings. What a probe breaks and
 * passes is no invariant. Nothing else is learnt from probes, since a guard must not take rare
 * interleavings for normal ones.
 */
#define PROBE_EVERY 4u
#define PROBE_STABLE 2u	/* times --stable: probes in a row that must break nothing, to end */

#define JOBS_MAX 8u	/* most jobs at a time: each needs the memory of an analysis */
#define ERRORS_MAX 5u	/* runs in a row that cannot be made, until training fails */

enum way {
	WAY_PARALLEL,
	WAY_FEW_SWITCHES,	/* controlled, with few random switches */
	WAY_SCHEDULE,		/* controlled, with many switches: option --schedules */
	WAY_PROBE,
};

/* A run that was made, and the thread that reads its trace. */
struct job {
	enum way way;
	bool passed;		/* the run passed */
	bool reading;		/* `reader` is to be joined */
	uint64_t seed;
	unsigned granularity;
	char *path;		/* of the trace */
	pthread_t reader;
	struct learner_reading read;
	struct pause *pause;	/* of struct runs */
	const struct deadline *deadline;	/* that of struct runs for readers */
};

/* The state of training_make(). */
struct runs {
	const struct training_config *c;
	struct learner *l;
	struct training_tally *t;
	struct search_memory memory;
	struct search_config search;	/* of controlled runs */
	char *input;		/* arguments of the program */
	bool can_control;	/* no controlled run was impossible so far */
	uint64_t made;		/* number of runs made; t->made counts those that were read */
	uint64_t probes;	/* number of these that are probes */
	struct job *jobs;	/* ring buffer, in the order of the runs */
	size_t first, pending, most;	/* oldest job, number of jobs, size of `jobs` */
	unsigned errors;	/* number of runs in a row that could not be made */
	struct deadline late;	/* of readers: the budget's and a grace */
	struct pause pause;	/* readers rest while a parallel run needs the processors */
};

void training_add(struct training_tally *t, const struct store_news *n)
{
	t->passed++;
	t->runs_since_new = store_news_sum(n) ? 0 : t->runs_since_new + 1;
	t->all.sites += n->sites;
	t->all.broken += n->broken;
	t->all.pairs += n->pairs;
	t->all.expected += n->expected;
	t->all.cuts += n->cuts;
	t->all.triples += n->triples;
	t->all.others += n->others;
}

/*
 * Adds a passing probe. It does not change `runs_since_new`: other runs may still bring something
 * new.
 */
static void add_probe(struct training_tally *t, const struct store_news *n)
{
	uint64_t runs_since_new = t->runs_since_new;

	training_add(t, n);
	t->runs_since_new = runs_since_new;
	t->probes = n->broken ? 0 : t->probes + 1;
	t->failing = n->broken ? 0 : t->failing;
}

static enum way choose(const struct runs *r)
{
	const struct training_tally *t = r->t;

	if (r->c->schedules)
		return WAY_SCHEDULE;
	if (r->c->parallel || !r->can_control)
		return WAY_PARALLEL;
	if (t->probing && r->c->stable && t->runs_since_new >= r->c->stable)
		return WAY_PROBE;
	if (r->made % FEW_SWITCHES_EVERY == 1)
		return WAY_FEW_SWITCHES;
	return t->probing && r->made % PROBE_EVERY == 3 ? WAY_PROBE : WAY_PARALLEL;
}

/* Sets the strategy of a controlled run: few switches as users will see them, or many. */
static void set_strategy(struct runs *r, enum way way, struct profile_order *order)
{
	static const struct mix {
		const char *strategy;	/* NULL: as profile_shape() has it */
		uint32_t permille;
	} few_switches = { "random", 10 },
	  schedules[] = { { NULL, 0 }, { "random", 100 }, { NULL, 0 }, { "random", 400 } },
	  /* In forty runs, these missed fewest of the invariants that any strategy broke. */
	  probes[] = { { "pos", 0 }, { "pct-large", 0 } };
	const struct mix *s = way == WAY_SCHEDULE ? &schedules[r->made % ARRAY_SIZE(schedules)] :
			      way == WAY_PROBE ? &probes[r->probes % ARRAY_SIZE(probes)] :
						 &few_switches;

	order->by_strategy = s->strategy != NULL;
	r->search.plan.strategy = s->strategy ? strategy_find(s->strategy) : NULL;
	r->search.plan.switch_permille = s->permille;
}

/* Makes and records one run. There is a trace if it passed; a failing run may leave one. */
static int make_run(struct runs *r, struct job *j, struct err *err)
{
	const struct search_program *p = &r->search.program;
	struct profile_order order = { .run = r->made, .keep_failing = true, .path = j->path };
	struct search_failure *failure = NULL;
	struct oracle_result result;
	int code;

	unlink(j->path);
	if (j->way == WAY_PARALLEL) {
		pause_begin(&r->pause);
		code = plain_trace(p, j->path, &result, err);
		pause_end(&r->pause);
		j->passed = code == 0 && result.verdict == ORACLE_PASSED;
		return code;
	}
	set_strategy(r, j->way, &order);
	code = profile_trace(&r->search, &order, &failure, NULL, err);
	j->passed = code == 0 && !failure;
	if (failure)
		search_failure_free(failure);
	return code;
}

static void *read_job(void *arg)
{
	struct job *j = arg;

	learner_read(&j->read, j->path,
		     !j->passed ? LEARNER_FAILED :
		     j->way == WAY_PROBE ? LEARNER_PROBE : LEARNER_PASSED,
		     j->granularity, j->seed, j->pause, j->deadline);
	return NULL;
}

/* Starts the thread that reads a trace. Signals stay with the thread that makes the runs. */
static void start_reading(struct runs *r, struct job *j)
{
	sigset_t all, before;

	j->granularity = r->l->granularity;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	j->reading = r->most > 1 && pthread_create(&j->reader, NULL, read_job, j) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!j->reading)
		read_job(j);
}

static int learn_from(struct runs *r, struct job *j, struct err *err)
{
	static const char *const names[] = { [WAY_PARALLEL] = "parallel",
					     [WAY_FEW_SWITCHES] = "controlled",
					     [WAY_SCHEDULE] = "controlled",
					     [WAY_PROBE] = "probe" };
	struct store_news news;
	int code = learner_take(r->l, &j->read, r->input, names[j->way], &news, err);

	/* The trace of a failing run may be damaged: its errors and its news are ignored. */
	if (!j->passed || (code < 0 && j->read.trace && reader_is_late(j->read.trace)))
		return 0;
	if (code == 0)
		(j->way == WAY_PROBE ? add_probe : training_add)(r->t, &news);
	return code;
}

/* Decides whether training may end. */
static int judge(struct runs *r, struct err *err)
{
	struct training_tally *t = r->t;
	uint64_t stable = r->c->stable, probes = t->probes + t->failing / 2;
	int unbroken = store_unbroken(r->l->store, r->l->program, r->c->threshold, err);
	bool probe;

	/*
	 * Probing goes on after the last invariant was broken. If the order that broke it is
	 * harmful, a later probe fails.
	 */
	t->probing |= unbroken > 0;
	probe = t->probing && r->can_control && !r->c->schedules && !r->c->parallel;
	t->saturated = stable && t->runs_since_new >= stable &&
		     (!probe || probes >= (unbroken ? PROBE_STABLE : 1) * stable);
	return unbroken < 0 ? -1 : 0;
}

/* Waits for the oldest job and removes it. `learn`: adds what was learnt from its run. */
static int end_job(struct runs *r, bool learn, struct err *err)
{
	struct job *j = &r->jobs[r->first];
	int code = 0;

	if (j->reading)
		pthread_join(j->reader, NULL);
	if (learn) {
		r->t->made++;
		r->t->failing += !j->passed && j->way == WAY_PROBE;
		if (j->read.trace || j->passed)
			code = learn_from(r, j, err);
		if (code == 0)
			code = judge(r, err);
		r->c->progress(r->c->ctx, r->t,
			       j->way == WAY_PROBE && r->c->stable &&
			       r->t->runs_since_new >= r->c->stable);
	}
	learner_reading_free(&j->read);
	unlink(j->path);
	j->reading = j->passed = false;
	r->first = (r->first + 1) % r->most;
	r->pending--;
	return code;
}

static char *join(char *const *words)
{
	struct buf b = { 0 };

	for (; *words; words++)
		buf_addf(&b, "%s%s", b.size ? " " : "", *words);
	buf_string(&b);
	return (char *)b.data;
}

static bool is_over(const struct runs *r)
{
	return r->t->saturated || deadline_over(&r->search.budget.deadline);
}

/* Makes a run. 1: there is another job; 0: there is none, try again; -1: error. */
static int begin_job(struct runs *r, enum way way, struct err *err)
{
	struct job *j = &r->jobs[(r->first + r->pending) % r->most];
	int code;

	j->way = way;
	j->seed = r->search.plan.seed + r->made;
	code = make_run(r, j, err);
	/* The run was abandoned; or Ctrl-C reached the program, too, so that its failure means
	 * nothing. */
	if (deadline_over(&r->search.budget.deadline))
		return 0;
	/* Some programs cannot be controlled. Training goes on with parallel runs. */
	if (code < 0 && way != WAY_PARALLEL && way != WAY_SCHEDULE) {
		r->can_control = false;
		r->c->uncontrolled(r->c->ctx, err);
		return 0;
	}
	r->made++;
	r->probes += way == WAY_PROBE;
	/*
	 * A single run may fail to be recorded, for example by being too long; several are an
	 * error.
	 */
	r->errors = code < 0 ? r->errors + 1 : 0;
	if (code < 0 && (r->made == 1 || r->errors >= ERRORS_MAX))
		return -1;
	r->pending++;
	if (code == 0 && access(j->path, R_OK) == 0)
		start_reading(r, j);
	return 1;
}

static int make_runs(struct runs *r, struct err *err)
{
	uint64_t most = r->search.budget.runs;
	int code = 0;

	while (code >= 0 && !is_over(r) && (!most || r->t->made < most)) {
		if ((most && r->made >= most) || r->pending == r->most)
			code = end_job(r, true, err);
		else
			code = begin_job(r, choose(r), err);
	}
	/* Runs that were made are still learnt from, unless training has ended. */
	while (r->pending) {
		bool learn = code >= 0 && !r->t->saturated;
		int ended = end_job(r, learn, err);

		code = code < 0 ? code : ended;
	}
	return code < 0 ? -1 : 0;
}

int training_make(const struct training_config *config, struct learner *l, struct training_tally *t,
		  struct err *err)
{
	unsigned jobs = config->search.plan.jobs;
	struct runs r = { .c = config,
			  .l = l,
			  .t = t,
			  .search = config->search,
			  .can_control = true,
			  .most = jobs < JOBS_MAX ? jobs : JOBS_MAX,
			  .input = join(config->search.program.server.target->argv + 1),
			  .pause = PAUSE_INIT };
	int code;

	r.late = deadline_extend(&config->search.budget.deadline, DEADLINE_GRACE / 2);
	r.late.tick = NULL;	/* readers are threads of their own */
	r.search.memory = &r.memory;
	r.jobs = xcalloc(r.most, sizeof(*r.jobs));
	for (size_t i = 0; i < r.most; i++) {
		r.jobs[i].pause = &r.pause;
		r.jobs[i].deadline = &r.late;
		r.jobs[i].path =
			xasprintf("%s/learn-%d-%zu.snarl", config->scratch, (int)getpid(), i);
	}
	orphans_adopt();
	code = make_runs(&r, err);
	orphans_end_all(NULL, 0);
	search_memory_free(&r.memory);
	for (size_t i = 0; i < r.most; i++) {
		unlink(r.jobs[i].path);		/* an interrupted run may have left its trace */
		free(r.jobs[i].path);
	}
	free(r.jobs);
	free(r.input);
	return code;
}
