/*
 * Descriptions of failures and divergences, for users.
 */
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "explore/schedule/schedule.h"
#include "explore/search/oracle.h"

/* The report about thread `number`, or NULL. */
static const struct ctl_report_thread *thread_report(const struct ctl_report *report,
						     uint32_t number)
{
	for (uint32_t i = 0; i < report->described && i < CTL_REPORT_THREADS; i++)
		if (report->at[i].number == number)
			return &report->at[i];
	return NULL;
}

/* Appends " since bank.c:31 (transfer)": where thread `t` acquired `object`, if that is known. */
static void add_since(const struct ctl_report_thread *t, uint64_t object, struct places *places,
		      struct buf *out)
{
	for (uint32_t i = 0; t && i < t->held_count && i < ARRAY_SIZE(t->held); i++)
		if (t->held[i].object == object) {
			buf_add_text(out, " since ");
			places_describe(places, t->held[i].pc, out);
			return;
		}
}

/* Appends a line such as "thread 0.1 waits at bank.c:33 (transfer) for b, held by thread 0.2". */
static void add_waiting(const struct oracle_site *site, const struct ctl_report *report,
			struct places *places, struct buf *out)
{
	const struct ctl_report_thread *t = thread_report(report, site->thread);

	buf_add_text(out, "\n  thread ");
	schedule_path(report, site->thread, out);
	if (!t) {
		buf_add_text(out, " waits");
		return;
	}
	buf_add_text(out, t->state == CTL_REPORT_RUNNABLE ? " runs at " : " waits at ");
	places_describe(places, site->pc, out);
	if (t->object && t->state != CTL_REPORT_RUNNABLE) {
		buf_add_text(out, t->op == SCHED_OP_JOIN ? " to join" : " for ");
		if (t->op != SCHED_OP_JOIN)
			places_object(places, t->object, out);
	}
	if (t->owner < CTL_THREADS) {
		buf_add_text(out, ", held by thread ");
		schedule_path(report, t->owner, out);
		add_since(thread_report(report, t->owner), t->object, places, out);
	}
}

static void add_sites(const struct oracle_result *r, const struct ctl_report *report,
		      struct places *places, struct buf *out)
{
	for (size_t i = 0; i < r->site_count; i++) {
		const struct oracle_site *site = &r->sites[i];

		if (!site->pc)
			continue;
		/* The sites after the first say where the memory block was freed and allocated. */
		buf_addf(out, "\n  %s at ", strcmp(site->op, "malloc") == 0 ? "allocated" :
			 i && strcmp(site->op, "free") == 0 ? "freed" : site->op);
		places_describe(places, site->pc, out);
		if (site->thread != UINT32_MAX) {
			buf_add_text(out, " by thread ");
			schedule_path(report, site->thread, out);
		}
		if (site->object && r->failure == ORACLE_SIGNAL) {
			buf_add_text(out, ", accessing ");
			places_object(places, site->object, out);
		}
	}
}

/* Appends the runtime's message, without its beginning "HEAD: ", which is already in `out`. */
static void add_text(const struct oracle_result *r, const char *head, struct buf *out)
{
	size_t size = strlen(head);
	const char *text = r->text;

	if (strncmp(text, head, size) == 0 && strncmp(text + size, ": ", 2) == 0)
		text += size + 2;
	if (*text)
		buf_addf(out, "\n  %s", text);
}

