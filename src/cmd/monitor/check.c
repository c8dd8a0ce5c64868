/*
 * snarl check: options and the check of traces, against the database of snarl learn or, with
 * --postmortem, against traces of passing runs. A program is checked in check_online.c.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/monitor/check_internal.h"
#include "cmd/cmd.h"
#include "cmd/learn/learn.h"
#include "cmd/numbers.h"
#include "learn/detect.h"

static const char usage[] =
	"usage: snarl check [options] [--] PROGRAM [ARGUMENT…]\n"
	"       snarl check [options] --trace TRACE…\n"
	"       snarl check [options] --postmortem PASSING… -- FAILING…\n"
	"\n"
	"Reports violated invariants: two accesses of a thread that no other thread came between "
		"in\n"
	"passing runs, and now one did. The invariants come from snarl learn, or with --postmortem "
		"from\n"
	"traces of passing runs. PROGRAM, built with snarl-cc, runs in parallel and is never "
		"delayed.\n"
	"\n"
	"      --trace          check the given traces, of snarl record or of a bug\n"
	"      --postmortem     compare traces of passing and failing runs; likely causes come "
		"first\n"
	"      --pset           also report dependencies between threads that no passing run had\n"
	"      --threshold T    passing runs that may violate an invariant and not refute it "
		"(default 0)\n"
	"      --granularity N  bytes that count as one location: 1, 2, 4 … 64 (default 8)\n"
	"      --db FILE        database of snarl learn (default: learn.db in the folder of "
		"--out)\n"
	"      --program NAME   program to use, if the database has several\n"
	"      --rules FILE     with PROGRAM: rules of snarl learn (default: rules.bin in the "
		"folder\n"
	"                       of --out)\n"
	"      --all            with PROGRAM: watch all known places, also where passing runs "
		"show\n"
	"                       that no other thread can come between; slower\n"
	"      --noise N        with PROGRAM: sleep at N of 1000 accesses, to provoke violations\n"
	"      --seed N         with PROGRAM: seed of --noise\n"
	"  -n, --limit N        number of violations to show\n"
	"  -o, --out DIR        folder of results (default: snarl-out)\n"
	"  -q, --quiet          no summary\n"
	"      --json           print JSON on stdout\n"
	"\n"
	"Exit: 0 no violation, 1 a violation (a candidate: snarl hunt can prove it), 3 a file "
		"could not\n"
	"be read or the program not be run.\n"
	"\n"
	"  snarl check -- ./bank\n"
	"  snarl check --trace snarl-out/bugs/B001/trace.snarl\n"
	"  snarl check --postmortem pass-*.snarl -- fail.snarl\n";

enum form { FORM_NONE, FORM_TRACE, FORM_POSTMORTEM };

struct options {
	enum form form;
	bool pset, quiet, json;
	uint64_t threshold, granularity, limit;
	const char *db, *name, *out;
	struct check_online online;
	char **passing, **failing;
	int passing_count, failing_count;
};

/* --postmortem: learns from the passing traces into a database in memory. */
static int learn_passing(const struct options *o, struct store *store, struct err *err)
{
	struct learner l;
	int result =
		learner_open(&l, store, "postmortem", (unsigned)o->granularity, o->threshold, err);

	for (int i = 0; i < o->passing_count && result == 0; i++) {
		struct store_news news;

		result = learner_trace(&l, o->passing[i], o->passing[i], "trace", 0, &news, err);
	}
	learner_close(&l);
	return result;
}

/*
 * Whether an item is reported. --pset and --postmortem also report orders that violate no invariant
 * but that no passing run had. If no invariant was violated, accesses that no passing run reached
 * are reported if passing runs reached the first of them.
 */
static bool is_reported(const struct options *o, const struct detect *d,
			const struct detect_item *item)
{
	switch (item->rank) {
	case DETECT_BROKEN: return true;
	case DETECT_NEW: return o->pset || o->form == FORM_POSTMORTEM;
	case DETECT_UNTRAINED:
		return o->form == FORM_POSTMORTEM ||
		       (!d->ranks[DETECT_BROKEN] && item->events == 3 && item->event[0].site->runs);
	default: return false;
	}
}

/*
 * Moves the items to be reported to the front without changing their order; returns their number.
 */
static size_t select_reported(const struct options *o, struct detect *d)
{
	size_t count = 0;

	for (size_t i = 0; i < d->count; i++) {
		struct detect_item item = d->items[i];

		if (!is_reported(o, d, &item))
			continue;
		memmove(d->items + count + 1, d->items + count, (i - count) * sizeof(item));
		d->items[count++] = item;
	}
	return count;
}

/* Checks the traces and prints the result; returns the exit code. */
static int check_traces(const struct options *o, struct store *store, struct err *err)
{
	struct detect d;
	struct buf out = { 0 };
	size_t count = 0;
	int result = detect_open(&d, store, o->form == FORM_POSTMORTEM ? "postmortem" : o->name,
				 (unsigned)o->granularity, err);

	d.pairs = o->pset;
	for (int i = 0; i < o->failing_count && result == 0; i++)
		result = detect_trace(&d, o->failing[i], err);
	if (result == 0)
		result = detect_finish(&d, o->threshold, err);
	if (result == 0) {
		count = select_reported(o, &d);
		if (o->json)
			check_json(&d, count, o->limit, &out);
		else
			check_text(&d, count, o->limit, &out);
		fputs(buf_string(&out), stdout);
		if (!o->quiet)
			check_summary(&d, count, stderr);
	}
	buf_free(&out);
	detect_close(&d);
	return result < 0 ? cmd_fail(&cmd_check, "%s", err->text) : count ? CMD_BUG : CMD_OK;
}

