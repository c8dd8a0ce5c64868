/*
 * snarl check-fix: tries the known failing interleavings in a new build (explore/fix), then hunts
 * for failures of other orders of the same accesses. check_fix_report.c prints the result.
 */
#include "cmd/check_fix/check_fix_internal.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "explore/schedule/trust.h"

static const char usage[] =
	"usage: snarl check-fix [options] BUG… [-- PROGRAM [ARGUMENT…]]\n"
	"\n"
	"Checks whether a bug is fixed. Tries every interleaving known to make the program fail in "
		"a\n"
	"new build of it (by snarl-cc), and reports each as no longer possible, harmless, or "
		"still\n"
	"failing. Then tries other orders of accesses to the same variables. BUG is a folder that\n"
	"snarl hunt or snarl test saved (snarl-out/bugs/B001), a schedule file, or snarl-out for "
		"all\n"
	"bugs of its results.json. The default PROGRAM is that of the first bug, with its "
		"arguments,\n"
	"folder and input.\n"
	"\n"
	"      --runs N         total number of runs (default 1000; with --time: no limit)\n"
	"      --time T         time limit of the check: 90, 1.5s, 10m, 2h\n"
	"      --profiles N     recorded runs in which to find the events of the bugs (default 4)\n"
	"      --trust          run the program, variables and check command of bugs that\n"
	"                       another user found\n"
	EXPLORE_USAGE_RUNS
	EXPLORE_USAGE_REST
	"\n"
	"Exit: 0 no run failed (fixed, or undecided: see the summary), 1 a failure was proved "
		"(not\n"
	"fixed, or not completely), 3 the program could not be run.\n"
	"\n"
	"  snarl check-fix snarl-out/bugs/B001\n"
	"  snarl check-fix snarl-out -- ./bank_fixed 100\n";

struct options {
	struct explore_options explore;
	uint64_t profiles;
	bool oracle;		/* an option defines failures; else the schedules of the bugs do */
	bool trust;		/* run what the schedules name, whoever wrote them */
	char **bugs;
	int bug_count;
};

/* hunt_config.wanted: whether a candidate concerns the accesses of a known bug. */
static bool concerns_known(void *ctx, const struct lead *lead)
{
	const struct check_fix *cf = ctx;

	return checkfix_concerns(cf->known.at, cf->known.count, lead);
}

/* Whether a known interleaving ends in this kind of failure. */
static bool fails_like_known(const struct check_fix *cf, const char *failure)
{
	for (size_t i = 0; i < cf->known.count; i++)
		if (cf->known.at[i].schedule.failure &&
		    strcmp(cf->known.at[i].schedule.failure, failure) == 0)
			return true;
	return false;
}

/*
 * Classifies the last proved failure, which no known interleaving predicted: the fix is incomplete,
 * or the program has another bug.
 */
static void note_failure(struct check_fix *cf)
{
	const struct bug *b =
		cf->print.session.judge.results.items[cf->print.session.judge.results.count - 1]
			.bug;
	const struct lead *cause = bug_cause(b);

	if (fails_like_known(cf, b->failure->schedule.failure) ||
	    (cause && checkfix_concerns(cf->known.at, cf->known.count, cause)))
		cf->related_failure = true;
	else
		cf->other_failure = true;
}

/*
 * Proves, saves and prints a failure. Returns its index in the results, or -1 if it was not proved.
 */
static int judge_failure(struct check_fix *cf, struct search_failure *f)
{
	const struct results *r = &cf->print.session.judge.results;
	size_t proved = r->proved;

	session_print_found(&cf->print, f);
	return r->proved > proved ? (int)r->count - 1 : -1;
}

/* checkfix_config.prove: judges a failure of a known interleaving. */
static int prove_known(void *ctx, struct search_failure *f)
{
	struct check_fix *cf = ctx;

	map_put(&cf->identities, oracle_identity(&f->result, &cf->print.session.places), NULL);
	return judge_failure(cf, f);
}

/*
 * Judges a failure that no known interleaving predicted, unless one with the same identity was
 * judged.
 */
