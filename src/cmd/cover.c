/*
 * snarl cover: makes runs that expose iRoots (explore/cover), and shows, merges and compares
 * databases of interleaving coverage.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "cmd/session_print.h"
#include "explore/bug/bug.h"
#include "explore/cover/cover_chase.h"
#include "explore/cover/cover_search.h"
#include "report/cover.h"

static const char usage[] =
	"usage: snarl cover [options] [--] PROGRAM [ARGUMENT…]\n"
	"       snarl cover [options] [DATABASE]\n"
	"       snarl cover [options] --merge DATABASE…\n"
	"\n"
	"Shows the interleaving coverage of a program over all runs, inputs and builds so far, "
		"counted\n"
	"in iRoots: patterns of one or two dependencies between two threads. An iRoot is exposed "
		"if a\n"
	"run showed it, and untested if runs only let one expect it. With PROGRAM, built with "
		"snarl-cc,\n"
	"first makes runs and adds their coverage to the database.\n"
	"\n"
	"      --runs N         total number of runs (default 200; with --chase 2000; with --time "
		"no\n"
	"                       limit)\n"
	"      --time T         time limit of the runs: 90, 1.5s, 10m, 2h\n"
	"      --saturation N   stop after N runs in a row with nothing new (default 25; 0: "
		"never)\n"
	"      --parallel       make uncontrolled runs, with the threads in parallel on all CPUs\n"
	"      --chase          after a few runs, direct runs at the untested iRoots one by one, "
		"until\n"
	"                       none is left or the limit is reached\n"
	"  -s, --strategy NAME  use only this strategy (default: several in turn)\n"
	"  -j, --jobs N         number of runs at the same time (default: one per CPU)\n"
	"      --seed N         seed of the random choices (default 1)\n"
	"      --timeouts       also let time-outs of waits and sleeps expire early\n"
	"      --spurious       also let condition waits wake up without a signal\n"
	"      --timeout T      kill a run that takes longer than T (default 10s)\n"
	"      --max-steps N    give up a run after N steps (default 20M; 0: never)\n"
	"      --backend user|kernel  user-level threads (default), or kernel threads\n"
	"      --no-fork-server start the program anew for each run\n"
	"\n"
	"      --db FILE        database (default: memo.db in the folder of --out)\n"
	"      --program NAME   program to show, if the database has several\n"
	"      --merge          add the given databases to that of --db\n"
	"      --diff OLD       show changes since OLD, a database or the output of --json\n"
	"      --fail-under PERCENT  exit 1 if less of the known feasible iRoots is exposed\n"
	"      --untested N     number of untested iRoots to list (default 20)\n"
	"      --html FILE      write an HTML page (after runs: coverage.html in the folder of "
		"--out)\n"
	"      --json           print everything as JSON on stdout\n"
	"  -o, --out DIR        folder of results (default: snarl-out)\n"
	"  -q, --quiet          no progress, no summary\n"
	"\n"
	"Exit: 0 done, 1 the coverage is below --fail-under, 3 the program could not be run or a "
		"file\n"
	"not be read.\n"
	"\n"
	"  snarl cover -- ./bank 100\n"
	"  snarl cover --diff main.json --fail-under 80\n"
	"  snarl cover --merge ci-*/memo.db\n";

struct options {
	struct explore_options explore;
	const struct strategy *strategy;
	uint64_t saturation, untested;
	const char *db, *name, *diff, *html;
	bool merge, chase, parallel, jobs_given;
	double fail_under;	/* percent; below 0: not given */
	char **operands;	/* arguments after the options */
	int operand_count;
};

struct covering {
	struct session_print print;
	struct cover cover;
	struct search_memory memory;
};

static void on_progress(void *ctx, const struct search_stats *stats)
{
	struct covering *c = ctx;

	snprintf(c->print.progress.note, sizeof(c->print.progress.note),
		 "%llu of %zu known iRoots exposed; ", (unsigned long long)c->cover.exposed,
		 c->cover.count);
	progress_show(&c->print.progress, stats);
}

