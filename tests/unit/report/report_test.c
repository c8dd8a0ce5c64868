/*
 * Escaping of hostile text, sentences about locks, and the model of bugs with hand-written traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "report/describe.h"
#include "report/escape.h"
#include "report/format.h"

static void expect_html(const char *text, const char *wanted)
{
	struct buf out = { 0 };

	escape_html(&out, text);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
}

static void test_html(void **state)
{
	(void)state;
	expect_html("", "");
	expect_html("a < b && c > \"d\" 'e'",
		    "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
	expect_html("</script><!--", "&lt;/script&gt;&lt;!--");
	expect_html("ä € 𝄞\n\tx", "ä € 𝄞\n\tx");
	expect_html("a\x1b[31m\x07z\x7f", "a�[31m�z�");
	expect_html("\xff\xc3", "��");			/* not UTF-8, and cut off */
	expect_html("\xc0\xbc" "script", "��script");	/* overlong form of < */
	/* overlong form of <, and a surrogate */
	expect_html("\xe0\x80\xbc\xed\xa0\x80|", "��|");
	expect_html("\xf4\x90\x80\x80", "�");		/* above U+10FFFF */
	expect_html("a\xe2\x80\xae" "b", "a�b");	/* changes the direction of text */
	expect_html("\xef\xbf\xbe", "�");		/* not a character */
}

static void expect_cut(const char *text, size_t most, const char *wanted)
{
	struct buf out = { 0 };

	escape_html_cut(&out, text, most);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
}

static void test_html_is_cut_at_characters(void **state)
{
	(void)state;
	expect_cut("balance", 7, "balance");
	expect_cut("balance", 6, "balan…");
	expect_cut("<<<<", 3, "&lt;&lt;…");
	expect_cut("ä€𝄞x", 3, "ä€…");
	expect_cut("a\nb", 9, "a b");
	expect_cut("ab", 1, "…");
}

static void expect_terminal(const char *text, size_t most, bool ascii, const char *wanted,
			    size_t width)
{
	struct buf out = { 0 };

	assert_int_equal(escape_terminal(&out, text, most, ascii), width);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
}

static void test_terminal(void **state)
{
	(void)state;
	expect_terminal("value = x;", 10, false, "value = x;", 10);
	expect_terminal("value = x;", 9, false, "value = …", 9);
	expect_terminal("value = x;", 9, true, "value =..", 9);
	expect_terminal("a\x1b]0;t\x07\r\n", 20, false, "a�]0;t�� ", 9);
	expect_terminal("größe", 20, true, "gr??e", 5);
	expect_terminal("日本", 3, false, "日…", 3);	/* two columns each */
	expect_terminal("日本", 2, false, "…", 1);
	expect_terminal("e\xcc\x81", 5, false, "e\xcc\x81", 1);
	expect_terminal("abc", 0, false, "", 0);
	expect_terminal("abc", 1, true, "", 0);
}

/* Random bytes become valid UTF-8 without < > & " ' and control characters, of limited length. */
static void test_random_bytes_are_escaped(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		static const char odd[] = "<>&\"'\x1b\xc0\xe2\x80\xae\xff\xf4\n";
		char text[24] = "";
		struct buf html = { 0 }, again = { 0 }, term = { 0 };
		size_t most;

		for (size_t i = 0; i < sizeof(text) - 1; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] =
				(char)(seed >> 31 ? seed >> 16
						  : (uint8_t)odd[(seed >> 16) % (sizeof(odd) - 1)]);
		}
		escape_html(&html, text);
		assert_null(strpbrk(buf_string(&html), "<>\"'\x1b\x7f"));
		/* the text is valid already, so only & becomes longer */
		escape_html(&again, buf_string(&html));
		for (const uint8_t *p = html.data, *q = again.data; *p; p++, q++)
			if (*p == '&') {
				assert_memory_equal(q, "&amp;", 5);
				q += 4;
			} else {
				assert_int_equal(*p, *q);
			}
		most = seed % 24;
		assert_true(escape_terminal(&term, text, most, true) <= most);
		assert_true(term.size <= most);
		for (size_t i = 0; i < term.size; i++)
			assert_in_range(term.data[i], 0x20, 0x7e);
		buf_free(&html);
		buf_free(&again);
		buf_free(&term);
	}
}

static void expect_object(const char *object, const char *wanted)
{
	struct buf out = { 0 };

	describe_object(object, &out);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
}

static void test_objects(void **state)
{
	(void)state;
	expect_object("balance", "balance");
	expect_object("table+16 (bank.c:7)", "table+16");
	expect_object("heap@q.c:31#1", "block q.c:31");
	expect_object("heap@q.c:31#1+8", "block q.c:31 +8");
	expect_object("heap@q.c:31#12+8", "block q.c:31#12 +8");
	expect_object("mmap@q.c:3#1", "mapping q.c:3");
	expect_object("heap@", "heap@");
	expect_object("", "");
}