/* Opens the database and checks the traces against it; returns the exit code. */
static int check_stored(const struct options *o)
{
	char *own = xasprintf("%s/%s", o->out, STORE_FILE);
	bool postmortem = o->form == FORM_POSTMORTEM;
	struct err err = { "" };
	struct store *store = store_open(postmortem ? ":memory:"
					 : o->db    ? o->db
						    : own,
					 postmortem, &err);
	int code;

	if (!store || (postmortem && learn_passing(o, store, &err) < 0))
		code = cmd_fail(&cmd_check, "%s", err.text);
	else
		code = check_traces(o, store, &err);
	store_close(store);
	free(own);
	return cmd_flush(&cmd_check, code);
}

enum { OPT_TRACE = 256, OPT_POSTMORTEM, OPT_PSET, OPT_THRESHOLD, OPT_GRANULARITY, OPT_DB,
       OPT_PROGRAM, OPT_JSON, OPT_RULES, OPT_NOISE, OPT_SEED, OPT_ALL };

static const struct option long_options[] = {
	{ "trace", no_argument, NULL, OPT_TRACE },
	{ "postmortem", no_argument, NULL, OPT_POSTMORTEM },
	{ "pset", no_argument, NULL, OPT_PSET },
	{ "threshold", required_argument, NULL, OPT_THRESHOLD },
	{ "granularity", required_argument, NULL, OPT_GRANULARITY },
	{ "db", required_argument, NULL, OPT_DB },
	{ "program", required_argument, NULL, OPT_PROGRAM },
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "noise", required_argument, NULL, OPT_NOISE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "limit", required_argument, NULL, 'n' },
	{ "out", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Takes the arguments after the options. Returns -1 to continue, or an exit code. */
static int take_operands(struct options *o, int argc, char **argv)
{
	int split = optind;

	if (o->form == FORM_NONE) {
		o->online.program = argv + optind;
		return optind < argc
			       ? -1
			       : cmd_usage(&cmd_check,
					   "missing PROGRAM (or --trace, --postmortem); usage: "
					   "snarl check [options] [--] PROGRAM [ARGUMENT…]");
	}
	if (o->online.all || o->online.noise || o->online.seed || o->online.rules)
		return cmd_usage(&cmd_check,
				 "--all, --noise, --seed and --rules need a PROGRAM, not traces");
	o->failing = argv + optind;
	o->failing_count = argc - optind;
	if (o->form == FORM_POSTMORTEM) {
		while (split < argc && strcmp(argv[split], "--") != 0)
			split++;
		o->passing = argv + optind;
		o->passing_count = split - optind;
		o->failing = argv + split + 1;
		o->failing_count = argc - split - 1;
		if (!o->passing_count || o->failing_count <= 0)
			return cmd_usage(
				&cmd_check,
				"missing traces; usage: snarl check [options] --postmortem "
				"PASSING… -- FAILING…");
	} else if (o->failing_count > 0 && strcmp(o->failing[0], "--") == 0) {
		o->failing++;
		o->failing_count--;
	}
	return o->failing_count > 0
		       ? -1
		       : cmd_usage(&cmd_check,
				   "missing TRACE; usage: snarl check [options] --trace TRACE…");
}

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK &&
	       (c = getopt_long(argc, argv, "+:n:o:qh", long_options, NULL)) != -1)
		switch (c) {
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_check, CMD_OK);
		case OPT_TRACE: o->form = FORM_TRACE; break;
		case OPT_POSTMORTEM: o->form = FORM_POSTMORTEM; break;
		case OPT_PSET: o->pset = true; break;
		case OPT_THRESHOLD:
			code = numbers_count(&cmd_check, "--threshold", optarg, 0, 1u << 30,
					     &o->threshold);
			break;
		case OPT_GRANULARITY:
			code = learn_parse_granularity(&cmd_check, optarg, &o->granularity);
			break;
		case OPT_DB: o->db = optarg; break;
		case OPT_PROGRAM: o->name = optarg; break;
		case OPT_RULES: o->online.rules = optarg; break;
		case OPT_ALL: o->online.all = true; break;
		case OPT_NOISE:
			code = numbers_count(&cmd_check, "--noise", optarg, 0, 1000,
					     &o->online.noise);
			break;
		case OPT_SEED:
			code = numbers_count(&cmd_check, "--seed", optarg, 0, 1u << 30,
					     &o->online.seed);
			break;
		case 'n':
			code = numbers_count(&cmd_check, "--limit", optarg, 0, UINT64_MAX,
					     &o->limit);
			break;
		case 'o': o->out = optarg; break;
		case 'q': o->quiet = true; break;
		case OPT_JSON: o->json = true; break;
		default: return cmd_bad_option(&cmd_check, argv, c);
		}
	return code == CMD_OK ? take_operands(o, argc, argv) : code;
}

static int run(int argc, char **argv)
{
	struct options o = { .out = "snarl-out",
			     .granularity = LEARN_GRANULARITY,
			     .limit = UINT64_MAX };
	int code = parse(&o, argc, argv);

	if (code >= 0)
		return code;
	if (o.form != FORM_NONE)
		return check_stored(&o);
	o.online.out = o.out;
	o.online.granularity = o.granularity;
	o.online.limit = o.limit;
	o.online.quiet = o.quiet;
	o.online.json = o.json;
	return check_online(&o.online);
}

const struct cmd cmd_check = {
	.name = "check",
	.summary = "report violations of learnt rules in a run",
	.run = run,
};
