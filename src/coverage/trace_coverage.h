/*
 * Events of a trace as steps of the iRoot fold (coverage/fold/iroot_fold.h).
 */
#ifndef COVERAGE_TRACE_COVERAGE_H
#define COVERAGE_TRACE_COVERAGE_H

#include "base/err.h"
#include "coverage/fold/iroot_fold.h"
#include "trace/read/reader.h"

/* Writes at most TRACE_STEPS steps of the event to `out`; returns their number. */
unsigned iroot_steps(const struct event *ev, struct iroot_step *out);

#endif