/* A cause with a step on each line; `thread` is 0 or 1. */
struct locked_step {
	size_t thread;
	const char *object, *locks;
	unsigned line;
};

static void expect_locks(const char *pattern, const struct locked_step *in, size_t count,
			 const char *wanted)
{
	struct report_thread threads[] = { { "0.1", NULL }, { "0.2", NULL } };
	struct report_step steps[8] = { { 0 } };
	struct report_bug b = { .pattern = pattern,
				.threads = threads,
				.thread_count = 2,
				.steps = steps,
				.step_count = count };
	struct buf out = { 0 };

	for (size_t i = 0; i < count; i++)
		steps[i] = (struct report_step){ .thread = in[i].thread,
						 .object = in[i].object,
						 .locks = in[i].locks,
						 .role = REPORT_CAUSE,
						 .number = (unsigned)i + 1,
						 .rank = (unsigned)i + 1,
						 .at = { .file = in[i].line ? "src/a.c" : NULL,
							 .line = in[i].line } };
	describe_locks(&b, &out);
	assert_string_equal(buf_string(&out), wanted);
	buf_free(&out);
}

#define EXPECT_LOCKS(pattern, wanted, ...) \
	expect_locks(pattern, (struct locked_step[]){ __VA_ARGS__ }, \
		     ARRAY_SIZE(((struct locked_step[]){ __VA_ARGS__ })), wanted)

static void test_locks(void **state)
{
	(void)state;
	EXPECT_LOCKS("RWW",
		     "Every access holds m, but thread 0.1 releases it between a.c:21 and a.c:22: "
		     "two critical sections where one is needed.",
		     { 0, "x", "m", 21 }, { 1, "x", "m", 23 }, { 0, "x", "m", 22 });
	EXPECT_LOCKS("RWW",
		     "Every access holds m, but thread 0.1 releases it between steps 1 and 3: "
		     "two critical sections where one is needed.",
		     { 0, "x", "m", 21 }, { 1, "x", "m", 21 }, { 0, "x", "m", 21 });
	/* Only one thread holds a second lock. */
	EXPECT_LOCKS("RWR",
		     "Every access holds m, but thread 0.2 releases it between a.c:21 and a.c:22: "
		     "two critical sections where one is needed.",
		     { 1, "x", "big, m", 21 }, { 0, "x", "m, mm", 23 }, { 1, "x", "big, m", 22 });
	EXPECT_LOCKS(
		"RWW",
		"No lock in common: thread 0.1 holds none at a.c:21, thread 0.2 holds m at a.c:23.",
		{ 0, "x", NULL, 21 }, { 1, "x", "m", 23 }, { 0, "x", NULL, 22 });
	EXPECT_LOCKS(
		"RW",
		"No lock in common: thread 0.1 holds m at step 1, thread 0.2 holds mm at step 2.",
		{ 0, "x", "m", 0 }, { 1, "x", "mm", 0 });
	EXPECT_LOCKS("WW", "No lock in common: no lock is held at a.c:21 or at a.c:23.",
		     { 0, "x", NULL, 21 }, { 1, "x", NULL, 23 });
	EXPECT_LOCKS("WxRyRxWy", "x is protected by a, y by b, but no lock protects both.",
		     { 0, "x", "a", 21 }, { 1, "y", "b", 22 }, { 1, "x", "a", 23 },
		     { 0, "y", "b", 24 });
	EXPECT_LOCKS("WxRxRyWy", "No lock in common: no lock is held at a.c:23 or at a.c:24.",
		     { 0, "x", "a", 21 }, { 1, "x", "a", 22 }, { 1, "y", NULL, 23 },
		     { 0, "y", NULL, 24 });
	EXPECT_LOCKS("lock-cycle",
		     "Lock order: thread 0.1 takes a, then b; thread 0.2 takes b, then a.",
		     { 1, "b", NULL, 33 }, { 0, "a", NULL, 31 }, { 0, "b", "a", 32 },
		     { 1, "a (a.c:3)", "b", 34 });
	EXPECT_LOCKS("use-free",
		     "Nothing makes one thread wait for the other here, and a lock alone would not "
		     "do so.",
		     { 0, "x", NULL, 21 }, { 1, "x", NULL, 23 });
	EXPECT_LOCKS("stuck", "", { 0, "x", NULL, 21 });
}

/* Folder of the hand-made bugs; tests run in the root folder of the sources. */
#define BUGS "tests/cli/report/"

