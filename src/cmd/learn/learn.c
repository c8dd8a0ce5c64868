/*
 * snarl learn: options, and what to do with the database of rules: learn from runs or traces,
 * merge, take guard logs, dump. The last step compiles rules.bin for snarl check and snarl guard.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "cmd/learn/learn.h"
#include "cmd/numbers.h"
#include "cmd/session_print.h"
#include "explore/search/attempt.h"
#include "explore/train/training_runs.h"
#include "learn/compile.h"
#include "learn/guard_feedback.h"
#include "learn/learner.h"

static const char usage[] =
	"usage: snarl learn [options] [--] PROGRAM [ARGUMENT…]\n"
	"       snarl learn [options] --traces TRACE…\n"
	"       snarl learn [options] --merge DATABASE…\n"
	"       snarl learn [options] --guard-log LOG…\n"
	"       snarl learn [options] --dump [DATABASE]\n"
	"\n"
	"Learns rules from passing runs: which two accesses no other thread comes between, which\n"
	"accesses follow which, and which functions are transactions. Makes runs until nothing\n"
	"new is learnt. snarl check reports violations of these rules, snarl guard delays "
		"accesses\n"
	"to prevent them.\n"
	"\n"
	"      --runs N         largest number of runs (default 200)\n"
	"  -j, --jobs N         traces analysed at the same time (default: one per CPU, at most "
		"8)\n"
	"      --time T         time limit of the training: 90, 1.5s, 10m, 2h\n"
	"      --stable M       stop after M runs in a row with nothing new (default 20; 0: "
		"never)\n"
	"      --schedules      make controlled runs only, each with another interleaving "
		"(default:\n"
	"                       one run in four is controlled, the others are parallel)\n"
	"      --parallel       make parallel runs only\n"
	"      --seed N         seed of the random choices (default 1)\n"
	"      --threshold T    passing runs that may violate an invariant without refuting it, "
		"since\n"
	"                       some failures go unnoticed (default 0)\n"
	"      --granularity N  bytes that count as one location: 1, 2, 4 … 64 (default 8)\n"
	"\n"
	"Nothing is learnt from runs that fail. A run fails by a signal, an assertion, or\n"
	"      --expect-exit N|any   an exit status other than N (default 0; any: none fails)\n"
	"      --expect-output FILE  stdout that differs from FILE\n"
	"      --same-output    stdout that differs from that of the first passing run\n"
	"      --check CMD      a shell command that exits with other than 0; its stdin is the "
		"run's\n"
	"                       stdout, and SNARL_STATUS the run's exit status\n"
	"      --timeout T      a run that takes longer than T (default 10s)\n"
	"\n"
	"      --timeouts       controlled runs: also let time-outs of waits and sleeps expire "
		"early\n"
	"      --spurious       controlled runs: also let condition waits wake up without a "
		"signal\n"
	"      --max-steps N    controlled runs: give up a run after N steps (default 20M; 0: "
		"never)\n"
	"      --backend user|kernel  controlled runs: user-level threads (default), or kernel "
		"threads\n"
	"      --db FILE        database (default: learn.db in the folder of --out)\n"
	"      --program NAME   program to use, if the database has several\n"
	"      --traces         learn from the given traces, all of passing runs\n"
	"      --merge          add the given databases to that of --db\n"
	"      --guard-log      learn from the given logs of guarded runs, all of which passed: "
		"allow\n"
	"                       the orders that delays could not avoid\n"
	"      --dump           print the rules\n"
	"  -o, --out DIR        folder of results (default: snarl-out)\n"
	"  -q, --quiet          no progress, no summary\n"
	"      --json           print the summary as JSON on stdout\n"
	"\n"
	"Exit: 0 done, 3 the program could not be run, or no run passed.\n"
	"\n"
	"  snarl learn -- ./bank 100\n"
	"  snarl learn --schedules --stable 20 -- ./bank 100\n"
	"  snarl learn --dump\n";

enum form { FORM_RUN, FORM_TRACES, FORM_MERGE, FORM_GUARD_LOG, FORM_DUMP };

struct options {
	struct explore_options explore;
	uint64_t stable, threshold, granularity;
	bool schedules, parallel;	/* controlled runs only; parallel runs only */
	const char *db, *name;		/* of --db and --program; NULL: default */
	enum form form;
	char **operands;		/* arguments after the options */
	int operand_count;
};

static int learn_traces(const struct options *o, struct learner *l, struct training_tally *t,
			struct err *err)
{
	for (int i = 0; i < o->operand_count; i++) {
		struct store_news news;

		if (learner_trace(l, o->operands[i], o->operands[i], "trace", 0, &news, err) < 0)
			return -1;
		t->made++;
		training_add(t, &news);
	}
	return 0;
}

