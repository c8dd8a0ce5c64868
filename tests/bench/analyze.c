/*
 * Events a second of each analysis, and how time and memory grow with the trace.
 *
 *   analyze DIR LAST [ANALYSIS…]	traces of 10^5 … 10^LAST events, made in DIR
 *
 * The traces are made here: THREADS threads in bursts, each burst a call that works
 * on memory of its own, then on a shared table within a critical section, then
 * counts atomically, now and then without its lock. What is asked is speed; the
 * findings, which stay as few as the sites, show that the work was done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "trace/writer.h"

#define THREADS 8u
#define PRIVATE_BYTES (1u << 16)
#define SHARED_BYTES (1u << 20)
#define PC 0x555555555000ull
#define HEAP 0x602000000000ull
#define LOCKS 16u

struct maker {
	struct writer *w;
	uint64_t time, made, random;
	uint64_t cursor[THREADS + 2];	/* within its own memory */
};

static uint64_t random_next(struct maker *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random;
}

static void put(struct maker *m, uint32_t thread, unsigned kind, uint64_t addr, unsigned detail,
		uint64_t arg, unsigned site)
{
	struct event ev = { .time = ++m->time, .thread = thread, .kind = (uint16_t)kind, .addr = addr,
			    .detail = (uint8_t)detail, .arg = arg, .pc = PC + 16 * site };

	writer_event(m->w, &ev);
	m->made++;
}

static void own_work(struct maker *m, uint32_t thread, unsigned count)
{
	uint64_t base = HEAP + (uint64_t)thread * PRIVATE_BYTES;

	for (unsigned i = 0; i < count; i++) {
		m->cursor[thread] = (m->cursor[thread] + 8) % PRIVATE_BYTES;
		put(m, thread, i % 3 == 2 ? TRACE_WRITE : TRACE_READ, base + m->cursor[thread], 3, 0,
		    10 + i % 8);
	}
}

static void shared_work(struct maker *m, uint32_t thread, uint64_t table, unsigned site)
{
	uint64_t slot = random_next(m) % (SHARED_BYTES / LOCKS / 64);

	for (unsigned i = 0; i < 8; i++)
		put(m, thread, i % 4 == 3 ? TRACE_WRITE : TRACE_READ, table + slot * 64 + 8 * i, 3, 0,
		    site + i);
}

static void burst(struct maker *m, uint32_t thread)
{
	uint64_t pick = random_next(m), lock = pick % LOCKS;
	uint64_t table = HEAP + 0x10000000 + lock * (SHARED_BYTES / LOCKS);
	uint64_t mutex = HEAP + 0x20000000 + lock * 64;

	put(m, thread, TRACE_FUNC_ENTRY, PC + 0x10000 + pick % 7 * 16, 0, 0, 1);
	own_work(m, thread, 40 + pick % 32);
	if (pick >> 20 & 255) {
		put(m, thread, TRACE_MUTEX_LOCK, mutex, 0, 0, 30);
		shared_work(m, thread, table, 40);
		put(m, thread, TRACE_MUTEX_UNLOCK, mutex, 0, 0, 31);
	} else {
		shared_work(m, thread, table, 60);
	}
	put(m, thread, TRACE_ATOMIC_ADD, HEAP + 0x30000000, 3 | __ATOMIC_RELAXED << TRACE_ORDER_SHIFT,
	    1, 32);
	put(m, thread, TRACE_FUNC_EXIT, 0, 0, 0, 2);
}

static void make(const char *path, uint64_t events)
{
	struct maker m = { .random = 88172645463325252ull };
	struct err err;

	m.w = writer_open(path, TRACE_TOTAL_ORDER, &err);
	if (!m.w)
		goto fail;
	put(&m, 1, TRACE_THREAD_START, 0, 0, 0, 0);
	for (uint32_t i = 2; i < THREADS + 2; i++) {
		put(&m, 1, TRACE_THREAD_CREATE, i, 0, i, 3);
		put(&m, i, TRACE_THREAD_START, 0, 0, 1ull << 32 | (i - 1), 4);
	}
	while (m.made + 2 * THREADS < events)
		burst(&m, 2 + (uint32_t)(random_next(&m) >> 13) % THREADS);
	for (uint32_t i = 2; i < THREADS + 2; i++) {
		put(&m, i, TRACE_THREAD_EXIT, i, 0, 0, 5);
		put(&m, 1, TRACE_THREAD_JOIN, i, 0, i, 6);
	}
	if (writer_close(m.w, &err) == 0)
		return;
fail:
	fprintf(stderr, "analyze: %s\n", err.text);
	exit(3);
}

/* In a process of its own, so that memory is its own: one line of the table. */
static void measure(const char *path, const struct analysis *a, const char *name)
{
	const struct analysis *which[] = { a, NULL };
	struct analysis_context ctx;
	struct analysis_stats stats;
	struct rusage usage;
	struct findings *out;
	struct reader *r;
	double seconds;	/* of the processor: others may be at work too */
	struct err err;

	r = reader_open(path, &err);
	analysis_context_init(&ctx);
	out = findings_new();
	if (!r || analysis_run(r, a || !*name ? which : NULL, &ctx, out, &stats, &err) < 0) {
		fprintf(stderr, "analyze: %s\n", err.text);
		exit(3);
	}
	getrusage(RUSAGE_SELF, &usage);
	seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
	seconds += (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
	printf("%11llu  %-14s %8.3f %9.1f %7ld %9zu\n", (unsigned long long)stats.events,
	       *name ? name : "(reading)", seconds, (double)stats.events / seconds / 1e6,
	       usage.ru_maxrss >> 10, findings_count(out));
}

static void in_child(const char *path, const struct analysis *a, const char *name)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		measure(path, a, name);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "analyze: '%s' failed\n", name);
		exit(3);
	}
}

static int asked_for(const char *name, int argc, char **argv)
{
	for (int i = 3; i < argc; i++)
		if (strcmp(name, argv[i]) == 0)
			return 1;
	return argc <= 3;
}

int main(int argc, char **argv)
{
	char path[4096];
	uint64_t events = 100000;

	if (argc < 3) {
		fputs("usage: analyze DIR LAST [ANALYSIS…]\n", stderr);
		return 2;
	}
	puts("     events  analysis        CPU sec  M ev/s      MiB  findings");
	for (int power = 5; power <= atoi(argv[2]); power++, events *= 10) {
		snprintf(path, sizeof(path), "%s/analyze-%d.snarl", argv[1], power);
		make(path, events);
		in_child(path, NULL, "");
		for (size_t i = 0; analyses[i]; i++)
			if (asked_for(analyses[i]->name, argc, argv))
				in_child(path, analyses[i], analyses[i]->name);
		if (asked_for("all", argc, argv))
			in_child(path, NULL, "all");
		unlink(path);
	}
	return 0;
}
