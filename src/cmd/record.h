/*
 * From what the runtime left behind to traces in their final place.
 */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "trace/sites/sites.h"

#define RECORD_LOSSES 5

/* One recorded process. */
struct record_trace {
	char *path;		/* where it is now */
	uint32_t pid;
	uint64_t records, bytes;
	size_t threads;
	bool incomplete;	/* the process did not end in good order */
	bool running;		/* it still runs: left as it is */
	uint64_t losses[RECORD_LOSSES];
	struct sites_effect sites;
};

struct record_traces {
	struct record_trace *items;	/* the program first, if it is there at all */
	size_t count, capacity;
};

/*
 * Finishes `work` (where the runtime was told to record, absolute), whose live
 * memory is live_fd, and the traces of other processes beside it; moves them to
 * `out` and out.PID. `left`: some may still run. No trace at all is no error.
 */
int record_collect(struct record_traces *t, const char *work, int live_fd, const char *out,
		   bool left, bool keep_live, struct err *err);
void record_free(struct record_traces *t);

/* Says on stderr what is in the trace, and what is not. */
void record_tell(const struct record_trace *t, bool child, double seconds);
void record_json(struct json *j, const struct record_trace *t);

#endif
