/*
 * snarl replay: options, loading of a bug, and plain replays. replay_gdb.c replays under gdb.
 */
#include "cmd/replay/replay_internal.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "explore/schedule/trust.h"
#include "explore/search/replay_trace.h"
#include "explore/target/orphans.h"

static const char usage[] =
	"usage: snarl replay [options] BUG [-- PROGRAM [ARGUMENT…]]\n"
	"\n"
	"Runs a program again with the interleaving that made it fail. BUG is a folder that snarl "
		"hunt\n"
	"or snarl test saved (snarl-out/bugs/B001), or a schedule file. Program, arguments, "
		"folder,\n"
	"stdin and saved variables come from the schedule, unless PROGRAM replaces the first two.\n"
	"\n"
	"      --times N        number of replays, each in a fresh process (default 1)\n"
	"      --gdb            run under gdb, stopped before the first event of the bug: "
		"breakpoints\n"
	"                       and steps do not change the interleaving; the gdb commands\n"
	"                       snarl-next and snarl-threads follow it\n"
	"      --backend user|kernel  user-level threads (default), or kernel threads (default "
		"with\n"
	"                       --gdb, so that gdb sees the threads)\n"
	"      --no-fork-server start the program anew for each replay\n"
	"      --trace FILE     record the replay for snarl dump; implies --no-fork-server\n"
	"      --timeout T      kill a run that takes longer than T (default 60s)\n"
	"      --trust          run the program, variables and check command of a schedule that\n"
	"                       another user made\n"
	"  -q, --quiet          print neither the program's output nor a summary\n"
	"\n"
	"Exit: 1 every replay failed as recorded, 0 every replay passed, 3 the program could not "
		"be run,\n"
	"4 a replay diverged from the schedule or ended in another way.\n"
	"\n"
	"  snarl replay snarl-out/bugs/B001\n"
	"  snarl replay --gdb snarl-out/bugs/B001\n";

/*
 * Number of replays by result. `same`: failed as recorded; `other`: failed in another way;
 * `limited`: stopped at a limit.
 */
struct replay_counts {
	uint64_t same, passed, other, diverged, limited;
};

/* Prints the captured output of a run. */
static void print_capture(const struct capture *c, FILE *to)
{
	struct buf text = { 0 };

	capture_text(c, &text);
	if (text.size)
		fwrite(text.data, 1, text.size, to);
	fflush(to);
	buf_free(&text);
}

/* Prints how a replay ended: all of it if it is the only one, else only where it diverged. */
static void print_replay(const struct replay_options *o, struct replay *r, struct places *places,
		     struct oracle_result *got)
{
	const struct ctl_report *report = server_report(&r->server);
	struct buf text = { 0 };

	if (o->quiet)
		return;
	if (o->times == 1) {
		print_capture(&r->server.result.out, stdout);
		print_capture(&r->server.result.error, stderr);
	}
	oracle_refine(got, report, places);
	if (got->verdict == ORACLE_DIVERGED)
		oracle_describe_divergence(got, &o->schedule, report, places, &text);
	else
		oracle_describe(got, report, places, &text);
	if (o->times == 1 || got->verdict == ORACLE_DIVERGED)
		fprintf(stderr, "snarl: %s\n", buf_string(&text));
	buf_free(&text);
}

static void count_result(struct replay_counts *n, const struct schedule *s,
			 const struct oracle_result *got)
{
	if (got->verdict == ORACLE_DIVERGED)
		n->diverged++;
	else if (got->verdict == ORACLE_PASSED)
		n->passed++;
	else if (got->verdict == ORACLE_INCONCLUSIVE)
		n->limited++;
	else if (got->verdict == ORACLE_FAILED && replay_same(s, got))
		n->same++;
	else
		n->other++;
}

static int conclude(const struct replay_options *o, const struct replay_counts *n)
{
	const char *failure = o->schedule.failure;

	/* A schedule without a failure is the nearest passing run of a bug. */
	if (!o->quiet && o->times > 1 && (failure || !n->passed))
		fprintf(stderr, "snarl: %llu of %llu replays failed as recorded%s%s%s\n",
			(unsigned long long)n->same, (unsigned long long)o->times,
			failure ? " (" : "", failure ? failure : "", failure ? ")" : "");
	if (!o->quiet && n->passed)
		fprintf(stderr, "snarl: %llu of %llu replays passed\n",
			(unsigned long long)n->passed, (unsigned long long)o->times);
	if (!o->quiet && n->other)
		fprintf(stderr, "snarl: %llu failed in another way than recorded%s%s%s\n",
			(unsigned long long)n->other, failure ? " (" : "", failure ? failure : "",
			failure ? ")" : "");
	if (!o->quiet && n->limited)
		fprintf(stderr,
			"snarl: %llu did not end within %g s; --timeout T sets another limit\n",
			(unsigned long long)n->limited, o->timeout);
	if (n->same == o->times)
		return CMD_BUG;
	return n->passed == o->times ? CMD_OK : CMD_DIVERGED;
}

