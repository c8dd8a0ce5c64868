/*
 * Waits that can miss their wake-up; parts of the deadlock analysis.
 *
 * `sections` is the caller's. It follows the trace: wakeups_event() is called before
 * it has seen the event, waits_event() after, with what that changed.
 */
#ifndef ANALYZE_SYNC_BLOCKED_WAITS_H
#define ANALYZE_SYNC_BLOCKED_WAITS_H

#include "analyze/analysis.h"
#include "analyze/context/sections.h"

struct wakeups;

struct wakeups *wakeups_new(const struct analysis_context *ctx, const struct sections *sections);
void wakeups_free(struct wakeups *w);
void wakeups_event(struct wakeups *w, const struct event *ev, const struct view *view);
void wakeups_finish(struct wakeups *w, struct findings *out);

struct waits;

struct waits *waits_new(const struct analysis_context *ctx, const struct sections *sections);
void waits_free(struct waits *w);
void waits_event(struct waits *w, const struct event *ev, const struct view *view,
		 enum section_change change, struct findings *out);
void waits_finish(struct waits *w, struct findings *out);

#endif
