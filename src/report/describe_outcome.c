/*
 * What came of the steps, and what a run that passes does instead.
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

/* "Thread 0.2 read 100 before thread 0.1 wrote 70, …", if all values are known. */
static void tell_values(const struct report_bug *b, struct buf *out)
{
	const char *t = tell_pattern(b)->values;
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
	out->data[start] = 'T';	/* they all begin with a thread */
}

/* Is each thread that the steps tell of stuck? Whoever did not wake another one may have ended. */
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

void tell_outcome(const struct report_bug *b, struct buf *out)
{
	struct buf locks = { 0 };

	if (is(b->failure, "deadlock"))
		buf_add_text(out, all_wait(b) ? "None of them can go on." :
						"Nobody is left to wake who waits.");
	else if (is(b->class, "atomicity"))
		tell_values(b, out);
	tell_locks(b, &locks);
	if (out->size && locks.size)
		buf_add_char(out, ' ');
	buf_add_text(out, buf_string(&locks));
	buf_free(&locks);
}

void tell_site(const struct report_bug *b, const struct report_site *s, struct buf *out)
{
	struct report_step step = { .op = s->op, .object = s->object, .at = s->at };

	buf_addf(out, "thread %s ", s->thread ? s->thread : "?");
	tell_step(b, &step, out);
	if (s->at.file) {
		buf_add_text(out, " at ");
		tell_place(&s->at, out);
	}
}

void tell_difference(const struct report_bug *b, struct buf *out)
{
	const struct report_site *here = &b->parts_failing, *there = &b->parts_passing;

	if (!b->parts_at || !there->op || !there->thread)
		return;
	buf_add_text(out, "The nearest run that passes is the same until ");
	if (here->op && here->thread)
		tell_site(b, here, out);
	else
		buf_add_text(out, "this one ends");
	buf_add_text(out, "; in that one, ");
	tell_site(b, there, out);
	buf_add_text(out, is(here->thread, there->thread) ? " instead." : " first.");
}