static void open_bug(struct report *r, const char *path)
{
	struct err err;

	if (report_open(r, path, true, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(r->single);
	assert_int_equal(r->bug_count, 1);
}

static bool has_arrow(const struct report_bug *b, enum report_arrow_kind kind, unsigned from,
		      unsigned to)
{
	for (size_t i = 0; i < b->arrow_count; i++)
		if (b->arrows[i].kind == kind && b->steps[b->arrows[i].from].number == from &&
		    b->steps[b->arrows[i].to].number == to)
			return true;
	return false;
}

static void test_lost_update_model(void **state)
{
	struct report r;
	struct report_bug *b;
	uint64_t ordinal[4] = { 0 };
	size_t handovers = 0;

	(void)state;
	open_bug(&r, BUGS "lost");
	b = &r.bugs[0];
	assert_int_equal(b->thread_count, 3);
	assert_string_equal(b->threads[2].name, "0.2");
	for (size_t i = 0; i < b->step_count; i++)
		if (b->steps[i].number)
			ordinal[b->steps[i].number] = b->steps[i].ordinal;
	/* Of two deposits, the one that the other thread interrupts. */
	assert_int_equal(ordinal[1], 9);
	assert_int_equal(ordinal[2], 15);
	assert_int_equal(ordinal[3], 18);
	assert_true(has_arrow(b, REPORT_CONFLICT, 1, 2));
	assert_true(has_arrow(b, REPORT_CONFLICT, 2, 3));
	assert_false(has_arrow(b, REPORT_CONFLICT, 1, 3));
	for (size_t i = 0; i < b->arrow_count; i++)
		handovers += b->arrows[i].kind == REPORT_HANDOVER;
	assert_int_equal(handovers, 2);
	/* Thread 0.1 holds m three times, 0.2 twice, each from lock to unlock. */
	assert_int_equal(b->bar_count, 5);
	for (size_t i = 0; i < b->bar_count; i++) {
		assert_string_equal(b->bars[i].lock, "m");
		assert_string_equal(b->steps[b->bars[i].from].op, "lock");
		assert_string_equal(b->steps[b->bars[i].to].op, "unlock");
		assert_int_equal(b->bars[i].to - b->bars[i].from, 2);
		assert_false(b->bars[i].open);
	}
	assert_int_equal(b->interleaving_count, 2);
	assert_int_equal(b->first_different_turn, 1);
	assert_true(b->has_switches && b->switches == 4);
	assert_string_equal(b->output, "balance 20");
	report_close(&r);
}

static void test_deadlock_model(void **state)
{
	struct report r;
	struct report_bug *b;
	size_t open = 0;

	(void)state;
	open_bug(&r, BUGS "deadlock");
	b = &r.bugs[0];
	/* 0.1 waits for the lock that 0.2 took first */
	assert_true(has_arrow(b, REPORT_WAIT, 3, 1));
	assert_true(has_arrow(b, REPORT_WAIT, 4, 2));
	for (size_t i = 0; i < b->bar_count; i++)
		open += b->bars[i].open && b->bars[i].to == b->step_count - 1;
	assert_int_equal(open, 2);
	report_close(&r);
}

/* The effect of a blocked step names the holder of the lock. */
static void test_waiters_name_the_holder(void **state)
{
	static const char *const wanted[] = { "", "", ", which thread 0.2 has held since step 1",
					      ", which thread 0.1 has held since step 2" };
	struct report r;
	struct report_bug *b;
	size_t seen = 0;

	(void)state;
	open_bug(&r, BUGS "deadlock");
	b = &r.bugs[0];
	for (size_t i = 0; i < b->step_count; i++) {
		struct buf out = { 0 };

		if (!b->steps[i].number)
			continue;
		describe_effect(b, &b->steps[i], &out);
		assert_string_equal(buf_string(&out), wanted[seen++]);
		buf_free(&out);
	}
	assert_int_equal(seen, ARRAY_SIZE(wanted));
	report_close(&r);
}

static void test_use_after_free_model(void **state)
{
	struct report r;
	struct report_bug *b;
	size_t values = 0;

	(void)state;
	open_bug(&r, BUGS "freed");
	b = &r.bugs[0];
	assert_true(has_arrow(b, REPORT_CONFLICT, 1, 2));
	for (size_t i = 0; i < b->step_count; i++)
		values += b->steps[i].value != NULL;
	assert_int_equal(values, 2);	/* values of the atomic accesses */
	assert_true(b->object_count >= 1);
	assert_string_equal(b->objects[0].text,
			    "heap block of 16 bytes, allocated by thread 0 in main (s.c:40)");
	report_close(&r);
}

/* Every format shows a bug whose members are all nonsense. */
static void test_hostile(void **state)
{
	struct report_style style = { .width = 80 };
	struct report r;

	(void)state;
	open_bug(&r, BUGS "hostile");
	assert_int_equal(r.bugs[0].seed, UINT64_MAX);
	assert_int_equal(r.bugs[0].passing.count, 0);
	for (size_t i = 0; report_formats[i]; i++) {
		struct buf out = { 0 };

		report_formats[i]->all(&r, &style, &out);
		assert_true(out.size > 100);
		if (report_formats[i] == &report_html)
			assert_null(strstr(buf_string(&out), "<script>alert"));
		buf_free(&out);
	}
	report_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_html_is_cut_at_characters),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_random_bytes_are_escaped),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_lost_update_model),
		cmocka_unit_test(test_waiters_name_the_holder),
		cmocka_unit_test(test_deadlock_model),
		cmocka_unit_test(test_use_after_free_model),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
