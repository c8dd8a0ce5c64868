/*
 * From events to a trace file, with the encoding the runtime uses.
 *
 * With TRACE_TOTAL_ORDER every event keeps its exact time; without it, times of
 * kinds that have no extra record come back only roughly, as when recorded.
 * Nothing is at `path` until writer_close succeeds. Errors are kept until then.
 */
#ifndef TRACE_WRITE_WRITER_H
#define TRACE_WRITE_WRITER_H

#include "base/err.h"
#include "trace/read/reader.h"

#define WRITER_ZSTD 0x80000000u	/* besides enum trace_flag: compress where it pays */

struct writer;

/* NULL and *err if the file cannot be made. */
struct writer *writer_open(const char *path, unsigned flags, struct err *err);

/* When recording began, and where. */
void writer_begin(struct writer *w, uint64_t start_time, uint64_t start_unix_ns, uint32_t pid);
void writer_meta(struct writer *w, const char *key, const char *value);
void writer_module(struct writer *w, const struct reader_module *m);

/* Names a thread whose first event is not THREAD_START. */
void writer_thread(struct writer *w, uint32_t id, const char *name);

/*
 * Of one thread in order, and in time. The size follows from detail or arg and
 * depth from the events around: both are not looked at.
 */
void writer_event(struct writer *w, const struct event *ev);

/* Ends the trace; -1 if anything failed since it was opened. */
int writer_close(struct writer *w, struct err *err);
void writer_abort(struct writer *w);

/* All of `r`, from its start, to a new trace with total order. */
int writer_copy(struct reader *r, const char *path, unsigned flags, struct err *err);

#endif
