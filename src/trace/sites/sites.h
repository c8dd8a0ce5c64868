/*
 * Lists of the sites that touched shared memory in an earlier run.
 *
 * `snarl record --sites TRACE` makes a list from traces and gives it to the runtime (option
 * sites=), which switches off all other inlined sites. `snarl dump --sites` prints a list.
 */
#ifndef TRACE_SITES_SITES_H
#define TRACE_SITES_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* All zero is an empty set. */
struct sites {
	struct sitelist_line *lines;
	size_t count, capacity;
	size_t unknown;		/* number of pcs left out: in no module with a build-id */
};

/* How reliable a file is as a source of sites. */
struct sites_source {
	bool list;		/* the file is a list, not a trace */
	bool unfiltered;	/* the trace has accesses to private memory: too many sites */
	uint64_t lost;		/* records that are missing: perhaps too few sites */
	uint64_t cut;		/* locations without their early accesses: perhaps too few sites */
};

/* Adds the sites of a trace or a list; several files make the union. *source may be NULL. */
int sites_add(struct sites *s, const char *path, struct sites_source *source, struct err *err);

/* Appends the list as text, sorted, without duplicates (docs/trace-format.md). */
void sites_format(struct sites *s, struct buf *out);

/* Writes the list to a file, which appears whole or not at all. */
int sites_write(struct sites *s, const char *path, struct err *err);

void sites_free(struct sites *s);

/* What a list did in a recording, from keys of its trace. */
struct sites_effect {
	bool asked;		/* a list was given */
	char trouble[64];	/* why it was not used; empty if it was used */
	uint64_t total, off;	/* number of inlined sites; number of them switched off */
	uint64_t unknown;	/* number left on because the list does not name their module */
};

struct reader;
void sites_effect(const struct reader *r, struct sites_effect *e);

/* Append a sentence without full stop, or a member "known_sites"; nothing if there was no list. */
void sites_describe(const struct sites_effect *e, struct buf *out);
void sites_json(const struct sites_effect *e, struct json *j);

#endif
