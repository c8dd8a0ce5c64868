/*
 * The places in the program that ever touched shared memory, so that the next
 * recording may leave out all others (the runtime's option sites=).
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
	size_t unknown;		/* pcs in no module with a build-id; left out */
};

/* How far a file can be relied on. */
struct sites_source {
	bool list;		/* it was a list, not a trace */
	bool unfiltered;	/* accesses to private memory are in it: too many places */
	uint64_t lost;		/* records that it lacks: too few places */
	uint64_t cut;		/* locations whose early accesses it lacks: the same */
};

/* Adds those of a trace or of a list; several files make the union. *source may be NULL. */
int sites_add(struct sites *s, const char *path, struct sites_source *source, struct err *err);

/* The list, sorted, each line once (docs/trace-format.md). */
void sites_format(struct sites *s, struct buf *out);

/* The same as a file, whole or not at all. */
int sites_write(struct sites *s, const char *path, struct err *err);

void sites_free(struct sites *s);

/* What a list did to a recording, as its trace tells. */
struct sites_effect {
	bool asked;		/* there was a list */
	char trouble[64];	/* why it was not used; empty if it was */
	uint64_t total, off;	/* inlined sites found, switched off */
	uint64_t unknown;	/* on, because the list does not name their module */
};

struct reader;
void sites_effect(const struct reader *r, struct sites_effect *e);

/* One sentence without a stop, or a member "known_sites"; nothing if there was no list. */
void sites_describe(const struct sites_effect *e, struct buf *out);
void sites_json(const struct sites_effect *e, struct json *j);

#endif
