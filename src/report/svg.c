#include "report/svg.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/describe.h"
#include "report/escape.h"

/* Lengths are in units of the view box, about a pixel each. */
#define HEAD 44			/* height of the thread names */
#define SLOTS 4			/* bars side by side; further ones overlap */
#define TARGET_WIDTH 1040	/* width of a wide picture, if the number of threads allows it */

struct row_layout {
	int y, height;
	int right;	/* right end of the text or card */
};

struct picture {
	const struct report_bug *bug;
	bool wide;
	const char *id;
	struct buf *out;
	int column;		/* wide: width of a column; narrow: distance of lifelines */
	int text;		/* distance of texts from the lifeline (narrow: left edge) */
	int width, height;
	unsigned slots;		/* greatest number of bars side by side */
	unsigned *slot;		/* [bar_count] slot of each bar, from 0 at the lifeline */
	struct row_layout *rows;
};

static int lifeline(const struct picture *p, size_t thread)
{
	return p->wide ? (int)thread * p->column + 14 : (int)thread * p->column + 10;
}

static int text_left(const struct picture *p, size_t thread)
{
	return p->wide ? lifeline(p, thread) + p->text : p->text;
}

static int text_right(const struct picture *p, size_t thread)
{
	return p->wide ? (int)(thread + 1) * p->column - 22 : p->width - 2;
}

/* Events of the cause and failures are cards with their source line; others are a line of text. */
static bool is_card(const struct report_step *s)
{
	return s->role != REPORT_CONTEXT;
}

/* Assigns slots so that overlapping bars of a thread are side by side. */
static void layout_bars(struct picture *p)
{
	const struct report_bug *b = p->bug;

	p->slot = xcalloc(b->bar_count + 1, sizeof(*p->slot));
	for (size_t i = 0; i < b->bar_count; i++) {
		for (size_t k = 0; k < i; k++)
			if (b->bars[k].thread == b->bars[i].thread &&
			    b->bars[k].to >= b->bars[i].from && p->slot[k] >= p->slot[i])
				p->slot[i] = p->slot[k] + 1;
		if (p->slot[i] >= SLOTS)
			p->slot[i] = SLOTS - 1;
		if (p->slot[i] + 1 > p->slots)
			p->slots = p->slot[i] + 1;
	}
}

static int characters(const struct buf *text)
{
	int n = 0;

	for (size_t i = 0; i < text->size; i++)
		n += (text->data[i] & 0xc0) != 0x80;
	return n;
}

/* "bank.c:22"; only ":22" if that is wider than `room` and all steps are in one file. */
static void short_place(const struct picture *p, const struct report_step *s, int room,
			struct buf *out)
{
	describe_place(&s->at, out);
	if (s->at.line && characters(out) * 7 > room && describe_common_file(p->bug)) {
		buf_clear(out);
		buf_addf(out, ":%u", s->at.line);
	}
}

/* "locks lock · bank.c:21" */
static void context_text(const struct picture *p, const struct report_step *s, struct buf *out)
{
	struct buf place = { 0 };

	if (!p->wide)
		buf_addf(out, "%s ", p->bug->threads[s->thread].name);
	describe_step(p->bug, s, out);
	if (!s->at.file)
		return;
	short_place(p, s,
		    text_right(p, s->thread) - text_left(p, s->thread) - characters(out) * 13 / 2 -
			    12,
		    &place);
	buf_addf(out, " · %s", buf_string(&place));
	buf_free(&place);
}

static void layout_rows(struct picture *p)
{
	const struct report_bug *b = p->bug;
	int y = HEAD + 8;

	p->rows = xcalloc(b->step_count + 1, sizeof(*p->rows));
	for (size_t i = 0; i < b->step_count; i++) {
		const struct report_step *s = &b->steps[i];
		struct buf text = { 0 };

		if (s->skipped)
			y += 20;
		p->rows[i].y = y;
		p->rows[i].height = is_card(s) ? 46 : 20;
		y += p->rows[i].height + (is_card(s) ? 10 : 2);
		p->rows[i].right = text_right(p, s->thread);
		if (!is_card(s)) {
			context_text(p, s, &text);
			if (text_left(p, s->thread) + characters(&text) * 13 / 2 < p->rows[i].right)
				p->rows[i].right =
					text_left(p, s->thread) + characters(&text) * 13 / 2;
			buf_free(&text);
		}
	}
	p->height = y + 12;
}

