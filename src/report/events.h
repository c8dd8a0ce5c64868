/*
 * Finds the events that bug.json names in a trace. bug.json identifies an event by its `index`: the
 * number of events of its thread before it, including calls and returns, without `value` events.
 * A bug.json of an older version has no indexes; then the goals of schedule.txt name the events.
 */
#ifndef REPORT_EVENTS_H
#define REPORT_EVENTS_H

#include "report/model.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

#define EVENTS_MAX 64u		/* sites of a bug that are looked for; later ones are not found */

/* Where the event of a site is in the trace. */
struct events_found {
	bool there;		/* it was found */
	uint64_t ordinal;	/* events of the trace before it, without `value` events */
	uint64_t addr, size;
};

/*
 * Fills `out`, an entry for each of the bug's first EVENTS_MAX sites. Reads the trace from the
 * current position to its end. Returns -1 if the trace is damaged; entries found before the damage
 * are valid.
 */
int events_find(const struct report_bug *b, struct reader *r, struct symbols *symbols,
		struct events_found *out, struct err *err);

#endif
