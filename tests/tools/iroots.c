/*
 * iroots TRACE RUNS PROGRAM [ARGUMENT…]: makes controlled runs that are profiled and recorded at
 * once, and fails unless the program's own iRoot profile equals the one computed from the trace.
 * Prints the number of exposed and predicted iRoots for each idiom.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../reference/iroots_of_trace.h"
#include "base/mem.h"
#include "explore/search/observe.h"
#include "explore/search/replay_trace.h"

static int fail(const struct err *err)
{
	fprintf(stderr, "iroots: %s\n", err->text);
	return 1;
}

static int compare(const struct iroot_profile *a, const struct iroot_profile *b)
{
	uint32_t at = 0, at2 = 0, flags, flags2, counts[IROOT_IDIOMS + 1][2] = { { 0 } };
	struct iroot_profile_stats stats;
	struct iroot x, y;

	do {
		flags = iroot_profile_next(a, &at, &x);
		flags2 = iroot_profile_next(b, &at2, &y);
		if (flags != flags2 || (flags && memcmp(&x, &y, sizeof(x)) != 0)) {
			fprintf(stderr, "iroots: the profile and the trace differ in an iRoot\n");
			return 1;
		}
		if (flags)
			for (unsigned i = 0; i < 2; i++)
				counts[x.idiom][i] += flags >> i & 1;
	} while (flags);
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		printf(" %u/%u", counts[i][0], counts[i][1]);
	iroot_profile_stats(a, &stats);
	printf(" lost %llu\n", (unsigned long long)stats.lost);
	fprintf(stderr,
		"steps %llu dependencies %llu locations %llu entries %llu pairs %llu bytes %llu\n",
		(unsigned long long)stats.steps, (unsigned long long)stats.dependencies,
		(unsigned long long)stats.locations, (unsigned long long)stats.entries,
		(unsigned long long)stats.pairs, (unsigned long long)stats.bytes);
	return 0;
}

static int run_once(const struct target *target, const char *path, uint64_t run)
{
	struct server_config config = { .target = target,
					.exec = true,
					.profile_size = IROOT_MEMORY };
	struct server server = { 0 };
	struct iroot_profile *online, *offline;
	struct replay_trace trace;
	struct reader *reader;
	struct err err;
	void *memory;
	int code;

	if (replay_trace_open(&trace, path, false, &err) < 0)
		return fail(&err);
	config.options = trace.options;
	if (server_open(&server, &config, &err) < 0)
		return fail(&err);
	profile_shape(1, run, server_request(&server));
	server_request(&server)->flags = CTL_PROFILE;
	server_request(&server)->begin_search = 1;
	if (server_run(&server, &err) < 0 || replay_trace_close(&trace, true, &err) < 0)
		return fail(&err);
	online = iroot_profile_open(server_area(&server, server.block->profile),
				    server.block->profile_size);
	reader = reader_open(path, &err);
	if (!reader || !online)
		return fail(reader ? (err_set(&err, "there is no profile"), &err) : &err);
	iroot_profile_finish(online);
	memory = xcalloc(1, IROOT_MEMORY);
	offline = iroot_profile_init(memory, IROOT_MEMORY, IROOT_WINDOW);
	if (iroot_trace(reader, offline, &err) < 0)
		return fail(&err);
	code = compare(online, offline);
	reader_close(reader);
	free(memory);
	unlink(path);
	server_close(&server);
	return code;
}

int main(int argc, char **argv)
{
	struct target target;
	struct err err;

	if (argc < 4)
		return 2;
	if (target_init(&target, argv + 3, NULL, &err) < 0)
		return fail(&err);
	for (uint64_t run = 0; run < strtoull(argv[2], NULL, 10); run++)
		if (run_once(&target, argv[1], run) != 0)
			return 1;
	target_free(&target);
	return 0;
}