static void print_missing(const struct cover *c)
{
	if (c->lost)
		fprintf(stderr, "snarl: some runs were too large to be kept completely: iRoots may "
				"be missing\n");
	if (c->damaged)
		fprintf(stderr,
			"snarl: profile damaged by a stray write of the program: %llu "
			"run%s not counted\n",
			(unsigned long long)c->damaged, c->damaged == 1 ? " is" : "s are");
	if (c->cut)
		fprintf(stderr, "snarl: %llu run%s ended in the middle of an update: not counted\n",
			(unsigned long long)c->cut, plural(c->cut));
}

static void print_runs(const struct options *o, const struct cover_search *s,
		       const struct covering *c)
{
	if (o->explore.quiet)
		return;
	fprintf(stderr,
		"snarl: %llu run%s in %.1f s: %llu iRoot%s newly exposed, %llu newly "
		"expected%s%s\n",
		(unsigned long long)c->print.session.stats.runs,
		plural(c->print.session.stats.runs), c->print.session.stats.seconds,
		(unsigned long long)s->exposed, plural(s->exposed),
		(unsigned long long)s->predicted,
		s->saturated ? ", ended early: nothing new came" : "",
		interrupt_stop.signal ? ", interrupted" : "");
	if (s->failed)
		fprintf(stderr, "snarl: %llu of the runs failed; snarl hunt finds out why\n",
			(unsigned long long)s->failed);
	print_missing(&c->cover);
}

static void configure(struct covering *c, struct search_config *out)
{
	session_search(&c->print.session, out);
	out->memory = &c->memory;
	out->plan.keep_going = true;
}

static int search(const struct options *o, struct covering *c, struct err *err)
{
	struct cover_search s = { .saturation = o->saturation,
				  .listener = { .progress = on_progress, .ctx = c } };
	int result;

	configure(c, &s.search);
	s.search.plan.strategy = o->strategy;
	s.parallel = o->parallel;
	if (o->parallel && !o->jobs_given)
		s.search.plan.jobs = 1;
	result = cover_search_run(&s, &c->cover, err);
	progress_clear(&c->print.progress);
	if (result == 0)
		print_runs(o, &s, c);
	return result;
}

static int chase(const struct options *o, struct covering *c, struct err *err)
{
	struct cover_chase x = { .listener = { .progress = on_progress, .ctx = c } };
	int result;

	configure(c, &x.search);
	result = cover_chase_run(&x, &c->cover, err);
	progress_clear(&c->print.progress);
	if (result == 0 && !o->explore.quiet)
		fprintf(stderr,
			"snarl: %llu run%s in %.1f s: %llu iRoot%s chased, %llu of them "
			"exposed%s%s\n",
			(unsigned long long)c->print.session.stats.runs,
			plural(c->print.session.stats.runs), c->print.session.stats.seconds,
			(unsigned long long)x.tried, plural(x.tried), (unsigned long long)x.exposed,
			x.over ? ", nothing is left to try" : "",
			interrupt_stop.signal ? ", interrupted" : "");
	if (result == 0 && !o->explore.quiet)
		print_missing(&c->cover);
	return result;
}

static int make_runs(const struct options *o, const char *db)
{
	struct covering c = { 0 };
	struct err err = { "" };
	int code = session_print_open(&c.print, &o->explore, false);

	if (code == CMD_OK && cover_open(&c.cover, db, &c.print.session.target,
					    &c.print.session.places, &err) < 0)
		code = cmd_fail(&cmd_cover, "%s", err.text);
	if (code == CMD_OK && (o->chase ? chase(o, &c, &err) : search(o, &c, &err)) < 0)
		code = cmd_fail(&cmd_cover, "%s", err.text);
	else if (code == CMD_OK && c.cover.damaged && !c.cover.runs)
		code = cmd_fail(&cmd_cover, "no run is counted: the program damaged the memory "
				"that it shares with snarl");
	cover_close(&c.cover);
	search_memory_free(&c.memory);
	session_print_close(&c.print);
	return code;
}

static int write_html(const struct cover_state *s, const char *path)
{
	struct buf page = { 0 };
	char *folder = getcwd(NULL, 0);
	FILE *f = fopen(path, "we");
	bool ok;

	cover_html(s, folder ? folder : ".", &page);
	ok = f && fwrite(page.data, 1, page.size, f) == page.size;
	ok = (!f || fclose(f) == 0) && ok;
	buf_free(&page);
	free(folder);
	return ok ? CMD_OK : cmd_fail(&cmd_cover, "cannot write %s: %s", path, strerror(errno));
}

