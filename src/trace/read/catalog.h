/*
 * The catalog of a trace: threads, modules, keys and values. It is filled from chunks by
 * catalog_read(), or from a text trace by trace/text.
 */
#ifndef TRACE_READ_CATALOG_H
#define TRACE_READ_CATALOG_H

#include "base/err.h"
#include "base/map.h"
#include "trace/read/index.h"
#include "trace/read/reader.h"

#define CATALOG_MAX_NAME 1000u	/* bytes; a thread with a longer name is named ?id */

struct catalog {
	struct reader_thread *threads;
	size_t thread_count, thread_capacity;
	struct map thread_by_id;	/* thread id to index plus 1 */
	struct reader_module *modules;
	size_t module_count, module_capacity;
	struct index_meta *metas;
	size_t meta_count, meta_capacity;
};

void catalog_free(struct catalog *c);

/* Finds or adds a thread; a new one has no name yet. The pointer is valid until the next call. */
struct reader_thread *catalog_thread(struct catalog *c, uint32_t id);

/* Finds a thread, NULL if there is none with that id. */
struct reader_thread *catalog_find(const struct catalog *c, uint32_t id);

/* Add a key and value, or a module. The catalog keeps copies. */
void catalog_add_meta(struct catalog *c, const char *key, const char *value);
void catalog_add_module(struct catalog *c, const struct reader_module *m);

/* The value of the nth occurrence of a key, from 0; NULL if absent. */
const char *catalog_meta(const struct catalog *c, const char *key, size_t nth);

/*
 * Sorts the threads by id and names those without a name: "0" for main, "~n" for the n-th thread
 * that was created unseen, "PARENT.n" for the n-th child. The name is "?id" if the thread's start
 * is not in the trace, or another thread has the name. `started` holds the ids of threads whose
 * parent and ordinal are recorded.
 */
void catalog_name_threads(struct catalog *c, const struct map *started);

/*
 * Where the last part of a thread name such as "0.2.1", "~1.1" or "?7" begins; 0 if it has one
 * part, -1 if it is no thread name.
 */
ptrdiff_t catalog_name_split(const char *name, size_t size);

/* Fills the catalog from the chunks of an index. Returns -1 and sets *err if one is damaged. */
int catalog_read(struct catalog *c, struct index *idx, struct err *err);

#endif
