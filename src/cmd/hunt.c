#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "cmd/session.h"
#include "explore/hunt.h"

static const char usage[] =
	"usage: snarl hunt [options] [--] PROGRAM [ARGUMENT…]\n"
	"\n"
	"Finds concurrency bugs of a program that was built with snarl-cc: watches a few runs,\n"
	"predicts from what its threads did in which order they would do harm, makes runs with\n"
	"these orders, and spends what is left on other interleavings. What fails is saved and\n"
	"replayed: only what fails again is called a bug.\n"
	"\n"
	"      --runs N         how many in all (default 2000; with --time: no limit)\n"
	"      --time T         for how long: 90, 1.5s, 10m, 2h\n"
	"      --profiles N     runs to watch and predict from (default 4)\n"
	EXPLORE_USAGE_RUNS
	EXPLORE_USAGE_REST
	"\n"
	"Exit: 0 no failure, 1 a bug was proved, 3 the program could not be run.\n"
	"\n"
	"  snarl hunt -- ./bank 100\n"
	"  snarl hunt --time 10m --keep-going -- ./server --selftest\n";

struct options {
	struct explore_options explore;
	uint64_t profiles;
};

static int hunt(const struct options *o)
{
	struct hunt_config config = { .profiles = (unsigned)o->profiles,
				      .suppress = o->explore.suppress };
	struct err err = { "" };
	struct session s;
	struct hunt *h;
	int code = session_open(&s, &o->explore);

	if (code == CMD_OK) {
		session_config(&s, &config.search);
		h = hunt_new(&config);
		s.hunter = h;
		s.hunt = hunt_stats(h);
		code = hunt_run(h, &s.places, &s.stats, &err);
		code = session_end(&s, code, &err);
		session_close(&s);
		hunt_free(h);
		return code;
	}
	session_close(&s);
	return code;
}

enum { OPT_PROFILES = EXPLORE_OPT_OWN };

static const struct option long_options[] = {
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	EXPLORE_LONG_OPTIONS,
	{ 0 },
};

/* -1: go on. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK &&
	       (c = getopt_long(argc, argv, "+:" EXPLORE_SHORT_OPTIONS, long_options, NULL)) != -1)
		switch (c) {
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_hunt, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_hunt, argv, c);
		case OPT_PROFILES:
			code = numbers_count(&cmd_hunt, "--profiles", optarg, 1, 1000, &o->profiles);
			break;
		default: code = explore_options_take(&o->explore, c);
		}
	return code != CMD_OK ? code : explore_options_end(&o->explore, argc, argv);
}

static int run(int argc, char **argv)
{
	struct options o = { .profiles = 4 };
	int code;

	explore_options_init(&o.explore, &cmd_hunt, 2000);
	code = parse(&o, argc, argv);
	if (code < 0)
		code = hunt(&o);
	explore_options_free(&o.explore);
	return code;
}

const struct cmd cmd_hunt = {
	.name = "hunt",
	.summary = "predict bugs from a few runs and prove them by others",
	.run = run,
};
