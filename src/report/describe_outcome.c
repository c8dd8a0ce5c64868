/*
 * The consequence of the steps, and how the nearest run that passes differs.
 */
#include <string.h>

#include "base/mem.h"
#include "report/describe.h"

static bool is(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static const struct report_step *step_number(const struct report_bug *b, unsigned number)
{
	for (size_t i = 0; i < b->step_count; i++)
		if (b->steps[i].number == number)
			return &b->steps[i];
	return NULL;
}

/* "Thread 0.2 read 100 before thread 0.1 wrote 70, ...", if all values are known. */
static void describe_values(const struct report_bug *b, struct buf *out)
{
	const char *t = describe_pattern(b)->values;
	const struct report_step *s;
	size_t start = out->size;

	for (unsigned i = 1; i <= 3; i++)
		if (!t || !(s = step_number(b, i)) || s->rank != i || !s->value || s->pending)
			return;
	for (; *t; t++) {
		if (*t != '$') {
			buf_add_char(out, *t);
			continue;
		}
		t++;
		s = step_number(b, *t == 'a' ? 1 : *t == 'b' ? 2 : (unsigned)(*t - '0'));
		if (*t == 'a' || *t == 'b')
			buf_addf(out, "thread %s", b->threads[s->thread].name);
		else
			buf_add_text(out, s->value);
	}
	out->data[start] = 'T';	/* all these texts begin with "thread" */
}

/*
 * Is each thread of the cause blocked? In a lost wake-up, the thread that should wake may have
 * ended.
 */
static bool all_wait(const struct report_bug *b)
{
	for (size_t i = 0; i < b->step_count; i++) {
		bool waits = !b->steps[i].number;

		for (size_t k = 0; k < b->step_count && !waits; k++)
			waits = b->steps[k].pending && b->steps[k].thread == b->steps[i].thread;
		if (!waits)
			return false;
	}
	return true;
}

void describe_outcome(const struct report_bug *b, struct buf *out)
{
	struct buf locks = { 0 };

	if (is(b->failure, "deadlock"))
		buf_add_text(out, all_wait(b) ? "None of these threads can proceed." :
						"No other thread can wake it: deadlock.");
	else if (is(b->class, "atomicity"))
		describe_values(b, out);
	describe_locks(b, &locks);
	if (out->size && locks.size)
		buf_add_char(out, ' ');
	buf_add_text(out, buf_string(&locks));
	buf_free(&locks);
}

void describe_site(const struct report_bug *b, const struct report_site *s, struct buf *out)
{
	struct report_step step = { .op = s->op, .object = s->object, .at = s->at };

	buf_addf(out, "thread %s ", s->thread ? s->thread : "?");
	describe_step(b, &step, out);
	if (s->at.file) {
		buf_add_text(out, " at ");
		describe_place(&s->at, out);
	}
}

void describe_difference(const struct report_bug *b, struct buf *out)
{
	const struct report_site *here = &b->difference_failing, *there = &b->difference_passing;

	if (!b->difference_event || !there->op || !there->thread)
		return;
	buf_add_text(out, "The nearest run that passes is the same until ");
	if (here->op && here->thread)
		describe_site(b, here, out);
	else
		buf_add_text(out, "this run ends");
	buf_add_text(out, "; in the run that passes, ");
	describe_site(b, there, out);
	buf_add_text(out, is(here->thread, there->thread) ? " instead." : " first.");
}
