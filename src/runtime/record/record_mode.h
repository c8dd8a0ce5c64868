/*
 * The functions of modes record (mode_record) and profile (mode_coverage); core/mode.h describes
 * them. Mode profile folds the rings into an iRoot profile (parallel_coverage.h) instead of writing
 * a trace; the functions named coverage_* are its own.
 */
#ifndef RUNTIME_RECORD_RECORD_MODE_H
#define RUNTIME_RECORD_RECORD_MODE_H

#include "runtime/core/mode.h"

extern SNARLRT_HIDDEN const struct mode mode_record, mode_coverage;

/* access.c */
SNARLRT_HIDDEN void record_access(uint64_t addr, uint64_t site);
SNARLRT_HIDDEN void record_range(uint64_t addr, uint64_t size, uint64_t site);

/* atomic_events.c */
SNARLRT_HIDDEN void record_atomic_begin(struct mode_atomic *op);
SNARLRT_HIDDEN void record_atomic_end(struct mode_atomic *op);
SNARLRT_HIDDEN void coverage_atomic_begin(struct mode_atomic *op);
SNARLRT_HIDDEN void coverage_atomic_end(struct mode_atomic *op);

/* function_calls.c */
SNARLRT_HIDDEN void record_entry(uint64_t caller, uint64_t pc);
SNARLRT_HIDDEN void record_exit(uint64_t pc);
SNARLRT_HIDDEN uint64_t record_depth(void);
SNARLRT_HIDDEN void record_unwind(uint64_t depth);

/* call_events.c */
SNARLRT_HIDDEN void record_note(enum trace_kind kind, unsigned detail, const void *object,
				uint64_t arg, int result, const void *pc);
SNARLRT_HIDDEN void coverage_note(enum trace_kind kind, unsigned detail, const void *object,
				  uint64_t arg, int result, const void *pc);
SNARLRT_HIDDEN void record_wait_begin(enum trace_kind kind, const void *object, const void *pc);

/* shadow.c */
SNARLRT_HIDDEN void record_fresh(const void *addr, size_t size);

/* thread.c */
SNARLRT_HIDDEN void record_thread_begin(const struct mode_thread *t);

/* trace_file.c: in the child of a fork, which gets a trace of its own or is not recorded */
SNARLRT_HIDDEN void record_forked(void);

#endif
