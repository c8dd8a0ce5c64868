#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "cmd/progress.h"
#include "cmd/test.h"
#include "explore/bug.h"
#include "explore/search.h"
#include "explore/target.h"

static const char usage[] =
	"usage: snarl test [options] [--] PROGRAM [ARGUMENT…]\n"
	"\n"
	"Runs a program that was built with snarl-cc again and again, each time with another\n"
	"interleaving of its threads, until one makes it fail. The interleaving is saved and\n"
	"replayed: only what fails again is called a bug.\n"
	"\n"
	"  -s, --strategy NAME  how interleavings are chosen (default: random);\n"
	"                       --strategy help lists them\n"
	"      --runs N         how many (default 10000; with --time: no limit)\n"
	"      --time T         for how long: 90, 1.5s, 10m, 2h\n"
	"  -j, --jobs N         runs at the same time (default: one per CPU). What is found\n"
	"                       does not depend on it\n"
	"      --seed N         other interleavings (default 1)\n"
	"      --depth D        pct, pctlarge: bug depth; chess: preemptions\n"
	"      --switch N       random: chance of a switch at each step, in 1/1000\n"
	"      --timeouts       let time-outs of waits and sleeps come early, too\n"
	"      --spurious       let waits on conditions return for no reason, too\n"
	"      --ignore-misuse  misuse of locks and the like is not a failure\n"
	"      --real-time      clocks show the real time (runs may then not replay)\n"
	"      --keep-going     do not stop at the first failure: find different ones\n"
	"      --replays N      replays that prove a bug (default 3)\n"
	"\n"
	"What is a failure: a signal, an assertion, deadlock, hang, use after free, double\n"
	"free, misuse of a lock, no end in time, and\n"
	"      --expect-exit N|any   an exit status other than this (default 0)\n"
	"      --expect-output FILE  other output on stdout than in FILE\n"
	"      --same-output    other output on stdout than the first run that passes\n"
	"      --check CMD      a shell command that gets the output on stdin and the exit\n"
	"                       status in SNARL_STATUS; its status other than 0\n"
	"      --timeout T      a run that takes longer (default 10s)\n"
	"\n"
	"      --max-steps N    give up a run after so many steps (default 20M; 0: never)\n"
	"      --backend user|kernel  user-level threads (default), or kernel threads\n"
	"      --no-fork-server start the program anew for every run\n"
	"      --env NAME[=VALUE]  save this variable for replays (and set it); saved are\n"
	"                       otherwise only language, time zone, LD_* and MALLOC_*\n"
	"  -o, --out DIR        where bugs are saved (default: snarl-out)\n"
	"  -q, --quiet          no progress, no summary\n"
	"      --json           results as JSON on stdout\n"
	"\n"
	"Exit: 0 no failure, 1 a bug was proved, 3 the program could not be run.\n"
	"\n"
	"  snarl test -- ./bank 100\n"
	"  snarl test --strategy pct --depth 3 --runs 50k -j 8 -- ./server --selftest\n";

struct options {
	const struct strategy *strategy;
	uint64_t runs, jobs, seed, depth, permille, replays, max_steps;
	bool runs_given;
	double seconds, timeout;
	uint32_t flags;
	struct oracle oracle;
	const char *backend, *out;
	bool exec, keep_going, quiet, json;
	const char **keep;
	size_t keep_count, keep_capacity;
	char **program;
};

struct session {
	const struct options *o;
	struct target target;
	struct places places;
	struct progress progress;
	struct test_results results;
	struct search_stats stats;
	struct err err;		/* of saving */
	bool failed_to_save;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	struct session *s = ctx;

	progress_show(&s->progress, stats);
}

static void tell_bug(const struct session *s, const struct bug *b, bool proved)
{
	if (s->o->quiet)
		return;
	fprintf(stderr, "snarl: run %llu failed: %s\n", (unsigned long long)b->failure->run + 1,
		b->text);
	if (proved) {
		fprintf(stderr, "  saved as %s, replayed %u of %u times\n", b->path, b->good, b->replays);
		fprintf(stderr, "  replay it: snarl replay %s\n", b->path);
		if (!b->traced)
			fprintf(stderr, "  it has no trace: %s\n", b->no_trace);
	} else {
		fprintf(stderr, "  a candidate only, it did not replay: %s\n",
			*b->why ? b->why : s->err.text);
		if (b->path)
			fprintf(stderr, "  its schedule: %s/schedule.txt\n", b->path);
	}
}

