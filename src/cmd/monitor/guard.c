/*
 * snarl guard: runs a program under the guard of the runtime, and switches the guard of a running
 * program on and off. guard_report.c prints what the guard did.
 */
#include "cmd/monitor/guard_report.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/run_options.h"
#include "base/mem.h"
#include "base/proc.h"
#include "cmd/cmd.h"
#include "cmd/numbers.h"
#include "learn/compile.h"

static const char usage[] =
	"usage: snarl guard [options] [--] PROGRAM [ARGUMENT…]\n"
	"       snarl guard --off PID | --on PID\n"
	"\n"
	"Runs a program and delays accesses that would make an untested interleaving, for a short "
		"time,\n"
	"until other threads have moved on. The rules come from snarl learn. guard.log in the "
		"folder of\n"
	"--out lists the delays.\n"
	"\n"
	"      --rules FILE       rules of snarl learn (default: rules.bin in the folder of "
		"--out)\n"
	"      --protect WHAT     rules to enforce: pset (tested orders), tx (transactions), both\n"
	"                         (default), none\n"
	"      --wait MS          longest delay of an access, 1 to 1000 (default 50)\n"
	"      --noise N          sleep at N of 1000 accesses, to provoke bugs for a comparison\n"
	"      --seed N           seed of --noise\n"
	"  -o, --out DIR          folder of guard.log and the rules (default: snarl-out)\n"
	"      --off PID          stop guarding a running program\n"
	"      --on PID           guard it again\n"
	"  -q, --quiet            no summary\n"
	"      --json             print the summary as JSON on stdout; the program's stdout goes "
		"to\n"
	"                         stderr\n"
	"\n"
	"Exit: that of the program; 2 usage, 3 the program could not be run.\n"
	"\n"
	"  snarl learn -- ./bank && snarl guard -- ./bank\n";

enum { OPT_RULES = 256, OPT_PROTECT, OPT_WAIT, OPT_NOISE, OPT_SEED, OPT_OFF, OPT_ON, OPT_JSON };

static const struct option long_options[] = {
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "protect", required_argument, NULL, OPT_PROTECT },
	{ "wait", required_argument, NULL, OPT_WAIT },
	{ "noise", required_argument, NULL, OPT_NOISE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "out", required_argument, NULL, 'o' },
	{ "off", required_argument, NULL, OPT_OFF },
	{ "on", required_argument, NULL, OPT_ON },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int check_protect(const char *text)
{
	static const char *const allowed[] = { "pset", "tx", "both", "none" };

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (strcmp(text, allowed[i]) == 0)
			return CMD_OK;
	return cmd_usage(&cmd_guard, "--protect is pset, tx, both or none, not '%s'", text);
}

/* Returns -1 to continue, or an exit code. */
static int parse(struct guard_options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK && (c = getopt_long(argc, argv, "+:o:qh", long_options, NULL)) != -1)
		switch (c) {
		case OPT_RULES: o->rules = optarg; break;
		case OPT_PROTECT: o->protect = optarg; code = check_protect(optarg); break;
		case OPT_WAIT:
			code = numbers_count(&cmd_guard, "--wait", optarg, 1, 1000, &o->wait_ms);
			break;
		case OPT_NOISE:
			code = numbers_count(&cmd_guard, "--noise", optarg, 0, 1000, &o->noise);
			break;
		case OPT_SEED:
			code = numbers_count(&cmd_guard, "--seed", optarg, 0, 1u << 30, &o->seed);
			break;
		case 'o': o->out = optarg; break;
		case OPT_OFF: case OPT_ON:
			o->off = c == OPT_OFF;
			code = numbers_count(&cmd_guard, c == OPT_OFF ? "--off" : "--on", optarg, 1,
					     1u << 30, &o->pid);
			break;
		case 'q': o->quiet = true; break;
		case OPT_JSON: o->json = true; break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_guard, CMD_OK);
		default: return cmd_bad_option(&cmd_guard, argv, c);
		}
	if (code != CMD_OK)
		return code;
	if (o->pid && optind < argc)
		return cmd_usage(&cmd_guard, "--off and --on take no program");
	if (!o->pid && optind == argc)
		return cmd_usage(
			&cmd_guard,
			"missing PROGRAM; usage: snarl guard [options] [--] PROGRAM [ARGUMENT…]");
	o->program = argv + optind;
	return -1;
}

/*
 * The path of a process's log, from SNARL_OPTIONS in its environment; NULL if it has none. Free it.
 */
static char *log_path(uint64_t pid)
{
	static const char key[] = SNARL_OPTIONS_ENV "=";
	char *path = xasprintf("/proc/%llu/environ", (unsigned long long)pid), *log = NULL;
	FILE *f = fopen(path, "r");
	char *entry = NULL;
	size_t room = 0;

	free(path);
	while (f && !log && getdelim(&entry, &room, '\0', f) > 0) {
		char *at = strncmp(entry, key, sizeof(key) - 1) == 0 ? strstr(entry, "log=") : NULL;

		if (at)
			log = xstrndup(at + 4, strcspn(at + 4, ":"));
	}
	if (f)
		fclose(f);
	free(entry);
	return log;
}

/* Sets the flag `off` in the log of the process --off or --on names; returns the exit code. */
static int switch_guard(const struct guard_options *o)
{
	char *path = log_path(o->pid);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct monitor_log *log = MAP_FAILED;
	struct stat st;
	int code = CMD_OK;

	if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size >= sizeof(*log))
		log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED || log->magic != MONITOR_LOG_MAGIC ||
	    log->version != MONITOR_LOG_VERSION)
		code = cmd_fail(&cmd_guard, "process %llu does not run under snarl guard, or "
				"belongs to another user",
				(unsigned long long)o->pid);
	else
		__atomic_store_n(&log->off, o->off, __ATOMIC_SEQ_CST);
	if (log != MAP_FAILED)
		munmap(log, sizeof(*log));
	if (fd >= 0)
		close(fd);
	free(path);
	return code;
}

static void set_options(struct monitored_run *m, const struct guard_options *o)
{
	if (strcmp(o->protect, "none") == 0) {
		monitored_option(m, "mode", "off");
	} else {
		monitored_option(m, "mode", "guard");
		monitored_option(m, "protect", o->protect);
	}
	monitored_number_option(m, "wait", o->wait_ms * 1000);
	monitored_number_option(m, "noise", o->noise);
	monitored_number_option(m, "seed", o->seed);
	if (o->quiet)
		monitored_option(m, "quiet", "1");
}

static int run(int argc, char **argv)
{
	struct guard_options o = { .protect = "both", .out = "snarl-out", .wait_ms = 50 };
	struct monitored_run m = { 0 };
	int code = parse(&o, argc, argv);
	struct err err;
	char *own;

	if (code >= 0)
		return code;
	if (o.pid)
		return switch_guard(&o);
	own = xasprintf("%s/%s", o.out, COMPILE_FILE);
	if (monitored_open(&m, o.rules ? o.rules : own, &err) == 0) {
		set_options(&m, &o);
		if (monitored_execute(&m, o.program, o.json, &err) == 0 &&
		    guard_report(&m, &o, &err) == 0)
			code = cmd_flush(&cmd_guard, proc_code(m.run.status));
	}
	if (code < 0)
		code = cmd_fail(&cmd_guard, "%s", err.text);
	free(own);
	monitored_close(&m);
	return code;
}

const struct cmd cmd_guard = {
	.name = "guard",
	.summary = "run a program and delay accesses that leave tested interleavings",
	.run = run,
};
