/*
 * A bug in words: report.txt.
 */
#include "explore/bug.h"
#include "explore/story.h"

static void add_switches(const struct bug *b, struct buf *out)
{
	const struct minimised *m = &b->minimised;

	if (!m->done)
		return;
	buf_addf(out, "switches: %llu (%llu of a thread that could have gone on)",
		 (unsigned long long)m->switches, (unsigned long long)m->preemptions);
	if (m->from > m->switches)
		buf_addf(out, ", brought down from %llu", (unsigned long long)m->from);
	buf_addf(out, " in %u runs\n", m->runs);
}

static void add_others(const struct bug *b, struct places *places, struct buf *out)
{
	if (b->interleavings.count > 1)
		buf_addf(out, "\nOther orders that fail (interleavings/01.txt is the one above):\n");
	for (size_t i = 1; i < b->interleavings.count; i++) {
		const struct interleaving *l = &b->interleavings.at[i];

		buf_addf(out, "\n%02zu: ", i + 1);
		story_tell(l->lead, places, out);
		buf_addf(out, "  replay: snarl replay %s/interleavings/%02zu.txt\n", b->path, i + 1);
	}
	for (size_t i = 0; i < b->other_count; i++)
		buf_addf(out, "%s%s\n  replay: snarl replay %s/failures/%02zu.txt\n",
			 i ? "" : "\nIt also shows as:\n\n", b->others[i]->text, b->path, i + 2);
}

void bug_report(const struct bug *b, struct places *places, struct buf *out)
{
	const struct search_failure *f = b->failure;

	buf_addf(out, "%s: %s\n\n", f->schedule.program, b->text);
	if (bug_cause(b)) {
		buf_addf(out, "%s: ", bug_is_predicted(b) ? "cause" : "likely cause");
		story_tell(bug_cause(b), places, out);
		buf_add_char(out, '\n');
	}
	buf_addf(out, "found by %s in run %llu (seed %llu), after %llu steps of %u threads\n",
		 f->schedule.strategy, (unsigned long long)f->run + 1,
		 (unsigned long long)f->schedule.seed, (unsigned long long)f->schedule.steps,
		 f->report->threads);
	add_switches(b, out);
	buf_addf(out, "replayed: %u of %u times\n", b->good, b->replays);
	if (b->traced)
		buf_addf(out, "trace:    snarl dump %s/trace.snarl\n", b->path);
	else
		buf_addf(out, "no trace: %s\n", b->no_trace);
	buf_addf(out, "replay:   snarl replay %s\n", b->path);
	add_others(b, places, out);
	if (f->out.size) {
		buf_add_text(out, "\n--- stdout of the run ---\n");
		buf_add(out, f->out.data, f->out.size);
	}
	if (f->error.size) {
		buf_add_text(out, "\n--- stderr of the run ---\n");
		buf_add(out, f->error.data, f->error.size);
	}
}
