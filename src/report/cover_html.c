/*
 * The page of a program's coverage: tables, growth over runs, and the untested iRoots with their
 * lines of source.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "report/cover.h"
#include "report/escape.h"
#include "report/html.h"

#define LIST_MOST 1000u	/* iRoots listed of each kind */
#define LINE_MOST 120u	/* characters of a source line */
#define WIDTH 640.0	/* of the growth curve, in units of its view box */
#define HEIGHT 220.0
#define EDGE 48.0

/* Source files, each read once. */
struct sources {
	const char *folder;	/* where relative names start */
	struct strmap at;	/* name to index in `files`, plus 1 */
	struct buf *files;
	size_t count, capacity;
};

static void read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	size_t got;

	while (f && (got = fread(buf_reserve(out, 65536), 1, 65536, f)) > 0)
		out->size += got;
	if (f)
		fclose(f);
}

static const struct buf *source(struct sources *s, const char *file)
{
	bool added;
	uint64_t *at = strmap_put(&s->at, file, strlen(file), &added);

	if (added) {
		char *path = *file == '/' ? xstrdup(file) : xasprintf("%s/%s", s->folder, file);

		s->files = xgrow(s->files, s->count, &s->capacity, sizeof(*s->files));
		s->files[s->count] = (struct buf){ 0 };
		read_file(path, &s->files[s->count]);
		*at = ++s->count;
		free(path);
	}
	return &s->files[*at - 1];
}

/* Appends the source line of an event without indentation; nothing if the source was not found. */
static void add_source(struct sources *s, const struct cover_event *e, struct buf *out)
{
	const struct buf *text = source(s, e->file);
	const char *p = (const char *)text->data, *end = p + text->size, *stop;
	char *line;

	for (unsigned n = 1; p && p < end && n < e->line; n++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : end;
	}
	if (!p || p >= end)
		return;
	stop = memchr(p, '\n', (size_t)(end - p));
	stop = stop ? stop : end;
	while (p < stop && (*p == ' ' || *p == '\t'))
		p++;
	line = xstrndup(p, (size_t)(stop - p));
	buf_add_text(out, "<br><code class=\"dim\">");
	escape_html_cut(out, line, LINE_MOST);
	buf_add_text(out, "</code>");
	free(line);
}

static void sources_free(struct sources *s)
{
	for (size_t i = 0; i < s->count; i++)
		buf_free(&s->files[i]);
	free(s->files);
	strmap_free(&s->at);
}

static void add_row(struct buf *out, const char *name, const struct cover_figures *f)
{
	buf_add_text(out, "<tr><td>");
	escape_html(out, name);
	buf_addf(out, "</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%.1f %%</td></tr>\n",
		 (unsigned long long)f->at[COVER_EXPOSED],
		 (unsigned long long)f->at[COVER_UNTESTED],
		 (unsigned long long)f->at[COVER_INFEASIBLE], cover_percent(f));
}

static void begin_table(struct buf *out, const char *title, const char *first)
{
	buf_addf(out,
		 "<section><h2>%s</h2>\n<div "
		 "class=\"scroll\"><table><thead><tr><th>%s</th><th>Exposed</th>"
		 "<th>Untested</th><th>Infeasible</th><th>Covered</th></tr></thead><tbody>\n",
		 title, first);
}

static void add_tables(const struct cover_state *s, struct buf *out)
{
	static const char *const names[IROOT_IDIOMS + 1] = {
		"", "1: one dependency, A → B", "2: A → B → C, one variable",
		"3: A → B … C → D, one variable", "4: A → B … C → D, two variables",
		"5: crossing, A … D and C … B", "6: along, A … C and B … D",
	};

	begin_table(out, "By idiom", "Idiom");
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++)
		add_row(out, names[i], &s->idioms[i]);
	add_row(out, "All", &s->all);
	buf_add_text(out, "</tbody></table></div></section>\n");
	begin_table(out, "By file", "File");
	for (size_t i = 0; i < s->file_count; i++)
		add_row(out, *s->files[i].name ? s->files[i].name : "(no source)",
			&s->files[i].figures);
	buf_add_text(out, "</tbody></table></div></section>\n");
}

static double x_of(const struct cover_state *s, size_t i)
{
	double last = s->point_count > 1 ? (double)(s->point_count - 1) : 1;

	return EDGE + (WIDTH - 2 * EDGE) * (double)i / last;
}

static double y_of(double value, double most)
{
	return HEIGHT - EDGE / 2 - (HEIGHT - EDGE) * value / most;
}