static int middle(const struct picture *p, size_t row)
{
	return p->rows[row].y + p->rows[row].height / 2;
}

static void cut_text(struct picture *p, const struct buf *text, int room, int per_character)
{
	struct buf copy = { 0 };

	buf_add(&copy, text->data, text->size);
	escape_html_cut(p->out, buf_string(&copy),
			room > per_character ? (size_t)(room / per_character) : 1);
	buf_free(&copy);
}

static void draw_head(struct picture *p)
{
	const struct report_bug *b = p->bug;

	for (size_t i = 0; i < b->thread_count; i++) {
		int x = lifeline(p, i);
		struct buf name = { 0 };

		buf_addf(p->out,
			 "<g class=\"t%zu\"><line class=\"life\" x1=\"%d\" y1=\"%d\" x2=\"%d\" "
			 "y2=\"%d\"/>",
			 report_colour(b, i), x, HEAD - 4, x, p->height);
		if (p->wide) {
			buf_addf(p->out,
				 "<rect class=\"head\" x=\"%d\" y=\"2\" width=\"%d\" height=\"34\" "
				 "rx=\"6\"/>",
				 x - 8, p->column - 28);
			describe_thread(b, i, &name);
			buf_addf(p->out, "<text class=\"name\" x=\"%d\" y=\"24\">", x + 2);
			cut_text(p, &name, p->column - 44, 8);
			buf_add_text(p->out, "</text>");
		} else {
			buf_addf(p->out,
				 "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"start\" "
				 "transform=\"rotate(-40 %d %d)\">",
				 x + 4, HEAD - 8, x + 4, HEAD - 8);
			buf_add_text(&name, b->threads[i].name);
			cut_text(p, &name, 32, 8);
			buf_add_text(p->out, "</text>");
		}
		buf_add_text(p->out, "</g>\n");
		buf_free(&name);
	}
}

static unsigned lock_colour(const struct report_bug *b, const char *lock)
{
	unsigned colour = 0;

	for (size_t i = 0; i < b->bar_count; i++) {
		bool first = true;

		if (strcmp(b->bars[i].lock, lock) == 0)
			return colour % 4;
		for (size_t k = 0; k < i; k++)
			first = first && strcmp(b->bars[k].lock, b->bars[i].lock) != 0;
		colour += first;
	}
	return 0;
}

static void draw_bars(struct picture *p)
{
	const struct report_bug *b = p->bug;

	for (size_t i = 0; i < b->bar_count; i++) {
		const struct report_bar *bar = &b->bars[i];
		int top = p->rows[bar->from].y + 2,
		    end = p->rows[bar->to].y + p->rows[bar->to].height - 2;

		buf_addf(p->out,
			 "<rect class=\"bar l%u%s\" x=\"%d\" y=\"%d\" width=\"5\" height=\"%d\" "
			 "rx=\"2\"><title>thread ",
			 lock_colour(b, bar->lock), bar->open ? " open" : "",
			 lifeline(p, bar->thread) + 7 + 7 * (int)p->slot[i], top, end - top);
		escape_html(p->out, b->threads[bar->thread].name);
		buf_add_text(p->out, " holds ");
		escape_html(p->out, bar->lock);
		buf_add_text(p->out, "</title></rect>\n");
	}
}

static void draw_gap(struct picture *p, size_t row)
{
	uint64_t skipped = p->bug->steps[row].skipped;

	if (!skipped)
		return;
	buf_addf(p->out, "<text class=\"gap\" x=\"%d\" y=\"%d\">⋮ %llu %sevent%s</text>\n",
		 text_left(p, p->bug->steps[row].thread), p->rows[row].y - 6,
		 (unsigned long long)skipped, row ? "more " : "earlier ", skipped == 1 ? "" : "s");
}

static const char *role_class(const struct report_step *s)
{
	return s->role == REPORT_FAILURE ? "failure" : s->role == REPORT_CONTEXT ? "context" :
	       s->pending ? "cause unreached" : "cause";
}

/* The text of a step for screen readers. */
static void label(struct picture *p, size_t row)
{
	const struct report_step *s = &p->bug->steps[row];
	struct buf text = { 0 };

	if (s->number)
		buf_addf(&text, "Step %u. ", s->number);
	describe_thread(p->bug, s->thread, &text);
	buf_add_char(&text, ' ');
	describe_step(p->bug, s, &text);
	if (s->at.file) {
		buf_add_text(&text, " at ");
		describe_place(&s->at, &text);
	}
	if (s->locks)
		buf_addf(&text, ", holding %s", s->locks);
	escape_html(p->out, buf_string(&text));
	buf_free(&text);
}

