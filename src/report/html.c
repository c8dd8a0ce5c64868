/*
 * The page of a bug. The first screen has what happened, the picture and the command that replays
 * the failure; everything else is below.
 */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "report/describe.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/svg.h"

#define TURNS_SHOWN 200u	/* rows of a schedule */

/* Appends `text` escaped, and frees it. */
static void text_of(struct buf *out, struct buf *text)
{
	escape_html(out, buf_string(text));
	buf_free(text);
}

static void add_story_step(const struct report_bug *b, size_t i, struct buf *out)
{
	const struct report_step *s = &b->steps[i];
	struct buf text = { 0 }, effect = { 0 }, place = { 0 };

	buf_addf(out, "<li><span class=\"n t%zu\" style=\"background:var(%s)\">",
		 report_colour(b, s->thread), s->role == REPORT_FAILURE ? "--bad" : "--c");
	if (s->number)
		buf_addf(out, "%u</span><b class=\"t%zu\" style=\"color:var(--c)\">", s->number,
			 report_colour(b, s->thread));
	else
		buf_addf(out,
			 "<span aria-label=\"failure\">✗</span></span><b class=\"t%zu\" "
			 "style=\"color:var(--c)\">",
			 report_colour(b, s->thread));
	describe_thread(b, s->thread, &text);
	text_of(out, &text);
	buf_add_text(out, "</b> ");
	describe_step(b, s, &text);
	describe_effect(b, s, &effect);
	buf_add_text(&text, buf_string(&effect));
	text_of(out, &text);
	buf_free(&effect);
	describe_place(&s->at, &place);
	if (place.size) {
		buf_addf(out, " <a class=\"dim\" href=\"#step-%zu\">", i + 1);
		text_of(out, &place);
		buf_add_text(out, "</a>");
	}
	if (s->at.source) {
		buf_add_text(out, "<code>");
		escape_html(out, s->at.source);
		buf_add_text(out, "</code>");
	}
	buf_add_text(out, "</li>\n");
}

static void add_failure(const struct report_bug *b, struct buf *out)
{
	struct buf text = { 0 }, details = { 0 };
	const char *line;

	buf_add_text(out, "<div class=\"fail\" role=\"note\" aria-label=\"The failure\"><p><b>");
	describe_failure(b, &text);
	text_of(out, &text);
	buf_add_text(out, "</b></p>\n");
	describe_details(b, false, &details);
	for (line = buf_string(&details); *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		struct buf one = { 0 };

		buf_add(&one, line, strcspn(line, "\n"));
		html_paragraph(out, "dim", &one);
	}
	buf_free(&details);
	buf_add_text(out, "</div>\n");
}

static void add_story(const struct report_bug *b, struct buf *out)
{
	struct buf text = { 0 };
	bool any = false;

	buf_add_text(out, "<section aria-labelledby=\"what\"><h2 id=\"what\">What happened</h2>\n");
	for (size_t i = 0; i < b->step_count; i++) {
		if (!b->steps[i].number && b->steps[i].role != REPORT_FAILURE)
			continue;
		if (!any)
			buf_add_text(out, "<ol class=\"story\">\n");
		any = true;
		add_story_step(b, i, out);
	}
	if (any)
		buf_add_text(out, "</ol>\n");
	describe_outcome(b, &text);
	html_paragraph(out, "so", &text);
	add_failure(b, out);
	describe_hint(b, &text);
	html_paragraph(out, "hint", &text);
	buf_add_text(out, "</section>\n");
}

/* The command that replays the failure, beside or below the title. */
static void add_replay_box(const struct report_bug *b, struct buf *out)
{
	struct buf text = { 0 };

	buf_add_text(out, "<div class=\"again\">");
	buf_add_text(&text, "Replay the failure");
	if (b->replays)
		buf_addf(&text, " (%llu of %llu replays failed)",
			 (unsigned long long)b->replays_failed, (unsigned long long)b->replays);
	buf_add_char(&text, ':');
	html_paragraph(out, "dim", &text);
	describe_replay_command(b, NULL, &text);
	html_command(out, buf_string(&text));
	buf_free(&text);
	buf_add_text(out, "</div>");
}

