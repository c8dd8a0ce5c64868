/*
 * How a search is getting on, on stderr: a line that is drawn over and over on a
 * terminal, else a plain line every few seconds.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/search/search.h"

struct progress {
	bool quiet, terminal;
	bool drawn;		/* a line stands on the terminal */
	uint64_t runs;		/* wanted; 0: no limit */
	double seconds;		/* allowed; 0: no limit */
	double next;		/* seconds into the search when the next line is due */
	uint64_t last_runs;	/* for the present speed */
	double last_time, speed;
	char note[96];		/* what is being done, "" or "prove 12 left, " */
};

void progress_init(struct progress *p, bool quiet, uint64_t runs, double seconds);
void progress_show(struct progress *p, const struct search_stats *stats);

/* Takes the line away, before something else is printed. */
void progress_clear(struct progress *p);

#endif
