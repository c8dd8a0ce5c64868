/*
 * The page of a folder of results: a card for each bug, and the figures of the last search.
 */
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "report/describe.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/svg.h"

/*
 * Adds a number of results.json; `key` is a path: "candidates.tried". Adds nothing if it is
 * missing.
 */
static void add_fact(const struct report *r, struct buf *out, const char *name, const char *key)
{
	json_t *value = r->json;
	const char *dot;

	while ((dot = strchr(key, '.'))) {
		char part[32] = "";

		memcpy(part, key, (size_t)(dot - key));
		value = json_object_get(value, part);
		key = dot + 1;
	}
	value = json_object_get(value, key);
	if (json_is_integer(value))
		buf_addf(out, "<dt>%s</dt><dd>%lld</dd>\n", name,
			 (long long)json_integer_value(value));
	else if (json_is_real(value))
		buf_addf(out, "<dt>%s</dt><dd>%.1f</dd>\n", name, json_real_value(value));
}

static void add_card(const struct report *r, const struct report_bug *b, struct buf *out)
{
	const char *folder = strrchr(b->path, '/');
	struct buf text = { 0 };
	size_t causes = 0;

	buf_add_text(out, "<li><h3><a href=\"bugs/");
	escape_html(out, folder ? folder + 1 : b->path);
	buf_add_text(out, "/report.html\">");
	describe_title(b, &text);
	escape_html(out, buf_string(&text));
	buf_add_text(out, "</a></h3>\n<p class=\"meta\"><span class=\"tag\">");
	escape_html(out, b->id);
	buf_add_text(out, "</span>");
	if (b->class) {
		buf_add_text(out, "<span class=\"tag\">");
		escape_html(out, b->class);
		buf_add_text(out, "</span>");
	}
	buf_add_text(out, report_is_current(r, b) ? "</p>\n" : "found earlier</p>\n");
	buf_clear(&text);
	describe_failure(b, &text);
	html_paragraph(out, "bad", &text);
	while (causes < b->site_count && b->sites[causes].cause)
		causes++;
	if (causes)
		svg_events(b->sites, causes, "The order that does harm", out);
	buf_add_text(out, "</li>\n");
}

static void add_findings(const struct report *r, struct buf *out)
{
	if (!r->finding_count)
		return;
	buf_add_text(out,
		     "<section aria-labelledby=\"findings\"><h2 id=\"findings\">Not proved</h2>\n"
		     "<ul class=\"cards\">\n");
	for (size_t i = 0; i < r->finding_count; i++) {
		buf_add_text(out, "<li><h3>");
		escape_html(out, r->findings[i].title);
		buf_add_text(out, "</h3>\n<pre>");
		escape_html(out, r->findings[i].text);
		buf_add_text(out, "</pre></li>\n");
	}
	buf_add_text(out, "</ul></section>\n");
}

void html_index(const struct report *r, struct buf *out)
{
	const char *name = r->program ? strrchr(r->program, '/') : NULL;
	struct buf title = { 0 };

	name = name ? name + 1 : r->program ? r->program : r->path;
	buf_addf(&title, "%s: %zu bug%s", name, r->bug_count, r->bug_count == 1 ? "" : "s");
	html_begin(out, buf_string(&title));
	buf_add_text(out, "<header><h1>");
	escape_html(out, buf_string(&title));
	buf_add_text(out, "</h1></header>\n");
	buf_free(&title);
	buf_add_text(out, "<section aria-label=\"Bugs\">\n");
	if (r->bug_count) {
		buf_add_text(out, "<ul class=\"cards\">\n");
		for (size_t i = 0; i < r->bug_count; i++)
			add_card(r, &r->bugs[i], out);
		buf_add_text(out, "</ul>\n");
	} else {
		buf_add_text(out, "<p>No run failed in a way that could be replayed.</p>\n");
	}
	buf_add_text(out, "</section>\n");
	add_findings(r, out);
	buf_add_text(
		out,
		"<section aria-labelledby=\"facts\"><h2 id=\"facts\">The last search</h2>\n<dl>\n");
	add_fact(r, out, "Runs", "runs");
	add_fact(r, out, "Seconds", "seconds");
	add_fact(r, out, "Runs that failed", "failed_runs");
	add_fact(r, out, "Failures that did not replay", "not_replayed");
	add_fact(r, out, "Inconclusive runs", "inconclusive.runs");
	add_fact(r, out, "Most threads in a run", "threads");
	add_fact(r, out, "Different interleavings", "coverage.interleavings");
	add_fact(r, out, "Orders predicted", "candidates.predicted");
	add_fact(r, out, "Orders tried", "candidates.tried");
	add_fact(r, out, "Orders proved to fail", "candidates.proved");
	add_fact(r, out, "Orders that proved harmless", "candidates.harmless");
	add_fact(r, out, "Infeasible orders", "candidates.infeasible");
	buf_add_text(out, "</dl></section>\n");
	html_end(out);
}