void oracle_describe(const struct oracle_result *r, const struct ctl_report *report,
		     struct places *places, struct buf *out)
{
	switch (r->failure) {
	case ORACLE_NONE: buf_add_text(out, "passed"); return;
	case ORACLE_ASSERT: buf_add_text(out, "assertion failed"); break;
	case ORACLE_SIGNAL:
		buf_addf(out, "killed by signal %d (%s)", r->number, strsignal(r->number));
		break;
	case ORACLE_EXIT: buf_addf(out, "exit status %d", r->number); break;
	case ORACLE_DEADLOCK: buf_add_text(out, "deadlock"); break;
	case ORACLE_HANG: buf_add_text(out, "hang: threads run, but make no progress"); break;
	case ORACLE_TIMEOUT: buf_add_text(out, "did not end in time"); break;
	case ORACLE_STEPS: buf_add_text(out, "took too many steps"); break;
	case ORACLE_OUTPUT: buf_add_text(out, "stdout is not what was expected"); break;
	case ORACLE_CHECK: buf_add_text(out, "the --check command rejected the run"); break;
	case ORACLE_UAF: buf_add_text(out, "use after free"); break;
	case ORACLE_DOUBLE_FREE: buf_add_text(out, "double free"); break;
	case ORACLE_BAD_FREE: buf_add_text(out, "free of memory that was not allocated"); break;
	case ORACLE_MISUSE: buf_add_text(out, "misuse"); break;
	case ORACLE_OVERFLOW: buf_add_text(out, "overflow"); break;
	case ORACLE_BOMB: buf_add_text(out, "made too many processes"); break;
	}
	if (r->failure == ORACLE_SIGNAL || r->failure == ORACLE_ASSERT ||
	    r->failure == ORACLE_TIMEOUT) {
		buf_add_text(out, " in thread ");
		schedule_path(report, r->thread, out);
	}
	if (oracle_is_stuck(r->failure) || r->failure == ORACLE_STEPS) {
		for (size_t i = 0; i < r->site_count; i++)
			add_waiting(&r->sites[i], report, places, out);
		return;
	}
	if (r->outlives_exit) {
		buf_add_text(out, "\n  while thread ");
		schedule_path(report, report->exiting - 1, out);
		buf_add_text(out, " ends the process: it returned from main or called exit");
	}
	add_text(r, r->failure == ORACLE_UAF ? "use after free" : "", out);
	add_sites(r, report, places, out);
}

/* Finds the number of the thread with path `path`; UINT32_MAX: there is none. */
static uint32_t find_thread(const struct ctl_report *report, const char *path)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < report->described && i < CTL_REPORT_THREADS; i++) {
		struct buf name = { 0 };

		schedule_path(report, report->at[i].number, &name);
		if (strcmp(buf_string(&name), path) == 0)
			found = report->at[i].number;
		buf_free(&name);
	}
	return found;
}

/* Appends the turn at which the run left the schedule, and its thread. */
static void add_turn(const struct schedule *s, uint64_t turn, struct buf *out)
{
	const struct schedule_turn *t = &s->turns[turn];

	buf_addf(out, " turn %llu of %zu", (unsigned long long)turn + 1, s->turn_count);
	if (t->kind == SCHED_TURN_RUN && t->steps != SCHED_NO_LIMIT)
		buf_addf(out, " (thread %s was to take %llu steps)", s->threads.items[t->thread],
			 (unsigned long long)t->steps);
	else
		buf_addf(out, " (of thread %s)", s->threads.items[t->thread]);
}

void oracle_describe_divergence(const struct oracle_result *r, const struct schedule *s,
				const struct ctl_report *report, struct places *places,
				struct buf *out)
{
	const struct schedule_turn *t = r->turn < s->turn_count ? &s->turns[r->turn] : NULL;

	buf_add_text(out, "diverged");
	if (r->event)
		buf_addf(out, " at event %llu%s", (unsigned long long)r->event, t ? " in" : "");
	else if (t)
		buf_add_text(out, " at");
	if (t)
		add_turn(s, r->turn, out);
	buf_addf(out, ": %s", r->text);
	for (size_t i = 0; i < r->site_count; i++) {
		const struct oracle_site *site = &r->sites[i];

		buf_add_text(out, "\n  thread ");
		schedule_path(report, site->thread, out);
		buf_addf(out, " did this instead: %s", site->op);
		if (site->object) {
			buf_add_text(out, " of ");
			places_object(places, site->object, out);
		}
		if (site->pc) {
			buf_add_text(out, " at ");
			places_describe(places, site->pc, out);
		}
	}
	if (!r->event && t && t->kind == SCHED_TURN_RUN) {
		struct oracle_site site = { .thread = find_thread(report,
								  s->threads.items[t->thread]) };
		const struct ctl_report_thread *at = thread_report(report, site.thread);

		if (!at) {
			buf_addf(out, "\n  there is no thread %s", s->threads.items[t->thread]);
		} else if (at->state == CTL_REPORT_ENDED) {
			buf_addf(out, "\n  thread %s has ended", s->threads.items[t->thread]);
		} else if (at->site) {
			site.pc = at->site;
			add_waiting(&site, report, places, out);
		}
	}
}