static void draw_card(struct picture *p, size_t row)
{
	const struct report_step *s = &p->bug->steps[row];
	int x = text_left(p, s->thread), right = text_right(p, s->thread), y = p->rows[row].y,
	    at = x + 10;
	struct buf what = { 0 }, place = { 0 };

	buf_addf(p->out, "<a href=\"#step-%zu\" class=\"%s t%zu\" aria-label=\"", row + 1,
		 role_class(s), report_colour(p->bug, s->thread));
	label(p, row);
	buf_addf(p->out,
		 "\"><rect class=\"card\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"46\" rx=\"6\"/>",
		 x, y, right - x);
	if (s->number || s->role == REPORT_FAILURE) {
		buf_addf(p->out,
			 "<circle class=\"badge\" cx=\"%d\" cy=\"%d\" r=\"9\"/><text class=\"num\" "
			 "x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
			 x + 16, y + 15, x + 16, y + 19);
		if (s->number)
			buf_addf(p->out, "%u</text>", s->number);
		else
			buf_add_text(p->out, "✗</text>");
		at = x + 31;
	}
	if (!p->wide)
		buf_addf(&what, "%s ", p->bug->threads[s->thread].name);
	describe_step(p->bug, s, &what);
	short_place(p, s, right - at - 16 - characters(&what) * 8, &place);
	buf_addf(p->out, "<text class=\"what\" x=\"%d\" y=\"%d\">", at, y + 20);
	cut_text(p, &what, right - at - 16 - characters(&place) * 7, 8);
	buf_addf(p->out, "</text><text class=\"place\" x=\"%d\" y=\"%d\" text-anchor=\"end\">",
		 right - 8, y + 19);
	escape_html(p->out, buf_string(&place));
	buf_addf(p->out, "</text><text class=\"code\" x=\"%d\" y=\"%d\">", x + 10, y + 38);
	escape_html_cut(p->out, s->at.source ? s->at.source : s->at.function ? s->at.function : "",
			(size_t)(right - x - 18) * 10 / 73);
	buf_add_text(p->out, "</text></a>\n");
	buf_free(&what);
	buf_free(&place);
}

static void draw_line(struct picture *p, size_t row)
{
	const struct report_step *s = &p->bug->steps[row];
	int x = text_left(p, s->thread);
	struct buf text = { 0 };

	context_text(p, s, &text);
	buf_addf(p->out, "<text class=\"line%s\" x=\"%d\" y=\"%d\">", s->pending ? " pending" : "",
		 x, p->rows[row].y + 15);
	cut_text(p, &text, 2 * (text_right(p, s->thread) - x), 13);
	if (s->at.source) {
		buf_add_text(p->out, "<title>");
		escape_html(p->out, s->at.source);
		buf_add_text(p->out, "</title>");
	}
	buf_add_text(p->out, "</text>\n");
	buf_free(&text);
}

static void draw_rows(struct picture *p)
{
	for (size_t i = 0; i < p->bug->step_count; i++) {
		const struct report_step *s = &p->bug->steps[i];

		draw_gap(p, i);
		buf_addf(p->out, "<circle class=\"dot t%zu %s\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n",
			 report_colour(p->bug, s->thread), role_class(s), lifeline(p, s->thread),
			 middle(p, i), is_card(s) ? 5 : 3);
		if (is_card(s))
			draw_card(p, i);
		else
			draw_line(p, i);
	}
}

static void draw_arrow(struct picture *p, const struct report_arrow *a)
{
	static const char *const name[] = { "conflict", "handover", "wait" };
	size_t from = p->bug->steps[a->from].thread, to = p->bug->steps[a->to].thread;
	bool rightwards = to > from;
	int x1 = rightwards && p->wide ? p->rows[a->from].right + 2
				       : lifeline(p, from) + (rightwards ? 6 : -6);
	int x2 = !rightwards && p->wide ? p->rows[a->to].right + 4
					: lifeline(p, to) + (rightwards ? -7 : 7);
	int y1 = middle(p, a->from), y2 = middle(p, a->to), bend = rightwards ? 26 : -26;

	if (!p->wide)
		bend /= 2;
	buf_addf(p->out,
		 "<path class=\"arrow %s\" marker-end=\"url(#%s-%s)\" d=\"M%d %d C%d %d %d %d %d "
		 "%d\"/>\n",
		 name[a->kind], p->id, name[a->kind], x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2);
}

