/*
 * What a trace says besides events: threads, modules, keys and values. Filled
 * from chunks or from a text trace.
 */
#ifndef TRACE_READ_CATALOG_H
#define TRACE_READ_CATALOG_H

#include "base/err.h"
#include "base/map.h"
#include "trace/read/index.h"
#include "trace/read/reader.h"

#define CATALOG_MAX_NAME 1000u	/* a thread with a longer name goes by its number */

struct catalog {
	struct reader_thread *threads;
	size_t thread_count, thread_capacity;
	struct map thread_by_id;	/* index + 1 */
	struct reader_module *modules;
	size_t module_count, module_capacity;
	struct index_meta *metas;
	size_t meta_count, meta_capacity;
};

void catalog_free(struct catalog *c);

/* Finds or adds; names are given later. Valid until the next call. */
struct reader_thread *catalog_thread(struct catalog *c, uint32_t id);
struct reader_thread *catalog_find(const struct catalog *c, uint32_t id);

/* All of these copy. */
void catalog_add_meta(struct catalog *c, const char *key, const char *value);
void catalog_add_module(struct catalog *c, const struct reader_module *m);
const char *catalog_meta(const struct catalog *c, const char *key, size_t nth);

/*
 * Names every thread that has none yet: "0" for main, "~n" for the n-th made
 * outside, "<parent's>.n" for the n-th child; "?id" for one whose beginning is
 * not in the trace, and for the second of two that claim the same name. `known`
 * holds the ids whose parent and ordinal are true. Then sorts by id.
 */
void catalog_name_threads(struct catalog *c, const struct map *known);

/* "0.2.1", "~1.1", "?7": where the last part begins (0 if it has one part), or -1. */
ptrdiff_t catalog_name_split(const char *name, size_t size);

int catalog_read(struct catalog *c, struct index *idx, struct err *err);

#endif