static void print_summary(const struct options *o, const struct training_tally *t,
			  const struct learner *l, const struct compile_stats *c, const char *rules)
{
	if (o->explore.quiet)
		return;
	fprintf(stderr,
		"snarl: %llu run%s, %llu passed; new: %llu place%s, %llu pair%s, %llu cut%s; "
		"%llu invariant%s refuted%s\n",
		(unsigned long long)t->made, plural(t->made), (unsigned long long)t->passed,
		(unsigned long long)t->all.sites, plural(t->all.sites),
		(unsigned long long)t->all.pairs, plural(t->all.pairs),
		(unsigned long long)t->all.cuts, plural(t->all.cuts),
		(unsigned long long)t->all.broken, plural(t->all.broken),
		t->saturated ? "; the last runs showed nothing new" :
		interrupt_stop.signal ? "; interrupted" :
		o->form == FORM_RUN && o->stable ? "; not stable yet: run snarl learn again" : "");
	if (l->lost)
		fprintf(stderr, "snarl: some runs were too large to be analysed completely: pairs "
				"may be missing\n");
	fprintf(stderr,
		"snarl: %s: %u place%s, %u with an invariant, %u to check, %u open, "
		"%u transaction%s of %u place%s\n",
		rules, c->sites, plural(c->sites), c->invariants, c->watched, c->open,
		c->transactions, plural(c->transactions), c->members, plural(c->members));
}

static void print_json(const struct training_tally *t, const struct compile_stats *c,
		       const char *db, const char *rules)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_number(&j, "runs", t->made);
	json_number(&j, "passed", t->passed);
	json_bool(&j, "settled", t->saturated);
	json_open(&j, "new", '{');
	json_number(&j, "places", t->all.sites);
	json_number(&j, "broken", t->all.broken);
	json_number(&j, "pairs", t->all.pairs);
	json_number(&j, "expected", t->all.expected);
	json_number(&j, "cuts", t->all.cuts);
	json_number(&j, "triples", t->all.triples);
	json_close(&j, '}');
	json_number(&j, "places", c->sites);
	json_number(&j, "invariants", c->invariants);
	json_number(&j, "watched", c->watched);
	json_number(&j, "open", c->open);
	json_number(&j, "transactions", c->transactions);
	json_number(&j, "members", c->members);
	json_text(&j, "database", db);
	json_text(&j, "rules", rules);
	json_close(&j, '}');
	printf("%s\n", buf_string(&out));
	buf_free(&out);
}

/* Compiles the database into rules.bin. Returns 0, or -1 and *err. */
static int write_rules(const struct options *o, struct store *store, const char *name,
		       const char *path, struct compile_stats *stats, struct err *err)
{
	struct known k;
	int result = store_load(store, name, &k, err);

	if (result == 0)
		result = compile_write(&k, o->threshold, path, stats, err);
	known_free(&k);
	return result;
}

static void on_progress(void *ctx, const struct training_tally *t, bool probing)
{
	struct session_print *p = ctx;
	struct search_stats stats = { .runs = t->made, .failed = t->made - t->passed,
				      .seconds = clock_seconds() - p->session.began };
	uint64_t runs = probing ? t->probes : t->runs_since_new;

	snprintf(p->progress.note, sizeof(p->progress.note),
		 "%llu place%s, nothing new for %llu %s%s; ",
		 (unsigned long long)t->all.sites, plural(t->all.sites), (unsigned long long)runs,
		 probing ? "probe" : "run", plural(runs));
	progress_show(&p->progress, &stats);
}

static void on_uncontrolled(void *ctx, const struct err *err)
{
	struct session_print *p = ctx;

	progress_clear(&p->progress);
	if (!p->o->quiet)
		fprintf(stderr,
			"snarl: the program cannot be controlled, further runs are parallel: %s\n",
			err->text);
}

static int learn_runs(const struct options *o, struct session_print *p, struct learner *l,
		      struct training_tally *t, struct err *err)
{
	struct training_config config = {
		.scratch = o->explore.out, .stable = o->stable,
		.threshold = o->threshold, .schedules = o->schedules, .parallel = o->parallel,
		.progress = on_progress, .uncontrolled = on_uncontrolled, .ctx = p,
	};
	int result;

	session_search(&p->session, &config.search);
	result = training_make(&config, l, t, err);
	progress_clear(&p->progress);
	return result;
}

static int learn(const struct options *o, struct store *store, const char *db, const char *rules,
		 struct err *err)
{
	const char *slash = strrchr(o->operands[0], '/');
	const char *name = o->name ? o->name : o->form == FORM_TRACES ? "traces" :
			   slash ? slash + 1 : o->operands[0];
	struct compile_stats stats;
	struct session_print print = { .o = NULL };
	struct learner learner = { 0 };
	struct training_tally tally = { 0 };
	int code = o->form == FORM_RUN ? session_print_open(&print, &o->explore, false) : CMD_OK;

