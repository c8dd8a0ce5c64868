/*
 * The iRoots of a trace: those that its run exposed, and those to be expected of others.
 */
#ifndef COVERAGE_TRACE_COVERAGE_H
#define COVERAGE_TRACE_COVERAGE_H

#include "base/err.h"
#include "coverage/fold/iroot_fold.h"
#include "trace/read/reader.h"

/* The steps of an event; returns how many there are. */
unsigned iroot_steps(const struct event *ev, struct iroot_step *out);

#endif
