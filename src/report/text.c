/*
 * For a terminal: a column per thread, time downwards. Where the columns would be too
 * narrow, a line per step with the thread's name before it.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/tell.h"

#define COLUMN_LEAST 24u
#define WIDTH_LEAST 40u

struct screen {
	const struct report_style *style;
	const struct report_bug *bug;
	struct buf *out;
	size_t width, column;	/* column 0: there are none */
	const char *file;	/* of all steps; NULL: they differ, or there is room to name it each time */
};

/* By report_colour(). */
static const char *const colours[REPORT_COLOURS] = { "37", "36", "33", "35", "32", "34", "96", "93" };

static void paint(struct screen *s, const char *code)
{
	if (s->style->colour)
		buf_addf(s->out, "\033[%sm", code);
}

static void spaces(struct screen *s, size_t count)
{
	while (count--)
		buf_add_char(s->out, ' ');
}

/* Text at most `room` wide; with blanks after it if `fill`. Clears `text`. */
static void put(struct screen *s, struct buf *text, size_t room, bool fill)
{
	size_t taken = escape_terminal(s->out, buf_string(text), room, s->style->ascii);

	if (fill)
		spaces(s, room - taken);
	buf_clear(text);
}

/* Words that go over several lines. */
static void wrap(struct screen *s, const char *text, size_t indent)
{
	size_t room = s->width > indent + 10 ? s->width - indent : 10;

	while (*text) {
		size_t length = strcspn(text, "\n"), fit = length;
		struct buf line = { 0 };

		if (length > room)	/* bytes; a line with other scripts may be shorter */
			for (fit = room; fit > 0 && text[fit] != ' '; fit--)
				;
		if (fit == 0)
			fit = length;
		buf_add(&line, text, fit);
		spaces(s, indent);
		put(s, &line, (size_t)-1, false);
		buf_add_char(s->out, '\n');
		buf_free(&line);
		text += fit;
		text += *text == ' ' || *text == '\n';
	}
}

static const char *bar(const struct screen *s)
{
	return s->style->ascii ? "| " : "│ ";
}

static void begin_row(struct screen *s, size_t thread)
{
	for (size_t i = 0; i < thread; i++) {
		spaces(s, s->column - 2);
		paint(s, "2");
		buf_add_text(s->out, bar(s));
		paint(s, "0");
	}
}

static void head(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf name = { 0 };

	for (size_t i = 0; i < b->thread_count; i++) {
		bool last = i + 1 == b->thread_count;

		tell_thread(b, i, &name);
		paint(s, "1");
		paint(s, colours[report_colour(b, i)]);
		put(s, &name, s->column - 3, !last);
		paint(s, "0");
		if (last)
			break;
		buf_add_char(s->out, ' ');
		paint(s, "2");
		buf_add_text(s->out, bar(s));
		paint(s, "0");
	}
	buf_add_char(s->out, '\n');
	for (size_t i = 0; i < b->thread_count; i++) {
		size_t line = s->column - (i + 1 < b->thread_count ? 2 : 3);

		for (size_t k = 0; k < line; k++)
			buf_add_text(s->out, s->style->ascii ? "-" : "─");
		if (i + 1 < b->thread_count)
			buf_add_text(s->out, s->style->ascii ? "+-" : "┼─");
	}
	buf_add_char(s->out, '\n');
	buf_free(&name);
}

static void gap(struct screen *s, const struct report_step *step)
{
	if (!step->skipped)
		return;
	paint(s, "2");
	buf_addf(s->out, "%s %llu more event%s\n", s->style->ascii ? "..." : "⋮",
		 (unsigned long long)step->skipped, step->skipped == 1 ? "" : "s");
	paint(s, "0");
}

static void emphasis(struct screen *s, const struct report_step *step)
{
	if (step->role == REPORT_CONTEXT) {
		paint(s, "2");
		return;
	}
	paint(s, "1");
	paint(s, step->role == REPORT_FAILURE ? "31" : colours[report_colour(s->bug, step->thread)]);
}

