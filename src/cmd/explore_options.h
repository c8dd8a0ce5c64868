/*
 * Options of the commands that run a program again and again: snarl test, snarl hunt.
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
	const struct cmd *cmd;	/* whose they are, for messages */
	uint64_t runs, jobs, seed, replays, max_steps;
	bool runs_given;
	double seconds, timeout;
	uint32_t flags;		/* CTL_… */
	struct oracle oracle;
	const char *backend, *out;
	bool exec, keep_going, no_minimise, quiet, json, gen_suppressions;
	struct baseline *baseline;	/* NULL: none */
	const char **keep;	/* of --env; NULL ends it */
	size_t keep_count, keep_capacity;
	struct suppressions *suppress;	/* NULL: none */
	char **program;
};

/* Values of long options that have no letter; a command's own begin at EXPLORE_OPT_OWN. */
enum { OPT_RUNS = 256, OPT_TIME, OPT_SEED, OPT_TIMEOUTS, OPT_SPURIOUS, OPT_IGNORE_MISUSE,
       OPT_REAL_TIME, OPT_KEEP_GOING, OPT_NO_MINIMISE, OPT_REPLAYS, OPT_EXPECT_EXIT,
       OPT_EXPECT_OUTPUT, OPT_SAME_OUTPUT, OPT_CHECK, OPT_TIMEOUT, OPT_MAX_STEPS, OPT_BACKEND,
       OPT_NO_FORK_SERVER, OPT_ENV, OPT_SUPPRESSIONS, OPT_BASELINE,
       OPT_GEN_SUPPRESSIONS, OPT_JSON, EXPLORE_OPT_OWN };

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

/* Of those that look for bugs, but do not begin with some. */
#define EXPLORE_NEWS_OPTIONS \
	{ "baseline", required_argument, NULL, OPT_BASELINE }, \
	{ "gen-suppressions", no_argument, NULL, OPT_GEN_SUPPRESSIONS }

/* The part of --help about them, but for the budget. */
#define EXPLORE_USAGE_RUNS \
	"  -j, --jobs N         runs at the same time (default: one per CPU). What is found\n" \
	"                       does not depend on it\n" \
	"      --seed N         other interleavings (default 1)\n"
#define EXPLORE_USAGE_NEWS \
	"      --baseline FILE  a results.json: only what is not in it counts; goes on after\n" \
	"                       what is\n" \
	"      --gen-suppressions  print lines that suppress what was found\n"
#define EXPLORE_USAGE_REST \
	"      --timeouts       let time-outs of waits and sleeps come early, too\n" \
	"      --spurious       let waits on conditions return for no reason, too\n" \
	"      --ignore-misuse  misuse of locks and the like is not a failure\n" \
	"      --real-time      clocks show the real time (runs may then not replay)\n" \
	"      --keep-going     do not stop at the first failure: find different ones\n" \
	"      --no-minimise    keep a failure as it was found, with all switches of threads\n" \
	"      --replays N      replays that prove a bug (default 20)\n" \
	"\n" \
	"What is a failure: a signal, an assertion, deadlock, hang, use after free, double\n" \
	"free, misuse of a lock, no end in time, and\n" \
	"      --expect-exit N|any   an exit status other than this (default 0)\n" \
	"      --expect-output FILE  other output on stdout than in FILE\n" \
	"      --same-output    other output on stdout than the first run that passes\n" \
	"      --check CMD      a shell command that gets the output on stdin and the exit\n" \
	"                       status in SNARL_STATUS; its status other than 0\n" \
	"      --timeout T      a run that takes longer (default 10s)\n" \
	"\n" \
	"      --max-steps N    give up a run after so many steps (default 20M; 0: never)\n" \
	"      --backend user|kernel  user-level threads (default), or kernel threads\n" \
	"      --no-fork-server start the program anew for every run\n" \
	"      --env NAME[=VALUE]  save this variable for replays (and set it); saved are\n" \
	"                       otherwise only language, time zone, LD_* and MALLOC_*\n" \
	"      --suppressions FILE  what is not to be told, as for ThreadSanitizer\n" \
	"  -o, --out DIR        where bugs are saved (default: snarl-out)\n" \
	"  -q, --quiet          no progress, no summary\n" \
	"      --json           results as JSON on stdout\n"

void explore_options_init(struct explore_options *o, const struct cmd *cmd, uint64_t runs);
void explore_options_free(struct explore_options *o);

/* `c` as getopt_long() gave it: one of the above, else it is passed over. Returns an exit code. */
int explore_options_take(struct explore_options *o, int c);

/* What is left of argv is the program; -1: go on. */
int explore_options_end(struct explore_options *o, int argc, char **argv);

#endif
