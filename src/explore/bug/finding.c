#include "explore/bug/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define REPLAYS 8u		/* made to find a difference: two processes may get equal values */

/* Notes the last call of the run that returned what comes from outside. */
static void note_outside(struct bug *b, const struct ctl_report *report)
{
	struct buf thread = { 0 };

	if (!report->outside_pc)
		return;
	b->outside.pc = report->outside_pc;
	snprintf(b->outside.call, sizeof(b->outside.call), "%.*s",
		 (int)sizeof(report->outside_call) - 1, report->outside_call);
	schedule_path(report, report->outside_thread, &thread);
	snprintf(b->outside.thread, sizeof(b->outside.thread), "%s", buf_string(&thread));
	buf_free(&thread);
}

static void note_divergence(struct bug *b, const struct schedule *s, struct oracle_result *got,
			    const struct ctl_report *report, struct places *places)
{
	struct buf text = { 0 };

	oracle_refine(got, report, places);
	oracle_describe_divergence(got, s, report, places, &text);
	free(b->divergence);
	b->divergence = xstrdup(buf_string(&text));
	buf_free(&text);
}

void finding_investigate(struct bug *b, const struct replay_config *config, struct places *places)
{
	struct schedule s = { 0 };
	struct oracle_result got;
	struct replay replay;
	struct oracle oracle;
	bool named = false;	/* the first event that differs is known */
	struct err err;

	schedule_copy_header(&s, &b->failure->schedule);
	schedule_copy_run(&s, &b->failure->schedule);
	oracle_from(&oracle, &s);
	for (unsigned i = 0; i < REPLAYS && !named; i++) {
		int result = replay_open(&replay, config, &s, &err);

		if (result == 0)
			result = replay_once(&replay, &s, places, &oracle, &got, &err);
		if (result == 0 && got.verdict != ORACLE_BROKEN) {
			named = got.verdict == ORACLE_DIVERGED && got.event;
			if (!b->divergence || named)
				note_outside(b, server_report(&replay.server));
			if (got.verdict == ORACLE_DIVERGED && (!b->divergence || named))
				note_divergence(b, &s, &got, server_report(&replay.server), places);
			/* The events of this replay are what the next one has to repeat. */
			schedule_set_turns(&s, replay.server.block);
		}
		replay_close(&replay);
		if (result < 0 || got.verdict == ORACLE_BROKEN ||
		    got.verdict == ORACLE_INCONCLUSIVE)
			break;
	}
	schedule_free(&s);
}

void finding_describe(const struct bug *b, struct places *places, struct buf *out)
{
	if (b->divergence)
		buf_addf(out, "  a replay %s\n", b->divergence);
	if (b->outside.pc) {
		buf_addf(out, "  %s last call that returned something from outside: %s at ",
			 b->divergence ? "before that, the" : "the", b->outside.call);
		places_describe(places, b->outside.pc, out);
		buf_addf(out, " by thread %s\n", b->outside.thread);
	} else if (b->failure->schedule.flags & CTL_REAL_TIME) {
		buf_add_text(out, "  with --real-time, clocks differ from run to run\n");
	} else {
		buf_add_text(out, "  no call that returns something from outside was seen; not "
				  "seen are rdtsc, raw "
				  "system calls and mapped files\n");
	}
}

static void outside_json(const struct bug *b, struct json *j, struct places *places)
{
	struct symbol_frame frame;

	if (!b->outside.pc) {
		json_text(j, "outside", NULL);
		return;
	}
	places_frame(places, b->outside.pc, &frame);
	json_open(j, "outside", '{');
	json_text(j, "call", b->outside.call);
	json_text(j, "thread", b->outside.thread);
	json_text(j, "function", frame.function);
	json_text(j, "file", frame.file);
	json_number(j, "line", frame.line);
	json_close(j, '}');
}

void finding_json(const struct bug *b, struct json *j, struct places *places)
{
	const struct oracle_result *r = &b->failure->result;
	struct buf text = { 0 };

	json_text(j, "failure", oracle_failure_name(r->failure));
	if (r->failure == ORACLE_SIGNAL || r->failure == ORACLE_EXIT)
		json_number(j, "number", (uint64_t)r->number);
	json_text(j, "text", b->text);
	json_text(j, "fingerprint", b->fingerprint);
	json_number(j, "runs_to_first", b->failure->run + 1);
	json_number(j, "tried", b->seen);
	json_text(j, "why", b->why);
	json_text(j, "divergence", b->divergence);
	outside_json(b, j, places);
	finding_describe(b, places, &text);
	json_text(j, "details", buf_string(&text));
	buf_free(&text);
}
