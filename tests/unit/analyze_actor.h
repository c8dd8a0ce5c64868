/* For tests of access contexts and the histories made of them: threads without a trace. */
#ifndef ANALYZE_ACTOR_H
#define ANALYZE_ACTOR_H

#include "analyze_util.h"

#include "analyze/atomicity/access_context.h"

#define ACTORS 16

/* A thread as an analysis sees it. */
struct actor {
	struct view view;
	struct vclock strong;
	uint64_t clock[ACTORS];
};

static UNUSED void actor_init(struct actor *a, uint32_t thread)
{
	memset(a, 0, sizeof(*a));
	a->strong = (struct vclock){ .count = ACTORS, .capacity = ACTORS, .at = a->clock };
	a->clock[thread] = 1;
	a->view = (struct view){ .thread = thread, .strong = &a->strong, .strong_epoch = 1 };
}

static UNUSED struct access_context act(struct contexts *cs, struct actor *a, uint64_t addr)
{
	struct event ev = { .thread = a->view.thread, .kind = TRACE_WRITE, .addr = addr, .size = 8,
			    .time = a->view.index };
	struct access_context now;

	contexts_capture(cs, &ev, &a->view, &now);
	a->view.index++;
	return now;
}

/* A strong release by the thread: its strong clock advances. */
static UNUSED void tick(struct contexts *cs, struct actor *a)
{
	struct event ev = { .thread = a->view.thread, .kind = TRACE_SEM_POST };

	contexts_sync(cs, &ev, &a->view);
	a->view.index++;
	a->view.strong_epoch = ++a->clock[a->view.thread];
}

#endif