static enum search_answer found_unmatched(void *ctx, struct search_failure *f)
{
	struct check_fix *cf = ctx;
	bool added;

	map_put(&cf->identities, oracle_identity(&f->result, &cf->print.session.places), &added);
	if (!added) {
		search_failure_free(f);
		return SEARCH_MORE;
	}
	if (judge_failure(cf, f) < 0)
		return cf->print.session.failed_to_save ? SEARCH_ENOUGH : SEARCH_MORE;
	note_failure(cf);
	return cf->keep_going ? SEARCH_MORE : SEARCH_ENOUGH;
}

/* checkfix_config.kept: keeps a failure for judge_unmatched(). */
static void keep_unmatched(void *ctx, struct search_failure *f)
{
	struct check_fix *cf = ctx;

	cf->unmatched = xgrow(cf->unmatched, cf->unmatched_count, &cf->unmatched_capacity,
			      sizeof(struct search_failure *));
	cf->unmatched[cf->unmatched_count++] = f;
}

/*
 * Judges the kept failures last: by then the hunt may have judged one with the same identity and a
 * cause.
 */
static void judge_unmatched(struct check_fix *cf)
{
	for (size_t i = 0; i < cf->unmatched_count; i++)
		found_unmatched(cf, cf->unmatched[i]);
	free(cf->unmatched);
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	session_print_progress(&((struct check_fix *)ctx)->print, stats);
}

static void on_inconclusive(void *ctx, const struct search_failure *f)
{
	session_print_inconclusive(&((struct check_fix *)ctx)->print, f);
}

/* Hunts with the rest of the budget, and only for candidates that concern the known bugs. */
static int hunt_related(struct check_fix *cf, const struct options *o, struct hunt **hunt,
			struct err *err)
{
	struct session *s = &cf->print.session;
	struct hunt_config config = { .profiles = (unsigned)o->profiles,
				      .wanted = concerns_known,
				      .ctx = cf,
				      .listener = { found_unmatched, on_progress, on_inconclusive,
						    cf } };
	struct search_budget *budget = &config.search.budget;
	struct search_stats stats = { 0 };
	int result;

	session_search(s, &config.search);
	config.search.stats = &stats;
	config.search.plan.keep_going = true;
	if (budget->runs && s->stats.runs >= budget->runs)
		return 0;
	if (deadline_over(&budget->deadline))
		return 0;
	budget->runs -= budget->runs ? s->stats.runs : 0;
	s->hunter = *hunt = hunt_new(&config);
	s->hunt = hunt_stats(*hunt);
	result = hunt_run(*hunt, err);
	s->stats.runs += stats.runs;
	s->stats.seconds += stats.seconds;
	return result;
}

static void set_oracles(struct check_fix *cf, const struct options *o)
{
	for (size_t i = 0; i < cf->known.count; i++) {
		cf->known.at[i].oracle = o->explore.oracle;
		if (!o->oracle)
			oracle_from(&cf->known.at[i].oracle, &cf->known.at[i].schedule);
	}
	cf->print.session.oracle = cf->known.at[0].oracle;
}

static void note_same_build(const struct check_fix *cf)
{
	const struct target *t = &cf->print.session.target;

	for (size_t i = 0; i < cf->known.count && !cf->print.o->quiet; i++)
		if (cf->known.at[i].schedule.build_id &&
		    strcmp(cf->known.at[i].schedule.build_id, t->build_id) == 0) {
			fprintf(stderr,
				"snarl: %s is the same build that %s was found in; rebuild it to "
				"check a fix\n",
				t->program, cf->known.at[i].name);
			return;
		}
}

