/* For tests of the access history: a history, and threads that access it. */
#ifndef ANALYZE_HISTORY_UTIL_H
#define ANALYZE_HISTORY_UTIL_H

#include "analyze_actor.h"

#include "analyze/atomicity/history_inline.h"

/* A history with what it needs, and threads. */
struct setting {
	struct locks *locks;
	struct contexts *contexts;
	struct history h;
	struct actor actor[ACTORS];
};

static inline void setting_init(struct setting *s)
{
	s->locks = locks_new();
	s->contexts = contexts_new(s->locks);
	history_init(&s->h, s->contexts);
	for (uint32_t i = 1; i < ACTORS; i++)
		actor_init(&s->actor[i], i);
}

static inline void setting_free(struct setting *s)
{
	history_free(&s->h);
	contexts_free(s->contexts);
	locks_free(s->locks);
}

static inline struct history_signature write_at(uint64_t pc)
{
	return (struct history_signature){ .pc = pc, .kind = TRACE_WRITE, .access = ACCESS_WRITE };
}

static inline uint32_t epoch_of(struct setting *s, uint32_t thread)
{
	struct event ev = { .thread = thread, .kind = TRACE_READ };
	struct access_context now;

	contexts_capture(s->contexts, &ev, &s->actor[thread].view, &now);
	return now.epoch;
}

/* Makes a write as the analysis does, without pairs. */
static inline struct history_lookup use(struct setting *s, uint32_t thread, uint64_t granule,
					uint8_t bytes, uint64_t pc, uint64_t time, bool *fresh)
{
	struct history_signature signature = write_at(pc);
	struct history_lookup at;
	struct access_context now = act(s->contexts, &s->actor[thread], granule * 8);

	now.time = time;
	now.tag = history_signature(&s->h, &signature);
	history_lookup(&s->h, granule, thread, now.epoch, bytes, &at);
	history_set_last(&s->h, at.cell, &now, &signature,
			 history_note(&s->h, at.cell, &now, false, fresh));
	return at;
}

#endif
