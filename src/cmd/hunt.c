/*
 * snarl hunt: options, and the setup of a hunt (explore/hunt) in a session.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "cmd/session_print.h"
#include "explore/hunt/hunt.h"

static const char usage[] =
	"usage: snarl hunt [options] [--] PROGRAM [ARGUMENT…]\n"
	"\n"
	"Finds concurrency bugs in a program built with snarl-cc. Records a few runs, predicts "
		"orders\n"
	"of events that would do harm, makes runs with these orders, and spends the remaining runs "
		"on\n"
	"other interleavings. A failure is saved and replayed; it is a bug if all replays fail, "
		"too.\n"
	"\n"
	"      --runs N         total number of runs (default 2000; with --time: no limit)\n"
	"      --time T         time limit of the hunt: 90, 1.5s, 10m, 2h\n"
	"      --saturation N   stop after N runs in a row with nothing new (default 1000; 0: "
		"never)\n"
	"      --profiles N     recorded runs to predict from, for each input (default 4)\n"
	"      --input-dir DIR  use each file in DIR as input: in place of @@ in the arguments, "
		"or\n"
	"                       as stdin if there is no @@\n"
	"      --coverage       spend the remaining runs on untested interleavings, as snarl "
		"cover\n"
	"                       --chase does, and keep the coverage in memo.db\n"
	"      --snapshots N    run the common beginning of runs only once if it has N steps or "
		"more\n"
	"                       (default 2000; 0: never); does not change what is found\n"
	EXPLORE_USAGE_RUNS
	EXPLORE_USAGE_REST
	EXPLORE_USAGE_BASELINE
	"\n"
	"Exit: 0 no run failed, 1 a bug was proved, 3 the program could not be run, or\n"
	"damaged memory of snarl, 5 a run failed, but no failure could be proved, 128 plus the\n"
	"number of the signal that ended it.\n"
	"\n"
	"  snarl hunt -- ./bank 100\n"
	"  snarl hunt --time 10m --keep-going -- ./server --selftest\n"
	"  snarl hunt --input-dir corpus -- ./parser --threads 4 @@\n";

struct options {
	struct explore_options explore;
	uint64_t profiles, saturation, snapshots;
	const char *input_dir;
	bool coverage;
};

/* Printed after the failures and before the summary. */
static void print_saturation(struct session_print *p)
{
	if (p->o->quiet || !p->session.hunt->saturated)
		return;
	progress_clear(&p->progress);
	fprintf(stderr, "snarl: %llu run%s in a row showed nothing new: ended early\n",
		(unsigned long long)p->session.hunt->saturated, plural(p->session.hunt->saturated));
}

static void print_coverage(struct session_print *p)
{
	const struct cover *c = p->session.hunt->cover;

	if (p->o->quiet || !c || !c->count)
		return;
	progress_clear(&p->progress);
	fprintf(stderr,
		"snarl: %llu of %zu known iRoots are exposed; %llu were chased, %llu of these "
		"exposed: snarl cover -o %s\n",
		(unsigned long long)c->exposed, c->count,
		(unsigned long long)p->session.hunt->chased,
		(unsigned long long)p->session.hunt->chased_exposed, p->o->out);
}

static int open_cover(struct cover *c, struct session *s, struct err *err)
{
	char *path = xasprintf("%s/%s", s->config.out, MEMO_FILE);
	int result = bug_folder(s->config.out, err) < 0
			     ? -1
			     : cover_open(c, path, &s->target, &s->places, err);

	free(path);
	return result;
}

static int hunt(const struct options *o)
{
	struct inputs inputs;
	struct hunt_config config = { .inputs = &inputs, .profiles = (unsigned)o->profiles,
				      .saturation = o->saturation, .snapshots = o->snapshots,
				      .suppress = o->explore.suppress };
	struct err err = { "" };
	struct session_print p;
	struct session *s = &p.session;
	struct cover cover = { 0 };
	struct hunt *h;
	int code = session_print_open(&p, &o->explore, false);

	if (code != CMD_OK) {
		session_print_close(&p);
		return code;
	}
	if (inputs_open(&inputs, &s->target, o->input_dir, &err) < 0) {
		inputs_close(&inputs);
		session_print_close(&p);
		return cmd_fail(&cmd_hunt, "%s", err.text);
	}
	if (o->coverage && open_cover(&cover, s, &err) < 0) {
		cover_close(&cover);
		inputs_close(&inputs);
		session_print_close(&p);
		return cmd_fail(&cmd_hunt, "%s", err.text);
	}
	config.cover = o->coverage ? &cover : NULL;
	session_search(s, &config.search);
	config.listener = session_print_listener(&p);
	h = hunt_new(&config);
	s->hunter = h;
	s->hunt = hunt_stats(h);
	code = hunt_run(h, &err);
	inputs_restore(&inputs);
	print_saturation(&p);
	print_coverage(&p);
	code = session_print_end(&p, code, &err);
	hunt_free(h);
	cover_close(&cover);
	inputs_close(&inputs);
	session_print_close(&p);
	return code;
}

enum { OPT_PROFILES = EXPLORE_OPT_OWN, OPT_SATURATION, OPT_INPUT_DIR, OPT_SNAPSHOTS, OPT_COVERAGE };

static const struct option long_options[] = {
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "saturation", required_argument, NULL, OPT_SATURATION },
	{ "input-dir", required_argument, NULL, OPT_INPUT_DIR },
	{ "snapshots", required_argument, NULL, OPT_SNAPSHOTS },
	{ "coverage", no_argument, NULL, OPT_COVERAGE },
	EXPLORE_LONG_OPTIONS,
	EXPLORE_BASELINE_OPTIONS,
	{ 0 },
};

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK &&
	       (c = getopt_long(argc, argv, "+:" EXPLORE_SHORT_OPTIONS, long_options, NULL)) != -1)
		switch (c) {
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_hunt, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_hunt, argv, c);
		case OPT_PROFILES:
			code = numbers_count(&cmd_hunt, "--profiles", optarg, 1, 1000,
					     &o->profiles);
			break;
		case OPT_SATURATION:
			code = numbers_count(&cmd_hunt, "--saturation", optarg, 0, UINT64_MAX,
					     &o->saturation);
			break;
		case OPT_SNAPSHOTS:
			code = numbers_count(&cmd_hunt, "--snapshots", optarg, 0, UINT64_MAX,
					     &o->snapshots);
			break;
		case OPT_INPUT_DIR: o->input_dir = optarg; break;
		case OPT_COVERAGE: o->coverage = true; break;
		default: code = explore_options_take(&o->explore, c);
		}
	return code != CMD_OK ? code : explore_options_end(&o->explore, argc, argv);
}

static int run(int argc, char **argv)
{
	struct options o = { .profiles = 4, .saturation = 1000, .snapshots = 2000 };
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