static int conclude(struct check_fix *cf, int result, const struct err *err)
{
	struct session *s = &cf->print.session;
	const struct explore_options *o = cf->print.o;
	struct err writing;

	interrupt_finish();
	progress_clear(&cf->print.progress);
	if (s->failed_to_save)
		return cmd_fail(o->cmd, "the bug cannot be saved: %s", s->err.text);
	/* A stage may have failed only because its time was up. */
	if (interrupt_stop.signal ||
	    (s->stats.runs && deadline_left(&s->config.budget.deadline) <= 0))
		result = 0;
	if (result < 0 && s->stats.runs == 0)
		return cmd_fail(o->cmd, "%s", err->text);
	check_fix_print(cf);
	if (check_fix_write(cf, &writing) < 0)
		return cmd_fail(o->cmd, "%s", writing.text);
	if (result < 0)
		return cmd_fail(o->cmd, "%s", err->text);
	return interrupt_exit(cmd_flush(o->cmd, s->judge.results.proved ? CMD_BUG :
						s->stats.damaged ? CMD_FAILED : CMD_OK));
}

static int check(struct check_fix *cf, const struct options *o)
{
	struct checkfix_config config = { .profiles = (unsigned)o->profiles, .prove = prove_known,
					  .kept = keep_unmatched, .progress = on_progress,
					  .inconclusive = on_inconclusive, .ctx = cf };
	struct hunt *hunt = NULL;
	struct err err = { "" };
	int result;

	set_oracles(cf, o);
	note_same_build(cf);
	session_search(&cf->print.session, &config.search);
	result = checkfix_run(&config, cf->known.at, cf->known.count, &err);
	if (result == 0 && !interrupt_stop.signal && !cf->print.session.failed_to_save)
		result = hunt_related(cf, o, &hunt, &err);
	judge_unmatched(cf);
	result = conclude(cf, result, &err);
	results_free(&cf->print.session.judge.results);	/* failures refer to the hunt's leads */
	if (hunt)
		hunt_free(hunt);
	return result;
}

/* Takes program, arguments and saved variables from the first bug. */
static int take_program(struct options *o, const struct checkfix_known *k, struct err *err)
{
	const struct schedule *s = &k->schedule;

	if (!s->program)
		return err_set(err, "%s does not name its program: give one after --", k->path);
	o->explore.program = xcalloc(s->arguments.count + 2, sizeof(char *));
	o->explore.program[0] = s->program;
	for (size_t i = 1; i < s->arguments.count; i++)
		o->explore.program[i] = s->arguments.items[i];
	for (size_t i = 0; i < s->environment.count; i++) {
		optarg = s->environment.items[i];
		explore_options_take(&o->explore, OPT_ENV);
	}
	return 0;
}

/* Whether all may be run that is taken from the bugs; prints what may not. */
static bool is_trusted(const struct options *o, const struct known_orders *known, bool given)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct checkfix_known *k = &known->at[i];
		unsigned parts = (o->oracle ? 0 : TRUST_CHECK) |
				 (i == 0 && !given ? TRUST_PROGRAM | TRUST_ENVIRONMENT : 0);

		if (!cmd_trusts(&k->schedule, k->path, parts, o->trust, o->explore.quiet))
			return false;
	}
	return true;
}

/* Takes stdin from the first bug, unless snarl itself was given an input on stdin. */
static int take_input(struct session *s, const struct checkfix_known *k, struct err *err)
{
	const char *slash = strrchr(k->path, '/');
	char *folder, *path;
	int fd, result;

	if (s->target.input >= 0 || !k->schedule.input)
		return 0;
	folder = slash ? xstrndup(k->path, (size_t)(slash - k->path) + 1) : xstrdup("");
	path = xasprintf("%s%s", *k->schedule.input == '/' ? "" : folder, k->schedule.input);
	fd = file_open_regular(path);
	result = fd < 0 ? err_set(err, "cannot open %s, the input of the bug: %s", path,
				  strerror(errno))
			: target_input(&s->target, fd, err);
	if (fd >= 0)
		close(fd);
	free(path);
	free(folder);
	return result;
}