static bool on_found(void *ctx, struct search_failure *f)
{
	struct session *s = ctx;
	const struct options *o = s->o;
	struct replay_config config = { .target = &s->target, .backend = o->backend,
					.exec = s->stats.exec, .timeout = o->timeout, .max_steps = o->max_steps };
	struct bug *b = xcalloc(1, sizeof(*b));
	bool proved;

	progress_clear(&s->progress);
	bug_init(b, f, &s->places);
	proved = bug_prove(b, &config, (unsigned)o->replays, &s->places, &s->err);
	if (proved && bug_save(b, o->out, &config, &s->places, &s->err) < 0) {
		s->failed_to_save = true;
		fprintf(stderr, "snarl: run %llu failed: %s\n", (unsigned long long)f->run + 1, b->text);
		bug_free(b);
		free(b);
		return false;
	}
	tell_bug(s, b, proved);
	test_results_add(&s->results, b, proved);
	return o->keep_going || !proved;
}

static int tell_end(struct session *s)
{
	const struct search_stats *st = &s->stats;

	if (s->o->quiet)
		return CMD_OK;
	fprintf(stderr, "snarl: %llu runs in %.1f s (%.0f/s), %llu%s interleavings, %zu bug%s",
		(unsigned long long)st->runs, st->seconds,
		st->seconds > 0 ? (double)st->runs / st->seconds : 0.0,
		(unsigned long long)st->interleavings, st->interleavings == COVERAGE_MAX ? "+" : "",
		s->results.proved, s->results.proved == 1 ? "" : "s");
	if (s->results.count > s->results.proved)
		fprintf(stderr, ", %zu failures that did not replay",
			s->results.count - s->results.proved);
	if (st->cut)
		fprintf(stderr, ", %llu runs given up after %llu steps", (unsigned long long)st->cut,
			(unsigned long long)s->o->max_steps);
	if (st->exhausted)
		fputs(", nothing is left to try", stderr);
	if (st->truncated)
		fputs(", not all could be tried: runs are too long or have too many threads", stderr);
	if (interrupted)
		fputs(", interrupted", stderr);
	fputc('\n', stderr);
	return CMD_OK;
}

static int search(struct session *s)
{
	const struct options *o = s->o;
	struct oracle oracle = o->oracle;
	struct search_config config = {
		.server = { .target = &s->target, .backend = o->backend, .exec = o->exec,
			    .timeout = o->timeout, .keep = oracle.check ? 64u << 20 : 0 },
		.strategy = o->strategy, .oracle = &oracle, .seed = o->seed, .runs = o->runs,
		.depth = (uint32_t)o->depth, .switch_permille = (uint32_t)o->permille,
		.flags = o->flags, .max_steps = o->max_steps, .seconds = o->seconds,
		.jobs = (unsigned)o->jobs, .keep_going = o->keep_going, .stop = &interrupted,
		.progress = on_progress, .found = on_found, .ctx = s,
	};
	struct err err = { "" };
	int result;

	result = search_run(&config, &s->places, &s->stats, &err);
	progress_clear(&s->progress);
	if (result < 0 && s->stats.runs == 0)
		return cmd_fail(&cmd_test, "%s", err.text);
	if (s->failed_to_save)
		return cmd_fail(&cmd_test, "the bug cannot be saved: %s", s->err.text);
	tell_end(s);
	if (test_results_write(&s->results, o->out, &s->target, &s->stats, &s->places, o->json,
			       &err) < 0 && s->results.proved > 0)
		return cmd_fail(&cmd_test, "%s", err.text);
	if (result < 0)
		return cmd_fail(&cmd_test, "%s", err.text);
	return cmd_flush(&cmd_test, s->results.proved ? CMD_BUG : CMD_OK);
}

