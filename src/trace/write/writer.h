/*
 * The trace writer: from events to a trace file, with the codec that the runtime uses.
 *
 * With TRACE_TOTAL_ORDER every event keeps its exact time. Otherwise kinds without extra records
 * keep only roughly theirs, as in a recording. The file appears when writer_close() succeeds;
 * errors are remembered until then.
 */
#ifndef TRACE_WRITE_WRITER_H
#define TRACE_WRITE_WRITER_H

#include "base/err.h"
#include "trace/read/reader.h"

#define WRITER_ZSTD 0x80000000u	/* beside enum trace_flag: compress chunks if that saves enough */

struct writer;

/* Returns NULL and sets *err if the file cannot be created. */
struct writer *writer_open(const char *path, unsigned flags, struct err *err);

/* Sets when the recording began and the pid of its process. */
void writer_begin(struct writer *w, uint64_t start_time, uint64_t start_unix_ns, uint32_t pid);
void writer_meta(struct writer *w, const char *key, const char *value);
void writer_module(struct writer *w, const struct reader_module *m);

/* Names a thread whose first event is not THREAD_START. */
void writer_thread(struct writer *w, uint32_t id, const char *name);

/*
 * Appends an event. A thread's events come in order and with times that do not decrease. The
 * event's `size` and `depth` are ignored, since a reader derives them.
 */
void writer_event(struct writer *w, const struct event *ev);

/* Ends the trace. Returns -1 and sets *err if anything failed since it was opened. */
int writer_close(struct writer *w, struct err *err);
void writer_abort(struct writer *w);

/* Rewinds `r` and copies all of it to a new trace with total order. */
int writer_copy(struct reader *r, const char *path, unsigned flags, struct err *err);

#endif