/* Makes all replays and counts their results in *n. Returns 0, or -1 and *err. */
static int replay_all(const struct replay_options *o, const struct replay_config *config,
		      struct replay_counts *n, struct err *err)
{
	struct oracle oracle;
	struct oracle_result got;
	struct places places;
	struct replay r;
	int result;

	orphans_adopt();
	places_init(&places);
	oracle_from(&oracle, &o->schedule);
	result = replay_open(&r, config, &o->schedule, err);
	if (result == 0 && r.server.pid > 0)
		places_read(&places, r.server.pid);
	places_add_program(&places, o->target.program);
	for (uint64_t i = 0; i < o->times && result == 0; i++) {
		result = replay_once(&r, &o->schedule, &places, &oracle, &got, err);
		if (result == 0 && got.verdict == ORACLE_DAMAGED)
			result = err_set(err, "%s", got.text);
		if (result == 0 && got.verdict == ORACLE_BROKEN)
			result = err_set(err, "the program cannot be controlled: %.300s", got.text);
		if (result < 0)
			break;
		print_replay(o, &r, &places, &got);
		count_result(n, &o->schedule, &got);
	}
	replay_close(&r);
	orphans_end_all(NULL, 0);
	places_free(&places);
	return result;
}

static int replay(const struct replay_options *o, struct err *err)
{
	struct replay_config config = {
		.target = &o->target, .backend = o->backend, .exec = o->exec, .timeout = o->timeout
	};
	struct replay_trace trace = { .live = -1 };
	struct replay_counts n = { 0 };
	struct err closing;
	int result = 0;

	if (o->trace) {
		result = replay_trace_open(&trace, o->trace,
					   o->schedule.steps <= REPLAY_VALUES_STEPS, err);
		config.options = trace.options;
		config.exec = true;
	}
	if (result == 0)
		result = replay_all(o, &config, &n, err);
	if (o->trace && replay_trace_close(&trace, result == 0, &closing) < 0 && result == 0) {
		*err = closing;
		result = -1;
	}
	return result < 0 ? -1 : cmd_flush(&cmd_replay, conclude(o, &n));
}

/* Reads the schedule of BUG, and finds the folder it is in. */
static int read_bug(struct replay_options *o, const char *bug, struct err *err)
{
	struct stat st;
	char *slash;

	if (stat(bug, &st) == 0 && S_ISDIR(st.st_mode))
		o->path = xasprintf("%s/schedule.txt", bug);
	else
		o->path = xstrdup(bug);
	slash = strrchr(o->path, '/');
	o->folder = slash ? xstrndup(o->path, (size_t)(slash - o->path) + (slash == o->path)) :
			    xstrdup(".");
	return schedule_read(&o->schedule, o->path, err);
}

/* Replaces program and arguments of the schedule. */
static int take_program(struct replay_options *o, char **argv, struct err *err)
{
	struct schedule *s = &o->schedule;
	struct target t = { .input = -1 };
	int result = target_program(&t, argv[0], err);

	if (result == 0) {
		free(s->program);
		s->program = xstrdup(t.program);
		while (s->arguments.count > 0)
			free(s->arguments.items[--s->arguments.count]);
		for (; *argv; argv++)
			schedule_list_add(&s->arguments, *argv);
		if (!s->directory)
			s->directory = getcwd(NULL, 0);
	}
	target_free(&t);
	return result;
}

int replay_load(struct replay_options *o, const char *bug, char **program, struct err *err)
{
	unsigned parts = TRUST_ENVIRONMENT | TRUST_CHECK | (program ? 0 : TRUST_PROGRAM);
	const char *built;

	if (read_bug(o, bug, err) < 0)
		return -1;
	if (!cmd_trusts(&o->schedule, o->path, parts, o->trust, o->quiet))
		return err_set(err, "%s was not run: --trust runs what it names%s", o->path,
			       program ? "" : ", -- PROGRAM a program of yours");
	if (program && take_program(o, program, err) < 0)
		return -1;
	if (o->schedule.turn_count == 0 && o->schedule.goal_count == 0)
		return err_set(err, "%s has neither an exact nor a goal part", o->path);
	if (schedule_get_target(&o->schedule, o->folder, &o->target, err) < 0)
		return -1;
	built = o->schedule.build_id;
	if (built && strcmp(built, o->target.build_id) != 0 && !o->quiet)
		fprintf(stderr,
			"snarl: %s is not the build this schedule was made with: the replay may "
			"diverge\n",
			o->target.program);
	return 0;
}

