/*
 * Waits that block for ever because of a lock that is held, or that were never ended. A part of
 * the analysis `deadlock` (deadlock.c), which calls it for every event.
 *
 * `sections` belongs to the caller and has to have followed the event already; `change` is what
 * sections_event() returned for it.
 */
#ifndef ANALYZE_SYNC_BLOCKED_WAITS_H
#define ANALYZE_SYNC_BLOCKED_WAITS_H

#include "analyze/analysis.h"
#include "analyze/context/sections.h"

struct blocked_waits;

struct blocked_waits *blocked_waits_new(const struct analysis_context *ctx,
					const struct sections *sections);
void blocked_waits_free(struct blocked_waits *w);
void blocked_waits_event(struct blocked_waits *w, const struct event *ev, const struct view *view,
			 enum section_change change, struct findings *out);
void blocked_waits_finish(struct blocked_waits *w, struct findings *out);

#endif
