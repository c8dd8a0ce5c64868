/*
 * Options that hunt, test and check-fix share; cover and learn take some of them.
 */
#ifndef CMD_EXPLORE_OPTIONS_H
#define CMD_EXPLORE_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/suppress.h"
#include "cmd/cmd.h"
#include "explore/search/oracle.h"

struct explore_options {
	const struct cmd *cmd;	/* named in messages */
	uint64_t runs, jobs, seed, replays, max_steps;	/* runs, max_steps: 0 is no limit */
	bool runs_given;
	double seconds, timeout;	/* seconds: of --time, 0: no limit */
	uint32_t flags;		/* CTL_TIMEOUTS and others of abi/control_block.h */
	struct oracle oracle;
	const char *backend, *out;
	bool exec, keep_going, no_minimise, quiet, json, gen_suppressions;
	bool require_controlled;	/* it is an error if something ran uncontrolled */
	struct baseline *baseline;	/* NULL: none */
	const char **keep;	/* arguments of --env, ended by NULL; NULL: none */
	size_t keep_count, keep_capacity;
	const char **ignore;	/* arguments of --ignore, ended by NULL; NULL: none */
	size_t ignore_count, ignore_capacity;
	struct suppressions *suppress;	/* NULL: none */
	char **program;		/* name and arguments, ended by NULL */
};

/* Values of long options without a letter. Options of a single command begin at EXPLORE_OPT_OWN. */
enum { OPT_RUNS = 256, OPT_TIME, OPT_SEED, OPT_TIMEOUTS, OPT_SPURIOUS, OPT_IGNORE_MISUSE,
       OPT_REAL_TIME, OPT_KEEP_GOING, OPT_NO_MINIMISE, OPT_REPLAYS, OPT_EXPECT_EXIT,
       OPT_EXPECT_OUTPUT, OPT_SAME_OUTPUT, OPT_CHECK, OPT_TIMEOUT, OPT_MAX_STEPS, OPT_BACKEND,
       OPT_NO_FORK_SERVER, OPT_ENV, OPT_SUPPRESSIONS, OPT_BASELINE,
       OPT_GEN_SUPPRESSIONS, OPT_REQUIRE, OPT_IGNORE, OPT_JSON, EXPLORE_OPT_OWN };

#define EXPLORE_SHORT_OPTIONS "j:o:qh"
#define EXPLORE_LONG_OPTIONS \
	{ "runs", required_argument, NULL, OPT_RUNS }, \
	{ "time", required_argument, NULL, OPT_TIME }, \
	{ "jobs", required_argument, NULL, 'j' }, \
	{ "seed", required_argument, NULL, OPT_SEED }, \
	{ "timeouts", no_argument, NULL, OPT_TIMEOUTS }, \
	{ "spurious", no_argument, NULL, OPT_SPURIOUS }, \
	{ "ignore-misuse", no_argument, NULL, OPT_IGNORE_MISUSE }, \
	{ "real-time", no_argument, NULL, OPT_REAL_TIME }, \
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING }, \
	{ "no-minimise", no_argument, NULL, OPT_NO_MINIMISE }, \
	{ "replays", required_argument, NULL, OPT_REPLAYS }, \
	{ "expect-exit", required_argument, NULL, OPT_EXPECT_EXIT }, \
	{ "expect-output", required_argument, NULL, OPT_EXPECT_OUTPUT }, \
	{ "same-output", no_argument, NULL, OPT_SAME_OUTPUT }, \
	{ "check", required_argument, NULL, OPT_CHECK }, \
	{ "timeout", required_argument, NULL, OPT_TIMEOUT }, \
	{ "max-steps", required_argument, NULL, OPT_MAX_STEPS }, \
	{ "backend", required_argument, NULL, OPT_BACKEND }, \
	{ "no-fork-server", no_argument, NULL, OPT_NO_FORK_SERVER }, \
	{ "env", required_argument, NULL, OPT_ENV }, \
	{ "suppressions", required_argument, NULL, OPT_SUPPRESSIONS }, \
	{ "out", required_argument, NULL, 'o' }, \
	{ "quiet", no_argument, NULL, 'q' }, \
	{ "json", no_argument, NULL, OPT_JSON }, \
	{ "help", no_argument, NULL, 'h' }