enum { OPT_TIMES = 256, OPT_GDB, OPT_INTO, OPT_GIVEN, OPT_BACKEND, OPT_NO_FORK_SERVER, OPT_TIMEOUT,
       OPT_TRACE, OPT_TRUST };

static const struct option long_options[] = {
	{ "times", required_argument, NULL, OPT_TIMES },
	{ "gdb", no_argument, NULL, OPT_GDB },
	{ "into", required_argument, NULL, OPT_INTO },	/* with --given: for replay_gdb.c */
	{ "given", no_argument, NULL, OPT_GIVEN },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "no-fork-server", no_argument, NULL, OPT_NO_FORK_SERVER },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "trust", no_argument, NULL, OPT_TRUST },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int parse_backend(struct replay_options *o, const char *text)
{
	o->backend = text;
	if (strcmp(text, "user") == 0 || strcmp(text, "kernel") == 0)
		return CMD_OK;
	return cmd_usage(&cmd_replay, "--backend is user or kernel, not '%s'", text);
}

/* Returns -1 to continue, or an exit code. */
static int parse(struct replay_options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK && (c = getopt_long(argc, argv, "+:qh", long_options, NULL)) != -1)
		switch (c) {
		case OPT_TIMES:
			code = numbers_count(&cmd_replay, "--times", optarg, 1, 1000000000,
					     &o->times);
			break;
		case OPT_GDB: o->gdb = true; break;
		case OPT_INTO: o->into = optarg; break;
		case OPT_GIVEN: o->given = true; break;
		case OPT_BACKEND: code = parse_backend(o, optarg); break;
		case OPT_NO_FORK_SERVER: o->exec = true; break;
		case OPT_TRUST: o->trust = true; break;
		case OPT_TRACE: o->trace = optarg; break;
		case OPT_TIMEOUT:
			code = numbers_seconds(&cmd_replay, "--timeout", optarg, &o->timeout);
			break;
		case 'q': o->quiet = true; break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_replay, CMD_OK);
		default: return cmd_bad_option(&cmd_replay, argv, c);
		}
	return code == CMD_OK ? -1 : code;
}

/* Checks the options together. Returns -1 to continue, or an exit code. */
static int check(const struct replay_options *o)
{
	if (o->trace && (o->times > 1 || o->gdb))
		return cmd_usage(&cmd_replay,
				 "--trace records one replay: not with --times or --gdb");
	return -1;
}

/*
 * Parses all of argv. Options may also follow BUG; words after "--" are the program and its
 * arguments. Returns -1 to continue, or an exit code.
 */
static int parse_all(struct replay_options *o, int argc, char **argv, const char **bug,
		     char ***program)
{
	int code = parse(o, argc, argv);

	if (code >= 0)
		return code;
	if (optind == argc)
		return cmd_usage(
			&cmd_replay,
			"missing BUG; usage: snarl replay [options] BUG [-- PROGRAM [ARGUMENT…]]");
	*bug = argv[optind++];
	*program = NULL;
	if (optind < argc && strcmp(argv[optind], "--") != 0) {
		argv[optind - 1] = argv[0];
		argv += optind - 1;
		argc -= optind - 1;
		optind = 1;
		for (int i = 1; i < argc; i++)
			if (strcmp(argv[i], "--") == 0) {
				*program = argv + i + 1;
				argc = i;
			}
		code = parse(o, argc, argv);
		if (code >= 0)
			return code;
		if (optind < argc)
			return cmd_usage(&cmd_replay, "one BUG at a time; unexpected '%s'",
					 argv[optind]);
	} else if (optind < argc) {
		*program = argv + optind + 1;
	}
	if (*program && !**program)
		return cmd_usage(&cmd_replay, "missing PROGRAM after --; usage: snarl replay "
					      "[options] BUG [-- PROGRAM [ARGUMENT…]]");
	return check(o);
}

static int run(int argc, char **argv)
{
	struct replay_options o = { .times = 1, .timeout = 60, .target = { .input = -1 } };
	const char *bug = NULL;
	char **program = NULL;
	int code = parse_all(&o, argc, argv, &bug, &program);
	struct err err = { "" };

	if (code < 0) {
		code = replay_load(&o, bug, o.into && !o.given ? NULL : program, &err);
		if (code == 0)
			code = o.into  ? replay_into(&o, &err)
			       : o.gdb ? replay_gdb(&o, program, &err)
				       : replay(&o, &err);
		if (code < 0)
			code = cmd_fail(&cmd_replay, "%s", err.text);
	}
	target_free(&o.target);
	schedule_free(&o.schedule);
	free(o.path);
	free(o.folder);
	return code;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "run a program again with the interleaving that made it fail",
	.run = run,
};
