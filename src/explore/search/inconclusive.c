#include "explore/search/inconclusive.h"

#include <string.h>

#define REPEAT_SECONDS 5.0	/* limit of the run that shows where the threads were */

/* Appends the lines of oracle_describe() behind the first one: the threads. */
static void add_threads(const struct oracle_result *r, const struct ctl_report *report,
			struct places *places, struct buf *out)
{
	struct buf text = { 0 };
	const char *lines;

	oracle_describe(r, report, places, &text);
	lines = strchr(buf_string(&text), '\n');
	buf_add_text(out, lines ? lines : "");
	buf_free(&text);
}

/* Appends where the threads were at the last switch of a run that was killed; false: unknown. */
static bool add_last_switch(const struct search_failure *f, const struct replay_config *config,
			    struct places *places, struct buf *out)
{
	struct replay_config limited = *config;
	struct schedule until = { 0 };
	struct oracle_result got;
	struct oracle oracle;
	struct replay replay;
	struct err err;
	bool found;

	if (f->schedule.turn_count < 2)
		return false;
	schedule_copy_header(&until, &f->schedule);
	schedule_copy_run(&until, &f->schedule);
	/*
	 * The turn that did not end becomes that of a thread that never exists, where the run
	 * diverges. If no other thread could run there, the limit of steps ends it.
	 */
	until.turns[until.turn_count - 1].thread = schedule_thread(&until, "0.0");
	limited.timeout = REPEAT_SECONDS;
	limited.max_steps = f->schedule.steps > 1 ? f->schedule.steps - 1 : 0;
	oracle_from(&oracle, &until);
	oracle.check = NULL;	/* the run does not end by itself */
	found = replay_open(&replay, &limited, &until, &err) == 0 &&
		replay_once(&replay, &until, places, &oracle, &got, &err) == 0 &&
		(got.verdict == ORACLE_DIVERGED || got.failure == ORACLE_STEPS);
	if (found) {
		oracle_threads(server_report(&replay.server), &got);
		add_threads(&got, server_report(&replay.server), places, out);
	}
	replay_close(&replay);
	schedule_free(&until);
	return found;
}

void inconclusive_describe(const struct search_failure *f, const struct replay_config *config,
			   struct places *places, struct buf *out)
{
	if (f->result.failure == ORACLE_STEPS) {
		buf_addf(out, "it took more than %llu steps",
			 (unsigned long long)config->max_steps);
		add_threads(&f->result, f->report, places, out);
		return;
	}
	buf_addf(out, "it did not end within %g s", config->timeout);
	if (add_last_switch(f, config, places, out))
		return;
	buf_add_text(out, "\n  thread ");
	schedule_path(f->report, f->result.thread, out);
	buf_add_text(out, " ran last");
}
