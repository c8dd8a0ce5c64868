/*
 * Prints the number of events of a kind for each thread, main first:
 *   count TRACE KIND
 *   0 17
 *   0.1 4
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"

int main(int argc, char **argv)
{
	struct map counts = { 0 };
	struct reader *trace;
	struct event ev;
	struct err err;
	int kind, got;

	kind = argc == 3 ? kind_find(argv[2], strlen(argv[2])) : -1;
	if (kind < 0) {
		fprintf(stderr, "usage: count TRACE KIND\n");
		return 2;
	}
	trace = reader_open(argv[1], &err);
	if (!trace) {
		fprintf(stderr, "count: %s: %s\n", argv[1], err.text);
		return 3;
	}
	while ((got = reader_next(trace, &ev, &err)) > 0)
		if (ev.kind == kind)
			++*map_put(&counts, ev.thread, NULL);
	if (got < 0)
		fprintf(stderr, "count: %s: %s\n", argv[1], err.text);
	for (size_t i = 0; i < reader_info(trace)->thread_count; i++) {
		const struct reader_thread *t = &reader_info(trace)->threads[i];
		const uint64_t *n = map_find(&counts, t->id);

		printf("%s %" PRIu64 "\n", t->name, n ? *n : 0);
	}
	map_free(&counts);
	reader_close(trace);
	return got < 0 ? 3 : 0;
}