static int test(const struct options *o)
{
	struct session s = { .o = o };
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
	struct err err;
	int code;

	if (target_init(&s.target, o->program, o->keep, &err) < 0 ||
	    target_input(&s.target, STDIN_FILENO, &err) < 0) {
		target_free(&s.target);
		return cmd_fail(&cmd_test, "%s", err.text);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	places_init(&s.places);
	progress_init(&s.progress, o->quiet, o->runs, o->seconds);
	code = search(&s);
	test_results_free(&s.results);
	places_free(&s.places);
	target_free(&s.target);
	return code;
}

static int list_strategies(void)
{
	for (size_t i = 0; strategies[i]; i++)
		if (test_strategy_is_search(strategies[i]))
			printf("  %-12s %s\n", strategies[i]->name, strategies[i]->summary);
	return cmd_flush(&cmd_test, CMD_OK);
}

static int choose_strategy(struct options *o, const char *name)
{
	const char *names[32], *nearest;
	unsigned count = 0;

	o->strategy = strategy_find(name);
	if (o->strategy && test_strategy_is_search(o->strategy))
		return CMD_OK;
	if (o->strategy)
		return cmd_usage(&cmd_test, "'%s' follows a schedule: use snarl replay", name);
	for (size_t i = 0; strategies[i] && count < ARRAY_SIZE(names); i++)
		names[count++] = strategies[i]->name;
	nearest = cmd_nearest(name, names, count);
	if (nearest)
		return cmd_usage(&cmd_test, "no strategy '%s'; did you mean '%s'?", name, nearest);
	return cmd_usage(&cmd_test, "no strategy '%s'; --strategy help lists them", name);
}

enum { OPT_RUNS = 256, OPT_TIME, OPT_SEED, OPT_DEPTH, OPT_SWITCH, OPT_TIMEOUTS, OPT_SPURIOUS,
       OPT_IGNORE_MISUSE, OPT_REAL_TIME, OPT_KEEP_GOING, OPT_REPLAYS, OPT_EXPECT_EXIT,
       OPT_EXPECT_OUTPUT, OPT_SAME_OUTPUT, OPT_CHECK, OPT_TIMEOUT, OPT_MAX_STEPS, OPT_BACKEND,
       OPT_NO_FORK_SERVER, OPT_ENV, OPT_JSON };

static const struct option long_options[] = {
	{ "strategy", required_argument, NULL, 's' },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "jobs", required_argument, NULL, 'j' },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "switch", required_argument, NULL, OPT_SWITCH },
	{ "timeouts", no_argument, NULL, OPT_TIMEOUTS },
	{ "spurious", no_argument, NULL, OPT_SPURIOUS },
	{ "ignore-misuse", no_argument, NULL, OPT_IGNORE_MISUSE },
	{ "real-time", no_argument, NULL, OPT_REAL_TIME },
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
	{ "replays", required_argument, NULL, OPT_REPLAYS },
	{ "expect-exit", required_argument, NULL, OPT_EXPECT_EXIT },
	{ "expect-output", required_argument, NULL, OPT_EXPECT_OUTPUT },
	{ "same-output", no_argument, NULL, OPT_SAME_OUTPUT },
	{ "check", required_argument, NULL, OPT_CHECK },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "max-steps", required_argument, NULL, OPT_MAX_STEPS },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "no-fork-server", no_argument, NULL, OPT_NO_FORK_SERVER },
	{ "env", required_argument, NULL, OPT_ENV },
	{ "out", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int parse_exit(struct options *o, const char *text)
{
	uint64_t value;
	int code;

	o->oracle.exit = ORACLE_ANY_EXIT;
	if (strcmp(text, "any") == 0)
		return CMD_OK;
	code = numbers_count(&cmd_test, "--expect-exit", text, 0, 255, &value);
	o->oracle.exit = (int)value;
	return code;
}

static int parse_output(struct options *o, const char *path)
{
	struct err err;

	return oracle_expect_output(&o->oracle, path, &err) < 0 ? cmd_fail(&cmd_test, "%s", err.text) :
								  CMD_OK;
}

static int parse_backend(struct options *o, const char *text)
{
	o->backend = text;
	if (strcmp(text, "user") == 0 || strcmp(text, "kernel") == 0)
		return CMD_OK;
	return cmd_usage(&cmd_test, "--backend is user or kernel, not '%s'", text);
}

static void add_keep(struct options *o, const char *text)
{
	o->keep = xgrow(o->keep, o->keep_count + 1, &o->keep_capacity, sizeof(*o->keep));
	o->keep[o->keep_count++] = text;
	o->keep[o->keep_count] = NULL;
}

static int count(const char *option, uint64_t least, uint64_t most, uint64_t *out)
{
	return numbers_count(&cmd_test, option, optarg, least, most, out);
}

static int parse_one(struct options *o, int c)
{
	switch (c) {
	case OPT_RUNS: o->runs_given = true; return count("--runs", 1, UINT64_MAX, &o->runs);
	case OPT_TIME: return numbers_seconds(&cmd_test, "--time", optarg, &o->seconds);
	case 'j': return count("--jobs", 1, 64, &o->jobs);
	case OPT_SEED: return count("--seed", 0, UINT64_MAX, &o->seed);
	case OPT_DEPTH: return count("--depth", 1, SCHED_MAX_DEPTH, &o->depth);
	case OPT_SWITCH: return count("--switch", 1, 1000, &o->permille);
	case OPT_TIMEOUTS: o->flags |= CTL_TIMEOUTS; break;
	case OPT_SPURIOUS: o->flags |= CTL_SPURIOUS; break;
	case OPT_IGNORE_MISUSE: o->flags |= CTL_IGNORE_MISUSE; break;
	case OPT_REAL_TIME: o->flags |= CTL_REAL_TIME; break;
	case OPT_KEEP_GOING: o->keep_going = true; break;
	case OPT_REPLAYS: return count("--replays", 1, 100000, &o->replays);
	case OPT_EXPECT_EXIT: return parse_exit(o, optarg);
	case OPT_EXPECT_OUTPUT: return parse_output(o, optarg);
	case OPT_SAME_OUTPUT: o->oracle.same_output = true; break;
	case OPT_CHECK: o->oracle.check = optarg; break;
	case OPT_TIMEOUT: return numbers_seconds(&cmd_test, "--timeout", optarg, &o->timeout);
	case OPT_MAX_STEPS: return count("--max-steps", 0, UINT64_MAX, &o->max_steps);
	case OPT_BACKEND: return parse_backend(o, optarg);
	case OPT_NO_FORK_SERVER: o->exec = true; break;
	case OPT_ENV: add_keep(o, optarg); break;
	case 'o': o->out = optarg; break;
	case 'q': o->quiet = true; break;
	case OPT_JSON: o->json = true; break;
	}
	return CMD_OK;
}

/* -1: go on. */
static int parse(struct options *o, int argc, char **argv)
{
	const char *strategy = "random";
	int c, code = CMD_OK;

	while (code == CMD_OK && (c = getopt_long(argc, argv, "+:s:j:o:qh", long_options, NULL)) != -1)
		switch (c) {
		case 's': strategy = optarg; break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_test, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_test, argv, c);
		default: code = parse_one(o, c);
		}
	if (code != CMD_OK)
		return code;
	if (strcmp(strategy, "help") == 0 || strcmp(strategy, "list") == 0)
		return list_strategies();
	code = choose_strategy(o, strategy);
	if (code != CMD_OK)
		return code;
	if (optind == argc)
		return cmd_usage(&cmd_test, "which program?");
	if (o->seconds > 0 && !o->runs_given)
		o->runs = 0;
	o->program = argv + optind;
	return -1;
}

static int run(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o = { .runs = 10000, .jobs = cpus < 1 ? 1 : cpus > 64 ? 64 : (uint64_t)cpus,
			     .seed = 1, .replays = 3, .timeout = 10, .max_steps = 20000000,
			     .out = "snarl-out" };
	int code = parse(&o, argc, argv);

	if (code < 0)
		code = test(&o);
	free(o.keep);
	return code;
}

const struct cmd cmd_test = {
	.name = "test",
	.summary = "run a program under many interleavings until one makes it fail",
	.run = run,
};