static void row(struct screen *s, size_t i)
{
	const struct report_step *step = &s->bug->steps[i];
	size_t room = s->column ? s->column - 3 : s->width - 8, used;
	struct buf text = { 0 }, place = { 0 };

	gap(s, step);
	if (s->column) {
		begin_row(s, step->thread);
	} else {
		buf_addf(&text, "%s", s->bug->threads[step->thread].name);
		put(s, &text, 7, true);
		buf_add_char(s->out, ' ');
	}
	if (step->number)
		buf_addf(&text, "%u ", step->number);
	else
		buf_add_text(&text, step->role == REPORT_FAILURE ? s->style->ascii ? "x " : "✗ " : "  ");
	tell_step(s->bug, step, &text);
	if (s->file && step->at.line)
		buf_addf(&place, ":%u", step->at.line);
	else
		tell_place(&step->at, &place);
	used = escape_width(buf_string(&place));
	emphasis(s, step);
	if (used + 12 > room) {
		put(s, &text, room, false);
	} else {
		put(s, &text, room - used - 1, true);
		paint(s, "0");
		buf_add_char(s->out, ' ');
		put(s, &place, used, false);
	}
	paint(s, "0");
	buf_add_char(s->out, '\n');
	if (step->role != REPORT_CONTEXT && step->at.source) {
		if (s->column)
			begin_row(s, step->thread);
		else
			spaces(s, 8);
		buf_addf(&text, "    %s", step->at.source);
		put(s, &text, room, false);
		buf_add_char(s->out, '\n');
	}
	buf_free(&text);
	buf_free(&place);
}

static void steps(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	if (!b->step_count)
		return;
	s->column = (s->width + 2) / b->thread_count;
	if (s->column < COLUMN_LEAST)
		s->column = 0;
	s->file = s->column && s->column < 50 ? tell_common_file(b) : NULL;
	buf_add_char(s->out, '\n');
	if (s->file) {
		buf_addf(&text, "in %s", s->file);
		put(s, &text, s->width, false);
		buf_add_text(s->out, "\n\n");
		buf_free(&text);
	}
	if (s->column)
		head(s);
	for (size_t i = 0; i < b->step_count; i++)
		row(s, i);
	buf_add_char(s->out, '\n');
}

static void effects(struct screen *s)
{
	struct buf text = { 0 }, effect = { 0 };

	for (size_t i = 0; i < s->bug->step_count; i++) {
		const struct report_step *step = &s->bug->steps[i];

		tell_effect(s->bug, step, &effect);
		if (!effect.size)
			continue;
		buf_addf(&text, "%u: ", step->number);
		tell_thread(s->bug, step->thread, &text);
		buf_add_char(&text, ' ');
		tell_step(s->bug, step, &text);
		buf_addf(&text, " %s", buf_string(&effect));
		wrap(s, buf_string(&text), 2);
		buf_clear(&text);
		buf_clear(&effect);
	}
	tell_outcome(s->bug, &text);
	wrap(s, buf_string(&text), 2);
	buf_clear(&text);
	tell_hint(s->bug, &text);
	wrap(s, buf_string(&text), 2);
	buf_clear(&text);
	tell_difference(s->bug, &text);
	wrap(s, buf_string(&text), 2);
	buf_free(&text);
	buf_free(&effect);
}

static void one_bug(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	buf_addf(&text, "%s: ", b->id);
	tell_title(b, &text);
	paint(s, "1");
	wrap(s, buf_string(&text), 0);
	paint(s, "0");
	buf_clear(&text);
	paint(s, "31");
	tell_failure(b, &text);
	wrap(s, buf_string(&text), 2);
	paint(s, "0");
	buf_clear(&text);
	tell_details(b, &text);
	wrap(s, buf_string(&text), 4);
	buf_clear(&text);
	steps(s);
	effects(s);
	for (size_t i = 0; i < b->note_count; i++)
		wrap(s, b->notes[i], 2);
	buf_add_text(&text, "replay it: ");
	tell_replay(b, NULL, &text);
	spaces(s, 2);
	put(s, &text, (size_t)-1, false);
	buf_add_char(s->out, '\n');
	if (b->passing_schedule) {
		buf_add_text(&text, "see it pass: ");
		tell_replay(b, b->passing_schedule, &text);
		spaces(s, 2);
		put(s, &text, (size_t)-1, false);
		buf_add_char(s->out, '\n');
	}
	buf_free(&text);
}

static void text_all(const struct report *r, const struct report_style *style, struct buf *out)
{
	struct screen s = { .style = style, .out = out,
			    .width = style->width < WIDTH_LEAST ? WIDTH_LEAST : style->width };

	for (size_t i = 0; i < r->bug_count; i++) {
		if (i)
			buf_add_char(out, '\n');
		s.bug = &r->bugs[i];
		one_bug(&s);
	}
	if (!r->bug_count)
		buf_add_text(out, "no bugs\n");
}

const struct report_format report_text = {
	.name = "text", .summary = "for a terminal, a column per thread", .all = text_all,
};