static void add_legend(const struct report_bug *b, struct buf *out)
{
	static const char *const arrow[] = {
		"<li><i></i>conflicting accesses to the same memory</li>",
		"<li><i class=\"h\"></i>lock released, then taken by another thread</li>",
		"<li><i class=\"w\"></i>waits for the holder of the lock</li>",
	};
	unsigned colour = 0;

	buf_add_text(out, "<ul class=\"legend\" aria-label=\"Legend\">");
	for (size_t k = 0; k < ARRAY_SIZE(arrow); k++)
		for (size_t i = 0; i < b->arrow_count; i++)
			if (b->arrows[i].kind == (enum report_arrow_kind)k) {
				buf_add_text(out, arrow[k]);
				break;
			}
	for (size_t i = 0; i < b->bar_count; i++) {
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first = first && strcmp(b->bars[k].lock, b->bars[i].lock) != 0;
		if (!first)
			continue;
		buf_addf(out, "<li class=\"l%u\"><i class=\"b\"></i>holds ", colour++ % 4);
		escape_html(out, b->bars[i].lock);
		buf_add_text(out, "</li>");
	}
	buf_add_text(out, "</ul>\n");
}

static void add_picture(const struct report_bug *b, struct buf *out)
{
	buf_add_text(out, "<section aria-labelledby=\"how\"><h2 id=\"how\">The interleaving (time "
			  "runs downwards)</h2>\n"
			  "<div class=\"scroll\" role=\"region\" aria-label=\"Picture of the "
			  "interleaving\" tabindex=\"0\">\n");
	svg_bug(b, SVG_WIDE, "w", out);
	svg_bug(b, SVG_NARROW, "n", out);
	buf_add_text(out, "</div>\n");
	add_legend(b, out);
	buf_add_text(out, "</section>\n");
}

static void cell(struct buf *out, const char *tag, const char *text)
{
	buf_addf(out, "<td>%s", tag);
	if (text)
		escape_html(out, text);
	buf_add_text(out, *tag ? "</code></td>" : "</td>");
}

static void add_step_row(const struct report_bug *b, size_t i, struct buf *out)
{
	const struct report_step *s = &b->steps[i];
	struct buf text = { 0 };

	if (s->skipped)
		buf_addf(out,
			 "<tr><td colspan=\"5\" class=\"dim\">⋮ %llu event%s not shown</td></tr>\n",
			 (unsigned long long)s->skipped, plural(s->skipped));
	buf_addf(out, "<tr id=\"step-%zu\" class=\"%s\"><td class=\"who t%zu\">", i + 1,
		 s->role == REPORT_FAILURE ? "failure"
		 : s->role == REPORT_CAUSE ? "cause"
					   : "context",
		 report_colour(b, s->thread));
	if (s->number)
		buf_addf(&text, "%u. ", s->number);
	buf_addf(&text, "%s", b->threads[s->thread].name);
	text_of(out, &text);
	buf_add_text(out, "</td>");
	describe_step(b, s, &text);
	cell(out, "", buf_string(&text));
	buf_clear(&text);
	buf_addf(&text, "%s%s", s->at.function ? s->at.function : "",
		 s->at.function && s->at.file ? ", " : "");
	describe_place(&s->at, &text);
	cell(out, "", buf_string(&text));
	buf_free(&text);
	cell(out, "<code>", s->at.source);
	cell(out, "", s->locks);
	buf_add_text(out, "</tr>\n");
}

static void add_steps(const struct report_bug *b, struct buf *out)
{
	if (!b->step_count)
		return;
	buf_add_text(out, "<section aria-labelledby=\"all\"><h2 id=\"all\">Step by "
			  "step</h2>\n<table class=\"steps\"><thead><tr>"
			  "<th scope=\"col\">Thread</th><th scope=\"col\">Action</th><th "
			  "scope=\"col\">Place</th><th scope=\"col\">Source</th><th "
			  "scope=\"col\">Locks held</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < b->step_count; i++)
		add_step_row(b, i, out);
	buf_add_text(out, "</tbody></table></section>\n");
}

static void add_stack(const struct report_bug *b, const struct report_step *s, struct buf *out)
{
	struct buf text = { 0 };

	buf_addf(out, "<li><h3>%u. ", s->number);
	describe_thread(b, s->thread, &text);
	buf_add_char(&text, ' ');
	describe_step(b, s, &text);
	text_of(out, &text);
	buf_add_text(out, "</h3><ol>");
	for (size_t i = 0; i < s->stack_count; i++) {
		const struct report_place *at = &s->stack[i];

		buf_add_text(out, "<li>");
		escape_html(out, at->function ? at->function : "?");
		buf_add_text(out, " <span class=\"dim\">");
		describe_place(at, &text);
		text_of(out, &text);
		buf_add_text(out, "</span></li>");
	}
	buf_add_text(out, "</ol></li>\n");
}

static void add_stacks(const struct report_bug *b, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < b->step_count; i++) {
		if (!b->steps[i].stack_count)
			continue;
		if (!any)
			buf_add_text(out, "<section aria-labelledby=\"stacks\"><h2 "
					  "id=\"stacks\">Call stacks</h2>\n<ul class=\"cards\">\n");
		any = true;
		add_stack(b, &b->steps[i], out);
	}
	if (any)
		buf_add_text(out, "</ul></section>\n");
}

