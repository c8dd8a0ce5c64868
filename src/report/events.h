/*
 * The events that bug.json names, in a trace. Each has its `index` there: the number of events of its
 * thread before it, calls and returns included, `value` events left out. A bug.json without indexes
 * comes from an older snarl: its events are those that the goals of schedule.txt name.
 */
#ifndef REPORT_EVENTS_H
#define REPORT_EVENTS_H

#include "report/model.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

#define EVENTS_MAX 64u		/* sites of a bug; more are left out */

struct events_found {
	bool there;
	uint64_t ordinal;	/* among all events of the trace but values, from 0 */
	uint64_t addr, size;
};

/*
 * Fills `out` for each of the bug's first EVENTS_MAX sites. Reads the trace from where it stands to its
 * end. -1 if it is damaged; what was found before counts.
 */
int events_find(const struct report_bug *b, struct reader *r, struct symbols *symbols,
		struct events_found *out, struct err *err);

#endif
