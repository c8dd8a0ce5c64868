/*
 * The text format, for terminals and report.txt: a column for each thread, time downwards. Where
 * columns would be too narrow, a line for each step that begins with the name of its thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "report/describe.h"
#include "report/escape.h"
#include "report/format.h"

#define COLUMN_LEAST 24u	/* characters */
#define WIDTH_LEAST 40u

/* A bug that is being printed. */
struct screen {
	const struct report_style *style;
	const struct report_bug *bug;
	struct buf *out;
	size_t width;		/* of the output, in characters */
	size_t column;		/* width of a column; 0: no columns, a line for each step */
	size_t *lane;		/* [thread_count] column of each thread; REPORT_NONE: hidden */
	size_t columns;		/* number of threads that have one */
	const char *file;	/* file of all steps, named once; NULL: each step names its file */
};

/* ANSI colours by report_colour(). */
static const char *const colours[REPORT_COLOURS] = {
	"37", "36", "33", "35", "32", "34", "96", "93"
};

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

/* Prints `text` cut to `room` columns, padded with blanks if `fill`. Clears `text`. */
static void put(struct screen *s, struct buf *text, size_t room, bool fill)
{
	size_t taken = escape_terminal(s->out, buf_string(text), room, s->style->ascii);

	if (fill)
		spaces(s, room - taken);
	buf_clear(text);
}

