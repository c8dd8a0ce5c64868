/*
 * The places in the program that ever touched shared memory, so that the next
 * recording may leave out all others (the runtime's option sites=).
 */
#ifndef TRACE_SITES_H
#define TRACE_SITES_H

#include <stddef.h>

#include "trace/reader.h"

#define SITES_MAGIC "snarl-sites 1"

struct sites_stats {
	size_t sites;		/* lines written */
	size_t unknown;		/* pcs in no module with a build-id; left out */
};

/*
 * Reads all of `r`, from its start, and writes the file whole or not at all.
 * *stats may be NULL.
 */
int sites_write(struct reader *r, const char *path, struct sites_stats *stats, struct err *err);

#endif