static void add_line(const struct cover_state *s, struct buf *out, double most, bool known)
{
	size_t step = s->point_count / 400 + 1;

	buf_addf(out, "<polyline class=\"arrow %s\" points=\"", known ? "handover" : "conflict");
	for (size_t i = 0; i < s->point_count; i += step)
		buf_addf(out, "%.1f,%.1f ", x_of(s, i),
			 y_of((double)(known ? s->points[i].known : s->points[i].exposed), most));
	buf_add_text(out, "\"/>\n");
}

/* Appends the curves of iRoots known and exposed after each run. */
static void add_curve(const struct cover_state *s, struct buf *out)
{
	double most = 1;

	for (size_t i = 0; i < s->point_count; i++)
		most = (double)s->points[i].known > most ? (double)s->points[i].known : most;
	if (s->point_count < 2)
		return;
	buf_addf(out,
		 "<section><h2>Growth over runs</h2>\n"
		 "<svg class=\"picture\" viewBox=\"0 0 %.0f %.0f\" "
		 "width=\"%.0f\" role=\"img\" aria-label=\"iRoots known and exposed after each "
		 "run\">\n",
		 WIDTH, HEIGHT, WIDTH);
	add_line(s, out, most, true);
	add_line(s, out, most, false);
	buf_addf(out, "<text x=\"0\" y=\"%.0f\">%.0f</text><text x=\"0\" y=\"%.0f\">0</text>"
		 "<text x=\"%.0f\" y=\"%.0f\">%zu runs</text></svg>\n", y_of(most, most) + 4, most,
		 y_of(0, most), WIDTH - 2 * EDGE, HEIGHT - 2, s->point_count);
	buf_add_text(out, "<ul class=\"legend\"><li><i></i>exposed</li><li><i "
			  "class=\"h\"></i>known</li></ul></section>\n");
}

static void add_items(const struct cover_state *s, struct sources *sources,
		      enum cover_verdict verdict, struct buf *out)
{
	size_t shown = 0, left = 0;
	struct buf text = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		const struct cover_item *item = &s->items[i];

		if (item->verdict != verdict)
			continue;
		if (shown == LIST_MOST) {
			left++;
			continue;
		}
		shown++;
		buf_addf(out, "<tr><td>%u</td>", item->idiom);
		for (unsigned e = 0; e < IROOT_EVENTS; e++) {
			buf_add_text(out, "<td>");
			if (item->event[e]) {
				buf_clear(&text);
				cover_place(s, item->event[e], &text);
				escape_html(out, buf_string(&text));
				add_source(sources, &s->events[item->event[e] - 1], out);
			}
			buf_add_text(out, "</td>");
		}
		buf_add_text(out, "</tr>\n");
	}
	buf_add_text(out, "</tbody></table></div>\n");
	if (left)
		buf_addf(out,
			 "<p class=\"dim\">… and %zu more: <code>snarl cover --json</code> lists "
			 "all.</p>\n",
			 left);
	buf_free(&text);
}

#define LIST_HEAD "<div class=\"scroll\"><table><thead><tr><th " \
		  "style=\"white-space:nowrap\">Idiom</th><th>A</th><th>B</th><th>C</th><th>" \
		  "D</th>" \
		  "</tr></thead><tbody>\n"

void cover_html(const struct cover_state *s, const char *folder, struct buf *out)
{
	struct sources sources = { .folder = folder };
	struct buf title = { 0 };

	buf_addf(&title, "%s: %.1f %% of its known iRoots exposed", s->program,
		 cover_percent(&s->all));
	html_begin(out, buf_string(&title));
	buf_add_text(out, "<header><h1>");
	escape_html(out, buf_string(&title));
	buf_addf(out,
		 "</h1>\n<p class=\"meta\">%llu iRoots are known, %llu were exposed in %llu run%s. "
		 "An iRoot is a pattern of one or two dependencies between two threads, at sites "
		 "of the program.</p></header>\n",
		 (unsigned long long)cover_total(&s->all),
		 (unsigned long long)s->all.at[COVER_EXPOSED], (unsigned long long)s->runs,
		 plural(s->runs));
	buf_free(&title);
	add_tables(s, out);
	add_curve(s, out);
	if (s->all.at[COVER_UNTESTED]) {
		buf_add_text(out, "<section><h2>Untested</h2>\n" LIST_HEAD);
		add_items(s, &sources, COVER_UNTESTED, out);
		buf_add_text(out, "</section>\n");
	}
	if (s->all.at[COVER_INFEASIBLE]) {
		buf_add_text(out, "<section><h2>Infeasible</h2>\n<details><summary>Tried, but "
				  "never exposed</summary>\n" LIST_HEAD);
		add_items(s, &sources, COVER_INFEASIBLE, out);
		buf_add_text(out, "</details></section>\n");
	}
	html_end(out);
	sources_free(&sources);
}