/* Prints text with line breaks between words. */
static void wrap(struct screen *s, const char *text, size_t indent)
{
	size_t room = s->width > indent + 10 ? s->width - indent : 10;

	while (*text) {
		size_t length = strcspn(text, "\n"), fit = length;
		struct buf line = { 0 };

		if (length > room)	/* bytes: multi-byte characters make lines shorter */
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

/* Prints the separators left of the thread's column. */
static void begin_row(struct screen *s, size_t thread)
{
	for (size_t i = 0; i < s->lane[thread]; i++) {
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
		bool last = s->lane[i] + 1 == s->columns;

		if (s->lane[i] == REPORT_NONE)
			continue;
		describe_thread(b, i, &name);
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
	for (size_t i = 0; i < s->columns; i++) {
		size_t line = s->column - (i + 1 < s->columns ? 2 : 3);

		for (size_t k = 0; k < line; k++)
			buf_add_text(s->out, s->style->ascii ? "-" : "─");
		if (i + 1 < s->columns)
			buf_add_text(s->out, s->style->ascii ? "+-" : "┼─");
	}
	buf_add_char(s->out, '\n');
	buf_free(&name);
}

static void gap(struct screen *s, const struct report_step *step)
{
	if (!step->skipped || s->style->brief)
		return;
	paint(s, "2");
	buf_addf(s->out, "%s %llu more event%s\n", s->style->ascii ? "..." : "⋮",
		 (unsigned long long)step->skipped, plural(step->skipped));
	paint(s, "0");
}

static void emphasis(struct screen *s, const struct report_step *step)
{
	if (step->role == REPORT_CONTEXT) {
		paint(s, "2");
		return;
	}
	paint(s, "1");
	paint(s,
	      step->role == REPORT_FAILURE ? "31" : colours[report_colour(s->bug, step->thread)]);
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
		buf_add_text(&text,
			     step->role == REPORT_FAILURE ? s->style->ascii ? "x " : "✗ " : "  ");
	describe_step(s->bug, step, &text);
	if (s->file && step->at.line)
		buf_addf(&place, ":%u", step->at.line);
	else
		describe_place(&step->at, &place);
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

/* In brief, only events of the cause and failures of their threads are shown. */
static bool is_shown(const struct screen *s, const struct report_step *step)
{
	return !s->style->brief || step->number ||
	       (step->role == REPORT_FAILURE && s->lane[step->thread] != REPORT_NONE);
}

static void layout_threads(struct screen *s)
{
	const struct report_bug *b = s->bug;

	s->columns = 0;
	s->lane = xcalloc(b->thread_count + 1, sizeof(*s->lane));
	for (size_t i = 0; i < b->thread_count; i++) {
		s->lane[i] = s->style->brief ? REPORT_NONE : s->columns;
		for (size_t k = 0; k < b->step_count; k++)
			if (b->steps[k].thread == i && b->steps[k].number)
				s->lane[i] = s->columns;
		s->columns += s->lane[i] != REPORT_NONE;
	}
}

/* Is there room for the name of the file in each step? */
static bool fits(const struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };
	bool fit = s->column >= 50;

	for (size_t i = 0; i < b->step_count && fit; i++) {
		if (!is_shown(s, &b->steps[i]))
			continue;
		describe_step(b, &b->steps[i], &text);
		describe_place(&b->steps[i].at, &text);
		fit = escape_width(buf_string(&text)) + 6 <= s->column;
		buf_clear(&text);
	}
	buf_free(&text);
	return fit;
}

static void steps(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	layout_threads(s);
	s->column = s->columns ? (s->width + 2) / s->columns : 0;
	if (s->column < COLUMN_LEAST)
		s->column = 0;
	s->file = s->column && !fits(s) ? describe_common_file(b) : NULL;
	if (s->columns)
		buf_add_char(s->out, '\n');
	if (s->columns && s->file) {
		buf_addf(&text, "in %s", s->file);
		put(s, &text, s->width, false);
		buf_add_text(s->out, "\n\n");
		buf_free(&text);
	}
	if (s->column)
		head(s);
	for (size_t i = 0; i < b->step_count; i++)
		if (is_shown(s, &b->steps[i]))
			row(s, i);
	if (s->columns)
		buf_add_char(s->out, '\n');
	free(s->lane);
}

static void effects(struct screen *s)
{
	struct buf text = { 0 }, effect = { 0 };

	for (size_t i = 0; i < s->bug->step_count; i++) {
		const struct report_step *step = &s->bug->steps[i];

		describe_effect(s->bug, step, &effect);
		if (!effect.size)
			continue;
		buf_addf(&text, "%u: ", step->number);
		describe_thread(s->bug, step->thread, &text);
		buf_add_char(&text, ' ');
		describe_step(s->bug, step, &text);
		buf_add_text(&text, buf_string(&effect));
		wrap(s, buf_string(&text), 2);
		buf_clear(&text);
		buf_clear(&effect);
	}
	buf_free(&text);
	buf_free(&effect);
}

static void outcome(struct screen *s)
{
	bool stuck = s->bug->class && strcmp(s->bug->class, "deadlock") == 0;
	struct buf text = { 0 };

	/* In brief, effects are left out where the outcome says enough. */
	if (!s->style->brief || describe_is_two_variables(s->bug) || stuck)
		effects(s);
	describe_outcome(s->bug, &text);
	wrap(s, buf_string(&text), 2);
	buf_clear(&text);
	describe_hint(s->bug, &text);
	wrap(s, buf_string(&text), 2);
	buf_clear(&text);
	if (!s->style->brief)
		describe_difference(s->bug, &text);
	wrap(s, buf_string(&text), 2);
	buf_free(&text);
}

/* Prints a line that is never broken, such as a command. */
static void line(struct screen *s, struct buf *text)
{
	spaces(s, 2);
	put(s, text, (size_t)-1, false);
	buf_add_char(s->out, '\n');
}

static void command(struct screen *s, const char *what, const char *schedule)
{
	struct buf text = { 0 };

	buf_addf(&text, "%s: ", what);
	describe_replay_command(s->bug, schedule, &text);
	line(s, &text);
	buf_free(&text);
}

/* "likely cause: Lost update on balance (atomicity/RWW)" */
static void cause(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	if (!b->cause)
		return;
	buf_add_text(&text, strcmp(b->cause, "predicted") == 0 ? "cause: " : "likely cause: ");
	if (s->style->brief) {
		describe_title(b, &text);
		buf_add_text(&text, " (");
	}
	describe_kind(b, &text);
	if (s->style->brief)
		buf_add_char(&text, ')');
	else
		buf_add_text(
			&text,
			strcmp(b->cause, "predicted") == 0
				? ", predicted from runs that passed"
				: ", the order that sets this run apart from runs that passed");
	paint(s, "1");
	wrap(s, buf_string(&text), 2);
	paint(s, "0");
	buf_free(&text);
}

static void others(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	for (size_t i = 1; i < b->interleaving_count; i++) {
		const struct report_interleaving *in = &b->interleavings[i];

		if (i == 1)
			buf_add_text(s->out, "\n  Other orders that fail:\n");
		for (size_t k = 0; k < in->count; k++) {
			buf_add_text(&text, k ? ", " : "");
			describe_site(b, &in->events[k], &text);
		}
		wrap(s, buf_string(&text), 2);
		buf_clear(&text);
		if (in->schedule)
			command(s, "  replay it", in->schedule);
	}
	for (size_t i = 1; i < b->symptom_count; i++) {
		if (i == 1)
			buf_add_text(s->out, "\n  Other failures with this cause:\n");
		buf_add_text(&text, b->symptoms[i].text ? b->symptoms[i].text : "a failure");
		wrap(s, buf_string(&text), 2);
		buf_clear(&text);
		if (b->symptoms[i].schedule)
			command(s, "  replay it", b->symptoms[i].schedule);
	}
	buf_free(&text);
}

static void facts(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	if (b->strategy)
		buf_addf(&text, "found by %s in run %llu (seed %llu)", b->strategy,
			 (unsigned long long)b->runs_to_first, (unsigned long long)b->seed);
	if (b->strategy && b->has_switches)
		buf_addf(&text, ", minimised to %llu switch%s between threads",
			 (unsigned long long)b->switches, b->switches == 1 ? "" : "es");
	if (b->replays)
		buf_addf(&text, "%sreplayed %llu of %llu time%s", text.size ? "; " : "",
			 (unsigned long long)b->replays_failed, (unsigned long long)b->replays,
			 plural(b->replays));
	wrap(s, buf_string(&text), 2);
	buf_free(&text);
}

/* Prints the output of the run, without control characters. */
static void output(struct screen *s, const char *name, const char *text)
{
	struct buf one = { 0 };

	if (!text)
		return;
	buf_addf(s->out, "\n--- %s of the run ---\n", name);
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		buf_add(&one, text, strcspn(text, "\n"));
		put(s, &one, (size_t)-1, false);
		buf_add_char(s->out, '\n');
	}
	buf_free(&one);
}

static void failure(struct screen *s)
{
	const struct report_bug *b = s->bug;
	struct buf text = { 0 };

	if (!s->style->brief) {
		buf_addf(&text, "%s: ", b->id);
		describe_title(b, &text);
		paint(s, "1");
		wrap(s, buf_string(&text), 0);
		paint(s, "0");
		buf_clear(&text);
		paint(s, "31");
		describe_failure(b, &text);
		wrap(s, buf_string(&text), 2);
		paint(s, "0");
		buf_clear(&text);
	}
	describe_details(b, s->style->brief && !b->cause, &text);
	wrap(s, buf_string(&text), s->style->brief ? 2 : 4);
	buf_free(&text);
}

static void one_bug(struct screen *s)
{
	const struct report_bug *b = s->bug;

	failure(s);
	cause(s);
	if (s->style->brief && !b->cause)
		return;
	steps(s);
	outcome(s);
	if (s->style->brief)
		return;
	for (size_t i = 0; i < b->note_count; i++)
		wrap(s, b->notes[i], 2);
	facts(s);
	command(s, "replay it", NULL);
	if (b->passing_schedule)
		command(s, "replay the run that passes", b->passing_schedule);
	others(s);
	if (s->style->output) {
		output(s, "stdout", b->output);
		output(s, "stderr", b->errors);
	}
}

/* Appends the lines of a text as they are, each with two columns of indentation at least. */
static void lines(struct screen *s, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, "\n");
		char *line = xstrndup(text, size);

		buf_add_text(s->out, *line == ' ' ? "" : "  ");
		escape_terminal(s->out, line, SIZE_MAX, s->style->ascii);
		buf_add_char(s->out, '\n');
		free(line);
		text += size + (text[size] == '\n');
	}
}

static void finding(struct screen *s, const struct report_finding *f)
{
	escape_terminal(s->out, f->title, SIZE_MAX, s->style->ascii);
	buf_add_char(s->out, '\n');
	lines(s, f->text);
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
	for (size_t i = 0; i < r->finding_count; i++) {
		buf_add_char(out, '\n');
		finding(&s, &r->findings[i]);
	}
}

const struct report_format report_text = {
	.name = "text", .summary = "for a terminal, a column per thread", .all = text_all,
};
