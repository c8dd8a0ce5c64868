/*
 * snarl record: runs a program with the runtime in mode record, collects the traces that it and its
 * children left behind (trace/collect.h), and prints what they contain and lost.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/run_options.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/proc.h"
#include "cmd/cmd.h"
#include "cmd/run_program.h"
#include "trace/collect.h"
#include "trace/sites/sites.h"

#define PATH_LIMIT 3000u	/* bytes: the runtime's limit, less what it appends */
#define WINDOW_MIN (64ull << 10)	/* of --window, in records */
#define WINDOW_MAX (16ull << 30)
#define SIZE_MIN (64ull << 10)		/* of --max-size, in bytes */
#define SIZE_MAX_BYTES (100000ull << 30)

static const char usage[] =
	"usage: snarl record [options] [--] PROGRAM [ARGUMENT…]\n"
	"\n"
	"Runs a program built with snarl-cc and writes the events of its threads to a trace. snarl "
		"dump\n"
	"shows it, snarl analyze predicts bugs from it.\n"
	"\n"
	"  -o, --out FILE       trace to write (default: trace.snarl); an older one is replaced "
		"when\n"
	"                       the new one is complete. Traces of child processes are FILE.PID\n"
	"      --window N       size of the window: records kept until it is known whether their "
		"memory\n"
	"                       is shared (default 4M; 64K to 16G). The summary says if it was too "
		"small\n"
	"      --max-size SIZE  largest size of the trace, with K, M or G (default: half of the "
		"free\n"
	"                       disk space); later records are lost, and counted\n"
	"      --no-filter      keep every access, also to memory that only one thread uses\n"
	"      --sites TRACE    record only sites that touched shared memory in an earlier trace "
		"of the\n"
	"                       same build: faster. May be given several times; also takes the "
		"lists\n"
	"                       of snarl dump --sites\n"
	"      --fork record|off  whether forked children are recorded (default: record)\n"
	"      --wait SECONDS   longest wait for processes that the program left running (default "
		"2)\n"
	"      --exit-code      exit with the program's status instead of 0\n"
	"      --keep-live      keep the live memory as FILE.live, to debug snarl itself\n"
	"  -q, --quiet          no summary, no warnings of the runtime\n"
	"      --json           print the summary as JSON on stdout; the program's stdout goes to\n"
	"                       stderr\n"
	"\n"
	"Exit: 0 recorded, however the program ended; 3 the program could not be run or recorded.\n"
	"\n"
	"  snarl record -- ./bank 100\n"
	"  snarl record --out run.snarl --window 64M -- ./server --port 8080\n";

struct options {
	const char *out, *window, *fork;
	uint64_t max_size;	/* of a trace, in bytes; 0: half of the free disk space */
	const char **sites;
	size_t site_count, site_capacity;
	double wait;
	bool no_filter, exit_code, keep_live, quiet, json;
	char **program;
};

