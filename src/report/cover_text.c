/*
 * Coverage as text, and the comparison of two states.
 */
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "report/cover.h"
#include "report/escape.h"

#define CURVE_ROWS 10u	/* rows of the growth table, spread over all runs */
#define NAME_WIDTH 24u	/* columns */

static void add_row(struct buf *out, const char *name, size_t columns,
		    const struct cover_figures *f)
{
	/* printf() counts bytes, of which arrows and dots have several. */
	int width = (int)(columns + strlen(name) - escape_width(name));

	buf_addf(out, "  %-*s %8llu %9llu %11llu %7.1f %%\n", width, name,
		 (unsigned long long)f->at[COVER_EXPOSED],
		 (unsigned long long)f->at[COVER_UNTESTED],
		 (unsigned long long)f->at[COVER_INFEASIBLE], cover_percent(f));
}

static void add_idioms(const struct cover_state *s, struct buf *out)
{
	static const char *const shapes[IROOT_IDIOMS + 1] = {
		"", "A → B", "A → B → C", "A → B … C → D, 1 var.", "A → B … C → D, 2 var.",
		"A … D, C … B crossing", "A … C, B … D along",
	};
	char name[64];

	buf_addf(out, "  %-24s %8s %9s %11s\n", "idiom", "exposed", "untested", "infeasible");
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++) {
		snprintf(name, sizeof(name), "%u  %s", i, shapes[i]);
		add_row(out, name, NAME_WIDTH, &s->idioms[i]);
	}
	add_row(out, "all", NAME_WIDTH, &s->all);
}

static void add_files(const struct cover_state *s, struct buf *out)
{
	size_t width = NAME_WIDTH;

	for (size_t i = 0; i < s->file_count; i++)
		if (escape_width(s->files[i].name) > width)
			width = escape_width(s->files[i].name);
	if (s->file_count)
		buf_addf(out, "\n  %-*s %8s %9s %11s\n", (int)width, "file", "exposed", "untested",
			 "infeasible");
	for (size_t i = 0; i < s->file_count; i++) {
		struct buf name = { 0 };

		escape_terminal(&name, *s->files[i].name ? s->files[i].name : "(no source)",
				SIZE_MAX, false);
		add_row(out, buf_string(&name), width, &s->files[i].figures);
		buf_free(&name);
	}
}

static void add_curve(const struct cover_state *s, struct buf *out)
{
	size_t step = (s->point_count + CURVE_ROWS - 1) / CURVE_ROWS;

	if (!s->point_count)
		return;
	buf_addf(out, "\n  %-8s %8s %8s\n", "run", "exposed", "known");
	for (size_t i = 0; i < s->point_count; i++)
		if ((i + 1) % step == 0 || i + 1 == s->point_count)
			buf_addf(out, "  %-8llu %8llu %8llu\n",
				 (unsigned long long)s->points[i].run,
				 (unsigned long long)s->points[i].exposed,
				 (unsigned long long)s->points[i].known);
}

/* Appends a line for each of the first `most` iRoots that wanted() accepts. */
static void add_items(const struct cover_state *s, size_t most, struct buf *out,
		      bool (*wanted)(const void *ctx, const struct cover_item *item),
		      const void *ctx)
{
	size_t shown = 0, left = 0;
	struct buf text = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		if (!wanted(ctx, &s->items[i]))
			continue;
		if (shown == most) {
			left++;
			continue;
		}
		shown++;
		buf_clear(&text);
		cover_describe(s, &s->items[i], &text);
		buf_addf(out, "  %u  ", s->items[i].idiom);
		escape_terminal(out, buf_string(&text), SIZE_MAX, false);
		buf_add_char(out, '\n');
	}
	if (left)
		buf_addf(out, "  … and %zu more\n", left);
	buf_free(&text);
}

static bool is_untested(const void *ctx, const struct cover_item *item)
{
	(void)ctx;
	return item->verdict == COVER_UNTESTED;
}

void cover_text(const struct cover_state *s, size_t most, struct buf *out)
{
	buf_addf(out, "%s: %.1f %% of the known iRoots are exposed, in %llu run%s\n\n", s->program,
		 cover_percent(&s->all), (unsigned long long)s->runs, plural(s->runs));
	add_idioms(s, out);
	add_files(s, out);
	add_curve(s, out);
	if (s->all.at[COVER_UNTESTED] && most) {
		buf_add_text(out, "\nUntested, by idiom:\n");
		add_items(s, most, out, is_untested, NULL);
	}
}

/* Two states that are compared. */
struct comparing {
	const struct cover_state *of;		/* the state whose items are listed */
	const struct cover_index *other;	/* index of the other state */
};

static bool is_new_untested(const void *ctx, const struct cover_item *item)
{
	const struct comparing *c = ctx;

	return item->verdict == COVER_UNTESTED && !cover_index_find(c->other, c->of, item);
}

static bool is_lost(const void *ctx, const struct cover_item *item)
{
	const struct comparing *c = ctx;
	const struct cover_item *now = cover_index_find(c->other, c->of, item);

	return item->verdict == COVER_EXPOSED && now && now->verdict != COVER_EXPOSED;
}

void cover_diff(const struct cover_state *old, const struct cover_state *now,
		struct cover_diff *out)
{
	struct cover_index *before = cover_index_new(old), *after = cover_index_new(now);

	*out = (struct cover_diff){ 0 };
	for (size_t i = 0; i < now->count; i++) {
		const struct cover_item *was = cover_index_find(before, now, &now->items[i]);

		out->exposed += now->items[i].verdict == COVER_EXPOSED &&
				(!was || was->verdict != COVER_EXPOSED);
		out->untested += now->items[i].verdict != COVER_EXPOSED && !was;
	}
	for (size_t i = 0; i < old->count; i++) {
		const struct cover_item *is = cover_index_find(after, old, &old->items[i]);

		out->gone += !is;
		out->lost += is && old->items[i].verdict == COVER_EXPOSED &&
			     is->verdict != COVER_EXPOSED;
	}
	cover_index_free(before);
	cover_index_free(after);
}

void cover_diff_text(const struct cover_state *old, const struct cover_state *now, size_t most,
		     struct buf *out)
{
	struct cover_index *before = cover_index_new(old), *after = cover_index_new(now);
	const struct comparing new = { .of = now, .other = before },
			       lost = { .of = old, .other = after };
	struct cover_diff d;

	cover_diff(old, now, &d);
	buf_addf(out,
		 "%s: %.1f %%, %.1f %% before: %llu newly exposed, %llu new and untested, "
		 "%llu no longer exposed, %llu removed with their code\n",
		 now->program, cover_percent(&now->all), cover_percent(&old->all),
		 (unsigned long long)d.exposed, (unsigned long long)d.untested,
		 (unsigned long long)d.lost, (unsigned long long)d.gone);
	if (d.lost) {
		buf_add_text(out, "\nNo longer exposed:\n");
		add_items(old, most, out, is_lost, &lost);
	}
	if (d.untested) {
		buf_add_text(out, "\nNew and untested:\n");
		add_items(now, most, out, is_new_untested, &new);
	}
	cover_index_free(before);
	cover_index_free(after);
}
