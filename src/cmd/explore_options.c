#include "cmd/explore_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/numbers.h"
#include "explore/bug/baseline.h"
#include "explore/search/fingerprint.h"

void explore_options_init(struct explore_options *o, const struct cmd *cmd, uint64_t runs)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*o = (struct explore_options){
		.cmd = cmd, .runs = runs, .jobs = cpus < 1 ? 1 : cpus > 64 ? 64 : (uint64_t)cpus,
		.seed = 1, .replays = 20, .timeout = 10, .max_steps = 20000000, .out = "snarl-out",
	};
}

void explore_options_free(struct explore_options *o)
{
	free(o->keep);
	free(o->ignore);
	suppress_free(o->suppress);
	baseline_free(o->baseline);
}

static int parse_exit(struct explore_options *o, const char *text)
{
	uint64_t value;
	int code;

	o->oracle.exit = ORACLE_ANY_EXIT;
	if (strcmp(text, "any") == 0)
		return CMD_OK;
	code = numbers_count(o->cmd, "--expect-exit", text, 0, 255, &value);
	o->oracle.exit = (int)value;
	return code;
}

static int parse_output(struct explore_options *o, const char *path)
{
	struct err err;

	return oracle_expect_output(&o->oracle, path, &err) < 0 ? cmd_fail(o->cmd, "%s", err.text)
								: CMD_OK;
}

static int parse_backend(struct explore_options *o, const char *text)
{
	o->backend = text;
	if (strcmp(text, "user") == 0 || strcmp(text, "kernel") == 0)
		return CMD_OK;
	return cmd_usage(o->cmd, "--backend is user or kernel, not '%s'", text);
}

static int parse_baseline(struct explore_options *o, const char *path)
{
	struct err err;

	baseline_free(o->baseline);
	o->baseline = baseline_read(path, &err);
	o->keep_going = true;	/* a bug of the baseline must not hide a new one */
	return o->baseline ? CMD_OK : cmd_usage(o->cmd, "%s", err.text);
}

static int parse_require(struct explore_options *o, const char *what)
{
	if (strcmp(what, "controlled") != 0)
		return cmd_usage(o->cmd, "--require is controlled, not '%s'", what);
	o->require_controlled = true;
	return CMD_OK;
}

static void add_keep(struct explore_options *o, const char *text)
{
	o->keep = xgrow(o->keep, o->keep_count + 1, &o->keep_capacity, sizeof(*o->keep));
	o->keep[o->keep_count++] = text;
	o->keep[o->keep_count] = NULL;
}

static int add_ignore(struct explore_options *o, const char *text)
{
	if (!fingerprint_is_valid(text))
		return cmd_usage(
			o->cmd,
			"'%s' is no fingerprint: --ignore takes the 12 digits that bug.json and "
			"results.json have",
			text);
	o->ignore = xgrow(o->ignore, o->ignore_count + 1, &o->ignore_capacity, sizeof(*o->ignore));
	o->ignore[o->ignore_count++] = text;
	o->ignore[o->ignore_count] = NULL;
	return CMD_OK;
}

static int count(const struct explore_options *o, const char *option, uint64_t least, uint64_t most,
		 uint64_t *out)
{
	return numbers_count(o->cmd, option, optarg, least, most, out);
}

int explore_options_take(struct explore_options *o, int c)
{
	switch (c) {
	case OPT_RUNS: o->runs_given = true; return count(o, "--runs", 1, UINT64_MAX, &o->runs);
	case OPT_TIME: return numbers_seconds(o->cmd, "--time", optarg, &o->seconds);
	case 'j': return count(o, "--jobs", 1, 64, &o->jobs);
	case OPT_SEED: return count(o, "--seed", 0, UINT64_MAX, &o->seed);
	case OPT_TIMEOUTS: o->flags |= CTL_TIMEOUTS; break;
	case OPT_SPURIOUS: o->flags |= CTL_SPURIOUS; break;
	case OPT_IGNORE_MISUSE: o->flags |= CTL_IGNORE_MISUSE; break;
	case OPT_REAL_TIME: o->flags |= CTL_REAL_TIME; break;
	case OPT_KEEP_GOING: o->keep_going = true; break;
	case OPT_NO_MINIMISE: o->no_minimise = true; break;
	case OPT_REPLAYS: return count(o, "--replays", 1, 100000, &o->replays);
	case OPT_EXPECT_EXIT: return parse_exit(o, optarg);
	case OPT_EXPECT_OUTPUT: return parse_output(o, optarg);
	case OPT_SAME_OUTPUT: o->oracle.same_output = true; break;
	case OPT_CHECK: o->oracle.check = optarg; break;
	case OPT_TIMEOUT: return numbers_seconds(o->cmd, "--timeout", optarg, &o->timeout);
	case OPT_MAX_STEPS: return count(o, "--max-steps", 0, UINT64_MAX, &o->max_steps);
	case OPT_BACKEND: return parse_backend(o, optarg);
	case OPT_NO_FORK_SERVER: o->exec = true; break;
	case OPT_SUPPRESSIONS: return cmd_suppressions(o->cmd, optarg, &o->suppress);
	case OPT_BASELINE: return parse_baseline(o, optarg);
	case OPT_GEN_SUPPRESSIONS: o->gen_suppressions = true; break;
	case OPT_REQUIRE: return parse_require(o, optarg);
	case OPT_IGNORE: return add_ignore(o, optarg);
	case OPT_ENV: add_keep(o, optarg); break;
	case 'o': o->out = optarg; break;
	case 'q': o->quiet = true; break;
	case OPT_JSON: o->json = true; break;
	}
	return CMD_OK;
}

int explore_options_end(struct explore_options *o, int argc, char **argv)
{
	if (optind == argc)
		return cmd_usage(
			o->cmd,
			"missing PROGRAM; usage: snarl %s [options] [--] PROGRAM [ARGUMENT…]",
			o->cmd->name);
	if (o->json && o->gen_suppressions)
		return cmd_usage(o->cmd,
				 "--json and --gen-suppressions both print on stdout: choose one");
	if (o->seconds > 0 && !o->runs_given)
		o->runs = 0;
	o->program = argv + optind;
	return -1;
}