/* Options of hunt and test, which check-fix lacks. */
#define EXPLORE_BASELINE_OPTIONS \
	{ "baseline", required_argument, NULL, OPT_BASELINE }, \
	{ "gen-suppressions", no_argument, NULL, OPT_GEN_SUPPRESSIONS }, \
	{ "require", required_argument, NULL, OPT_REQUIRE }, \
	{ "ignore", required_argument, NULL, OPT_IGNORE }

/* The parts of --help about the options above. Each command describes --runs and --time itself. */
#define EXPLORE_USAGE_RUNS \
	"  -j, --jobs N         number of runs at the same time (default: one per CPU); does " \
		"not\n" \
	"                       change what is found\n" \
	"      --seed N         seed of the random choices (default 1)\n"
#define EXPLORE_USAGE_BASELINE \
	"      --baseline FILE  an earlier results.json: only bugs that are not in it count; " \
		"implies\n" \
	"                       --keep-going\n" \
	"      --gen-suppressions  print lines that suppress the bugs found\n" \
	"      --require WHAT   controlled: exit with 3 if anything ran uncontrolled\n" \
	"      --ignore FINGERPRINT  count a failure as passing; bug.json has its fingerprint;\n" \
	"                       may be given several times\n"
#define EXPLORE_USAGE_REST \
	"      --timeouts       also let time-outs of waits and sleeps expire early\n" \
	"      --spurious       also let condition waits wake up without a signal\n" \
	"      --ignore-misuse  do not count misuse of locks, conditions and threads as a " \
		"failure\n" \
	"      --real-time      let clocks show the real time (such runs may not replay)\n" \
	"      --keep-going     continue after the first failure, to find different ones\n" \
	"      --no-minimise    keep the schedule of a failure as found, with all its switches\n" \
	"      --replays N      replays that all have to fail to prove a bug (default 20)\n" \
	"\n" \
	"A run fails by a signal, an assertion, a deadlock, a hang, use after free, double free, " \
		"misuse\n" \
	"of a lock, or\n" \
	"      --expect-exit N|any   an exit status other than N (default 0; any: none fails)\n" \
	"      --expect-output FILE  stdout that differs from FILE\n" \
	"      --same-output    stdout that differs from that of the first passing run\n" \
	"      --check CMD      a shell command that exits with other than 0; its stdin is the " \
		"run's\n" \
	"                       stdout, and SNARL_STATUS the run's exit status\n" \
	"\n" \
	"      --timeout T      a run that takes longer than T is inconclusive (default 10s)\n" \
	"      --max-steps N    a run of more than N steps is inconclusive (default 20M; 0:\n" \
	"                       no limit)\n" \
	"      --backend user|kernel  user-level threads (default), or kernel threads\n" \
	"      --no-fork-server start the program anew for each run\n" \
	"      --env NAME[=VALUE]  save this variable for replays, and set it if VALUE is given; " \
		"always\n" \
	"                       saved: language, time zone, LD_* and MALLOC_*\n" \
	"      --suppressions FILE  do not report what FILE lists, in ThreadSanitizer's format\n" \
	"  -o, --out DIR        folder of results and bugs (default: snarl-out)\n" \
	"  -q, --quiet          no progress, no summary\n" \
	"      --json           print the results as JSON on stdout\n"

void explore_options_init(struct explore_options *o, const struct cmd *cmd, uint64_t runs);
void explore_options_free(struct explore_options *o);

/*
 * Takes the option `c` that getopt_long() returned; ignores it if it is none of the above. Returns
 * CMD_OK, or an exit code after printing the reason.
 */
int explore_options_take(struct explore_options *o, int c);

/*
 * Checks the options together and takes the rest of argv as the program. Returns -1 to continue, or
 * an exit code after printing the reason.
 */
int explore_options_end(struct explore_options *o, int argc, char **argv);

#endif
