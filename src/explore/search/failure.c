#include "explore/search/failure.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Flags of a request that schedules save; the others only ask for data about the run. */
#define SCHEDULE_FLAGS (CTL_SPURIOUS | CTL_TIMEOUTS | CTL_IGNORE_MISUSE | CTL_REAL_TIME)

struct search_failure *search_failure_new(const struct server *s,
					  const struct search_memory *memory,
					  const struct oracle *oracle, uint64_t run,
					  const struct oracle_result *result)
{
	struct search_failure *f = xcalloc(1, sizeof(*f));
	const struct ctl_request *q = &s->block->request;
	struct buf brief = { 0 };

	f->run = run;
	f->result = *result;
	f->report = xmalloc(sizeof(*f->report));
	memcpy(f->report, &s->block->report, sizeof(*f->report));
	schedule_set_target(&f->schedule, s->config.target);
	schedule_set_turns(&f->schedule, s->block);
	schedule_set_shared(&f->schedule, memory->granules, memory->count);
	oracle_brief(result, &brief);
	f->schedule.failure = xstrdup(buf_string(&brief));
	buf_free(&brief);
	f->schedule.strategy = xstrdup(q->strategy);
	f->schedule.seed = q->seed;
	f->schedule.run = run;
	f->schedule.depth = q->depth;
	f->schedule.flags = q->flags & SCHEDULE_FLAGS;
	oracle_to_schedule(oracle, &f->schedule);
	capture_text(&s->result.out, &f->out);
	capture_text(&s->result.error, &f->error);
	return f;
}

struct search_failure *search_failure_like(const struct search_failure *like)
{
	struct search_failure *f = xcalloc(1, sizeof(*f));

	f->run = like->run;
	f->report = xcalloc(1, sizeof(*f->report));
	schedule_copy_header(&f->schedule, &like->schedule);
	return f;
}

void search_failure_free(struct search_failure *f)
{
	free(f->report);
	schedule_free(&f->schedule);
	buf_free(&f->out);
	buf_free(&f->error);
	free(f);
}