static void add_objects(const struct report_bug *b, struct buf *out)
{
	if (!b->object_count)
		return;
	buf_add_text(out, "<section aria-labelledby=\"objects\"><h2 id=\"objects\">Memory and "
			  "locks involved</h2>\n<dl>\n");
	for (size_t i = 0; i < b->object_count; i++) {
		struct buf name = { 0 };

		buf_add_text(out, "<dt>");
		describe_object(b->objects[i].name, &name);
		text_of(out, &name);
		buf_add_text(out, "</dt><dd>");
		escape_html(out, b->objects[i].text);
		buf_add_text(out, "</dd>\n");
	}
	buf_add_text(out, "</dl></section>\n");
}

static void add_turns(const struct report_bug *b, const struct report_turns *t, const char *name,
		      struct buf *out)
{
	/* A long schedule is shown around the first difference. */
	size_t differ = b->first_different_turn;
	size_t before = TURNS_SHOWN / 2;
	size_t from = differ != REPORT_NONE && differ > before ? differ - before : 0;

	buf_addf(out,
		 "<table><caption class=\"dim\">%s</caption><thead><tr><th scope=\"col\">Turn</th>"
		 "<th scope=\"col\">Thread</th><th scope=\"col\">Action</th></tr></thead><tbody>\n",
		 name);
	for (size_t i = from; i < t->count && i < from + TURNS_SHOWN; i++) {
		buf_addf(out, "<tr%s><td>%zu%s</td><td>", i == differ ? " class=\"first\"" : "",
			 i + 1, i == differ ? " ← first difference" : "");
		escape_html(out, t->at[i].thread);
		buf_add_text(out, "</td><td>");
		escape_html(out, t->at[i].what);
		buf_add_text(out, "</td></tr>\n");
	}
	if (t->count > from + TURNS_SHOWN)
		buf_addf(out,
			 "<tr><td colspan=\"3\">%zu more turns are in the file of the "
			 "schedule</td></tr>\n",
			 t->count - from - TURNS_SHOWN);
	buf_add_text(out, "</tbody></table>\n");
}

static void add_schedule(const struct report_bug *b, struct buf *out)
{
	if (!b->failing.count)
		return;
	buf_add_text(out, "<section aria-labelledby=\"schedule\"><h2 id=\"schedule\">The "
			  "schedule</h2>\n<div class=\"two\">\n<div>");
	add_turns(b, &b->failing, "This run fails", out);
	buf_add_text(out, "</div><div>");
	if (b->passing.count)
		add_turns(b, &b->passing, "The nearest run that passes", out);
	else
		buf_add_text(
			out,
			"<p class=\"dim\">No run that passes was found near the failing one.</p>");
	buf_add_text(out, "</div></div></section>\n");
}

/* The command that replays another schedule of the bug's folder. */
static void add_replay(const struct report_bug *b, const char *schedule, struct buf *out)
{
	struct buf text = { 0 };

	describe_replay_command(b, schedule, &text);
	buf_add_text(out, "<p class=\"dim\"><code>");
	text_of(out, &text);
	buf_add_text(out, "</code></p>");
}

static void add_symptoms(const struct report_bug *b, struct buf *out)
{
	if (b->symptom_count < 2)
		return;
	buf_addf(out,
		 "<section aria-labelledby=\"ways\"><h2 id=\"ways\">Failures with this cause "
		 "(%zu)</h2>\n<ul>\n",
		 b->symptom_count);
	for (size_t i = 0; i < b->symptom_count; i++) {
		buf_add_text(out, "<li>");
		escape_html(out, b->symptoms[i].text ? b->symptoms[i].text : "a failure");
		if (b->symptoms[i].schedule)
			add_replay(b, b->symptoms[i].schedule, out);
		buf_add_text(out, "</li>\n");
	}
	buf_add_text(out, "</ul></section>\n");
}

