/*
 * The progress of a search on stderr: on a terminal one line that is redrawn, else a plain line
 * every few seconds.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/search/search.h"

struct progress {
	bool quiet, terminal;
	bool drawn;		/* the terminal shows a progress line */
	uint64_t runs;		/* limit of the search; 0: none */
	double seconds;		/* time limit of the search; 0: none */
	double next;		/* seconds from the start of the search to the next update */
	uint64_t last_runs;	/* runs and seconds at the last update, for the speed */
	double last_time, speed;	/* speed: runs per second since the update before */
	char note[96];		/* begins the line: "", or "prove, 12 candidates left; " */
};

void progress_init(struct progress *p, bool quiet, uint64_t runs, double seconds);
/* Prints the progress if an update is due. */
void progress_show(struct progress *p, const struct search_stats *stats);

/* Erases the line on a terminal. Call it before anything else is printed. */
void progress_clear(struct progress *p);

#endif
