/*
 * Events per second of each analysis, and how time and memory grow with the trace.
 *
 *   analyze DIR FIRST LAST SHAPES [ANALYSIS…]	traces of 10^FIRST … 10^LAST events, made in DIR
 *   analyze make SHAPE EVENTS FILE		one of the traces
 *   analyze trace FILE NAME - [ANALYSIS…]	any trace
 *
 * Only speed is measured; the number of findings, which is as small as the number of sites, shows
 * that the work was done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "analyze_make.h"

#define SIZES 10
#define LONG 3.0	/* seconds */

struct result {
	double seconds;	/* CPU seconds: the machine may be busy */
	uint64_t events;
	uint64_t findings;
	uint64_t mib;
};

/* In a process of its own, so that its memory is measured alone. */
static struct result measure(const char *path, const struct analysis *a, bool all)
{
	const struct analysis *which[] = { a, NULL };
	struct analysis_context ctx;
	struct analysis_stats stats;
	struct rusage usage;
	struct findings *out;
	struct reader *r;
	struct result result;
	struct err err;

	r = reader_open(path, &err);
	analysis_context_init(&ctx);
	out = findings_new();
	if (!r || analysis_run(r, all ? NULL : which, &ctx, out, &stats, &err) < 0) {
		fprintf(stderr, "analyze: %s\n", err.text);
		exit(3);
	}
	getrusage(RUSAGE_SELF, &usage);
	result.seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
	result.seconds += (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
	result.events = stats.events;
	result.findings = findings_count(out);
	result.mib = (uint64_t)usage.ru_maxrss >> 10;
	return result;
}

/* In a process of its own: the measured children would copy what it leaves in memory, page by
 * page. */
static void make_in_child(const char *path, const struct shape *shape, uint64_t events)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		make(path, shape, events);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
		exit(3);
}

static struct result once(const char *path, const struct analysis *a, bool all)
{
	struct result result;
	int status, fd[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(fd) < 0 || (pid = fork()) < 0) {
		perror("analyze");
		exit(3);
	}
	if (pid == 0) {
		result = measure(path, a, all);
		_exit(write(fd[1], &result, sizeof(result)) == sizeof(result) ? 0 : 3);
	}
	close(fd[1]);
	if (waitpid(pid, &status, 0) < 0 || status != 0 ||
	    read(fd[0], &result, sizeof(result)) != sizeof(result)) {
		fputs("analyze: an analysis failed\n", stderr);
		exit(3);
	}
	close(fd[0]);
	return result;
}

/*
 * The fastest of several runs, because other guests of the machine take half of the processor at
 * times. A long run is measured once.
 */
static struct result in_child(const char *path, const struct analysis *a, bool all)
{
	const char *rounds = getenv("ROUNDS");
	struct result best = once(path, a, all), next;

	for (int i = rounds ? atoi(rounds) : 3; i > 1 && best.seconds < LONG; i--) {
		next = once(path, a, all);
		if (next.seconds < best.seconds)
			best = next;
	}
	return best;
}

/* One line: million events per second and MiB for each size. */
static void print_line(const char *name, char traces[SIZES][4096], int count,
		       const struct analysis *a, bool all)
{
	struct result first = { 0 }, last = { 0 };

	printf("  %-14s", name);
	for (int i = 0; i < count; i++) {
		last = in_child(traces[i], a, all);
		if (!i)
			first = last;
		printf(" %7.1f %6llu", (double)last.events / last.seconds / 1e6,
		       (unsigned long long)last.mib);
	}
	printf("  %7.2f %9llu\n", last.seconds / (double)last.events /
	       (first.seconds / (double)first.events), (unsigned long long)last.findings);
}

static bool asked_for(const char *name, int argc, char **argv)
{
	for (int i = 5; i < argc; i++)
		if (strcmp(name, argv[i]) == 0)
			return true;
	return argc <= 5;
}

/* Is the name in `list`, which is separated by commas? An empty list has all names. */
static bool in_list(const char *name, const char *list)
{
	size_t size = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += size)
		if ((at == list || at[-1] == ',') && (at[size] == ',' || !at[size]))
			return true;
	return !*list;
}

static void run_lines(char traces[SIZES][4096], int count, int argc, char **argv)
{
	puts("  growth  findings");
	print_line("(reading)", traces, count, NULL, false);
	for (size_t i = 0; analyses[i]; i++)
		if (asked_for(analyses[i]->name, argc, argv))
			print_line(analyses[i]->name, traces, count, analyses[i], false);
	if (asked_for("all", argc, argv))
		print_line("all", traces, count, NULL, true);
	puts("");
}

static void run_trace(const char *path, const char *name, int argc, char **argv)
{
	static char traces[SIZES][4096];

	snprintf(traces[0], sizeof(traces[0]), "%s", path);
	printf("%s: recorded, %.1f million events\n  %-14s       M/s    MiB", name,
	       (double)in_child(path, NULL, false).events / 1e6, "analysis");
	run_lines(traces, 1, argc, argv);
}

static void run_shape(const struct shape *shape, const char *dir, int from, int to, int argc,
		      char **argv)
{
	static char traces[SIZES][4096];
	int count = 0;

	printf("%s: %s\n  %-14s", shape->name, shape->summary, "analysis");
	for (int power = from; power <= to && count < SIZES; power++, count++) {
		uint64_t events = 1;

		for (int i = 0; i < power; i++)
			events *= 10;
		snprintf(traces[count], sizeof(traces[count]), "%s/%s-%d.snarl", dir, shape->name,
			 power);
		make_in_child(traces[count], shape, events);
		printf("  10^%d M/s    MiB" + (power > 9), power);
	}
	run_lines(traces, count, argc, argv);
	while (count > 0)
		unlink(traces[--count]);
}

int main(int argc, char **argv)
{
	const struct shape *s;

	if (argc == 5 && strcmp(argv[1], "make") == 0) {
		for (s = shapes; s->name && strcmp(s->name, argv[2]) != 0; s++)
			;
		if (!s->name) {
			fprintf(stderr, "analyze: no shape '%s'\n", argv[2]);
			return 2;
		}
		make(argv[4], s, strtoull(argv[3], NULL, 10));
		return 0;
	}
	if (argc >= 5 && strcmp(argv[1], "trace") == 0) {
		run_trace(argv[2], argv[3], argc, argv);
		return 0;
	}
	if (argc < 5) {
		fputs("usage: analyze DIR FIRST LAST SHAPES [ANALYSIS…]\n", stderr);
		return 2;
	}
	for (s = shapes; s->name; s++)
		if (in_list(s->name, argv[4]))
			run_shape(s, argv[1], atoi(argv[2]), atoi(argv[3]), argc, argv);
	return 0;
}
