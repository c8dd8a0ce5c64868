/*
 * For tests of src/analyze: text traces in, findings out as lines. The traces are files, so the
 * group needs test_setup() and test_teardown() (trace_util.h).
 */
#ifndef ANALYZE_UTIL_H
#define ANALYZE_UTIL_H

#include "trace_util.h"

#include "analyze/analysis.h"

struct analyzed {
	struct reader *reader;
	struct analysis_context ctx;
	struct findings *out;
	struct analysis_stats stats;
};

/* `text` without the first line. */
static UNUSED struct reader *open_text(const char *text)
{
	struct err err = { "" };
	struct buf b = { 0 };
	struct reader *r;

	buf_add_text(&b, "snarl-text 1\n");
	buf_add_text(&b, text);
	save(test_path("analyzed"), b.data, b.size);
	buf_free(&b);
	r = reader_open(test_path("analyzed"), &err);
	if (!r)
		fail_msg("%s", err.text);
	return r;
}

/* `a` NULL: all. */
static UNUSED void analyze(struct analyzed *x, const char *text, const struct analysis *a)
{
	const struct analysis *which[] = { a, NULL };
	struct err err = { "" };

	x->reader = open_text(text);
	analysis_context_init(&x->ctx);
	x->out = findings_new();
	if (analysis_run(x->reader, a ? which : NULL, &x->ctx, x->out, &x->stats, &err) < 0)
		fail_msg("%s", err.text);
}

static UNUSED void analyzed_free(struct analyzed *x)
{
	findings_free(x->out);
	analysis_context_free(&x->ctx);
	reader_close(x->reader);
}

/* The label a text trace gave to a pc; "?" if none. */
static UNUSED const char *label_of(const struct reader *r, uint64_t pc)
{
	char key[40];
	const char *label;

	snprintf(key, sizeof(key), "label:0x%llx", (unsigned long long)pc);
	label = reader_meta(r, key, 0);
	return label ? label : "?";
}

/* "RW 0.1 read @a#1, 0.2 write @b#1", one a line, in the order found. */
static UNUSED char *findings_text(struct analyzed *x)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < findings_count(x->out); i++) {
		const struct candidate *c = findings_at(x->out, i);

		buf_add_text(&b, pattern_row(c->pattern)->name);
		for (uint8_t e = 0; e < c->events; e++)
			buf_addf(&b, "%s %s %s @%s#%llu", e ? "," : "",
				 reader_thread(x->reader, c->event[e].thread)->name,
				 kind_name(c->event[e].kind), label_of(x->reader, c->event[e].pc),
				 (unsigned long long)c->event[e].nth);
		buf_add_text(&b, "\n");
	}
	buf_string(&b);
	return (char *)b.data;
}

static UNUSED void assert_findings(const char *text, const struct analysis *a, const char *expected)
{
	struct analyzed x;
	char *got;

	analyze(&x, text, a);
	got = findings_text(&x);
	assert_string_equal(got, expected);
	free(got);
	analyzed_free(&x);
}

static UNUSED uint64_t test_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

#endif