static int check_fix(struct options *o)
{
	struct check_fix cf = { .keep_going = o->explore.keep_going };
	bool given = o->explore.program != NULL;
	struct err err;
	int code = CMD_OK;

	for (int i = 0; i < o->bug_count && code == CMD_OK; i++)
		if (known_orders_load(&cf.known, o->bugs[i], &err) < 0)
			code = cmd_fail(&cmd_check_fix, "%s", err.text);
	if (code == CMD_OK && cf.known.count == 0)
		code = cmd_fail(&cmd_check_fix, "%s contains no bugs to check", o->bugs[0]);
	if (code == CMD_OK && !is_trusted(o, &cf.known, given))
		code = cmd_fail(&cmd_check_fix,
				"nothing was run: --trust runs what the bugs name%s",
				given ? "" : ", -- PROGRAM a program of yours");
	if (code == CMD_OK && !given && take_program(o, &cf.known.at[0], &err) < 0)
		code = cmd_fail(&cmd_check_fix, "%s", err.text);
	if (code == CMD_OK) {
		/*
		 * `separate`: every failure is judged by itself, since each is the verdict of its
		 * interleaving.
		 */
		code = session_print_open(&cf.print, &o->explore, true);
		if (code == CMD_OK && take_input(&cf.print.session, &cf.known.at[0], &err) < 0)
			code = cmd_fail(&cmd_check_fix, "%s", err.text);
		if (code == CMD_OK && !given && cf.known.at[0].schedule.directory) {
			free(cf.print.session.target.directory);
			cf.print.session.target.directory =
				xstrdup(cf.known.at[0].schedule.directory);
		}
		if (code == CMD_OK)
			code = check(&cf, o);
		session_print_close(&cf.print);
	}
	known_orders_free(&cf.known);
	map_free(&cf.identities);
	if (!given)
		free(o->explore.program);
	return code;
}

enum { OPT_PROFILES = EXPLORE_OPT_OWN, OPT_TRUST };

static const struct option long_options[] = {
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "trust", no_argument, NULL, OPT_TRUST },
	EXPLORE_LONG_OPTIONS,
	{ 0 },
};

/*
 * Returns -1 to continue, or an exit code. Options may stand between the bugs; words after "--" are
 * the program and its arguments.
 */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK, words = 1;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	while (code == CMD_OK &&
	       (c = getopt_long(words, argv, ":" EXPLORE_SHORT_OPTIONS, long_options, NULL)) != -1)
		switch (c) {
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_check_fix, CMD_OK);
		case ':': case '?': return cmd_bad_option(&cmd_check_fix, argv, c);
		case OPT_PROFILES:
			code = numbers_count(&cmd_check_fix, "--profiles", optarg, 1, 1000,
					     &o->profiles);
			break;
		case OPT_TRUST: o->trust = true; break;
		default:
			o->oracle |= c == OPT_EXPECT_EXIT || c == OPT_EXPECT_OUTPUT ||
				     c == OPT_SAME_OUTPUT || c == OPT_CHECK;
			code = explore_options_take(&o->explore, c);
		}
	if (code != CMD_OK)
		return code;
	if (optind == words)
		return cmd_usage(&cmd_check_fix, "missing BUG; usage: snarl check-fix [options] "
						 "BUG… [-- PROGRAM [ARGUMENT…]]");
	o->bugs = argv + optind;
	o->bug_count = words - optind;
	if (words < argc && words + 1 == argc)
		return cmd_usage(&cmd_check_fix,
				 "missing PROGRAM after --; usage: snarl check-fix [options] BUG… "
				 "[-- PROGRAM [ARGUMENT…]]");
	if (words == argc)
		optind = argc - 1;	/* explore_options_end() takes the last bug as PROGRAM */
	else
		optind = words + 1;
	code = explore_options_end(&o->explore, argc, argv);
	if (words == argc)
		o->explore.program = NULL;
	return code;
}

static int run(int argc, char **argv)
{
	struct options o = { .profiles = 4 };
	int code;

	explore_options_init(&o.explore, &cmd_check_fix, 1000);
	code = parse(&o, argc, argv);
	if (code < 0)
		code = check_fix(&o);
	explore_options_free(&o.explore);
	return code;
}

const struct cmd cmd_check_fix = {
	.name = "check-fix",
	.summary = "try known failing interleavings in a new build",
	.run = run,
};