static int print(const struct options *o, const struct cover_state *s,
		 const struct cover_state *old)
{
	struct buf out = { 0 };

	if (o->explore.json)
		cover_json(s, old, &out);
	else if (old)
		cover_diff_text(old, s, o->untested, &out);
	else
		cover_text(s, o->untested, &out);
	fwrite(out.data, 1, out.size, stdout);
	buf_free(&out);
	return cmd_flush(&cmd_cover, CMD_OK);
}

static int show(const struct options *o, const char *db, const char *name, const char *html)
{
	struct cover_state s = { 0 }, old = { 0 };
	struct err err;
	int code = CMD_OK;

	if (cover_read(&s, db, name, &err) < 0 ||
	    (o->diff && cover_read(&old, o->diff, name, &err) < 0))
		code = cmd_fail(&cmd_cover, "%s", err.text);
	if (code == CMD_OK && html)
		code = write_html(&s, html);
	if (code == CMD_OK && (!o->explore.quiet || o->explore.json))
		code = print(o, &s, o->diff ? &old : NULL);
	if (code == CMD_OK && o->fail_under >= 0 && cover_percent(&s.all) < o->fail_under) {
		fprintf(stderr, "snarl: the coverage of %.1f %% is below --fail-under %g %%\n",
			cover_percent(&s.all), o->fail_under);
		code = CMD_BUG;
	}
	cover_state_free(&s);
	cover_state_free(&old);
	return code;
}

static int merge(const struct options *o, const char *db)
{
	struct err err;
	struct memo *m = memo_open(db, true, &err);
	int code = m ? CMD_OK : cmd_fail(&cmd_cover, "%s", err.text);

	for (int i = 0; code == CMD_OK && i < o->operand_count; i++)
		if (memo_merge(m, o->operands[i], &err) < 0)
			code = cmd_fail(&cmd_cover, "%s", err.text);
	memo_close(m);
	return code;
}

/* Whether a file is a database or the output of --json, and not a program. */
static bool is_data(const char *path)
{
	char head[16] = "";
	FILE *f = fopen(path, "re");
	size_t got = f ? fread(head, 1, sizeof(head), f) : 0;

	if (f)
		fclose(f);
	return got > 0 && (memcmp(head, "SQLite format 3", 16) == 0 || head[0] == '{');
}

static int cover(struct options *o)
{
	char *own = xasprintf("%s/%s", o->explore.out, MEMO_FILE);
	char *html = o->html ? xstrdup(o->html) : NULL, *name = o->name ? xstrdup(o->name) : NULL;
	const char *db = o->db ? o->db : own, *slash;
	bool runs = o->operand_count > 0 && !o->merge && !is_data(o->operands[0]);
	struct err err;
	int code = CMD_OK;

	if ((runs || o->merge) && bug_folder(o->explore.out, &err) < 0)
		code = cmd_fail(&cmd_cover, "%s", err.text);
	else if (o->merge)
		code = merge(o, db);
	else if (runs)
		code = make_runs(o, db);
	else if (o->operand_count > 0)
		db = o->operands[0];
	interrupt_finish();
	if (code == CMD_OK && runs) {
		slash = strrchr(o->operands[0], '/');
		if (!name)
			name = xstrdup(slash ? slash + 1 : o->operands[0]);
		if (!html)
			html = xasprintf("%s/coverage.html", o->explore.out);
	}
	if (code == CMD_OK && !(o->merge && o->explore.quiet))
		code = show(o, db, name, html);
	free(own);
	free(html);
	free(name);
	return interrupt_exit(code);
}

static int parse_percent(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->fail_under = strtod(text, &end);
	if (errno || end == text || (*end && strcmp(end, "%") != 0) || !(o->fail_under >= 0) ||
	    o->fail_under > 100)
		return cmd_usage(&cmd_cover, "--fail-under needs a number from 0 to 100, not '%s'",
				 text);
	return CMD_OK;
}