static void add_interleavings(const struct report_bug *b, struct buf *out)
{
	if (b->interleaving_count < 2)
		return;		/* the picture shows the only one */
	buf_addf(out,
		 "<section aria-labelledby=\"orders\"><h2 id=\"orders\">All orders that were "
		 "proved to fail (%zu)</h2>\n"
		 "<ul class=\"cards\">\n",
		 b->interleaving_count);
	for (size_t i = 0; i < b->interleaving_count; i++) {
		const struct report_interleaving *in = &b->interleavings[i];
		struct buf label = { 0 };

		buf_add_text(out, "<li><h3>");
		buf_addf(&label, "%zu. %s", i + 1, in->pattern ? in->pattern : "an order");
		escape_html(out, buf_string(&label));
		buf_add_text(out, "</h3>");
		svg_events(in->events, in->count, buf_string(&label), out);
		buf_free(&label);
		if (in->schedule)
			add_replay(b, in->schedule, out);
		buf_add_text(out, "</li>\n");
	}
	buf_add_text(out, "</ul></section>\n");
}

static void add_output(const char *id, const char *title, const char *text, struct buf *out)
{
	if (!text)
		return;
	buf_addf(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2><pre tabindex=\"0\">",
		 id, id, title);
	escape_html(out, text);
	buf_add_text(out, "</pre></section>\n");
}

static void fact(struct buf *out, const char *name, struct buf *text)
{
	if (text->size) {
		buf_addf(out, "<dt>%s</dt><dd>", name);
		escape_html(out, buf_string(text));
		buf_add_text(out, "</dd>\n");
	}
	buf_free(text);
}

static void add_facts(const struct report_bug *b, struct buf *out)
{
	struct buf text = { 0 };

	buf_add_text(
		out,
		"<section aria-labelledby=\"facts\"><h2 id=\"facts\">About this bug</h2>\n<dl>\n");
	buf_addf(&text, "%s%s%s", b->class ? b->class : "", b->pattern ? ", " : "",
		 b->pattern ? b->pattern : "");
	fact(out, "Class", &text);
	if (b->cause)
		buf_add_text(&text, strcmp(b->cause, "predicted") == 0
					    ? "predicted from runs that passed: the program was "
					      "then run in this order and failed"
					    : "likely: found in the failing run, as the order that "
					      "best sets it apart from runs that pass");
	fact(out, "Cause", &text);
	if (b->strategy)
		buf_addf(&text, "run %llu, strategy %s, seed %llu",
			 (unsigned long long)b->runs_to_first, b->strategy,
			 (unsigned long long)b->seed);
	fact(out, "Found by", &text);
	if (b->length)
		buf_addf(&text, "%llu steps", (unsigned long long)b->length);
	if (b->length && b->has_switches)
		buf_addf(&text, ", %llu switches between threads", (unsigned long long)b->switches);
	fact(out, "Length", &text);
	if (b->program)
		buf_add_text(&text, b->program);
	fact(out, "Program", &text);
	buf_addf(&text, "snarl dump %s/trace.snarl", b->path);
	fact(out, "All events", &text);
	buf_add_text(out, "</dl>\n");
	for (size_t i = 0; i < b->note_count; i++) {
		buf_add_text(&text, b->notes[i]);
		html_paragraph(out, "dim", &text);
	}
	buf_add_text(out, "</section>\n");
}

static void html_bug(const struct report_bug *b, bool index, struct buf *out)
{
	struct buf title = { 0 }, full = { 0 };

	describe_title(b, &title);
	buf_addf(&full, "%s: %s", b->id, buf_string(&title));
	html_begin(out, buf_string(&full));
	buf_free(&full);
	buf_add_text(out, "<header><div><p class=\"meta\">");
	if (index)
		buf_add_text(out, "<a href=\"../../index.html\">All bugs</a> · ");
	escape_html(out, b->id);
	if (b->command) {
		buf_add_text(out, " · <code>");
		escape_html(out, b->command);
		buf_add_text(out, "</code>");
	}
	buf_add_text(out, "</p>\n<h1>");
	text_of(out, &title);
	buf_add_text(out, "</h1></div>\n");
	add_replay_box(b, out);
	buf_add_text(out, "</header>\n<div class=\"top\">\n");
	add_story(b, out);
	add_picture(b, out);
	buf_add_text(out, "</div>\n");
	html_passing(b, out);
	add_interleavings(b, out);
	add_symptoms(b, out);
	add_steps(b, out);
	add_stacks(b, out);
	add_objects(b, out);
	add_schedule(b, out);
	add_output("stdout", "Standard output of the run", b->output, out);
	add_output("stderr", "Standard error of the run", b->errors, out);
	add_facts(b, out);
	html_end(out);
}

static void html_all(const struct report *r, const struct report_style *style, struct buf *out)
{
	(void)style;
	if (r->single)
		html_bug(&r->bugs[0], false, out);
	else
		html_index(r, out);
}

const struct report_format report_html = {
	.name = "html", .summary = "a page per bug and an index, as files beside the results",
	.all = html_all, .bug = html_bug, .all_file = "index.html", .bug_file = "report.html",
};
