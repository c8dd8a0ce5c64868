/*
 * The XML of JUnit, for test runners and CI: a test case for each command that was hunted, with a
 * failure for each of its bugs. The failure contains the report as text. A failure that did not
 * replay is an error of the case. Inconclusive runs are part of its output.
 */
#include <string.h>

#include <jansson.h>

#include "report/describe.h"
#include "report/escape.h"
#include "report/format.h"

#define WIDTH 100u

static const char *hunted(const struct report *r)
{
	return r->command ? r->command : r->program ? r->program : "unknown command";
}

/*
 * The command whose test case has the bug. A hunt makes one case, even if it tried several inputs.
 */
static const char *command_of(const struct report *r, const struct report_bug *b)
{
	return !r->json && b->command ? b->command : hunted(r);
}

/* Appends an attribute and clears `value`. */
static void attribute(struct buf *out, const char *name, struct buf *value)
{
	buf_addf(out, " %s=\"", name);
	escape_html(out, buf_string(value));
	buf_add_char(out, '"');
	buf_clear(value);
}

/* Bugs of the baseline do not fail the case; they become part of its output. */
static void put_bug(const struct report *r, size_t bug, struct buf *out)
{
	struct report one = { .path = r->path, .bugs = &r->bugs[bug], .bug_count = 1 };
	struct report_style style = { .width = WIDTH };
	struct buf text = { 0 };

	buf_add_text(out, r->bugs[bug].known ? "      <system-out>Known: " : "      <failure");
	if (!r->bugs[bug].known) {
		buf_addf(&text, "%s: ", r->bugs[bug].id);
		describe_title(&r->bugs[bug], &text);
		attribute(out, "message", &text);
		describe_kind(&r->bugs[bug], &text);
		attribute(out, "type", &text);
		buf_add_char(out, '>');
	}
	/* The input with which the bug was found, if it is not that of the case. */
	if (r->bugs[bug].command && strcmp(r->bugs[bug].command, command_of(r, &r->bugs[bug])) != 0)
		buf_addf(&text, "%s\n", r->bugs[bug].command);
	report_text.all(&one, &style, &text);
	escape_html(out, buf_string(&text));
	buf_add_text(out, r->bugs[bug].known ? "</system-out>\n" : "</failure>\n");
	buf_free(&text);
}

static void put_finding(const struct report_finding *f, struct buf *out)
{
	struct buf text = { 0 };

	buf_add_text(out, f->inconclusive ? "      <system-out>" : "      <error");
	buf_add_text(&text, f->title);
	if (f->inconclusive) {
		escape_html(out, buf_string(&text));
		buf_add_char(out, '\n');
	} else {
		attribute(out, "message", &text);
		buf_add_text(out, " type=\"not-proved\">");
	}
	escape_html(out, f->text);
	buf_add_text(out, f->inconclusive ? "</system-out>\n" : "</error>\n");
	buf_free(&text);
}

/* Appends the test case of a command. Returns whether it has a failure. */
static bool put_case(const struct report *r, const char *command, const char *time, struct buf *out)
{
	const char *program = r->program ? r->program : r->bug_count ? r->bugs[0].program : NULL;
	const char *slash = program ? strrchr(program, '/') : NULL;
	struct buf text = { 0 };
	bool failed = false;

	buf_add_text(out, "    <testcase");
	buf_addf(&text, "snarl.%s", slash ? slash + 1 : program ? program : "program");
	attribute(out, "classname", &text);
	buf_add_text(&text, command);
	attribute(out, "name", &text);
	buf_addf(out, " time=\"%s\">\n", time);
	for (int known = 0; known <= 1; known++)	/* failures come before known bugs */
		for (size_t i = 0; i < r->bug_count; i++)
			if (report_is_current(r, &r->bugs[i]) && r->bugs[i].known == known &&
			    strcmp(command_of(r, &r->bugs[i]), command) == 0) {
				put_bug(r, i, out);
				failed = failed || !known;
			}
	for (int inconclusive = 0; r->json && inconclusive <= 1; inconclusive++)
		for (size_t i = 0; i < r->finding_count; i++)
			if (r->findings[i].inconclusive == inconclusive)
				put_finding(&r->findings[i], out);
	buf_add_text(out, "    </testcase>\n");
	buf_free(&text);
	return failed;
}

/* Is an earlier bug of the same command? */
static bool has_earlier_bug(const struct report *r, size_t bug)
{
	for (size_t i = 0; i < bug; i++)
		if (strcmp(command_of(r, &r->bugs[i]), command_of(r, &r->bugs[bug])) == 0)
			return true;
	return false;
}

static void junit_all(const struct report *r, const struct report_style *style, struct buf *out)
{
	struct buf cases = { 0 }, time = { 0 };
	size_t tests = 0, failed = 0, errors = 0;

	(void)style;
	buf_addf(&time, "%.3f", json_number_value(json_object_get(r->json, "seconds")));
	if (r->json || !r->bug_count) {
		failed += put_case(r, hunted(r), buf_string(&time), &cases);
		tests++;
	}
	for (size_t i = 0; !r->json && i < r->bug_count; i++)
		if (!has_earlier_bug(r, i)) {
			failed += put_case(r, command_of(r, &r->bugs[i]), "0.000", &cases);
			tests++;
		}
	for (size_t i = 0; i < r->finding_count; i++)
		errors |=
			!r->findings[i]
				 .inconclusive; /* number of cases with errors: there is one case */
	buf_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		 "  <testsuite name=\"snarl\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		 "skipped=\"0\" time=\"%s\">\n",
		 tests, failed, errors, buf_string(&time));
	buf_add(out, cases.data, cases.size);
	buf_add_text(out, "  </testsuite>\n</testsuites>\n");
	buf_free(&cases);
	buf_free(&time);
}

const struct report_format report_junit = {
	.name = "junit",
	.summary = "JUnit XML, for CI: a case per command, a failure per bug",
	.all = junit_all,
};
