/*
 * A bug in plain words. All text is appended as it is, to be escaped by whoever shows it.
 */
#ifndef REPORT_DESCRIBE_H
#define REPORT_DESCRIBE_H

#include "analyze/pattern.h"
#include "report/model.h"

/* The bug's row of the table of patterns; that of PATTERN_NONE if its pattern is not known. */
const struct pattern_row *tell_pattern(const struct report_bug *b);

/* "Lost update on balance": what went wrong, in one line. */
void tell_title(const struct report_bug *b, struct buf *out);

/* "atomicity/RWW": the kind of bug; and what bugs of that kind are, whatever the variable. */
void tell_kind(const struct report_bug *b, struct buf *out);
void tell_kind_title(const struct report_bug *b, struct buf *out);

/* "reads 100 from balance", "waits for right": what a step does. */
void tell_step(const struct report_bug *b, const struct report_step *s, struct buf *out);

/* "thread 0.1 reads balance at bank.c:22": an event of bug.json. */
void tell_site(const struct report_bug *b, const struct report_site *s, struct buf *out);

/* What comes of it: "in between", "which thread 0.2 has held since step 1"; nothing if there is nothing to say. */
void tell_effect(const struct report_bug *b, const struct report_step *s, struct buf *out);

/* Which lock is missing, or why locks did not help; nothing if there is nothing to say. Part of the outcome. */
void tell_locks(const struct report_bug *b, struct buf *out);

/* "RxWxWyRy": is it about two variables? */
bool tell_is_two(const struct report_bug *b);

/* What follows from all steps, and how such things are repaired; may be nothing. */
void tell_outcome(const struct report_bug *b, struct buf *out);
void tell_hint(const struct report_bug *b, struct buf *out);

/* Where the nearest run that passes parts from this one; nothing if that is unknown. */
void tell_difference(const struct report_bug *b, struct buf *out);

/*
 * "Assertion failed in thread 0": the first line of the failure; and those after it, without
 * the folders of sources and, unless they are shown `alone`, what the steps tell.
 */
void tell_failure(const struct report_bug *b, struct buf *out);
void tell_details(const struct report_bug *b, bool alone, struct buf *out);

/* "thread 0.2 (teller)". */
void tell_thread(const struct report_bug *b, size_t thread, struct buf *out);

/* "bank.c:22", the folder left out; nothing if unknown. */
void tell_place(const struct report_place *at, struct buf *out);

/* The file of all steps of the picture; NULL if they differ. */
const char *tell_common_file(const struct report_bug *b);

/* The name of an object for people: "block q.c:31 +8". */
void tell_object(const char *object, struct buf *out);

/* "snarl replay out/bugs/B001"; or of a schedule in that folder. */
void tell_replay(const struct report_bug *b, const char *schedule, struct buf *out);

#endif