static void draw_markers(struct picture *p)
{
	static const char *const name[] = { "conflict", "handover", "wait" };

	buf_add_text(p->out, "<defs>");
	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		buf_addf(p->out,
			 "<marker id=\"%s-%s\" class=\"tip %s\" viewBox=\"0 0 8 8\" refX=\"6\" "
			 "refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
			 "markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
			 "<path d=\"M0 0 L8 4 L0 8 z\"/></marker>",
			 p->id, name[i], name[i]);
	buf_add_text(p->out, "</defs>\n");
}

void svg_bug(const struct report_bug *b, enum svg_form form, const char *id, struct buf *out)
{
	struct picture p = { .bug = b, .wide = form == SVG_WIDE, .id = id, .out = out };
	int threads = b->thread_count ? (int)b->thread_count : 1;

	layout_bars(&p);
	if (p.wide) {
		p.column = TARGET_WIDTH / threads;
		p.column = p.column < 260 ? 260 : p.column > 480 ? 480 : p.column;
		p.text = 16 + 7 * (int)p.slots;
		p.width = p.column * threads;
	} else {
		p.width = 358;
		p.column = 22 + 7 * (int)p.slots;
		if (p.column * threads > 120)
			p.column = 120 / threads;
		p.text = p.column * threads + 12;
	}
	layout_rows(&p);
	buf_addf(out,
		 "<svg class=\"picture %s\" role=\"group\" aria-label=\"The interleaving, a %s per "
		 "thread, time downwards\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		 "style=\"min-width:%dpx\">\n",
		 p.wide ? "wide" : "narrow", p.wide ? "column" : "line", p.width, p.height, p.width,
		 p.wide ? p.width * 3 / 4 : 0);
	draw_markers(&p);
	draw_head(&p);
	draw_bars(&p);
	for (size_t i = 0; i < b->arrow_count; i++)
		draw_arrow(&p, &b->arrows[i]);
	draw_rows(&p);
	buf_add_text(out, "</svg>\n");
	free(p.slot);
	free(p.rows);
}

static const char *thread_of(const struct report_site *s)
{
	return s->thread ? s->thread : "?";
}

/*
 * Returns the lane of the i-th event's thread: lanes are in the order of first events. *lanes is
 * the number of threads up to that event.
 */
static size_t lane_of(const struct report_site *sites, size_t i, size_t *lanes)
{
	size_t lane = REPORT_NONE;

	*lanes = 0;
	for (size_t k = 0; k <= i; k++) {
		bool first = true;

		for (size_t n = 0; n < k; n++)
			first = first && strcmp(thread_of(&sites[n]), thread_of(&sites[k])) != 0;
		if (lane == REPORT_NONE && strcmp(thread_of(&sites[k]), thread_of(&sites[i])) == 0)
			lane = *lanes;
		*lanes += first;
	}
	return lane;
}

void svg_events(const struct report_site *sites, size_t count, const char *label, struct buf *out)
{
	size_t lanes = 0, left;

	if (count)
		lane_of(sites, count - 1, &lanes);
	left = 14 + lanes * 18;
	buf_addf(out,
		 "<svg class=\"small\" role=\"img\" viewBox=\"0 0 240 %zu\" width=\"240\" "
		 "aria-label=\"",
		 count * 24 + 8);
	escape_html(out, label);
	buf_add_text(out, "\">");
	for (size_t i = 0; i < count; i++) {
		size_t all, lane = lane_of(sites, i, &all);
		struct buf text = { 0 };

		buf_addf(out, "<circle class=\"dot t%zu cause\" cx=\"%zu\" cy=\"%zu\" r=\"5\"/>",
			 1 + lane % (REPORT_COLOURS - 1), 10 + lane * 18, i * 24 + 14);
		buf_addf(&text, "%s %s ", thread_of(&sites[i]), sites[i].op);
		describe_place(&sites[i].at, &text);
		if (sites[i].object) {
			buf_add_char(&text, ' ');
			describe_object(sites[i].object, &text);
		}
		buf_addf(out, "<text class=\"line\" x=\"%zu\" y=\"%zu\">", left, i * 24 + 18);
		escape_html_cut(out, buf_string(&text), left < 200 ? (240 - left) * 10 / 68 : 4);
		buf_add_text(out, "</text>");
		buf_free(&text);
	}
	buf_add_text(out, "</svg>\n");
}
