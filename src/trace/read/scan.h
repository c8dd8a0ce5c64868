/*
 * The accesses of a trace without their order: chunk by chunk, none of them merged with another
 * or given a time. That takes less than half as long as reading events.
 */
#ifndef TRACE_READ_SCAN_H
#define TRACE_READ_SCAN_H

#include "trace/read/index.h"
#include "trace/read/reader.h"

/* As reader_accesses(). *err does not name the file. */
int scan_accesses(struct index *idx, reader_access *fn, void *ctx, struct err *err);

#endif
