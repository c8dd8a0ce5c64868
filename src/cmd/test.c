/*
 * snarl test: options, and a search with one strategy (explore/search) in a session.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "cmd/session_print.h"
#include "explore/search/greybox.h"

static const char usage[] =
	"usage: snarl test [options] [--] PROGRAM [ARGUMENT…]\n"
	"\n"
	"Runs a program built with snarl-cc many times, each time with another interleaving of "
		"its\n"
	"threads, until a run fails. The schedule of the failure is saved and replayed; it is a "
		"bug if\n"
	"all replays fail, too.\n"
	"\n"
	"  -s, --strategy NAME  how interleavings are chosen (default: random);\n"
	"                       --strategy help lists the strategies\n"
	"      --runs N         total number of runs (default 10000; with --time: no limit)\n"
	"      --time T         time limit of the search: 90, 1.5s, 10m, 2h\n"
	EXPLORE_USAGE_RUNS
	"      --depth D        pct, pct-large: bug depth; chess: number of preemptions\n"
	"      --switch N       random: chance of a switch at each step, in 1/1000\n"
	EXPLORE_USAGE_REST
	EXPLORE_USAGE_BASELINE
	"\n"
	"Exit: 0 no run failed, 1 a bug was proved, 3 the program could not be run, or\n"
	"damaged memory of snarl, 5 a run failed, but no failure could be proved, 128 plus the\n"
	"number of the signal that ended it.\n"
	"\n"
	"  snarl test -- ./bank 100\n"
	"  snarl test --strategy pct --depth 3 --runs 50k -j 8 -- ./server --selftest\n";

struct options {
	struct explore_options explore;
	const struct strategy *strategy;
	uint64_t depth, permille;	/* of --depth and --switch; 0: the strategy's default */
};

static int search(const struct search_config *config, const struct search_listener *listener,
		  bool feedback, struct err *err)
{
	struct search *s = search_open(config, err);
	struct greybox g = { .base = 0 };
	struct search_run run;
	int event;

	while ((event = search_next(s, &run, err)) > 0) {
		/* The strategy feedback mutates schedules of earlier runs, which greybox keeps. */
		if (feedback)
			greybox_event(&g, config->plan.seed, event, &run);
		search_report(event, &run, listener);
	}
	search_close(s);
	greybox_free(&g);
	return event;
}

static int test(const struct options *o)
{
	bool feedback = strcmp(o->strategy->name, "feedback") == 0;
	struct search_config config;
	struct search_listener listener;
	struct session_print p;
	struct err err = { "" };
	int code = session_print_open(&p, &o->explore, false);

	if (code == CMD_OK) {
		session_search(&p.session, &config);
		listener = session_print_listener(&p);
		config.plan.strategy = o->strategy;
		config.plan.depth = (uint32_t)o->depth;
		config.plan.switch_permille = (uint32_t)o->permille;
		if (feedback)
			greybox_config(&config);
		code = search(&config, &listener, feedback, &err);
		code = session_print_end(&p, code, &err);
	}
	session_print_close(&p);
	return code;
}

static int list_strategies(void)
{
	int width = 12;

	for (size_t i = 0; strategies[i]; i++)
		if (!strategies[i]->guided)
			width = cmd_name_width(width, strategies[i]->name);
	for (size_t i = 0; strategies[i]; i++)
		if (!strategies[i]->guided)
			printf("  %-*s %s\n", width, strategies[i]->name, strategies[i]->summary);
	return cmd_flush(&cmd_test, CMD_OK);
}

static int choose_strategy(struct options *o, const char *name)
{
	const char *names[32], *nearest;
	unsigned count = 0;

	o->strategy = strategy_find(name);
	if (o->strategy && o->strategy->guided)
		return cmd_usage(&cmd_test, "'%s' %s", name, o->strategy->guided);
	if (o->strategy)
		return CMD_OK;
	for (size_t i = 0; strategies[i] && count < ARRAY_SIZE(names); i++)
		names[count++] = strategies[i]->name;
	nearest = cmd_nearest(name, names, count);
	if (nearest)
		return cmd_usage(&cmd_test, "no strategy '%s'; did you mean '%s'?", name, nearest);
	return cmd_usage(&cmd_test, "no strategy '%s'; --strategy help lists them", name);
}

enum { OPT_DEPTH = EXPLORE_OPT_OWN, OPT_SWITCH };

static const struct option long_options[] = {
	{ "strategy", required_argument, NULL, 's' },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "switch", required_argument, NULL, OPT_SWITCH },
	EXPLORE_LONG_OPTIONS,
	EXPLORE_BASELINE_OPTIONS,
	{ 0 },
};

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	const char *strategy = "random";
	int c, code = CMD_OK;

	while (code == CMD_OK && (c = getopt_long(argc, argv, "+:s:" EXPLORE_SHORT_OPTIONS,
						  long_options, NULL)) != -1)
		switch (c) {
		case 's': strategy = optarg; break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_test, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_test, argv, c);
		case OPT_DEPTH:
			code = numbers_count(&cmd_test, "--depth", optarg, 1, SCHED_MAX_DEPTH,
					     &o->depth);
			break;
		case OPT_SWITCH:
			code = numbers_count(&cmd_test, "--switch", optarg, 1, 1000, &o->permille);
			break;
		default: code = explore_options_take(&o->explore, c);
		}
	if (code != CMD_OK)
		return code;
	if (strcmp(strategy, "help") == 0 || strcmp(strategy, "list") == 0)
		return list_strategies();
	code = choose_strategy(o, strategy);
	return code != CMD_OK ? code : explore_options_end(&o->explore, argc, argv);
}

static int run(int argc, char **argv)
{
	struct options o = { 0 };
	int code;

	explore_options_init(&o.explore, &cmd_test, 10000);
	code = parse(&o, argc, argv);
	if (code < 0)
		code = test(&o);
	explore_options_free(&o.explore);
	return code;
}

const struct cmd cmd_test = {
	.name = "test",
	.summary = "run a program under many interleavings until one makes it fail",
	.run = run,
};
