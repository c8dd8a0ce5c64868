/*
 * The failing run beside the nearest run that passes, event by event, with the first difference
 * marked.
 */
#include "base/plural.h"
#include "report/describe.h"
#include "report/escape.h"
#include "report/html.h"

static void add_cell(struct buf *out, struct buf *text)
{
	buf_add_text(out, "<td>");
	escape_html(out, buf_string(text));
	buf_add_text(out, "</td>");
	buf_clear(text);
}

/* The colour of the thread in the failing run, which may have more threads than the other run. */
static size_t colour(const struct report_bug *b, const struct report_bug *run, size_t thread)
{
	return report_colour(b, report_find_thread(b, run->threads[thread].name));
}

static void add_row(const struct report_bug *b, const struct report_bug *run,
		    const struct report_step *s, bool first, struct buf *out)
{
	struct buf text = { 0 };

	if (s->skipped)
		buf_addf(out,
			 "<tr><td colspan=\"3\" class=\"dim\">⋮ %llu event%s not shown</td></tr>\n",
			 (unsigned long long)s->skipped, plural(s->skipped));
	if (first)
		buf_add_text(out, "<tr class=\"first\"><td colspan=\"3\">↓ the two runs differ "
				  "from here on</td></tr>\n");
	buf_addf(out, "<tr class=\"%s\"><td class=\"who t%zu\">",
		 s->role == REPORT_CONTEXT ? "context"
		 : s->role == REPORT_CAUSE ? "cause"
					   : "failure",
		 colour(b, run, s->thread));
	if (s->number)
		buf_addf(&text, "%u. ", s->number);
	buf_add_text(&text, run->threads[s->thread].name);
	escape_html(out, buf_string(&text));
	buf_clear(&text);
	buf_add_text(out, "</td>");
	describe_step(run, s, &text);
	add_cell(out, &text);
	describe_place(&s->at, &text);
	add_cell(out, &text);
	buf_add_text(out, "</tr>\n");
	buf_free(&text);
}

static void add_run(const struct report_bug *b, const struct report_bug *run, const char *name,
		    struct buf *out)
{
	bool parted = false;

	buf_addf(out, "<div><table><caption class=\"dim\">%s</caption><thead><tr>"
		 "<th scope=\"col\">Thread</th><th scope=\"col\">Action</th><th "
		 "scope=\"col\">Place</th></tr></thead>"
		 "<tbody>\n", name);
	for (size_t i = 0; i < run->step_count; i++) {
		uint64_t event = run->steps[i].event;
		bool first = !parted && b->difference_event &&
			     (!event || event >= b->difference_event);

		add_row(b, run, &run->steps[i], first, out);
		parted = parted || first;
	}
	buf_add_text(out, "</tbody></table></div>\n");
}

void html_passing(const struct report_bug *b, struct buf *out)
{
	struct buf text = { 0 };

	if (!b->passing_run || !b->passing_run->step_count)
		return;
	buf_add_text(out, "<section aria-labelledby=\"beside\"><h2 id=\"beside\">Compared with a "
			  "run that passes</h2>\n");
	describe_difference(b, &text);
	html_paragraph(out, "so", &text);
	buf_add_text(out, "<div class=\"two\">\n");
	add_run(b, b, "This run fails", out);
	add_run(b, b->passing_run, "The nearest run that passes", out);
	buf_add_text(out, "</div>\n");
	if (b->passing_schedule) {
		describe_replay_command(b, b->passing_schedule, &text);
		html_command(out, buf_string(&text));
		buf_free(&text);
	}
	buf_add_text(out, "</section>\n");
}