static int parse_strategy(struct options *o, const char *name)
{
	o->strategy = strategy_find(name);
	if (o->strategy && !o->strategy->guided)
		return CMD_OK;
	return cmd_usage(&cmd_cover, "no strategy '%s'; snarl test --strategy help lists them",
			 name);
}

enum { OPT_SATURATION = EXPLORE_OPT_OWN, OPT_DB, OPT_PROGRAM, OPT_MERGE, OPT_DIFF, OPT_FAIL_UNDER,
       OPT_UNTESTED, OPT_HTML, OPT_CHASE, OPT_PARALLEL };

static const struct option long_options[] = {
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "saturation", required_argument, NULL, OPT_SATURATION },
	{ "chase", no_argument, NULL, OPT_CHASE },
	{ "parallel", no_argument, NULL, OPT_PARALLEL },
	{ "strategy", required_argument, NULL, 's' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "timeouts", no_argument, NULL, OPT_TIMEOUTS },
	{ "spurious", no_argument, NULL, OPT_SPURIOUS },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "max-steps", required_argument, NULL, OPT_MAX_STEPS },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "no-fork-server", no_argument, NULL, OPT_NO_FORK_SERVER },
	{ "db", required_argument, NULL, OPT_DB },
	{ "program", required_argument, NULL, OPT_PROGRAM },
	{ "merge", no_argument, NULL, OPT_MERGE },
	{ "diff", required_argument, NULL, OPT_DIFF },
	{ "fail-under", required_argument, NULL, OPT_FAIL_UNDER },
	{ "untested", required_argument, NULL, OPT_UNTESTED },
	{ "html", required_argument, NULL, OPT_HTML },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "out", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK && (c = getopt_long(argc, argv, "+:s:" EXPLORE_SHORT_OPTIONS,
						  long_options, NULL)) != -1)
		switch (c) {
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_cover, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_cover, argv, c);
		case 's': code = parse_strategy(o, optarg); break;
		case OPT_SATURATION:
			code = numbers_count(&cmd_cover, "--saturation", optarg, 0, UINT64_MAX,
					     &o->saturation);
			break;
		case OPT_UNTESTED:
			code = numbers_count(&cmd_cover, "--untested", optarg, 0, UINT64_MAX,
					     &o->untested);
			break;
		case OPT_FAIL_UNDER: code = parse_percent(o, optarg); break;
		case OPT_DB: o->db = optarg; break;
		case OPT_PROGRAM: o->name = optarg; break;
		case OPT_MERGE: o->merge = true; break;
		case OPT_CHASE: o->chase = true; break;
		case OPT_PARALLEL: o->parallel = true; break;
		case OPT_DIFF: o->diff = optarg; break;
		case OPT_HTML: o->html = optarg; break;
		case 'j': o->jobs_given = true;	/* fall through */
		default: code = explore_options_take(&o->explore, c);
		}
	if (code != CMD_OK)
		return code;
	o->operands = argv + optind;
	o->operand_count = argc - optind;
	o->explore.program = o->operands;
	if (o->explore.seconds > 0 && !o->explore.runs_given)
		o->explore.runs = 0;
	if (o->chase && !o->explore.runs_given && o->explore.runs)
		o->explore.runs = 2000;
	if (o->parallel && (o->chase || o->strategy))
		return cmd_usage(
			&cmd_cover,
			"--parallel runs are not controlled: it excludes --chase and --strategy");
	if (o->merge && !o->operand_count)
		return cmd_usage(
			&cmd_cover,
			"missing DATABASE; usage: snarl cover [options] --merge DATABASE…");
	if (!o->merge && o->operand_count > 1 && is_data(o->operands[0]))
		return cmd_usage(&cmd_cover,
				 "only one DATABASE, after all options; unexpected '%s'",
				 o->operands[1]);
	return -1;
}

static int run(int argc, char **argv)
{
	struct options o = { .saturation = 25, .untested = 20, .fail_under = -1 };
	int code;

	explore_options_init(&o.explore, &cmd_cover, 200);
	code = parse(&o, argc, argv);
	if (code < 0)
		code = cover(&o);
	explore_options_free(&o.explore);
	return code;
}

const struct cmd cmd_cover = {
	.name = "cover",
	.summary = "show which interleavings were tested, and which are left",
	.run = run,
};
