/*
 * Reasons to doubt candidates: what is handed over, looked at again or done twice, and the bugs
 * that look alike.
 */
#include "analyze/doubt.h"
#include "analyze_util.h"

/* Whether a candidate at these two labels, among others, is doubtful; -1: there is none. */
static int doubt_at(struct analyzed *x, enum candidate_class class, const char *a, const char *b)
{
	int doubt = -1;

	for (size_t i = 0; i < findings_count(x->out); i++) {
		const struct candidate *c = findings_at(x->out, i);
		unsigned found = 0;

		for (uint8_t e = 0; e < c->events; e++) {
			const char *label = label_of(x->reader, c->event[e].pc);

			found |= strcmp(label, a) == 0 ? 1 : strcmp(label, b) == 0 ? 2 : 0;
		}
		if (c->class == class && found == 3 && (doubt < 0 || !c->doubt))
			doubt = c->doubt != NULL;
	}
	return doubt;
}

static void open_doubts(struct analyzed *x, const char *text)
{
	analyze(x, text, NULL);
	doubt_find(x->reader, &x->ctx, NULL, true, x->out);
}

#define HAND_OVER(before, after) \
	"0 create 0.1 @main\n" \
	"0 malloc box 16 @alloc\n" \
	before \
	"0 lock m @put\n" \
	"0 write slot:8 @publish\n" \
	"0 unlock m @put_end\n" \
	after \
	"0.1 lock m @get\n" \
	"0.1 read slot:8 @look\n" \
	"0.1 unlock m @get_end\n" \
	"0.1 read box @use\n" \
	"0.1 free box @free\n"

static void test_handed_over(void **state)
{
	struct analyzed x;

	(void)state;
	open_doubts(&x, HAND_OVER("0 write box @fill\n", ""));
	assert_int_not_equal(doubt_at(&x, CANDIDATE_RACE, "fill", "use"), 0);
	assert_int_not_equal(doubt_at(&x, CANDIDATE_ORDER, "fill", "free"), 0);
	assert_int_not_equal(doubt_at(&x, CANDIDATE_ORDER, "fill", "use"), 0);
	analyzed_free(&x);
	/* Filled too late. */
	open_doubts(&x, HAND_OVER("", "0 write box @fill\n"));
	assert_int_equal(doubt_at(&x, CANDIDATE_RACE, "fill", "use"), 0);
	analyzed_free(&x);
}

#define TWO_SECTIONS(first) \
	"0 create 0.1 @main\n" \
	"0 create 0.2 @main\n" \
	"0.1 enter 0 @caller\n" \
	"0.1 lock m @first\n" \
	"0.1 read count @check\n" \
	first \
	"0.1 unlock m @first_end\n" \
	"0.1 lock m @second\n" \
	"0.1 read count @again\n" \
	"0.1 write count @act\n" \
	"0.1 unlock m @second_end\n" \
	"0.1 exit\n" \
	"0.2 lock m @other\n" \
	"0.2 read count @their_read\n" \
	"0.2 write count @their_write\n" \
	"0.2 unlock m @other_end\n"

static void test_two_sections(void **state)
{
	struct analyzed x;

	(void)state;
	/* A check, and an act that rests on it. */
	open_doubts(&x, TWO_SECTIONS(""));
	assert_int_equal(doubt_at(&x, CANDIDATE_ATOMICITY, "check", "their_write"), 0);
	analyzed_free(&x);
	/* Two updates, each from the value of its own section. */
	open_doubts(&x, TWO_SECTIONS("0.1 write count @update\n"));
	assert_int_not_equal(doubt_at(&x, CANDIDATE_ATOMICITY, "update", "their_write"), 0);
	assert_int_not_equal(doubt_at(&x, CANDIDATE_ATOMICITY, "check", "their_write"), 0);
	analyzed_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handed_over),
		cmocka_unit_test(test_two_sections),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