	if (code == CMD_OK &&
	    (learner_open(&learner, store, name, (unsigned)o->granularity, o->threshold, err) < 0 ||
	     (o->form == FORM_RUN ? learn_runs(o, &print, &learner, &tally, err) :
				    learn_traces(o, &learner, &tally, err)) < 0))
		code = cmd_fail(&cmd_learn, "%s", err->text);
	interrupt_finish();
	if (code == CMD_OK && !tally.passed && !interrupt_stop.signal &&
	    deadline_left(&print.session.config.budget.deadline) <= 0)
		code = cmd_fail(&cmd_learn,
				"not one run was made and analysed within --time: allow more");
	else if (code == CMD_OK && !tally.passed && !interrupt_stop.signal)
		code = cmd_fail(&cmd_learn,
				"none of %llu runs passed: find out why with snarl hunt, or "
				"describe a passing run with --expect-exit",
				(unsigned long long)tally.made);
	if (code == CMD_OK && write_rules(o, store, name, rules, &stats, err) < 0)
		code = cmd_fail(&cmd_learn, "%s", err->text);
	if (code == CMD_OK)
		print_summary(o, &tally, &learner, &stats, rules);
	if (code == CMD_OK && o->explore.json)
		print_json(&tally, &stats, db, rules);
	learner_close(&learner);
	if (o->form == FORM_RUN)
		session_print_close(&print);
	return interrupt_exit(code);
}

static int dump(const struct options *o, struct store *store, struct err *err)
{
	struct known k;
	struct buf out = { 0 };
	int code = CMD_OK;

	if (store_load(store, o->name, &k, err) < 0)
		code = cmd_fail(&cmd_learn, "%s", err->text);
	else
		learn_dump(&k, o->threshold, &out);
	fputs(buf_string(&out), stdout);
	buf_free(&out);
	known_free(&k);
	return code;
}

static int merge(const struct options *o, struct store *store, const char *rules, struct err *err)
{
	struct compile_stats stats;

	for (int i = 0; i < o->operand_count; i++)
		if (store_merge(store, o->operands[i], err) < 0)
			return cmd_fail(&cmd_learn, "%s", err->text);
	/*
	 * If the database has several programs, --program has to choose one before rules can be
	 * compiled.
	 */
	if (write_rules(o, store, o->name, rules, &stats, err) == 0 && !o->explore.quiet)
		fprintf(stderr, "snarl: %s: %u places, %u open\n", rules, stats.sites, stats.open);
	return CMD_OK;
}

static int take_guard_logs(const struct options *o, struct store *store, const char *rules,
			   struct err *err)
{
	struct compile_stats stats;
	struct guard_feedback sum = { 0 };

	for (int i = 0; i < o->operand_count; i++)
		if (guard_feedback_add(store, o->operands[i], &sum, err) < 0)
			return cmd_fail(&cmd_learn, "%s", err->text);
	if (write_rules(o, store, o->name, rules, &stats, err) < 0)
		return cmd_fail(&cmd_learn, "%s", err->text);
	if (!o->explore.quiet)
		fprintf(stderr,
			"snarl: %llu order%s that delays did not avoid, %llu of them new, %llu at "
			"places unknown here; %s: %u open\n",
			(unsigned long long)sum.taken, plural(sum.taken),
			(unsigned long long)sum.new, (unsigned long long)sum.unknown, rules,
			stats.open);
	return CMD_OK;
}

/* Opens the database and does what the form of the command line asks for; returns the exit code. */
static int execute(const struct options *o)
{
	char *own = xasprintf("%s/%s", o->explore.out, STORE_FILE);
	char *rules = xasprintf("%s/%s", o->explore.out, COMPILE_FILE);
	const char *db = o->form == FORM_DUMP && o->operand_count ? o->operands[0]
			 : o->db				  ? o->db
								  : own;
	struct store *store = NULL;
	struct err err = { "" };
	bool fresh = o->form != FORM_DUMP && access(db, F_OK) != 0;
	int code = CMD_OK;

	if ((o->form != FORM_DUMP && bug_folder(o->explore.out, &err) < 0) ||
	    !(store = store_open(db, o->form != FORM_DUMP && o->form != FORM_GUARD_LOG, &err)))
		code = cmd_fail(&cmd_learn, "%s", err.text);
	else if (o->form == FORM_DUMP)
		code = dump(o, store, &err);
	else if (o->form == FORM_GUARD_LOG)
		code = take_guard_logs(o, store, rules, &err);
	else if (o->form == FORM_MERGE)
		code = merge(o, store, rules, &err);
	else
		code = learn(o, store, db, rules, &err);
	/* A program that could not be run leaves no empty database behind. */
	fresh = fresh && store && code != CMD_OK && store_is_empty(store);
	store_close(store);
	if (fresh)
		unlink(db);
	free(own);
	free(rules);
	return cmd_flush(&cmd_learn, code);
}

