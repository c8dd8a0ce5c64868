#include "explore/results_json.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "explore/search/uncontrolled.h"
#include "trace/read/kinds.h"

#define LIST_MOST 1000u		/* candidates in the list, the best first: bounds file size */

static void add_lead(const struct lead *lead, struct json *j, struct places *places)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead_events(lead, events);

	json_open(j, NULL, '{');
	json_text(j, "class", lead_class(lead));
	json_text(j, "pattern", pattern_row(lead->c.pattern)->name);
	json_text(j, "variable", lead->event[0].object);
	json_text(j, "outcome", lead_outcome_name(lead->outcome));
	json_text(j, "why", lead_outcome_text(lead));
	json_number(j, "runs", lead->runs);
	json_number(j, "exposed", lead->exposed);
	json_open(j, "events", '[');
	for (size_t i = 0; i < count; i++) {
		const struct candidate_event *e = &lead->c.event[events[i]];
		struct symbol_frame frame;

		places_frame(places, e->pc, &frame);
		json_open(j, NULL, '{');
		json_text(j, "thread", lead->event[events[i]].thread);
		json_text(j, "op", kind_name(e->kind));
		json_text(j, "function", frame.function ? frame.function : "");
		json_text(j, "file", frame.file ? frame.file : "");
		json_number(j, "line", frame.line);
		json_number(j, "nth", e->nth ? e->nth : 1);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

void results_candidates_json(const struct hunt_stats *h, struct json *j, struct places *places)
{
	json_open(j, "candidates", '{');
	if (h) {
		json_number(j, "predicted", h->predicted);
		json_number(j, "pruned", h->predicted - h->leads - h->suppressed);
		json_number(j, "suppressed", h->suppressed);
		json_number(j, "seen", h->seen);
		json_number(j, "doubtful", h->doubtful);
		json_number(j, "grouped", h->grouped);
		json_number(j, "tried", h->leads - h->left);
		json_number(j, "left", h->left);
		json_number(j, "proved", h->proved);
		json_number(j, "infeasible", h->infeasible);
		json_number(j, "harmless", h->harmless);
		json_number(j, "unreached", h->unreached);
		if (places)
			json_open(j, "list", '[');
		for (size_t i = 0; places && i < h->list->count && i < LIST_MOST; i++)
			add_lead(h->list->at[i], j, places);
		if (places)
			json_close(j, ']');
	}
	json_close(j, '}');
}

static void add_iroots(const struct hunt_stats *h, struct json *j)
{
	/* Number of iRoots by idiom ([0]: all) and state: exposed, untested, infeasible. */
	uint64_t at[IROOT_IDIOMS + 1][3] = { { 0 } };

	for (size_t i = 0; i < h->cover->count; i++) {
		const struct memo_root *r = &h->cover->roots[i].memo;
		unsigned verdict = r->exposed ? 0 : r->failed >= MEMO_ATTEMPTS ? 2 : 1;

		at[r->idiom][verdict]++;
		at[0][verdict]++;
	}
	json_open(j, "iroots", '[');
	for (unsigned i = 0; i <= IROOT_IDIOMS; i++) {
		json_open(j, NULL, '{');
		if (i)
			json_number(j, "idiom", i);
		json_number(j, "exposed", at[i][0]);
		json_number(j, "untested", at[i][1]);
		json_number(j, "infeasible", at[i][2]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_number(j, "chased", h->chased);
	json_number(j, "chased_exposed", h->chased_exposed);
}

static void coverage_json(const struct search_stats *stats, const struct hunt_stats *hunt,
			  struct json *j)
{
	json_open(j, "coverage", '{');
	json_number(j, "interleavings", stats->interleavings);
	json_number(j, "shared_words", stats->shared);
	/* Without --coverage no iRoots are collected: their number is unknown, not 0. */
	json_bool(j, "observed", hunt && hunt->cover);
	if (hunt && hunt->cover)
		add_iroots(hunt, j);
	json_close(j, '}');
}

/* Runs that exceeded a limit, and the first of them. */
static void inconclusive_json(const struct session *s, struct json *j)
{
	json_open(j, "inconclusive", '{');
	json_number(j, "runs", s->stats.cut + s->stats.timed_out);
	json_number(j, "timed_out", s->stats.timed_out);
	json_number(j, "cut", s->stats.cut);
	if (s->inconclusive.text) {
		json_open(j, "first", '{');
		json_number(j, "run", s->inconclusive.run + 1);
		json_text(j, "limit", s->inconclusive.timed_out ? "timeout" : "max-steps");
		json_text(j, "text", s->inconclusive.text);
		json_close(j, '}');
	}
	json_close(j, '}');
}

void results_json(const struct session *s, struct buf *out)
{
	const struct results *r = &s->judge.results;
	const struct search_stats *stats = &s->stats;
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_text(&j, "program", s->target.program);
	json_open(&j, "arguments", '[');
	for (char **a = s->target.argv; *a; a++)
		json_text(&j, NULL, *a);
	json_close(&j, ']');
	json_number(&j, "runs", stats->runs);
	json_decimal(&j, "seconds", stats->seconds);
	json_number(&j, "steps", stats->steps);
	json_number(&j, "threads", stats->threads);
	json_number(&j, "failed_runs", stats->failed);
	json_number(&j, "cut_runs", stats->cut);
	json_number(&j, "damaged_runs", stats->damaged);
	json_number(&j, "ignored_runs", stats->ignored);
	inconclusive_json(s, &j);
	json_bool(&j, "incomplete", session_is_incomplete(s));
	json_bool(&j, "exhausted", stats->exhausted);
	uncontrolled_json(&stats->uncontrolled, s->judge.places, &j);
	results_bugs_json(r, &j, s->judge.places);
	json_number(&j, "not_replayed", r->count - r->proved);
	json_number(&j, "suppressed", r->suppressed);
	results_candidates_json(s->hunt, &j, s->judge.places);
	if (s->judge.baseline)
		baseline_json(s->judge.baseline, &j);
	coverage_json(stats, s->hunt, &j);
	json_close(&j, '}');
	buf_add_char(out, '\n');
}

int results_save(const struct buf *text, const char *out, struct err *err)
{
	char *path = xasprintf("%s/results.json", out);
	int result;

	bug_folder(out, err);	/* if it cannot be made, the file cannot be written */
	result = file_replace(path, text, err);
	free(path);
	return result;
}