/* Whether the command line overrides a key of SNARL_OPTIONS in the environment. */
static bool is_overridden(const struct options *o, const char *key, size_t size)
{
	const struct {
		const char *key;
		bool set;
	} overridden[] = {
		{ "mode", true }, { "trace", true }, { "live", true }, { "window", o->window },
		{ "fork", o->fork }, { "sites", o->site_count }, { "filter", o->no_filter },
		{ "quiet", o->quiet }, { "room", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(overridden); i++)
		if (overridden[i].set && strlen(overridden[i].key) == size &&
		    strncmp(overridden[i].key, key, size) == 0)
			return true;
	return false;
}

/*
 * The largest size of the trace while it is recorded, in bytes. By default half of the free disk
 * space: compressing it at the end writes a second file. 0: unknown.
 */
static uint64_t room_for(const struct options *o, const char *work)
{
	const char *slash = strrchr(work, '/');
	char *folder = xstrndup(work, (size_t)(slash - work) + 1);
	struct statvfs disk;
	uint64_t room = o->max_size;

	if (room == 0 && statvfs(folder, &disk) == 0)
		room = (uint64_t)disk.f_bavail * disk.f_frsize / 2;
	free(folder);
	return room;
}

static void build_options(struct buf *out, const struct options *o, const char *work,
			  const char *live, const char *sites)
{
	uint64_t room = room_for(o, work);
	const char *given = getenv(SNARL_OPTIONS_ENV);

	while (given && *given) {
		size_t n = strcspn(given, ":");

		if (n > 0 && !is_overridden(o, given, strcspn(given, "=:"))) {
			if (out->size > 0)
				buf_add_char(out, ':');
			buf_add(out, given, n);
		}
		given += n + (given[n] == ':');
	}
	buf_add_option(out, "mode", "record");
	buf_add_option(out, "trace", work);
	if (live)
		buf_add_option(out, "live", live);
	if (o->window)
		buf_add_option(out, "window", o->window);
	if (room) {
		char *size = xasprintf("%lluK", (unsigned long long)(room + 1023) / 1024);

		buf_add_option(out, "room", size);
		free(size);
	}
	if (o->fork)
		buf_add_option(out, "fork", o->fork);
	if (sites)
		buf_add_option(out, "sites", sites);
	if (o->no_filter)
		buf_add_option(out, "filter", "off");
	if (o->quiet)
		buf_add_option(out, "quiet", "1");
}

/* Returns the absolute path of the trace, or NULL and *err if no file can be written there. */
static char *output_path(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	char *real = realpath(folder, NULL), *result = NULL;
	struct stat st;

	if (!real)
		err_set(err, "cannot record to %s: %s", path, strerror(errno));
	else if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		 (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
		err_set(err, "cannot record to %s: not a regular file", path);
	else if (access(real, W_OK | X_OK) != 0)
		err_set(err, "cannot record to %s: %s", path, strerror(errno));
	else if (strlen(real) + strlen(name) > PATH_LIMIT)
		err_set(err, "cannot record to %s: the path is too long", path);
	else
		result = xasprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
	free(folder);
	free(real);
	return result;
}

static void print_end(const struct options *o, int status)
{
	const char *name = o->program[0];

	if (WIFSIGNALED(status))
		fprintf(stderr, "snarl: %s was killed by signal %d (%s)\n", name, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		fprintf(stderr, "snarl: %s ended with exit status %d\n", name,
			WEXITSTATUS(status));
}

static void print_losses(const struct collected_trace *t)
{
	static const char *const meaning[COLLECT_LOSSES] = {
		"records were lost: no room on the disk, in memory or by --max-size",
		"threads were not recorded: too many at once",
		"records of signal handlers were lost",
		"locations became shared after their early history was dropped; a larger --window "
		"keeps it",
		NULL,	/* dropped records of unshared memory are no loss */
	};

	for (unsigned i = 0; i < COLLECT_LOSSES; i++)
		if (t->losses[i] && meaning[i])
			fprintf(stderr, "snarl: %llu %s\n", (unsigned long long)t->losses[i],
				meaning[i]);
}

static void print_sites(const struct collected_trace *t)
{
	struct buf text = { 0 };

	sites_describe(&t->sites, &text);
	if (text.size)
		fprintf(stderr, "snarl: %s\n", buf_string(&text));
	buf_free(&text);
}

static void print_size(uint64_t bytes)
{
	if (bytes < 10000)
		fprintf(stderr, "%llu bytes", (unsigned long long)bytes);
	else if (bytes < 10000000)
		fprintf(stderr, "%llu KB", (unsigned long long)(bytes + 500) / 1000);
	else
		fprintf(stderr, "%llu MB", (unsigned long long)(bytes + 500000) / 1000000);
}

/* Strips the working directory from a path. */
static const char *relative_path(const char *path)
{
	char here[4096];
	size_t length;

	if (!getcwd(here, sizeof(here)))
		return path;
	length = strlen(here);
	return strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/* Prints what a trace contains and what it lost. `child`: of a process that the program started. */
static void print_trace(const struct collected_trace *t, bool child, double seconds)
{
	if (t->running) {
		fprintf(stderr, "snarl: process %u still runs; what it records stays in %s\n",
			t->pid, relative_path(t->path));
		return;
	}
	fputs("snarl: ", stderr);
	if (child)
		fprintf(stderr, "process %u: ", t->pid);
	fprintf(stderr, "%s: %llu records of %zu thread%s, ", relative_path(t->path),
		(unsigned long long)t->records, t->threads, t->threads == 1 ? "" : "s");
	print_size(t->bytes);
	if (!child)
		fprintf(stderr, ", %.2f s", seconds);
	fputs(t->incomplete ? ", until it was killed or replaced\n" : "\n", stderr);
	print_sites(t);
	print_losses(t);
}

static void trace_json(struct json *j, const struct collected_trace *t)
{
	json_text(j, "trace", t->path);
	json_number(j, "pid", t->pid);
	json_bool(j, "running", t->running);
	json_bool(j, "incomplete", t->incomplete);
	json_number(j, "records", t->records);
	json_number(j, "threads", t->threads);
	json_number(j, "bytes", t->bytes);
	sites_json(&t->sites, j);
	json_open(j, "losses", '{');
	for (unsigned i = 0; i < COLLECT_LOSSES; i++)
		json_number(j, collect_loss_key(i), t->losses[i]);
	json_close(j, '}');
}

static void print_json(const struct options *o, const struct run *run,
		       const struct collected_traces *t)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_open(&j, "program", '[');
	for (char **word = o->program; *word; word++)
		json_text(&j, NULL, *word);
	json_close(&j, ']');
	if (WIFSIGNALED(run->status))
		json_number(&j, "signal", (uint64_t)WTERMSIG(run->status));
	else
		json_number(&j, "status", (uint64_t)WEXITSTATUS(run->status));
	json_decimal(&j, "seconds", run->seconds);
	trace_json(&j, &t->items[0]);
	json_open(&j, "children", '[');
	for (size_t i = 1; i < t->count; i++) {
		json_open(&j, NULL, '{');
		trace_json(&j, &t->items[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	puts(buf_string(&out));
	buf_free(&out);
}

/* Whether a program runs with rights of another user; the runtime then ignores SNARL_OPTIONS. */
static bool is_set_id(const char *path)
{
	struct stat st;

	return strchr(path, '/') && stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID);
}

static int report(const struct options *o, const struct run *run, const struct collected_traces *t)
{
	if (t->count == 0 && is_set_id(o->program[0]))
		return cmd_fail(&cmd_record,
				"%s is set-user-ID or set-group-ID, which snarl cannot record: "
				"remove the bit with chmod ug-s (no trace was written)",
				o->program[0]);
	if (t->count == 0)
		return cmd_fail(&cmd_record,
				"%s was not built with snarl-cc (no trace was written)",
				o->program[0]);
	if (o->json)
		print_json(o, run, t);
	if (!o->quiet) {
		print_end(o, run->status);
		for (size_t i = 0; i < t->count; i++)
			print_trace(&t->items[i], i > 0, run->seconds);
		if (run->orphans)
			fputs("snarl: processes that the program started still run\n", stderr);
	}
	return cmd_flush(&cmd_record, o->exit_code ? proc_code(run->status) : CMD_OK);
}

/* Warns if a trace for --sites may lack sites, or has too many. */
static void warn_about_source(const char *path, const struct sites_source *source)
{
	if (source->unfiltered)
		log_warn("%s was recorded with --no-filter: all its sites are recorded", path);
	if (source->lost)
		log_warn("%s lost %llu records: sites may be missing", path,
			 (unsigned long long)source->lost);
	if (source->cut)
		log_warn("%s lacks the early history of %llu locations: sites may be missing; "
			 "record it again with a larger --window", path,
			 (unsigned long long)source->cut);
}

/* Writes the list of the sites of all --sites to `path`. Returns 0, or -1 and *err. */
static int write_sites(const struct options *o, const char *path, struct err *err)
{
	struct sites sites = { 0 };
	int result = 0;

	for (size_t i = 0; i < o->site_count && result == 0; i++) {
		struct sites_source source;

		result = sites_add(&sites, o->sites[i], &source, err);
		if (result == 0 && !o->quiet)
			warn_about_source(o->sites[i], &source);
	}
	if (result == 0)
		result = sites_write(&sites, path, err);
	sites_free(&sites);
	return result;
}

static int record(const struct options *o, const char *out, struct err *err)
{
	char *work = xasprintf("%s.tmp-%d", out, (int)getpid());
	char *sites = xasprintf("%s.sites", work), *live = NULL;
	struct run run = { .argv = o->program, .to_stderr = o->json, .wait = o->wait };
	struct collected_traces traces = { 0 };
	struct buf text = { 0 };
	int live_fd = memfd_create("snarl-live", MFD_CLOEXEC), code = -1;

	if (live_fd >= 0)
		live = xasprintf("/proc/%d/fd/%d", (int)getpid(), live_fd);
	if (o->site_count && write_sites(o, sites, err) < 0)
		goto done;
	build_options(&text, o, work, live, o->site_count ? sites : NULL);
	run.options = buf_string(&text);
	if (run_program(&run, err) < 0 ||
	    collect_traces(&traces, work, live_fd, out, run.orphans, o->keep_live, err) < 0)
		goto done;
	code = report(o, &run, &traces);
done:
	unlink(sites);
	if (live_fd >= 0)
		close(live_fd);
	collected_traces_free(&traces);
	buf_free(&text);
	free(sites);
	free(live);
	free(work);
	return code;
}

/*
 * Parses a number that may end with K, M or G (powers of 1024). 0: not a number, or above `limit`.
 */
static uint64_t parse_size(const char *text, uint64_t limit)
{
	char *end;
	unsigned long long value;
	unsigned shift = 0;

	errno = 0;
	value = strtoull(text, &end, 10);
	switch (*end) {
	case 'k': case 'K': shift = 10; end++; break;
	case 'm': case 'M': shift = 20; end++; break;
	case 'g': case 'G': shift = 30; end++; break;
	}
	if (errno != 0 || *end || *text < '0' || *text > '9' || value > limit >> shift)
		return 0;
	return value << shift;
}

static int check_window(const char *text)
{
	if (parse_size(text, WINDOW_MAX) < WINDOW_MIN)
		return cmd_usage(&cmd_record, "--window needs a number from 64K to 16G, not '%s'",
				 text);
	return CMD_OK;
}

static int parse_max_size(const char *text, uint64_t *size)
{
	*size = parse_size(text, SIZE_MAX_BYTES);
	if (*size < SIZE_MIN)
		return cmd_usage(&cmd_record,
				 "--max-size needs a size from 64K to 100000G, not '%s'", text);
	return CMD_OK;
}

static int parse_wait(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end == text || *end || !(*seconds >= 0 && *seconds <= 1e6))
		return cmd_usage(&cmd_record, "--wait needs a number of seconds, not '%s'", text);
	return CMD_OK;
}

static int check_fork(const char *text)
{
	if (strcmp(text, "record") != 0 && strcmp(text, "off") != 0)
		return cmd_usage(&cmd_record, "--fork is record or off, not '%s'", text);
	return CMD_OK;
}

enum { OPT_WINDOW = 256, OPT_NO_FILTER, OPT_SITES, OPT_FORK, OPT_WAIT, OPT_EXIT_CODE,
       OPT_KEEP_LIVE, OPT_JSON, OPT_MAX_SIZE };

static const struct option long_options[] = {
	{ "out", required_argument, NULL, 'o' },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
	{ "no-filter", no_argument, NULL, OPT_NO_FILTER },
	{ "sites", required_argument, NULL, OPT_SITES },
	{ "fork", required_argument, NULL, OPT_FORK },
	{ "wait", required_argument, NULL, OPT_WAIT },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "keep-live", no_argument, NULL, OPT_KEEP_LIVE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void add_sites(struct options *o, const char *path)
{
	o->sites = xgrow(o->sites, o->site_count, &o->site_capacity, sizeof(*o->sites));
	o->sites[o->site_count++] = path;
}

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	/* '+' ends the options at the first argument: the rest belongs to the program. */
	while (code == CMD_OK && (c = getopt_long(argc, argv, "+:o:qh", long_options, NULL)) != -1)
		switch (c) {
		case 'o': o->out = optarg; break;
		case OPT_WINDOW: o->window = optarg; code = check_window(optarg); break;
		case OPT_MAX_SIZE: code = parse_max_size(optarg, &o->max_size); break;
		case OPT_NO_FILTER: o->no_filter = true; break;
		case OPT_SITES: add_sites(o, optarg); break;
		case OPT_FORK: o->fork = optarg; code = check_fork(optarg); break;
		case OPT_WAIT: code = parse_wait(optarg, &o->wait); break;
		case OPT_EXIT_CODE: o->exit_code = true; break;
		case OPT_KEEP_LIVE: o->keep_live = true; break;
		case 'q': o->quiet = true; break;
		case OPT_JSON: o->json = true; break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_record, CMD_OK);
		default: return cmd_bad_option(&cmd_record, argv, c);
		}
	if (code != CMD_OK)
		return code;
	if (optind == argc)
		return cmd_usage(
			&cmd_record,
			"missing PROGRAM; usage: snarl record [options] [--] PROGRAM [ARGUMENT…]");
	if (o->site_count && o->no_filter)
		return cmd_usage(&cmd_record, "--sites and --no-filter contradict each other");
	o->program = argv + optind;
	return -1;
}

static int run(int argc, char **argv)
{
	struct options o = { .out = "trace.snarl", .wait = 2 };
	int code = parse(&o, argc, argv);
	struct err err;
	char *out;

	if (code < 0) {
		out = output_path(o.out, &err);
		code = out ? record(&o, out, &err) : -1;
		free(out);
		if (code < 0)
			code = cmd_fail(&cmd_record, "%s", err.text);
	}
	free(o.sites);
	return code;
}

const struct cmd cmd_record = {
	.name = "record",
	.summary = "run a program and write its events to a trace",
	.run = run,
};
