/*
 * The candidates of the two atomicity analyses as text: a line each with the pattern, the accesses,
 * where they are held back, and "seen" if the trace shows the order.
 */
#ifndef ANALYZE_ATOMICITY_UTIL_H
#define ANALYZE_ATOMICITY_UTIL_H

#include "analyze_util.h"

/* "RWW 0.1@a#1 0.2@b#1 0.1@c#2 hold 1@l#1 2@k#3 seen" */
static UNUSED char *candidates_text(struct analyzed *x, unsigned accesses)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < findings_count(x->out); i++) {
		const struct candidate *c = findings_at(x->out, i);
		const char *word = " hold";

		buf_add_text(&b, pattern_row(c->pattern)->name);
		for (unsigned e = 0; e < accesses; e++)
			buf_addf(&b, " %s@%s#%llu",
				 reader_thread(x->reader, c->event[e].thread)->name,
				 label_of(x->reader, c->event[e].pc),
				 (unsigned long long)c->event[e].nth);
		for (unsigned e = 0; e < accesses; e++) {
			const struct candidate_event *entry =
				&c->event[(unsigned)c->hold[e] % CANDIDATE_EVENTS];

			if (c->hold[e] < 0)
				continue;
			assert_true((unsigned)c->hold[e] >= accesses &&
				    (unsigned)c->hold[e] < c->events);
			assert_int_equal(entry->thread, c->event[e].thread);
			assert_true(entry->index < c->event[e].index);
			buf_addf(&b, "%s %u@%s#%llu", word, e, label_of(x->reader, entry->pc),
				 (unsigned long long)entry->nth);
			word = "";
		}
		buf_add_text(&b, c->seen ? " seen\n" : "\n");
	}
	buf_string(&b);
	return (char *)b.data;
}

static UNUSED void assert_candidates(const char *text, const struct analysis *a, unsigned accesses,
				     const char *expected)
{
	struct analyzed x;
	char *got;

	analyze(&x, text, a);
	got = candidates_text(&x, accesses);
	assert_string_equal(got, expected);
	free(got);
	analyzed_free(&x);
}

/* Fails unless `count` triples were pruned for this reason. */
static UNUSED void assert_pruned(const char *text, const struct analysis *a, enum prune_reason why,
				 uint64_t count)
{
	struct analyzed x;

	analyze(&x, text, a);
	assert_int_equal(findings_count(x.out), 0);
	assert_int_equal(findings_pruned_count(x.out, why), count);
	analyzed_free(&x);
}

#endif
