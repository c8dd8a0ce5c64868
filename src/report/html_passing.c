/*
 * The failing run beside the nearest one that passes, event by event, with the first
 * difference marked.
 */
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

/* Colours are those of the failing run, which may know more threads. */
static size_t colour(const struct report_bug *b, const struct report_bug *run, size_t thread)
{
	return report_colour(b, report_find_thread(b, run->threads[thread].name));
}

static void add_row(const struct report_bug *b, const struct report_bug *run, const struct report_step *s,
		    bool first, struct buf *out)
{
	struct buf text = { 0 };

	if (s->skipped)
		buf_addf(out, "<tr><td colspan=\"3\" class=\"dim\">⋮ %llu event%s not shown</td></tr>\n",
			 (unsigned long long)s->skipped, s->skipped == 1 ? " is" : "s are");
	if (first)
		buf_add_text(out, "<tr class=\"first\"><td colspan=\"3\">↓ from here on the two differ</td></tr>\n");
	buf_addf(out, "<tr class=\"%s\"><td class=\"who t%zu\">", s->role == REPORT_CONTEXT ? "context" :
		 s->role == REPORT_CAUSE ? "cause" : "failure", colour(b, run, s->thread));
	if (s->number)
		buf_addf(&text, "%u. ", s->number);
	buf_add_text(&text, run->threads[s->thread].name);
	escape_html(out, buf_string(&text));
	buf_clear(&text);
	buf_add_text(out, "</td>");
	tell_step(run, s, &text);
	add_cell(out, &text);
	tell_place(&s->at, &text);
	add_cell(out, &text);
	buf_add_text(out, "</tr>\n");
	buf_free(&text);
}

static void add_run(const struct report_bug *b, const struct report_bug *run, const char *name, struct buf *out)
{
	bool parted = false;

	buf_addf(out, "<div><table><caption class=\"dim\">%s</caption><thead><tr>"
		 "<th scope=\"col\">Thread</th><th scope=\"col\">does</th><th scope=\"col\">where</th></tr></thead>"
		 "<tbody>\n", name);
	for (size_t i = 0; i < run->step_count; i++) {
		bool first = !parted && b->parts_at && (!run->steps[i].event || run->steps[i].event >= b->parts_at);

		add_row(b, run, &run->steps[i], first, out);
		parted = parted || first;
	}
	buf_add_text(out, "</tbody></table></div>\n");
}

void html_passing(const struct report_bug *b, struct buf *out)
{
	struct buf text = { 0 };

	if (!b->beside || !b->beside->step_count)
		return;
	buf_add_text(out, "<section aria-labelledby=\"beside\"><h2 id=\"beside\">Beside a run that passes</h2>\n");
	tell_difference(b, &text);
	html_paragraph(out, "so", &text);
	buf_add_text(out, "<div class=\"two\">\n");
	add_run(b, b, "This run fails", out);
	add_run(b, b->beside, "The nearest run that passes", out);
	buf_add_text(out, "</div>\n");
	if (b->passing_schedule) {
		tell_replay(b, b->passing_schedule, &text);
		html_command(out, buf_string(&text));
		buf_free(&text);
	}
	buf_add_text(out, "</section>\n");
}