enum { OPT_STABLE = EXPLORE_OPT_OWN, OPT_SCHEDULES, OPT_PARALLEL, OPT_THRESHOLD, OPT_GRANULARITY,
       OPT_DB, OPT_PROGRAM, OPT_TRACES, OPT_MERGE, OPT_GUARD_LOG, OPT_DUMP };

static const struct option long_options[] = {
	{ "jobs", required_argument, NULL, 'j' },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "stable", required_argument, NULL, OPT_STABLE },
	{ "schedules", no_argument, NULL, OPT_SCHEDULES },
	{ "parallel", no_argument, NULL, OPT_PARALLEL },
	{ "threshold", required_argument, NULL, OPT_THRESHOLD },
	{ "granularity", required_argument, NULL, OPT_GRANULARITY },
	{ "expect-exit", required_argument, NULL, OPT_EXPECT_EXIT },
	{ "expect-output", required_argument, NULL, OPT_EXPECT_OUTPUT },
	{ "same-output", no_argument, NULL, OPT_SAME_OUTPUT },
	{ "check", required_argument, NULL, OPT_CHECK },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "timeouts", no_argument, NULL, OPT_TIMEOUTS },
	{ "spurious", no_argument, NULL, OPT_SPURIOUS },
	{ "max-steps", required_argument, NULL, OPT_MAX_STEPS },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "db", required_argument, NULL, OPT_DB },
	{ "program", required_argument, NULL, OPT_PROGRAM },
	{ "traces", no_argument, NULL, OPT_TRACES },
	{ "merge", no_argument, NULL, OPT_MERGE },
	{ "guard-log", no_argument, NULL, OPT_GUARD_LOG },
	{ "dump", no_argument, NULL, OPT_DUMP },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "out", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The missing argument and the usage of each form, for messages. */
static const char *const usage_of[] = {
	[FORM_RUN] = "PROGRAM; usage: snarl learn [options] [--] PROGRAM [ARGUMENT…]",
	[FORM_TRACES] = "TRACE; usage: snarl learn [options] --traces TRACE…",
	[FORM_MERGE] = "DATABASE; usage: snarl learn [options] --merge DATABASE…",
	[FORM_GUARD_LOG] = "LOG; usage: snarl learn [options] --guard-log LOG…",
};

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK &&
	       (c = getopt_long(argc, argv, "+:j:o:qh", long_options, NULL)) != -1)
		switch (c) {
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_learn, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_learn, argv, c);
		case OPT_STABLE:
			code = numbers_count(&cmd_learn, "--stable", optarg, 0, UINT64_MAX,
					     &o->stable);
			break;
		case OPT_THRESHOLD:
			code = numbers_count(&cmd_learn, "--threshold", optarg, 0, 1u << 30,
					     &o->threshold);
			break;
		case OPT_GRANULARITY:
			code = learn_parse_granularity(&cmd_learn, optarg, &o->granularity);
			break;
		case OPT_SCHEDULES: o->schedules = true; break;
		case OPT_PARALLEL: o->parallel = true; break;
		case OPT_DB: o->db = optarg; break;
		case OPT_PROGRAM: o->name = optarg; break;
		case OPT_TRACES: o->form = FORM_TRACES; break;
		case OPT_MERGE: o->form = FORM_MERGE; break;
		case OPT_GUARD_LOG: o->form = FORM_GUARD_LOG; break;
		case OPT_DUMP: o->form = FORM_DUMP; break;
		default: code = explore_options_take(&o->explore, c);
		}
	if (code != CMD_OK)
		return code;
	o->operands = argv + optind;
	o->operand_count = argc - optind;
	o->explore.program = o->operands;
	if (o->explore.seconds > 0 && !o->explore.runs_given)
		o->explore.runs = 0;
	if (o->schedules && o->parallel)
		return cmd_usage(&cmd_learn, "--schedules and --parallel exclude each other");
	if (!o->operand_count && o->form != FORM_DUMP)
		return cmd_usage(&cmd_learn, "missing %s", usage_of[o->form]);
	return -1;
}

static int run(int argc, char **argv)
{
	struct options o = { .stable = 20, .granularity = LEARN_GRANULARITY };
	int code;

	explore_options_init(&o.explore, &cmd_learn, 200);
	code = parse(&o, argc, argv);
	if (code < 0)
		code = execute(&o);
	explore_options_free(&o.explore);
	return code;
}

const struct cmd cmd_learn = {
	.name = "learn",
	.summary = "learn rules from passing runs, for check and guard",
	.run = run,
};
